// Normalisations.
#include "onnx/write/printers.h"
#include "ops/norm.h"
#include "ops/reduce.h"

namespace camshaft::onnx::writer {

namespace {

Name filled(GraphWriter& writer, const TensorType& type, double value) {
  const int64_t count = numElements(type.shape).value();
  std::vector<std::byte> bytes(bytesOf(type.type, count));
  for (int64_t i = 0; i < count; ++i) writeElement(type.type, bytes.data(), i, value);
  return writer.initializer(writer.newName("filled"), type, ConstantData::own(std::move(bytes)));
}

// x / sqrt(mean(x*x) + epsilon) * scale
void printRms(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<LayerNormAttrs>();
  const Value* x = node.input(0);
  const Name input = writer.use(x);
  std::vector<int64_t> axes;
  for (int64_t axis = attrs.axis; axis < x->rank(); ++axis) axes.push_back(axis);
  const Name square = writer.add("Mul", {input, input});
  const Name mean = addReduction(writer, ReduceKind::kMean, square, axes, true);
  const Name moved = writer.add("Add", {mean, writer.scalar(x->dataType(), attrs.epsilon)});
  std::vector<Name> division{input, writer.add("Sqrt", {moved})};
  const Value *scale = node.input(1), *bias = node.input(2);
  Name result = writer.add("Div", division, {}, scale || bias ? nullptr : node.output());
  if (scale)
    result = writer.add("Mul", {result, writer.use(scale)}, {}, bias ? nullptr : node.output());
  if (bias) writer.add("Add", {result, writer.use(bias)}, {}, node.output());
}

// Before GroupNormalization: each group is an instance, then scale and bias per channel.
std::string printGroups(GraphWriter& writer, const Node& node, Name scale, Name bias) {
  const auto& attrs = node.as<GroupNormAttrs>();
  const Value* x = node.input(0);
  if (std::string reason = whyNoDims(writer, x->shape()); !reason.empty()) return reason;
  const TensorType perGroup{x->dataType(), {attrs.groups}};
  const Name grouped =
      writer.add("Reshape", {writer.use(x), writer.integers({0, attrs.groups, -1})});
  const Name normal = writer.add(
      "InstanceNormalization", {grouped, filled(writer, perGroup, 1), filled(writer, perGroup, 0)},
      {attribute("epsilon", attrs.epsilon)});
  const Name restored = writer.add("Reshape", {normal, writeDims(writer, x->shape()).name});
  std::vector<int64_t> channels(static_cast<size_t>(x->rank() - 1), 1);
  channels[0] = -1;
  const Name column = writer.integers(channels);
  const Name scaled = writer.add("Mul", {restored, writer.add("Reshape", {scale, column})});
  writer.add("Add", {scaled, writer.add("Reshape", {bias, column})}, {}, node.output());
  return {};
}

}  // namespace

std::string printLayerNorm(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<LayerNormAttrs>();
  const Value* x = node.input(0);
  const bool hasOperator = writer.opset() >= (attrs.rms ? 23 : 17);
  if (attrs.rms && (!hasOperator || node.input(2))) {
    printRms(writer, node);
    return {};
  }
  if (!hasOperator) return "opset 17 is the first with LayerNormalization";
  Name scale = writer.useOptional(node.input(1));
  if (!node.input(1)) {
    const Shape sizes(x->shape().begin() + attrs.axis, x->shape().end());
    if (!isStatic(sizes)) return "it has no scale, and its sizes are not known";
    scale = filled(writer, {x->dataType(), sizes}, 1);
  }
  writer.add(attrs.rms ? "RMSNormalization" : "LayerNormalization",
             {writer.use(x), scale, writer.useOptional(node.input(2))},
             {attribute("axis", attrs.axis), attribute("epsilon", attrs.epsilon)}, node.output());
  return {};
}

std::string printGroupNorm(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<GroupNormAttrs>();
  const Value* x = node.input(0);
  const Dim& channels = x->shape()[1];
  if (attrs.channelsLast) return "its layout has channels last";
  if (!channels.isConstant()) return "its number of channels is not known";
  const TensorType perChannel{x->dataType(), {channels}};
  const Name scale = node.input(1) ? writer.use(node.input(1)) : filled(writer, perChannel, 1);
  const Name bias = node.input(2) ? writer.use(node.input(2)) : filled(writer, perChannel, 0);
  const bool instances = attrs.groups == 0 || channels.isConstant(attrs.groups);
  if (!instances && writer.opset() < 21) return printGroups(writer, node, scale, bias);
  Attributes made{attribute("epsilon", attrs.epsilon)};
  if (!instances) made.push_back(attribute("num_groups", attrs.groups));
  writer.add(instances ? "InstanceNormalization" : "GroupNormalization",
             {writer.use(x), scale, bias}, std::move(made), node.output());
  return {};
}

std::string printLrn(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<LrnAttrs>();
  writer.add("LRN", {writer.use(node.input(0))},
             {attribute("size", attrs.size), attribute("alpha", attrs.alpha),
              attribute("beta", attrs.beta), attribute("bias", attrs.bias)},
             node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
