// Products of a few rows with weights of a few bits normalise what they read.
//
//   %n = LayerNorm(%x, %f) {rms}                      // [..., K], read by such products alone
//   %y = MatMulNBits(%n, %w, %s)
//   →
//   %y = MatMulNBits(%x, %w, %s, _, %f) {rms}
//
// also where models widen x for the norm and narrow its result. As for gates (fuse_gates), one
// kernel less is memory that does not wait: each block normalises the rows for itself while its
// first weights come.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/gemm_nbits.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/weight_streams.h"

namespace camshaft {

constexpr size_t kMostReaders = 2;  // each does the work again

namespace {

struct RowNorm {
  Value *x = nullptr, *factors = nullptr;  // factors may be none
  Value* result = nullptr;
};

}  // namespace

static bool isPlain(const Node* node) {
  return node && node->op == &ops::Pointwise && !node->epilogue;
}

static bool isCast(const Node* node) {
  return isPlain(node) && node->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kCast);
}

// Takes in what makes a result of f32 one of fewer bits, times constants of these.
static void takeNarrowing(const Graph& graph, RowNorm& norm) {
  const Node* reader = soleUser(graph, norm.result);
  if (isCast(reader)) {
    norm.result = reader->output();
    return;
  }
  if (!isPlain(reader) || reader->inputs.size() != 2 || norm.factors) return;
  const auto& code = reader->as<PointwiseAttrs>().expr.code();
  if (code.size() != 4 || code[3].op != ScalarOp::kMul) return;
  const bool isFirst = code[code[3].a].op == ScalarOp::kCast;
  const ScalarInstruction &cast = code[isFirst ? code[3].a : code[3].b],
                          &other = code[isFirst ? code[3].b : code[3].a];
  if (cast.op != ScalarOp::kCast || other.op != ScalarOp::kInput) return;
  if (reader->inputs[code[cast.a].a] != norm.result) return;
  norm.factors = reader->inputs[other.a];
  norm.result = reader->output();
}

static bool areFactors(const Value* value, const Dim& depth) {
  return value->isConstant() && value->shape() == Shape{depth} &&
         value->dataType() != DataType::kF64;
}

// As products take it; without a result where they do not.
static RowNorm rowNormOf(const Graph& graph, const Node& node) {
  const auto& attrs = node.as<LayerNormAttrs>();
  const int64_t rank = node.input(0)->rank();
  if (!attrs.rms || attrs.axis != rank - 1 || node.epilogue || node.hasInput(2)) return {};
  RowNorm norm{.x = node.input(0), .factors = node.input(1), .result = node.output()};
  if (norm.x->dataType() == DataType::kF32 && isCast(norm.x->producer)) {
    norm.x = norm.x->producer->input(0);
    takeNarrowing(graph, norm);
  }
  const bool isTaken = norm.x->type == norm.result->type && !graph.isOutput(norm.result) &&
                       (!norm.factors || areFactors(norm.factors, norm.x->shape().back()));
  return isTaken ? norm : RowNorm{};
}

static bool takesNorm(const Graph& graph, const Node& product, const Value* result,
                      const PassOptions& options) {
  return isWeightStream(graph, product, options) && !product.as<MatMulNBitsAttrs>().rms &&
         !product.epilogue && product.input(0) == result;
}

static void normaliseIn(Graph& graph, Node* product, const RowNorm& norm, const Node& from) {
  MatMulNBitsAttrs attrs = product->as<MatMulNBitsAttrs>();
  attrs.rms = true;
  attrs.epsilon = from.as<LayerNormAttrs>().epsilon;
  std::vector<Value*> inputs = product->inputs;
  inputs[0] = norm.x;
  if (norm.factors) {
    inputs.resize(5);
    inputs[4] = norm.factors;
  }
  Node* fused =
      graph.add(&ops::MatMulNBits, product->name, std::move(inputs), std::move(attrs), product);
  mergeOrigins(fused, &from);
  mergeOrigins(fused, norm.result->producer);
  replaceValue(graph, product->output(), fused->output());
}

static bool fusePrologue(Graph& graph, const Node* node, const PassOptions& options) {
  const RowNorm norm = rowNormOf(graph, *node);
  if (!norm.result) return false;
  const std::vector<Node*> readers(norm.result->users.begin(), norm.result->users.end());
  const bool areProducts = std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
    return takesNorm(graph, *reader, norm.result, options);
  });
  if (readers.empty() || readers.size() > kMostReaders || !areProducts) return false;
  for (Node* reader : readers) normaliseIn(graph, reader, norm, *node);
  return true;
}

bool fusePrologues(Graph& graph, const PassOptions& options) {
  if (options.fusion.streamedElements == 0) return false;
  std::vector<Node*> norms = graph.nodeList();  // alone: readers go
  std::erase_if(norms, [](const Node* node) { return node->op != &ops::LayerNorm; });
  bool changed = false;
  for (const Node* norm : norms) changed |= fusePrologue(graph, norm, options);
  return changed;
}

}  // namespace camshaft
