// A MatMul node as the Hopper kernel sees it.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace camshaft::cuda {

// Leading dimensions of A become rows where one B serves all of them.
struct HopperProduct {
  Dim m, n, k, batch = 1;
  bool batchA = false, batchB = false;
  bool transposedA = false, transposedB = false;  // as in HopperProblem
  bool packsB = false;                            // a constant B [k, n] is stored as [n, k]
  bool hasFlatRows = false;                       // rows are those of several matrices
  std::string refusal;                            // why it cannot be; empty: it can
};
HopperProduct hopperProductOf(const Node& node);

// Definition of the device code's epilogue() for the node; `refusal` as above.
struct HopperEpilogue {
  std::string text;
  bool isByColumn = true;  // its operands are the same for all rows
  int unroll = 4;
  std::string refusal;
};
HopperEpilogue hopperEpilogueOf(const Node& node, const HopperProduct& product);

// Instructions per element, roughly.
double workOfEpilogue(const Node& node);

// Whether the epilogue reads this input just where it writes the result.
bool readsInPlace(const Node& node, int input);

}  // namespace camshaft::cuda
