// Images are laid out as [N, spatial..., C] (NHWC) where kernels are faster on that.
//
//   %y = Conv(%x, %w)
//   →
//   %t = Transpose(%x) [0, 2, 3, 1]
//   %c = Conv(%t, %w) {channels_last}
//   %y = Transpose(%c) [0, 3, 1, 2]
//
// The transposes between two such nodes are left to sink_transposes.
#include "ops/conv.h"
#include "ops/move.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pool.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/permutation.h"
#include "passes/precision_rules.h"

namespace camshaft {

// The node's layout attribute, when kernels take it both ways.
static bool* channelsLastFlag(Node& node) {
  if (node.op == &ops::Conv) return &node.as<ConvAttrs>().channelsLast;
  if (node.op == &ops::ConvTranspose) return &node.as<ConvTransposeAttrs>().channelsLast;
  if (node.op == &ops::Pool) return &node.as<PoolAttrs>().channelsLast;
  if (node.op == &ops::GroupNorm) return &node.as<GroupNormAttrs>().channelsLast;
  return nullptr;
}

static bool gainsFromChannelsLast(Node& node) {
  const bool* layout = channelsLastFlag(node);
  if (!layout || *layout || node.epilogue || node.outputs.size() != 1) return false;
  const Value* x = node.input(0);
  const bool isBytes = x->dataType() == DataType::kU8 || x->dataType() == DataType::kI8;
  const bool isImage = x->dataType() == DataType::kF32 || is16Bit(x->dataType()) ||
                       (isBytes && node.op == &ops::Pool);
  if (!isImage || x->rank() < 3 || x->rank() > 4) return false;
  const bool hasWeights = node.op == &ops::Conv || node.op == &ops::ConvTranspose;
  return !hasWeights || node.input(1)->isConstant();
}

static Node* addTranspose(Graph& graph, const Node& around, Value* x, Permutation order,
                          Node* before) {
  TransposeAttrs attrs;
  attrs.order = std::move(order);
  return graph.add(&ops::Transpose, around.name, {x}, std::move(attrs), before);
}

static void makeChannelsLast(Graph& graph, Node* node) {
  const Permutation toLast = channelsLastOrder(node->input(0)->rank());
  graph.setInput(node, 0, addTranspose(graph, *node, node->input(0), toLast, node)->output());
  *channelsLastFlag(*node) = true;
  graph.inferTypes(node);

  Value* result = node->output();
  Node* back = addTranspose(graph, *node, result, inverseOf(toLast), graph.next(node));
  const std::string name = result->name;
  graph.replaceUses(result, back->output());
  graph.setInput(back, 0, result);
  graph.rename(result, graph.uniqueName(name + "_last"));
  graph.rename(back->output(), name);
}

bool chooseLayouts(Graph& graph, const PassOptions& options) {
  if (!options.channelsLast) return false;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (!gainsFromChannelsLast(*node)) continue;
    makeChannelsLast(graph, node);
    changed = true;
  }
  return changed;
}

}  // namespace camshaft
