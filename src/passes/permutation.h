// Orders of dimensions, as Transpose has them: dimension i of the result is dimension order[i].
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "ir/dim.h"

namespace camshaft {

using Permutation = std::vector<int64_t>;

inline Permutation identityOrder(size_t rank) {
  Permutation order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

inline Permutation inverseOf(const Permutation& order) {
  Permutation inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  return inverse;
}

// [N, C, spatial...] as [N, spatial..., C].
inline Permutation channelsLastOrder(int64_t rank) {
  Permutation order = identityOrder(static_cast<size_t>(rank));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

// What a transpose by `order` makes of one entry per dimension.
template <class T>
std::vector<T> permuted(const std::vector<T>& perDimension, const Permutation& order) {
  std::vector<T> result;
  for (int64_t from : order) result.push_back(perDimension[from]);
  return result;
}

inline bool isIdentity(const Permutation& order) {
  return std::is_sorted(order.begin(), order.end());
}

// Under an order that leaves the added leading dimensions where they are.
inline Permutation withLeadingDims(const Permutation& order, size_t rank) {
  const auto added = static_cast<int64_t>(rank - order.size());
  Permutation result = identityOrder(static_cast<size_t>(added));
  for (int64_t from : order) result.push_back(from + added);
  return result;
}

// Only dimensions of size 1 change places, so that no element moves.
inline bool movesNothing(const Permutation& order, const Shape& from) {
  Permutation others;
  std::copy_if(order.begin(), order.end(), std::back_inserter(others),
               [&](int64_t axis) { return !from[axis].isConstant(1); });
  return isIdentity(others);
}

}  // namespace camshaft
