// A tensor as a view of another one: what reshapes, transposes and slices do to where elements lie.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace camshaft {

struct StridedView {
  // Part of a dimension: `size` steps of `stride` elements of the source.
  struct Factor {
    Dim size, stride;
  };
  Value* source = nullptr;
  Dim offset = 0;
  // Of each dimension, outermost first, without factors of size 1. Several where dimensions that do
  // not follow one another in the source were joined.
  std::vector<std::vector<Factor>> axes;

  // Distance of neighbours along a dimension; nothing when they are not all equally far apart.
  // A dimension of size 1 has none either.
  std::optional<Dim> strideOf(size_t axis) const;
  bool isOne(size_t axis) const { return axes[axis].empty(); }
};

// The value as views of what it is made from: farthest source first, the value itself last.
std::vector<StridedView> viewsOf(Value* value);

// [a, inner, outer, run] as [a, outer, inner, run], in as many dimensions as may be: what cuts
// windows out of images, puts them back, and brings the heads of a token together.
struct AxisExchange {
  int64_t outer = 0, inner = 0, run = 0;
  bool operator==(const AxisExchange&) const = default;
};
std::optional<AxisExchange> exchangeOf(const StridedView& view);

}  // namespace camshaft
