// Pooling over regions of interest.
#include "onnx/write/printers.h"
#include "ops/roi.h"

namespace camshaft::onnx::writer {

std::string printRoiAlign(GraphWriter& writer, const Node& node) {
  constexpr std::string_view kModes[] = {"avg", "max"};
  const auto& attrs = node.as<RoiAlignAttrs>();
  const bool saysWhere = writer.opset() >= 16;  // before, pixel centres are at whole numbers
  if (writer.opset() < 10 || (attrs.halfPixel && !saysWhere))
    return "this opset does not place pixels so";
  if (node.input(2)->dataType() != DataType::kI64) return "its indices must be 64-bit integers";
  Attributes made{attribute("mode", kModes[static_cast<size_t>(attrs.mode)]),
                  attribute("output_height", attrs.height), attribute("output_width", attrs.width),
                  attribute("sampling_ratio", attrs.samplingRatio),
                  attribute("spatial_scale", attrs.scale)};
  if (saysWhere)
    made.push_back(
        attribute("coordinate_transformation_mode",
                  std::string_view(attrs.halfPixel ? "half_pixel" : "output_half_pixel")));
  writer.add("RoiAlign",
             {writer.use(node.input(0)), writer.use(node.input(1)), writer.use(node.input(2))},
             std::move(made), node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
