// Where the elements of a tensor lie in the constant that they were moved out of.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace camshaft {

// Of a tensor of known sizes: element (i, j, ...) is number first + axes[0][i] + axes[1][j] + ...
// of the source.
struct ElementPlaces {
  const Value* source = nullptr;  // a constant
  int64_t first = 0;
  std::vector<std::vector<int64_t>> axes;  // each begins with 0
};

// Reshape, Transpose, Slice or Expand, without an epilogue.
bool isMove(const Node* node);

// Nothing where the value is more than a moved constant.
std::optional<ElementPlaces> placesOf(const Value* value);
// The same after one more move; false where it has no such form.
bool applyMove(ElementPlaces& places, const Node& node);
// Broadcast to a shape, as an operand of a pointwise node is.
bool spread(ElementPlaces& places, const Shape& shape);

}  // namespace camshaft
