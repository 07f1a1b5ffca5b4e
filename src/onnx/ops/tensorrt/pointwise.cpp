// Activations, and plugins that move or choose elements.
#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/rules.h"

namespace camshaft::onnx::importer {

void importLeakyReluPlugin(NodeImport& node) {
  Value* x = node.input(0);
  Formula formula;
  const Term term = formula.input(0, x->dataType());
  const Term result = where(term < 0, term * numberIn(node, "negSlope", 0), term);
  node.setOutput(node.pointwise({x}, formula.take(result)));
}

void importClipPlugin(NodeImport& node) {
  Value* x = node.input(0);
  Formula formula;
  const Term low = larger(formula.input(0, x->dataType()), numberIn(node, "clipMin", 0));
  const Term result = smaller(low, numberIn(node, "clipMax", 0));
  node.setOutput(node.pointwise({x}, formula.take(result)));
}

// The first half of the columns, times GELU of the second.
void importSplitGeluPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(1));
  const Dim& columns = x->shape().back();
  if (!mayBeEqual(mod(columns, 2), 0)) node.invalid("its input ", x->type, " has no two halves");
  const Dim half = floorDiv(columns, 2);
  Value* gate = node.unary(ScalarOp::kGelu, node.slice(x, x->rank() - 1, half, half));
  node.setOutput(node.binary(ScalarOp::kMul, node.slice(x, x->rank() - 1, 0, half), gate));
}

// Tokens [N, H * W, C], plus a bias [C] and a residual like them, in the shape [N, C, H, W] of a
// picture.
void importTokensToPicture(NodeImport& node) {
  Value* x = node.binary(ScalarOp::kAdd, node.input(0, 3), node.input(1));
  x = node.binary(ScalarOp::kAdd, x, node.input(2));
  Value* picture = node.input(3, 4);
  const Dim &rows = picture->shape()[2], &columns = picture->shape()[3];
  const Shape& shape = x->shape();
  requireSize(node, shape[1], "tokens", rows * columns);
  Value* pixels = node.reshape(x, {shape[0], rows, columns, shape[2]});
  node.setOutput(node.transpose(pixels, {0, 3, 1, 2}));
}

// Channels with each pixel's row and column, from -1 to 1, behind the others.
void importCoordConv(NodeImport& node) {
  Value* x = node.input(0, 4);
  const Shape& shape = x->shape();
  const auto coordinates = [&](const Dim& size, Shape along) {
    Formula formula;
    const Term steps = larger(cast(formula.input(1, DataType::kI64) - 1, DataType::kF32), 1);
    const Term place = formula.input(0, DataType::kF32) / steps * 2.0 - 1.0;
    Value* line = node.pointwise({counting(node, DataType::kF32, size), sizeTensor(node, size)},
                                 formula.take(place));
    line = node.cast(node.reshape(line, std::move(along)), x->dataType());
    return node.expand(line, {shape[0], 1, shape[2], shape[3]});
  };
  node.setOutput(node.concat(
      {x, coordinates(shape[2], {1, 1, shape[2], 1}), coordinates(shape[3], {1, 1, 1, shape[3]})},
      1));
}

// Every input flattened, side by side.
void importFlattenConcat(NodeImport& node) {
  std::vector<Value*> parts;
  for (int i = 0; i < node.inputCount(); ++i) {
    Value* x = node.input(i, Ranks::from(2));
    const Dim rest = numElements({x->shape().begin() + 1, x->shape().end()});
    parts.push_back(node.reshape(x, {x->shape()[0], rest, 1, 1}));
  }
  if (integerIn(node, "axis", 1) != 1) node.unsupported("its axis must be 1");
  node.setOutput(node.concat(std::move(parts), 1));
}

// The second input, once for each image of the first.
void importBatchTile(NodeImport& node) {
  Value *batches = node.input(0, Ranks::from(1)), *x = node.input(1, Ranks::from(1));
  requireSize(node, x->shape()[0], "images to repeat", 1);
  Shape shape = x->shape();
  shape[0] = batches->shape()[0];
  node.setOutput(node.expand(x, std::move(shape)));
}

// ONNX's TopK with a known k, and indices of 32 bits.
void importTopkPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(1));
  TopKAttrs attrs;
  attrs.axis = node.axis(integerIn(node, "axis", -1), x->rank());
  attrs.k = positiveIn(node, "k", 0);
  attrs.largest = flagIn(node, "is_largest", true);
  const Node* top = node.addNode(&ops::TopK, {x}, std::move(attrs));
  node.setOutput(0, top->output(0));
  node.setOutput(1, node.cast(top->output(1), DataType::kI32));
}

}  // namespace camshaft::onnx::importer
