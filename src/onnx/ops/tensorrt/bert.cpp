// The layers of BERT between attention, whose weights are fields.
#include <algorithm>

#include "onnx/formula.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size_rules.h"
#include "ops/gemm.h"
#include "ops/index.h"
#include "ops/norm.h"

namespace camshaft::onnx::importer {

namespace {

int64_t widthOf(const NodeImport& node, const Value* x) {
  const Dim& width = x->shape()[2];
  if (!width.isConstant()) node.unsupported("the width of its input ", x->type, " must be known");
  return width.value();
}

// Over dimension 2 of [S, B, E] or [S, B, E, 1, 1]. TensorRT's kernels add no epsilon.
Value* normalized(const NodeImport& node, Value* x, std::string_view scale, std::string_view bias) {
  constexpr double kEpsilon = 1e-12;
  const int64_t width = widthOf(node, x);
  const Shape shape = x->shape();
  LayerNormAttrs attrs;
  attrs.axis = 2;
  attrs.epsilon = kEpsilon;
  x = node.reshape(x, {shape[0], shape[1], width});
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
  shape[2] = widthOf(node, x);
  return node.binary(ScalarOp::kAdd, x, constantIn(node, field, x->dataType(), shape));
}

}  // namespace

void importGeluPlugin(NodeImport& node) {
  Value* x = plusField(node, node.input(0, Ranks::from(3)), "bias");
  node.setOutput(node.unary(ScalarOp::kGeluTanh, x));
}

void importSkipLayerNormPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(3));
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

// Words, segments and mask [S, B] to embeddings [S, B, E], normalised, and the number of words of
// each sequence.
void importEmbLayerNorm(NodeImport& node) {
  Value *words = node.input(0, 2), *segments = node.input(1, 2);
  if (node.inputCount() > 3)
    node.unsupported("sequences one after the other (cu_seqlen) are not supported");
  const Shape shape = words->shape();
  const auto columns = [&](std::string_view field) {
    const auto numbers = numbersIn(node, field);
    if (!numbers) node.invalid("it lacks its required field '", field, "'");
    return static_cast<int64_t>(numbers->size());
  };
  const int64_t width = columns("bert_embeddings_layernorm_beta");
  const auto table = [&](std::string_view field) {
    const int64_t rows = columns(field) / std::max<int64_t>(width, 1);
    return constantIn(node, field, DataType::kF32, {rows, width});
  };
  const auto lookUp = [&](std::string_view field, Value* indices) {
    return node.add(&ops::Gather, {table(field), indices}, GatherAttrs{});
  };
  Value* places = node.slice(table("bert_embeddings_position_embeddings"), 0, 0, shape[0]);
  Value* sum = node.binary(ScalarOp::kAdd, lookUp("bert_embeddings_word_embeddings", words),
                           lookUp("bert_embeddings_token_type_embeddings", segments));
  sum = node.binary(ScalarOp::kAdd, sum, node.reshape(places, {shape[0], 1, width}));
  Value* y =
      normalized(node, sum, "bert_embeddings_layernorm_gamma", "bert_embeddings_layernorm_beta");
  const bool isHalf = flagIn(node, "output_fp16");
  node.setOutput(0, isHalf ? node.cast(y, DataType::kF16) : y);
  if (!node.wants(1)) return;
  Value* isWord = node.cast(node.binary(ScalarOp::kEqual, node.input(2, 2), 1.0), DataType::kI32);
  node.setOutput(1, reduce(node, ReduceKind::kSum, isWord, {0}, false));
}

}  // namespace camshaft::onnx::importer
