// Rotary position embedding.
#include "onnx/node_import.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

Value* part(const NodeImport& node, Value* x, Dim start, Dim size, int64_t step) {
  SliceAttrs attrs;
  attrs.axes = {x->rank() - 1};
  attrs.starts = {start};
  attrs.sizes = {size};
  attrs.steps = {step};
  return node.add(&ops::Slice, {x}, std::move(attrs));
}

Value* concatLast(const NodeImport& node, std::vector<Value*> parts) {
  ConcatAttrs attrs;
  attrs.axis = parts[0]->rank() - 1;
  return node.add(&ops::Concat, std::move(parts), attrs);
}

// cos or sin, [positions, half] gathered by position or [batch, length, half] already, with a
// dimension for the heads: [batch, length, 1, half].
Value* angles(const NodeImport& node, Value* cache, const Dim& half) {
  if (node.hasInput(3)) cache = node.add(&ops::Gather, {cache, node.input(3)}, GatherAttrs{});
  if (cache->rank() != 3) node.invalid("its caches need rank 3, or rank 2 with position_ids");
  const Shape shape = cache->shape();
  return node.reshape(part(node, cache, 0, half, 1), {shape[0], shape[1], 1, half});
}

}  // namespace

void importRotaryEmbedding(NodeImport& node) {
  Value* input = node.input(0);
  Value* x = input;  // [batch, length, heads, size]
  const int64_t heads = node.integer("num_heads", 0);
  if (x->rank() == 4) {
    x = node.transpose(x, {0, 2, 1, 3});
  } else {
    if (x->rank() != 3 || heads <= 0)
      node.invalid("its input needs rank 4, or rank 3 with num_heads");
    x = node.reshape(x, {x->shape()[0], x->shape()[1], heads, floorDiv(x->shape()[2], heads)});
  }
  const Dim size = x->shape()[3];
  const int64_t declared = node.integer("rotary_embedding_dim", 0);
  const Dim rotated = declared > 0 ? Dim(declared) : size;
  const Dim half = floorDiv(rotated, 2);
  const bool interleaved = node.flag("interleaved");
  Value* cos = angles(node, node.input(1), half);
  Value* sin = angles(node, node.input(2), half);
  Value* real = part(node, x, 0, half, interleaved ? 2 : 1);
  Value* imaginary = interleaved ? part(node, x, 1, half, 2) : part(node, x, half, half, 1);
  const auto mul = [&](Value* a, Value* b) { return node.binary(ScalarOp::kMul, a, b); };
  Value* newReal = node.binary(ScalarOp::kSub, mul(real, cos), mul(imaginary, sin));
  Value* newImaginary = node.binary(ScalarOp::kAdd, mul(real, sin), mul(imaginary, cos));
  Value* y;
  if (interleaved) {
    Shape column = newReal->shape();
    column.push_back(1);
    Shape whole = newReal->shape();
    whole.back() = rotated;
    y = node.reshape(
        concatLast(node, {node.reshape(newReal, column), node.reshape(newImaginary, column)}),
        whole);
  } else {
    y = concatLast(node, {newReal, newImaginary});
  }
  if (!(rotated == size)) y = concatLast(node, {y, part(node, x, rotated, size - rotated, 1)});
  node.setOutput(input->rank() == 4 ? node.transpose(y, {0, 2, 1, 3})
                                    : node.reshape(y, input->shape()));
}

}  // namespace camshaft::onnx::importer
