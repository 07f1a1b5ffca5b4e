// What samples between elements.
#include "onnx/write/printers.h"
#include "ops/sample.h"

namespace camshaft::onnx::writer {

std::string printGridSample(GraphWriter& writer, const Node& node) {
  constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
  constexpr std::string_view kModesBefore20[] = {"bilinear", "nearest", "bicubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  const auto& attrs = node.as<GridSampleAttrs>();
  const bool isOld = writer.opset() < 20;
  if (writer.opset() < 16 || (isOld && node.input(0)->rank() != 4))
    return "this opset does not sample such pictures";
  const size_t mode = static_cast<size_t>(attrs.mode);
  writer.add("GridSample", {writer.use(node.input(0)), writer.use(node.input(1))},
             {attribute("mode", isOld ? kModesBefore20[mode] : kModes[mode]),
              attribute("padding_mode", kPaddings[static_cast<size_t>(attrs.padding)]),
              attribute("align_corners", int64_t{attrs.alignCorners})},
             node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
