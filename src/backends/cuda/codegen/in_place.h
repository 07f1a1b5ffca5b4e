// Which operands a kernel may write its result over.
#pragma once

#include <algorithm>

#include "ir/graph.h"

namespace camshaft::cuda {

// An operand of the epilogue, read just where the result is stored and nowhere else.
inline bool isEpilogueReadInPlace(const Node& node, int input) {
  return input >= node.ownInputs() && node.inputs[input]->type == node.output()->type &&
         std::count(node.inputs.begin(), node.inputs.end(), node.inputs[input]) == 1;
}

}  // namespace camshaft::cuda
