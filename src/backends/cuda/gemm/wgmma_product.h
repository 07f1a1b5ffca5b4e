// A MatMul node as the Hopper kernel sees it.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace camshaft::cuda {

// Leading dimensions of A become rows where one B serves all of them.
struct WgmmaProduct {
  Dim m, n, k, batch = 1;
  bool batchA = false, batchB = false;
  bool transposedA = false, transposedB = false;  // as in WgmmaProblem
  bool packsB = false;                            // a constant B [k, n] is stored as [n, k]
  bool hasFlatRows = false;                       // rows are those of several matrices
  std::string refusal;                            // why it cannot be; empty: it can
};
WgmmaProduct wgmmaProductOf(const Node& node);

// Definition of the device code's epilogue() for the node; `refusal` as above.
struct WgmmaEpilogue {
  std::string text;
  bool isByColumn = true;  // its operands are the same for all rows
  int unroll = 4;
  std::string refusal;
};
WgmmaEpilogue wgmmaEpilogueOf(const Node& node, const WgmmaProduct& product);

// Instructions per element, roughly.
double workOfEpilogue(const Node& node);

// Whether the epilogue reads this input just where it writes the result.
bool readsInPlace(const Node& node, int input);

}  // namespace camshaft::cuda
