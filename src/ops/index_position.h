// Indices that come from tensors: never trusted.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "ops/rules.h"

namespace camshaft {

// The position an index means in a dimension; negative ones count from the end. Throws, naming the
// node, when it is outside.
inline int64_t positionOf(const Node& node, int64_t index, int64_t size) {
  if (index < -size || index >= size)
    fail(ErrorKind::kInvalidArgument, describe(node), " has index ", index,
         " outside of a dimension of ", size);
  return index < 0 ? index + size : index;
}

// The same, or none where `mayLieOutside` and it does.
inline std::optional<int64_t> positionOf(const Node& node, int64_t index, int64_t size,
                                         bool mayLieOutside) {
  if (mayLieOutside && (index < -size || index >= size)) return std::nullopt;
  return positionOf(node, index, size);
}

inline void requireIndices(const Node& node, int input) {
  if (!isInteger(node.inputs[input]->dataType()))
    fail(ErrorKind::kInvalidModel, describe(node), " needs integer indices and got ",
         node.inputs[input]->type);
}

// Length of the index tuples of GatherND and ScatterND, between 1 and `most`.
inline int64_t tupleLength(const Node& node, int64_t most) {
  const TensorType& indices = node.inputs[1]->type;
  const bool isKnown = indices.rank() > 0 && indices.shape.back().isConstant();
  const int64_t length = isKnown ? indices.shape.back().value() : 0;
  if (length < 1 || length > most)
    fail(ErrorKind::kInvalidModel, describe(node), " needs index tuples of 1 to ", most,
         " in the last dimension of ", indices);
  return length;
}

}  // namespace camshaft
