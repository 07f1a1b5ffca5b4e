// Layers of darknet's detectors.
#include <utility>

#include "onnx/formula.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size_rules.h"
#include "ops/rules.h"
#include "ops/sample.h"
#include "ops/softmax.h"

namespace camshaft::onnx::importer {

// [N, num * (4 + 1 + classes), H, W]: the place and the objectness of each box go through a
// sigmoid, its classes through a softmax, its size stays.
void importRegion(NodeImport& node) {
  Value* x = node.input(0, 4);
  const int64_t boxes = positiveIn(node, "num", 5), classes = positiveIn(node, "classes", 80);
  if (integerIn(node, "coords", 4) != 4) node.unsupported("a box of it must have 4 coords");
  if (node.has("smTree")) node.unsupported("trees of classes (smTree) are not supported");
  const Shape& shape = x->shape();
  requireSize(node, shape[1], "channels", boxes * (5 + classes));
  Value* split = node.reshape(x, {shape[0], boxes, 5 + classes, shape[2], shape[3]});
  const auto part = [&](int64_t begin, int64_t size) { return node.slice(split, 2, begin, size); };
  SoftmaxAttrs attrs;
  attrs.axis = 2;
  Value* joined = node.concat({node.unary(ScalarOp::kSigmoid, part(0, 2)), part(2, 2),
                               node.unary(ScalarOp::kSigmoid, part(4, 1)),
                               node.add(&ops::Softmax, {part(5, classes)}, attrs)},
                              2);
  node.setOutput(node.reshape(joined, shape));
}

// Darknet's reorg takes the image [C, H, W] for one of [C / s^2, H * s, W * s].
void importReorg(NodeImport& node) {
  Value* x = node.input(0, 4);
  const int64_t s = positiveIn(node, "stride", 2);
  const Shape shape = x->shape();
  for (const auto& [size, by] : {std::pair(shape[1], s * s), {shape[2], s}, {shape[3], s}})
    if (!mayBeEqual(mod(size, by), 0))
      node.invalid("its input ", x->type, " does not go into strides of ", s);
  Value* view = node.reshape(x, {shape[0], floorDiv(shape[1], s * s), shape[2], s, shape[3], s});
  node.setOutput(
      node.reshape(node.transpose(view, {0, 3, 5, 1, 2, 4}),
                   {shape[0], shape[1] * (s * s), floorDiv(shape[2], s), floorDiv(shape[3], s)}));
}

// Every pixel `scale` times.
void importResizeNearest(NodeImport& node) {
  Value* x = node.input(0, 4);
  const double scale = numberIn(node, "scale", 2);
  const auto whole = static_cast<int64_t>(scale);
  if (scale < 1 || static_cast<double>(whole) != scale)
    node.unsupported("its scale must be a whole number and is ", scale);
  ResizeAttrs attrs;
  attrs.coordinates = ResizeCoordinates::kAsymmetric;
  attrs.nearest = ResizeNearest::kFloor;
  const Shape& shape = x->shape();
  attrs.sizes = {shape[0], shape[1], shape[2] * whole, shape[3] * whole};
  attrs.scales = {1, 1, scale, scale};
  node.setOutput(node.add(&ops::Resize, {x}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
