// Shape arithmetic: element values of small tensors, known as dimensions while building.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace camshaft {

using Contents = std::optional<std::vector<Dim>>;

inline constexpr int64_t kMaxContents = 64;

// Number of elements of a type whose contents are worth following (rank 0 or 1, at most 64).
std::optional<int64_t> contentCount(const TensorType& type);
// Contents of an input: as recorded, or of a small float constant that holds whole numbers (sizes
// are sometimes computed in floating point).
Contents knownContents(const Value* value);

// Of a Pointwise node: its expression on dimensions.
Contents pointwiseContents(const Node& node);

}  // namespace camshaft
