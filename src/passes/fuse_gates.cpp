// Two products of the same few rows with weights of a few bits whose results meet, as those of a
// gated feed-forward network do, become one.
//
//   %g = MatMulNBits(%x, %wg, %sg), %u = MatMulNBits(%x, %wu, %su)
//   %y = Pointwise(%g, %u) {mul(silu(x0), x1)}      // the only reader of both
//   →
//   %y = MatMulNBits(%x, [wg wu], [sg su]) {gate = mul(silu(x0), x1)}
//
// Weights are what takes time then, and the next ones cannot come while kernels follow one another:
// one kernel less is memory that does not wait.
#include "ir/rewrite.h"
#include "ops/gemm_nbits.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/weight_streams.h"

namespace camshaft {

constexpr int64_t kWholeColumns = 16;  // of a tile

// A product of a few rows that only this node reads.
static Node* productFor(const Graph& graph, const Node* reader, const Value* value,
                        const PassOptions& options) {
  Node* product = producerOf(value, &ops::MatMulNBits);
  if (!product || soleUser(graph, value) != reader || !isWeightStream(graph, *product, options))
    return nullptr;
  const auto& attrs = product->as<MatMulNBitsAttrs>();
  const bool isWhole = product->input(1)->shape()[0].value() % kWholeColumns == 0;
  return isWhole && !attrs.isGated() && !attrs.rms ? product : nullptr;
}

// Whether operands and attributes are of one kind.
static bool areAlike(const Node& a, const Node& b) {
  if (a.input(0) != b.input(0) || a.inputs.size() != b.inputs.size() ||
      toString(*a.attrs) != toString(*b.attrs))
    return false;
  for (size_t i = 1; i < a.inputs.size(); ++i) {
    if (!a.inputs[i] != !b.inputs[i]) return false;
    if (a.inputs[i] && a.inputs[i]->type != b.inputs[i]->type) return false;
  }
  return true;
}

static bool fuseGate(Graph& graph, Node* pointwise, const PassOptions& options) {
  if (pointwise->op != &ops::Pointwise || pointwise->epilogue || pointwise->inputs.size() != 2 ||
      pointwise->inputs[0] == pointwise->inputs[1])
    return false;
  const Value* result = pointwise->output();
  Node* first = productFor(graph, pointwise, pointwise->inputs[0], options);
  Node* second = productFor(graph, pointwise, pointwise->inputs[1], options);
  if (!first || !second || !areAlike(*first, *second) || result->type != first->output()->type)
    return false;
  MatMulNBitsAttrs attrs = first->as<MatMulNBitsAttrs>();
  attrs.gate = pointwise->as<PointwiseAttrs>().expr;
  std::vector<Value*> inputs{first->input(0)};
  for (size_t i = 1; i < first->inputs.size(); ++i)
    inputs.push_back(first->inputs[i]
                         ? joinNow(graph, {first->inputs[i], second->inputs[i]}, 0, pointwise)
                         : nullptr);
  Node* product =
      graph.add(&ops::MatMulNBits, pointwise->name, std::move(inputs), std::move(attrs), pointwise);
  for (const Node* each : {first, second}) mergeOrigins(product, each);
  mergeOrigins(product, pointwise);
  replaceValue(graph, pointwise->output(), product->output());
  return true;
}

bool fuseGates(Graph& graph, const PassOptions& options) {
  bool changed = false;
  for (Node* node : graph.nodeList()) changed |= fuseGate(graph, node, options);
  if (changed) graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
