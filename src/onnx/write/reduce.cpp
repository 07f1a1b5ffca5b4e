// Reductions, arg-reductions and cumulative sums.
#include "onnx/write/printers.h"
#include "ops/reduce.h"

namespace camshaft::onnx::writer {

namespace {

constexpr std::string_view kReductions[] = {
    "ReduceSum", "ReduceMean", "ReduceMax",       "ReduceMin",    "ReduceProd",
    "ReduceL1",  "ReduceL2",   "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"};

}  // namespace

// Axes moved from attribute to input at opset 13 for ReduceSum and 18 for the others.
Name addReduction(GraphWriter& writer, ReduceKind kind, Name x, std::vector<int64_t> axes,
                  bool keepDims, const Value* result) {
  const std::string_view op = kReductions[static_cast<size_t>(kind)];
  const int64_t since = kind == ReduceKind::kSum ? 13 : 18;
  Attributes made{attribute("keepdims", int64_t{keepDims})};
  if (writer.opset() >= since)
    return writer.add(op, {x, writer.integers(axes)}, std::move(made), result);
  made.push_back(attribute("axes", std::move(axes)));
  return writer.add(op, {x}, std::move(made), result);
}

std::string printReduce(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<ReduceAttrs>();
  if (attrs.axes.empty()) return "it reduces nothing";
  if (node.output()->dataType() != node.input(0)->dataType()) return "its result has another type";
  addReduction(writer, attrs.kind, writer.use(node.input(0)), attrs.axes, attrs.keepDims,
               node.output());
  return {};
}

std::string printArgReduce(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<ArgReduceAttrs>();
  if (attrs.selectLast && writer.opset() < 12) return "opset 12 is the first to select the last";
  Attributes made{attribute("axis", attrs.axis), attribute("keepdims", int64_t{attrs.keepDims})};
  if (attrs.selectLast) made.push_back(attribute("select_last_index", int64_t{1}));
  writer.add(attrs.largest ? "ArgMax" : "ArgMin", {writer.use(node.input(0))}, std::move(made),
             node.output());
  return {};
}

std::string printCumSum(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<CumSumAttrs>();
  if (writer.opset() < (attrs.product ? 26 : 11)) return "this opset has no cumulative sum";
  writer.add(attrs.product ? "CumProd" : "CumSum",
             {writer.use(node.input(0)), writer.scalar(DataType::kI64, 0, attrs.axis)},
             {attribute("exclusive", int64_t{attrs.exclusive}),
              attribute("reverse", int64_t{attrs.reverse})},
             node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
