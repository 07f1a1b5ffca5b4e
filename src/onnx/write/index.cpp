// What reads and writes at computed positions.
#include "ops/index.h"

#include "onnx/write/printers.h"

namespace camshaft::onnx::writer {

namespace {

std::string_view nameOf(ScatterReduction reduction) {
  return kScatterReductions[static_cast<size_t>(reduction)];
}

// Sums and products came with opset 16, minima and maxima with 18.
int64_t firstOpsetOf(ScatterReduction reduction) {
  if (reduction == ScatterReduction::kNone) return 11;
  return reduction == ScatterReduction::kAdd || reduction == ScatterReduction::kMul ? 16 : 18;
}

void addAttribute(Attributes& attributes, ScatterReduction reduction) {
  if (reduction != ScatterReduction::kNone)
    attributes.push_back(attribute("reduction", nameOf(reduction)));
}

std::vector<Name> useAll(GraphWriter& writer, const Node& node) {
  std::vector<Name> names;
  for (const Value* input : node.inputs) names.push_back(writer.useOptional(input));
  return names;
}

constexpr const char* kTooOld = "this opset does not have the operator";
constexpr const char* kNarrow = "its indices must be 64-bit integers";

bool isWide(const Node& node, int input) { return node.input(input)->dataType() == DataType::kI64; }

}  // namespace

std::string printGather(GraphWriter& writer, const Node& node) {
  writer.add("Gather", useAll(writer, node), {attribute("axis", node.as<GatherAttrs>().axis)},
             node.output());
  return {};
}

std::string printGatherElements(GraphWriter& writer, const Node& node) {
  if (writer.opset() < 11) return kTooOld;
  writer.add("GatherElements", useAll(writer, node),
             {attribute("axis", node.as<GatherElementsAttrs>().axis)}, node.output());
  return {};
}

std::string printGatherND(GraphWriter& writer, const Node& node) {
  const int64_t batch = node.as<GatherNDAttrs>().batchDims;
  if (writer.opset() < (batch > 0 ? 12 : 11)) return kTooOld;
  if (!isWide(node, 1)) return kNarrow;
  Attributes made;
  if (batch > 0) made.push_back(attribute("batch_dims", batch));
  writer.add("GatherND", useAll(writer, node), std::move(made), node.output());
  return {};
}

std::string printScatterElements(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<ScatterElementsAttrs>();
  if (writer.opset() < firstOpsetOf(attrs.reduction)) return kTooOld;
  Attributes made{attribute("axis", attrs.axis)};
  addAttribute(made, attrs.reduction);
  writer.add("ScatterElements", useAll(writer, node), std::move(made), node.output());
  return {};
}

std::string printScatterND(GraphWriter& writer, const Node& node) {
  const ScatterReduction reduction = node.as<ScatterNDAttrs>().reduction;
  if (node.as<ScatterNDAttrs>().skipsOutside) return "ONNX has no ScatterND that skips places";
  if (writer.opset() < firstOpsetOf(reduction)) return kTooOld;
  if (!isWide(node, 1)) return kNarrow;
  Attributes made;
  addAttribute(made, reduction);
  writer.add("ScatterND", useAll(writer, node), std::move(made), node.output());
  return {};
}

std::string printOneHot(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<OneHotAttrs>();
  if (writer.opset() < 9) return kTooOld;
  const DimsResult depth = writeDims(writer, {attrs.depth}, DataType::kI64, true);
  if (!depth.refusal.empty()) return depth.refusal;
  writer.add("OneHot", {writer.use(node.input(0)), depth.name, writer.use(node.input(1))},
             {attribute("axis", attrs.axis)}, node.output());
  return {};
}

std::string printReverseSequence(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<ReverseSequenceAttrs>();
  if (writer.opset() < 10) return kTooOld;
  if (!isWide(node, 1)) return kNarrow;
  writer.add("ReverseSequence", useAll(writer, node),
             {attribute("batch_axis", attrs.batchAxis), attribute("time_axis", attrs.timeAxis)},
             node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
