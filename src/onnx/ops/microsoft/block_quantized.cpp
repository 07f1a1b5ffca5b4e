// Weights of com.microsoft that are quantised in blocks of a few bits.
#include "onnx/formula.h"
#include "onnx/ops/quantize.h"
#include "onnx/size_rules.h"
#include "ops/gemm_nbits.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

namespace {

// The last dimension of a u8 tensor taken apart into numbers of `bits` bits, lowest bits first.
Value* unpackBits(const NodeImport& node, Value* x, int64_t bits) {
  if (bits == 8) return x;
  if (x->rank() == 0) node.invalid("'", x->name, "' must hold packed rows and is one number");
  const int64_t count = 8 / bits;
  Shape column = x->shape(), whole = x->shape();
  column.push_back(1);
  whole.back() = whole.back() * count;
  std::vector<uint8_t> shifts;
  for (int64_t i = 0; i < count; ++i) shifts.push_back(static_cast<uint8_t>(i * bits));
  Value* shift = node.graph().addConstant<uint8_t>(node.name(), DataType::kU8, {count}, shifts);
  Formula formula;
  const Term byte = formula.input(0, DataType::kU8);
  const Term shifted = formula.apply(ScalarOp::kShiftRight, byte, formula.input(1, DataType::kU8));
  const Term result =
      formula.apply(ScalarOp::kBitAnd, shifted, static_cast<double>((1 << bits) - 1));
  return node.reshape(node.pointwise({node.reshape(x, column), shift}, formula.take(result)),
                      whole);
}

int64_t bitsAttribute(const NodeImport& node) {
  const int64_t bits = node.integer("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) node.unsupported("its bits must be 2, 4 or 8");
  return bits;
}

// One zero point per row and block: packed like the weights, or floating.
Value* zeroPoints(const NodeImport& node, Value* given, int64_t bits, const Shape& shape) {
  if (!given) return nullptr;
  if (given->dataType() == DataType::kU8) {
    if (given->rank() == 0) node.invalid("its zero points are one number");
    if (given->rank() == 1)
      given = node.reshape(given, {shape[0], floorDiv(given->shape()[0], shape[0])});
    given = node.slice(unpackBits(node, given, bits), 1, 0, shape[1]);
  }
  return node.reshape(given, shape);
}

}  // namespace

// a · wT, with w [N, K] stored as [N, blocks, bytes].
void importMatMulNBits(NodeImport& node) {
  const int64_t bits = bitsAttribute(node), blockSize = node.integer("block_size"),
                columns = node.integer("N"), depth = node.integer("K");
  if (blockSize <= 0 || columns <= 0 || depth <= 0)
    node.invalid("its N, K and block_size must be positive");
  if (node.hasInput(4)) node.unsupported("its g_idx is not supported: quantise without reordering");
  if (node.integer("weight_prepacked", 0) != 0)
    node.unsupported(
        "its weights are packed for another runtime: export it with weight_prepacked 0");
  const Dim blocks = ceilDiv(depth, blockSize);
  Value* a = node.input(0, Ranks::from(1));
  requireSize(node, a->shape().back(), "columns", depth);
  Value* packed =
      node.reshape(node.input(1), {columns, blocks, floorDiv(Dim(blockSize) * bits, 8)});
  Value* scales = node.cast(node.reshape(node.input(2), {columns, blocks}), a->dataType());
  MatMulNBitsAttrs attrs;
  attrs.bits = bits;
  attrs.blockSize = blockSize;
  Value* y = node.add(
      &ops::MatMulNBits,
      {a, packed, scales, zeroPoints(node, node.optionalInput(3), bits, {columns, blocks})}, attrs);
  node.setOutput(node.hasInput(5) ? node.binary(ScalarOp::kAdd, y, node.input(5)) : y);
}

// Rows are picked first, of the numbers, the scales and the zero points, and only those are
// dequantised.
void importGatherBlockQuantized(NodeImport& node) {
  Value *data = node.input(0), *indices = node.input(1);
  const bool bytes = data->dataType() == DataType::kU8;
  const int64_t bits = bytes ? bitsAttribute(node) : 4, rank = data->rank();
  Value *scales = node.input(2, rank), *zeroPoints = node.optionalInput(3, rank);
  const int64_t blockSize = node.integer("block_size", 128);
  GatherAttrs gather;
  gather.axis = node.axisAttribute("gather_axis", 0, rank);
  const int64_t axis = node.axisAttribute("quantize_axis", 1, rank);
  if (axis == gather.axis) node.unsupported("it gathers along the axis of its blocks");
  if (bytes && axis != rank - 1)
    node.unsupported("bytes are packed along the last dimension, which must be its quantize_axis");
  const auto pick = [&](Value* x) { return node.add(&ops::Gather, {x, indices}, gather); };
  Value* picked = pick(data);
  Value* scale = pick(scales);
  Value* zero = nullptr;
  if (zeroPoints) {
    zero = pick(zeroPoints);
    if (bytes)
      zero = node.slice(unpackBits(node, zero, bits), zero->rank() - 1, 0, scale->shape().back());
  } else if (bytes) {
    zero = node.scalar(DataType::kU8, static_cast<double>(1 << (bits - 1)));
  }
  if (bytes) picked = unpackBits(node, picked, bits);
  const int64_t pickedAxis = axis > gather.axis ? axis + indices->rank() - 1 : axis;
  node.setOutput(dequantize(node, picked,
                            quantizationOperand(node, scale, picked, pickedAxis, blockSize),
                            quantizationOperand(node, zero, picked, pickedAxis, blockSize)));
}

}  // namespace camshaft::onnx::importer
