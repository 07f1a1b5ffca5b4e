// Pooling over regions of interest.
#include "ops/roi.h"

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importRoiAlign(NodeImport& node) {
  RoiAlignAttrs attrs;
  attrs.mode = static_cast<RoiAlignMode>(node.choice("mode", "avg", {"avg", "max"}));
  attrs.height = node.integer("output_height", 1);
  attrs.width = node.integer("output_width", 1);
  attrs.samplingRatio = node.integer("sampling_ratio", 0);
  attrs.scale = node.number("spatial_scale", 1);
  // Before opset 16 there was no choice.
  attrs.halfPixel =
      node.opset() >= 16 && node.choice("coordinate_transformation_mode", "half_pixel",
                                        {"half_pixel", "output_half_pixel"}) == 0;
  node.setOutput(
      node.add(&ops::RoiAlign, {node.input(0), node.input(1), node.input(2)}, std::move(attrs)));
}

void importMaxRoiPool(NodeImport& node) {
  const std::vector<int64_t> shape = node.integers("pooled_shape");
  if (shape.size() != 2)
    node.invalid("its pooled_shape must have 2 entries and has ", shape.size());
  RoiMaxPoolAttrs attrs;
  attrs.height = shape[0];
  attrs.width = shape[1];
  attrs.scale = node.number("spatial_scale", 1);
  node.setOutput(node.add(&ops::RoiMaxPool, {node.input(0), node.input(1)}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
