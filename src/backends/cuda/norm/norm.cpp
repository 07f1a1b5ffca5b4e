#include "ops/norm.h"

#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/row_plan.h"
#include "ops/window.h"
#include "support/text.h"

namespace camshaft::cuda::norm {
namespace {

// A normalisation as one of rows: the elements that share a mean and a variance. They are what an
// expression makes of the node's first inputs; one input as it is, but for PointwiseNorm.
struct Problem {
  Shape shape;
  Expr expr;
  std::vector<WalkPart> parts = {};  // "row" and "column"
  size_t channelAxis = 0;            // of a GroupNorm, split into [groups, groupChannels]
  Dim groupChannels = 0;             // 0: nothing is split
  Dim rows = 0, size = 0;            // size: of a row
  int width = 1;
  bool rowsTogether = false;
  bool rms = false;
  int valueOutput = 0;   // for what is normalised; 0: nowhere
  int resultOutput = 0;  // for the result before its epilogue
  double epsilon = 0;

  DataType type() const { return expr.resultType(); }
  int operands() const { return expr.inputCount(); }
  int scaleInput() const { return operands(); }
  int biasInput() const { return operands() + 1; }
  Walk walk(KernelText& kernel) const {
    Walk walk(kernel, shape, parts);
    if (!groupChannels.isConstant(0)) walk.split(channelAxis, groupChannels);
    return walk;
  }
  // Of a scale or bias.
  std::vector<Dim> stridesOf(const Value& operand) const {
    if (groupChannels.isConstant(0)) return broadcastStrides(operand.shape(), shape);
    std::vector<Dim> strides(shape.size(), Dim(0));
    strides[channelAxis] = 1;
    return strides;
  }
};

Expr inputAsItIs(const Node& node) {
  Expr expr;
  expr.input(0, node.input(0)->dataType());
  return expr;
}

// The narrowest operand decides, so that its accesses are whole.
int widthFor(const Dim& size, const Node& node, int operands) {
  int width = 1;
  for (int i = 0; i < operands; ++i)
    width = std::max(width, vectorWidth(node.input(i)->dataType(), {size}, kMostComputed));
  return width;
}

// Of LayerNormAttrs and PointwiseNormAttrs.
template <class Attrs>
Problem lastAxesProblem(const Node& node, const Attrs& attrs, Expr expr) {
  const Shape& shape = node.output()->shape();
  const auto axis = shape.begin() + attrs.axis;
  Problem problem{.shape = shape, .expr = std::move(expr)};
  problem.rms = attrs.rms;
  problem.epsilon = attrs.epsilon;
  problem.parts = {{"row", axesFrom(0, attrs.axis)},
                   {"column", axesFrom(attrs.axis, shape.size())}};
  problem.rows = numElements({shape.begin(), axis});
  problem.size = numElements({axis, shape.end()});
  problem.width = widthFor(problem.size, node, problem.operands());
  return problem;
}

// Dimensions as the walk sees them: [n, group, channel, space...] or [n, space..., group, channel].
Problem groupNormProblem(const Node& node) {
  const auto& attrs = node.as<GroupNormAttrs>();
  const Shape& shape = node.input(0)->shape();
  const ImageLayout layout{attrs.channelsLast, static_cast<int64_t>(shape.size())};
  Problem problem{.shape = shape, .expr = inputAsItIs(node)};
  problem.epsilon = attrs.epsilon;
  problem.channelAxis = layout.channelAxis();
  const Dim channels = shape[problem.channelAxis];
  const Dim groups = attrs.groups == 0 ? channels : Dim(attrs.groups);
  const Dim space = numElements(layout.spatial(shape));
  problem.groupChannels = attrs.groups == 0 ? Dim(1) : floorDiv(channels, groups);
  problem.rows = shape[0] * groups;
  problem.size = problem.groupChannels * space;

  const size_t group = problem.channelAxis, rank = shape.size();
  std::vector<size_t> columns = axesFrom(layout.spatialAxis(0) + !attrs.channelsLast,
                                         layout.spatialAxis(0) + !attrs.channelsLast + rank - 2);
  columns.insert(attrs.channelsLast ? columns.end() : columns.begin(), group + 1);
  problem.parts = {{"row", {0, group}}, {"column", columns}};
  problem.width = widthFor(attrs.channelsLast ? problem.groupChannels : space, node, 1);
  // Short runs of channels are shared by neighbouring groups.
  problem.rowsTogether = attrs.channelsLast && problem.width == 1 && !space.isConstant(1) &&
                         problem.groupChannels.isConstant() && problem.groupChannels.value() < 8;
  return problem;
}

Problem problemOf(const Node& node) {
  if (node.op == &ops::GroupNorm) return groupNormProblem(node);
  if (node.op == &ops::LayerNorm)
    return lastAxesProblem(node, node.as<LayerNormAttrs>(), inputAsItIs(node));
  const auto& attrs = node.as<PointwiseNormAttrs>();
  Problem problem = lastAxesProblem(node, attrs, attrs.expr);
  if (attrs.keepsValue) problem.valueOutput = attrs.valueOutput();
  if (attrs.keepsResult) problem.resultOutput = attrs.resultOutput();
  return problem;
}

std::vector<RowPlan> plansOf(const Problem& problem) {
  return rowPlans(problem.size, problem.width, problem.rowsTogether);
}

// Prints `load`, which computes what is normalised.
void printOperands(KernelText& kernel, const Node& node, const Problem& problem, Walk& walk) {
  kernel.body += str("  const auto load = [&](Index column, ", computeType(problem.type()),
                     " (&values)[", problem.width, "]) {\n");
  std::vector<std::string> values;
  for (int i = 0; i < problem.operands(); ++i)
    values.push_back(walk.load(str("x", i), broadcastStrides(node.input(i)->shape(), problem.shape),
                               problem.width, str("part", i)));
  kernel.body +=
      str("#pragma unroll\n    for (int lane = 0; lane < ", problem.width, "; ++lane) {\n");
  const std::string value = printExpr(problem.expr, values, "v", kernel.body);
  kernel.body += str("    values[lane] = ", value, ";\n    }\n  };\n");
}

// Prints `finish`, which scales and shifts normalised values and makes elements of them, and
// `keep`, which stores those; both keep what is asked for.
void printFinish(KernelText& kernel, const Node& node, const Problem& problem, Walk& walk) {
  const std::string_view type = computeType(problem.type());
  const int width = problem.width;
  const std::string lanes =
      str("#pragma unroll\n    for (int lane = 0; lane < ", width, "; ++lane) ");
  printStore(kernel, node, walk, "Index column", width);
  kernel.body +=
      str("  const auto finish = [&](Index column, ", type, " (&results)[", width, "]) {\n");
  std::string result = "results[lane]";
  if (const Value* scale = node.input(problem.scaleInput()))
    result +=
        str(" * ", type, "(", walk.load("scale", problem.stridesOf(*scale), width, "scales"), ")");
  if (const Value* bias = node.input(problem.biasInput()))
    result +=
        str(" + ", type, "(", walk.load("bias", problem.stridesOf(*bias), width, "biases"), ")");
  const auto keep = [&](std::string_view output, std::string_view elements) {
    kernel.body += str("    writeElements<", width, ">(", output, " + (",
                       walk.position(contiguousStrides(problem.shape)), "), toElements<",
                       storageType(problem.type()), ">(", elements, "));\n");
  };
  kernel.body += str(lanes, "results[lane] = ", result, ";\n");
  if (problem.resultOutput) keep("plain", "results");
  kernel.body += str("    return store.elementsOf(column, results);\n  };\n",
                     "  const auto keep = [&](Index column, const ", type, " (&values)[", width,
                     "], const auto& elements) {\n");
  if (problem.valueOutput) keep("value", "values");
  kernel.body += "    store.write(column, elements);\n  };\n";
}

Verdict supports(const Node& node, const BuildContext&) {
  std::string reason = whyNotPrinted(node);
  if (reason.empty()) reason = whyNotPrinted(problemOf(node).expr);
  return Verdict{reason};
}

std::string nameOf(const Node& node, const Problem& problem) {
  const std::string_view kind = node.op == &ops::GroupNorm ? "group_norm_"
                                : problem.rms              ? "rms_norm_"
                                                           : "layer_norm_";
  return str(node.op == &ops::PointwiseNorm ? "pointwise_" : "", kind, problem.type(), "_x",
             problem.width);
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Problem problem = problemOf(node);
  const RowPlan plan = plansOf(problem)[config];
  const DataType wide = problem.type() == DataType::kF64 ? DataType::kF64 : DataType::kF32;

  KernelText kernel(nameOf(node, problem), node, context);
  for (int i = 0; i < problem.operands(); ++i) kernel.input(str("x", i), i);
  if (node.hasInput(problem.scaleInput())) kernel.input("scale", problem.scaleInput());
  if (node.hasInput(problem.biasInput())) kernel.input("bias", problem.biasInput());
  declareEpilogue(kernel, node);
  kernel.output("y");
  if (problem.valueOutput) kernel.output("value", problem.valueOutput);
  if (problem.resultOutput) kernel.output("plain", problem.resultOutput);
  printTeam(kernel, plan, problem.rows);
  kernel.include("norm/norm.cuh");
  Walk walk = problem.walk(kernel);
  printOperands(kernel, node, problem, walk);
  printFinish(kernel, node, problem, walk);
  printRow(kernel, plan, problem.size, problem.type(), problem.width);
  kernel.body += str("  normaliseRow<", problem.rms, ", Team, ", computeType(problem.type()), ", ",
                     problem.width, ">(values, isRow, ", kernel.size(problem.size), ", ",
                     literal(problem.epsilon, wide), ", finish, keep);\n");
  return kernel.prepared(
      {.grid = {ceilDiv(problem.rows, plan.rows()), 1, 1}, .block = plan.threads});
}

// A row is read before any of it is written, and extra inputs by the thread that then writes in
// their place.
bool inPlace(const Node& node, int input) {
  const bool isScaleOrBias = input >= problemOf(node).operands() && input < node.ownInputs();
  return !isScaleOrBias && node.inputs[input]->type == node.output()->type;
}

std::vector<int64_t> configurations(const Node& node, const BuildContext&) {
  return numbersOf(plansOf(problemOf(node)));
}

constexpr Kernel kKernels[] = {{"cuda/norm", supports, prepare, configurations, inPlace}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::norm
