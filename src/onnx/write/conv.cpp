// Convolutions.
#include "onnx/write/printers.h"
#include "ops/conv.h"

namespace camshaft::onnx::writer {

namespace {

Attributes windowOf(const auto& attrs, const Value* weights) {
  const Shape kernel(weights->shape().begin() + 2, weights->shape().end());
  Attributes made{attribute("group", attrs.groups),
                  attribute("pads", joined(attrs.padsBegin, attrs.padsEnd)),
                  attribute("strides", attrs.strides), attribute("dilations", attrs.dilations)};
  if (isStatic(kernel)) made.push_back(attribute("kernel_shape", staticDims(kernel)));
  return made;
}

std::vector<Name> operandsOf(GraphWriter& writer, const Node& node) {
  return {writer.use(node.input(0)), writer.use(node.input(1)), writer.useOptional(node.input(2))};
}

}  // namespace

std::string printConv(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<ConvAttrs>();
  if (attrs.channelsLast) return "its layout has channels last";
  writer.add("Conv", operandsOf(writer, node), windowOf(attrs, node.input(1)), node.output());
  return {};
}

std::string printConvTranspose(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<ConvTransposeAttrs>();
  if (attrs.channelsLast) return "its layout has channels last";
  Attributes made = windowOf(attrs, node.input(1));
  made.push_back(attribute("output_padding", attrs.outputPadding));
  writer.add("ConvTranspose", operandsOf(writer, node), std::move(made), node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
