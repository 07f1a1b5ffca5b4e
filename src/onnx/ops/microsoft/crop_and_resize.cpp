// CropAndResize of com.microsoft: boxes sampled to one size.
#include "onnx/ops/crop.h"
#include "onnx/size_rules.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

// Boxes [y1, x1, y2, x2], in fractions of the picture, sampled with corners aligned. What lies
// outside the picture has the value `extrapolation_value`.
void importCropAndResize(NodeImport& node) {
  Value *x = node.input(0, 4), *boxes = node.input(1, 2);
  requireSize(node, boxes->shape()[1], "numbers per box", 4);
  requireShape(node, node.input(2), "list of pictures", {boxes->shape()[0]});
  const std::vector<Dim> size = node.dims(3);
  const auto isPositive = [](const Dim& dim) { return !dim.isConstant() || dim.value() > 0; };
  if (size.size() != 2 || !isPositive(size[0]) || !isPositive(size[1]))
    node.invalid("its crop_size must be two positive numbers");
  Sampling sampling;
  sampling.nearest = node.choice("mode", "bilinear", {"bilinear", "nearest"}) == 1;
  sampling.outside = node.number("extrapolation_value", 0);
  Value* places = cropPlaces(node, boxes, size[0], size[1]);
  Value* pictures = node.add(&ops::Gather, {x, node.input(2, 1)}, GatherAttrs{});
  node.setOutput(samplePlaces(node, pictures, places, sampling));
}

}  // namespace camshaft::onnx::importer
