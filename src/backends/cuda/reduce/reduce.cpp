#include "ops/reduce.h"

#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/row_plan.h"
#include "support/text.h"

namespace camshaft::cuda::reduce {
namespace {

// Results are numbered by the kept dimensions, elements of one result by the reduced ones.
struct Problem {
  const Shape& shape;
  std::vector<size_t> kept, reduced;
  Dim results = 1, count = 1;
  // Whether neighbours in memory belong to one result, or to neighbouring ones.
  bool reducesInner = true;
  int width = 1;

  explicit Problem(const Node& node) : shape(node.input(0)->shape()) {
    std::vector<int64_t> axes;
    if (node.op == &ops::Reduce)
      axes = node.as<ReduceAttrs>().axes;
    else
      axes = {node.as<ArgReduceAttrs>().axis};
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool isReduced = std::ranges::count(axes, static_cast<int64_t>(i)) > 0;
      (isReduced ? reduced : kept).push_back(i);
      (isReduced ? count : results) *= shape[i];
    }
    width = vectorWidth(node.input(0)->dataType(), {innerRun()}, kMostComputed);
  }

 private:
  // The elements that are neighbours in memory and alike, kept or reduced.
  Dim innerRun() {
    Dim run = 1;
    bool isFirst = true;
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i].isConstant(1)) continue;
      const bool isReduced = std::ranges::count(reduced, i) > 0;
      if (isFirst) reducesInner = isReduced;
      if (isReduced != reducesInner) break;
      isFirst = false;
      run *= shape[i];
    }
    if (isFirst) reducesInner = false;
    return run;
  }
};

struct Plan {
  int threads = 256;
  int lanes = 32;  // threads that share a result
  int outs = 1;    // neighbouring results of a thread
  int width = 1;   // neighbouring elements of one result that a thread reads at once
  int blocks = 1;  // of a cluster that share a result
  int results() const { return threads / lanes * outs; }
};

// Lanes for a few elements each, and variants to be timed. Where results are neighbours, narrow
// vectors make more blocks: what few results need.
std::vector<Plan> plansOfBlocks(const Problem& problem) {
  std::vector<Plan> plans;
  if (problem.reducesInner) {
    const int width = problem.width;
    int lanes = 32;
    if (problem.count.isConstant())
      while (lanes > 1 && lanes * width * 2 > problem.count.value()) lanes /= 2;
    plans.push_back({.threads = 128, .lanes = lanes, .width = width});
    if (lanes == 32) {
      plans.push_back({.threads = 256, .lanes = 256, .width = width});
      plans.push_back({.threads = 1024, .lanes = 1024, .width = width});
    }
    const bool isLong = problem.count.isConstant() && problem.count.value() >= 4096;
    if (isLong) std::rotate(plans.begin(), plans.begin() + 1, plans.end());
    return plans;
  }
  const int narrow = std::min(problem.width, 2);
  const auto isBelow = [&](int64_t limit) {
    return problem.count.isConstant() && problem.count.value() < limit;
  };
  if (!isBelow(16)) {
    plans.push_back({.threads = 256, .lanes = 8, .outs = narrow});
    plans.push_back({.threads = 256, .lanes = 16, .outs = narrow});
  }
  if (!isBelow(512)) {
    plans.push_back({.threads = 512, .lanes = 128, .outs = problem.width});
    plans.push_back({.threads = 1024, .lanes = 256, .outs = problem.width});
  }
  if (!isBelow(2048)) std::rotate(plans.begin(), plans.end() - 1, plans.end());
  plans.push_back({.threads = 128, .lanes = 1, .outs = narrow});
  if (problem.width > narrow) plans.push_back({.threads = 128, .lanes = 4, .outs = problem.width});
  return plans;
}

// And clusters, where the blocks that share long results would be fewer than the GPU can run.
std::vector<Plan> plansOf(const Problem& problem, const BuildContext& context) {
  constexpr int kClusters = 90;  // the compute capability that has them
  constexpr int64_t kManyElements = 2048, kManyBlocks = 600;
  std::vector<Plan> plans = plansOfBlocks(problem);
  const bool isLong = problem.count.isConstant() && problem.count.value() >= kManyElements;
  if (context.target.computeCapability < kClusters || !isLong || !problem.results.isConstant())
    return plans;
  const Plan widest = *std::ranges::max_element(plans, {}, &Plan::lanes);
  Plan few = widest, many = widest;
  few.blocks = 8;
  many.threads /= 2, many.lanes /= 2, many.blocks = 4;
  for (const Plan& plan : {few, many})
    if (ceilDiv(problem.results, plan.results()).value() * plan.blocks <= kManyBlocks)
      plans.push_back(plan);
  return plans;
}

std::string reducerOf(const Node& node) {
  const DataType type = node.input(0)->dataType();
  const std::string_view element = computeType(type);
  if (node.op == &ops::ArgReduce) {
    const auto& attrs = node.as<ArgReduceAttrs>();
    return str("ArgReducer<", element, ", ", attrs.largest, ", ", attrs.selectLast, ">");
  }
  static constexpr std::string_view kKinds[] = {"Sum", "Mean", "Max",       "Min",    "Prod",
                                                "L1",  "L2",   "SumSquare", "LogSum", "LogSumExp"};
  const ReduceKind kind = node.as<ReduceAttrs>().kind;
  std::string_view wide = isSigned(type) ? "long long" : "unsigned long long";
  if (isFloat(type))
    wide = element;
  else if (kind == ReduceKind::kLogSumExp)
    wide = "double";
  return str(kKinds[static_cast<int>(kind)], "Reducer<", element, ", ", wide, ">");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Problem problem(node);
  const Plan plan = plansOf(problem, context)[config];
  const DataType type = node.input(0)->dataType();
  const std::string_view result = computeType(node.resultBeforeEpilogue().type);

  KernelText kernel(str(node.op == &ops::Reduce ? "reduce_" : "arg_reduce_", type,
                        problem.reducesInner ? "_rows" : "_columns"),
                    node, context);
  kernel.input("x0", 0);
  declareEpilogue(kernel, node);
  kernel.output("y");
  kernel.include("device/teams.cuh");
  kernel.include("device/reducers.cuh");
  kernel.include("reduce/reduce.cuh");
  const std::string results = kernel.size(problem.results), count = kernel.size(problem.count);
  std::string team = str(problem.reducesInner ? "LanesTogether<" : "RowsTogether<", plan.threads,
                         ", ", plan.lanes, ">");
  if (plan.blocks > 1) {
    kernel.include("device/clusters.cuh");
    team = str("BlocksTogether<", team, ", ", plan.blocks, ">");
  }
  kernel.body += str("  using Team = ", team, ";\n  using Reducer = ", reducerOf(node),
                     ";\n  const Index out = (Team::block() * Team::kRows + Team::row()) * ",
                     plan.outs, ";\n");

  Walk elements =
      problem.reducesInner
          ? Walk(kernel, problem.shape, {{"out", problem.kept}, {"element", problem.reduced}})
          : Walk(kernel, problem.shape, {{"element", problem.reduced}, {"out", problem.kept}});
  printLoad(kernel, elements, "Index element", type, contiguousStrides(problem.shape),
            plan.outs * plan.width);
  Walk outputs(kernel, node.output()->shape(), {{"out", axesFrom(0, node.output()->rank())}});
  printStore(kernel, node, outputs, "Index out", plan.outs);
  kernel.body +=
      str("  reduceTo<Reducer, Team, ", plan.outs, ", ", plan.width, ", ", computeType(type), ", ",
          result, ">(out, ", results, ", ", count, ", load, store);\n");
  return kernel.prepared(
      {.grid = {ceilDiv(problem.results, plan.results()) * Dim(plan.blocks), 1, 1},
       .block = plan.threads,
       .cluster = plan.blocks});
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < plansOf(Problem(node), context).size(); ++i) numbers.push_back(i);
  return numbers;
}

constexpr Kernel kKernels[] = {{"cuda/reduce", isPrinted, prepare, configurations}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::reduce
