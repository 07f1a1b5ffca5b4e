#include "onnx/node_import.h"
#include "ops/sample.h"

namespace camshaft::onnx::importer {

void importGridSample(NodeImport& node) {
  // Opset 16 said bilinear and bicubic.
  const int mode =
      node.choice("mode", "linear", {"linear", "nearest", "cubic", "bilinear", "bicubic"});
  GridSampleAttrs attrs;
  attrs.mode = mode == 3   ? GridSampleMode::kLinear
               : mode == 4 ? GridSampleMode::kCubic
                           : static_cast<GridSampleMode>(mode);
  attrs.padding = static_cast<GridSamplePadding>(
      node.choice("padding_mode", "zeros", {"zeros", "border", "reflection"}));
  attrs.alignCorners = node.flag("align_corners");
  node.setOutput(node.add(&ops::GridSample, {node.input(0), node.input(1)}, attrs));
}

}  // namespace camshaft::onnx::importer
