#include "ops/softmax.h"

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/row_plan.h"
#include "support/text.h"

namespace camshaft::cuda::softmax {
namespace {

// Every softmax is one over rows: the elements along the axis, in rows numbered by the others.
struct Problem {
  const Shape& shape;
  size_t axis;
  std::vector<size_t> others;

  explicit Problem(const Node& node)
      : shape(node.input(0)->shape()), axis(node.as<SoftmaxAttrs>().axis) {
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != axis) others.push_back(i);
  }
  Dim rows() const {
    Dim product = 1;
    for (size_t i : others) product *= shape[i];
    return product;
  }
  bool isContiguous() const {
    return numElements({shape.begin() + axis + 1, shape.end()}).isConstant(1);
  }
  Walk walk(KernelText& kernel) const {
    return Walk(kernel, shape, {{"row", others}, {"column", {axis}}});
  }
};

int widthOf(const Problem& problem, DataType type) {
  return problem.isContiguous() ? vectorWidth(type, {problem.shape[problem.axis]}, kMostComputed)
                                : 1;
}

std::vector<RowPlan> plansOf(const Node& node) {
  const Problem problem(node);
  return rowPlans(problem.shape[problem.axis], widthOf(problem, node.input(0)->dataType()),
                  !problem.isContiguous());
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  static constexpr std::string_view kKinds[] = {"kSoftmax", "kLogSoftmax", "kHardmax"};
  const Problem problem(node);
  const DataType type = node.input(0)->dataType();
  const RowPlan plan = plansOf(node)[config];
  const int width = widthOf(problem, type);

  KernelText kernel(str("softmax_", type, "_x", width), node, context);
  kernel.input("x0", 0);
  declareEpilogue(kernel, node);
  kernel.output("y");
  printTeam(kernel, plan, problem.rows());
  kernel.include("device/reducers.cuh");
  kernel.include("softmax/softmax.cuh");
  Walk walk = problem.walk(kernel);
  printLoad(kernel, walk, "Index column", type, contiguousStrides(problem.shape), width);
  printStore(kernel, node, walk, "Index column", width);
  printRow(kernel, plan, problem.shape[problem.axis], type, width);
  kernel.body +=
      str("  softmaxRow<SoftmaxKind::", kKinds[static_cast<int>(node.as<SoftmaxAttrs>().kind)],
          ", Team, ", computeType(type), ", ", width, ">(values, isRow, store);\n");
  return kernel.prepared(
      {.grid = {ceilDiv(problem.rows(), plan.rows()), 1, 1}, .block = plan.threads});
}

std::vector<int64_t> configurations(const Node& node, const BuildContext&) {
  return numbersOf(plansOf(node));
}

// A row is read before any of it is written, and extra inputs by the thread that then writes in
// their place.
bool inPlace(const Node& node, int input) {
  return node.inputs[input]->type == node.output()->type;
}

constexpr Kernel kKernels[] = {{"cuda/softmax", isPrinted, prepare, configurations, inPlace}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::softmax
