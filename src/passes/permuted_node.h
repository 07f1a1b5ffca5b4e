// Operators that work on any order of dimensions: the same node on transposed operands.
#pragma once

#include <memory>
#include <optional>

#include "ir/graph.h"
#include "passes/permutation.h"

namespace camshaft {

// Transpose(outputOrder) of what the node with these attributes gives on stored operands is what
// the node gives now.
struct PermutedNode {
  std::unique_ptr<Attrs> attrs;
  Permutation operandOrder;  // of every operand that moves
  Permutation outputOrder;
};

// The node when its input `index` is stored so that Transpose(order) makes it what the node reads.
// Nothing when the node depends on the order of its dimensions.
std::optional<PermutedNode> permutedNode(const Node& node, int index, const Permutation& order);

// Whether the operand takes part in the change of order; the others (a pad value, the scale of a
// normalisation) stay as they are.
bool operandMoves(const Node& node, int index);

}  // namespace camshaft
