// Products that store the rows whose moments somebody reads find these by the way.
//
//   %x = MatMul(%a, %b) epilogue(...) {...}
//   %m = RowMoments(%x)
//   →
//   %x, %m = MomentMatMul(%a, %b) epilogue(...) {...}
#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

static bool canKeep(const Node* product) {
  if (!product || product->op != &ops::MatMul) return false;
  const Value &weights = *product->input(1), &result = *product->output();
  return !product->as<MatMulAttrs>().transposeA && weights.isConstant() && weights.rank() == 2 &&
         weights.dataType() == product->input(0)->dataType() &&
         weights.dataType() == result.dataType() && bitsOf(result.dataType()) == 16;
}

static void keepMoments(Graph& graph, Node* moments) {
  Node* product = moments->input(0)->producer;
  Node* both = graph.add(
      &ops::MomentMatMul, product->name,
      std::vector<Value*>(product->inputs.begin(), product->inputs.begin() + product->ownInputs()),
      product->as<MatMulAttrs>(), product);
  if (product->epilogue) {
    graph.setInputs(both, product->inputs);
    both->epilogue = product->epilogue;
    graph.inferTypes(both);
  }
  mergeOrigins(both, product);
  mergeOrigins(both, moments);
  replaceValue(graph, moments->output(), both->outputs[1]);
  replaceValue(graph, product->output(), both->output());
}

bool keepMoments(Graph& graph, const PassOptions& options) {
  if (options.fusion.normalisedRows == 0) return false;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::RowMoments || !canKeep(node->input(0)->producer)) continue;
    keepMoments(graph, node);
    changed = true;
  }
  return changed;
}

}  // namespace camshaft
