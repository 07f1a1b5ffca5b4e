// Sizes as tensors.
#include "ops/shape.h"

#include "onnx/wire/element_type.h"
#include "onnx/write/printers.h"
#include "support/text.h"

namespace camshaft::onnx::writer {

std::string printShape(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<ShapeAttrs>();
  const Name x = writer.use(node.input(0));
  if (attrs.begin == 0 && attrs.end == node.input(0)->rank()) {
    writer.add("Shape", {x}, {}, node.output());
  } else if (writer.opset() >= 15) {
    writer.add("Shape", {x}, {attribute("start", attrs.begin), attribute("end", attrs.end)},
               node.output());
  } else {
    std::vector<int64_t> which;
    for (int64_t i = attrs.begin; i < attrs.end; ++i) which.push_back(i);
    writer.add("Gather", {writer.add("Shape", {x}), writer.integers(which)},
               {attribute("axis", int64_t{0})}, node.output());
  }
  return {};
}

std::string printDimsTensor(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<DimsTensorAttrs>();
  if (std::string reason = whyNoDims(writer, attrs.values); !reason.empty()) return reason;
  const bool casts = attrs.type != DataType::kI64;
  Name name = writeDims(writer, attrs.values).name;
  if (casts)
    name =
        writer.add("Cast", {name}, {attribute("to", static_cast<int64_t>(onnxCodeOf(attrs.type)))},
                   attrs.scalar ? nullptr : node.output());
  if (attrs.scalar)
    writer.add("Reshape", {name, writer.integers({})}, {}, node.output());
  else if (!casts)
    writer.alias(node.output(), name);
  return {};
}

std::string printRange(GraphWriter& writer, const Node& node) {
  if (writer.opset() < 11) return "opset 11 is the first with Range";
  const DataType type = node.output()->dataType();
  const Dim& count = node.as<RangeAttrs>().count;
  if (std::string reason = whyNoDims(writer, {count}); !reason.empty()) return reason;
  const Name start = writer.use(node.input(0)), delta = writer.use(node.input(1));
  const bool plain = type == DataType::kI64 && node.input(0)->contents && node.input(1)->contents &&
                     node.input(0)->contents->front().isConstant(0) &&
                     node.input(1)->contents->front().isConstant(1);
  if (!plain) return "its limit would have to be computed from start, step and count";
  writer.add("Range", {start, writeDims(writer, {count}, DataType::kI64, true).name, delta}, {},
             node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
