// Shape and Size: sizes as tensors.
#include "ops/shape.h"

#include "onnx/node_import.h"
#include "onnx/size.h"

namespace camshaft::onnx::importer {

void importShape(NodeImport& node) {
  Value* x = node.input(0);
  const auto clamp = [&](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + x->rank() : bound, 0, x->rank());
  };
  ShapeAttrs attrs;
  attrs.begin = clamp(node.integer("start", 0));
  attrs.end = std::max(attrs.begin, clamp(node.integer("end", x->rank())));
  node.setOutput(node.add(&ops::Shape, {x}, attrs));
}

void importSize(NodeImport& node) {
  node.setOutput(sizeTensor(node, numElements(node.input(0)->shape())));
}

}  // namespace camshaft::onnx::importer
