// Products of a few rows with weights of a few bits normalise what they read.
//
//   %n = LayerNorm(%x, %f) {rms}                      // [..., K], read by such products alone
//   %y = MatMulNBits(%n, %w, %s)
//   →
//   %y = MatMulNBits(%x, %w, %s, _, %f) {rms}
//
// As for gates (fuse_gates), one kernel less is memory that does not wait: each block normalises
// the rows for itself while its first weights come.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/gemm_nbits.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/row_norm.h"
#include "passes/weight_streams.h"

namespace camshaft {

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

static bool fusePrologue(Graph& graph, const Node& node, const PassOptions& options) {
  const RowNorm norm = rowNormOf(graph, node);
  if (!norm.result || !node.as<LayerNormAttrs>().rms || norm.shifts) return false;
  const std::vector<Node*> readers(norm.result->users.begin(), norm.result->users.end());
  const bool areProducts = std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
    return takesNorm(graph, *reader, norm.result, options);
  });
  if (readers.empty() || readers.size() > kMostNormReaders || !areProducts) return false;
  for (Node* reader : readers) normaliseIn(graph, reader, norm, node);
  return true;
}

bool fusePrologues(Graph& graph, const PassOptions& options) {
  if (options.fusion.streamedElements == 0) return false;
  std::vector<Node*> norms = graph.nodeList();  // alone: readers go
  std::erase_if(norms, [](const Node* node) { return node->op != &ops::LayerNorm; });
  bool changed = false;
  for (const Node* norm : norms) changed |= fusePrologue(graph, *norm, options);
  return changed;
}

}  // namespace camshaft
