// The layers of BERT between attention, whose weights are fields.
#include <algorithm>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/tensorrt/packed_sequences.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size_rules.h"
#include "ops/gemm.h"
#include "ops/index.h"
#include "ops/norm.h"

namespace camshaft::onnx::importer {

namespace {

// Words are [S, B, E] or [S, B, E, 1, 1], or one sequence after the other, [words, E, 1, 1].
size_t widthAxis(const Value* x) { return x->rank() == 4 ? 1 : 2; }

int64_t widthOf(const NodeImport& node, const Value* x) {
  const Dim& width = x->shape()[widthAxis(x)];
  if (!width.isConstant()) node.unsupported("the width of its input ", x->type, " must be known");
  return width.value();
}

// TensorRT's kernels add no epsilon.
Value* normalized(const NodeImport& node, Value* x, std::string_view scale, std::string_view bias) {
  constexpr double kEpsilon = 1e-12;
  const int64_t width = widthOf(node, x);
  const Shape shape = x->shape();
  const size_t axis = widthAxis(x);
  LayerNormAttrs attrs;
  attrs.axis = static_cast<int64_t>(axis);
  attrs.epsilon = kEpsilon;
  x = node.reshape(x, {shape.begin(), shape.begin() + static_cast<int64_t>(axis) + 1});
  Value* y = node.add(&ops::LayerNorm,
                      {x, constantIn(node, scale, x->dataType(), {width}),
                       constantIn(node, bias, x->dataType(), {width})},
                      attrs);
  return node.reshape(y, shape);
}

// A field of one number per column, to be added to x.
Value* plusField(const NodeImport& node, Value* x, std::string_view field) {
  if (!node.has(field)) return x;
  Dims shape(static_cast<size_t>(x->rank()), 1);
  shape[widthAxis(x)] = widthOf(node, x);
  return node.binary(ScalarOp::kAdd, x, constantIn(node, field, x->dataType(), shape));
}

}  // namespace

void importGeluPlugin(NodeImport& node) {
  Value* x = plusField(node, node.input(0, Ranks::from(3)), "bias");
  node.setOutput(node.unary(ScalarOp::kGeluTanh, x));
}

void importSkipLayerNormPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(3));
  if (!isFloat(x->dataType()))
    node.unsupported("its input is ", x->type,
                     ": version 3, 4, 7 and 8 of it, on interleaved 8-bit integers, are not there; "
                     "use version 2 or 6 between DequantizeLinear and QuantizeLinear");
  Value* sum = plusField(node, node.binary(ScalarOp::kAdd, x, node.input(1)), "bias");
  node.setOutput(normalized(node, sum, "gamma", "beta"));
}

// [S, B, K, 1, 1] times W, [K, out_dims].
void importFcPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(3));
  const int64_t columns = positiveIn(node, "out_dims", 0), rows = widthOf(node, x);
  Shape shape = x->shape();
  Value* weights = constantIn(node, "W", x->dataType(), {rows, columns});
  Value* flat = node.reshape(x, {shape[0] * shape[1], rows});
  shape[2] = columns;
  node.setOutput(node.reshape(node.add(&ops::MatMul, {flat, weights}, MatMulAttrs{}), shape));
}

namespace {

int64_t columnsIn(const NodeImport& node, std::string_view field) {
  const auto numbers = numbersIn(node, field);
  if (!numbers) node.invalid("it lacks its required field '", field, "'");
  return static_cast<int64_t>(numbers->size());
}

// Rows of a field that is a table of this width.
Value* lookUp(const NodeImport& node, std::string_view field, int64_t width, Value* indices) {
  const int64_t rows = columnsIn(node, field) / std::max<int64_t>(width, 1);
  Value* table = constantIn(node, field, DataType::kF32, {rows, width});
  return node.add(&ops::Gather, {table, indices}, GatherAttrs{});
}

}  // namespace

// Words and segments, [S, B] or, with the places where sequences begin, one after the other,
// [words], to embeddings [S, B, E] or [words, E, 1, 1], normalised. The second output is the number
// of words of each sequence, from a mask like the words; of sequences one after the other it is
// nothing (version 2 and 4) or the sum before it is normalised (version 3 and 5).
void importEmbLayerNorm(NodeImport& node) {
  const bool isPacked = node.inputCount() > 3;
  const Ranks rank = isPacked ? 1 : 2;
  Value *words = node.input(0, rank), *segments = node.input(1, rank);
  const Shape shape = words->shape();
  const int64_t width = columnsIn(node, "bert_embeddings_layernorm_beta");
  Value* places = isPacked ? placesInSequences(node, node.input(2, 1), shape[0])
                           : node.reshape(counting(node, DataType::kI64, shape[0]), {shape[0], 1});
  Value* sum =
      node.binary(ScalarOp::kAdd, lookUp(node, "bert_embeddings_word_embeddings", width, words),
                  lookUp(node, "bert_embeddings_token_type_embeddings", width, segments));
  sum = node.binary(ScalarOp::kAdd, sum,
                    lookUp(node, "bert_embeddings_position_embeddings", width, places));
  if (isPacked) sum = node.reshape(sum, {shape[0], width, 1, 1});
  Value* y =
      normalized(node, sum, "bert_embeddings_layernorm_gamma", "bert_embeddings_layernorm_beta");
  const DataType type = flagIn(node, "output_fp16") ? DataType::kF16 : DataType::kF32;
  node.setOutput(0, node.cast(y, type));
  if (!node.wants(1)) return;
  if (isPacked) {
    const std::string version = versionIn(node);
    const bool givesSum = version == "3" || version == "5";
    node.setOutput(1, givesSum ? node.cast(sum, type) : node.scalar(type, 0));
    return;
  }
  Value* isWord = node.cast(node.binary(ScalarOp::kEqual, node.input(2, 2), 1.0), DataType::kI32);
  node.setOutput(1, reduce(node, ReduceKind::kSum, isWord, {0}, false));
}

}  // namespace camshaft::onnx::importer
