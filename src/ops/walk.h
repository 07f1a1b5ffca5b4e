// Walking tensors by index, and their elements as wide numbers: what every evaluate() needs.
#pragma once

#include <span>
#include <vector>

#include "ir/tensor.h"

namespace camshaft {

// Row-major strides, in elements.
inline Dims stridesOf(std::span<const int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

inline int64_t offsetOf(std::span<const int64_t> index, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

// Strides with which a tensor is read under an index over `to` dimensions, aligned at the end:
// 0 along dimensions it broadcasts.
inline Dims broadcastStrides(std::span<const int64_t> dims, std::span<const int64_t> to) {
  const Dims own = stridesOf(dims);
  Dims strides(to.size(), 0);
  const size_t skipped = to.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) strides[skipped + i] = own[i];
  return strides;
}

// Calls f(index) for every index below `dims`, in row-major order. No dimensions: once.
template <class F>
void forEachIndex(const Dims& dims, F&& f) {
  for (int64_t dim : dims)
    if (dim <= 0) return;
  Dims index(dims.size(), 0);
  while (true) {
    f(static_cast<const Dims&>(index));
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// A tensor seen as [outer, size, inner] around one axis.
struct AxisView {
  int64_t outer, size, inner;
  AxisView(std::span<const int64_t> dims, int64_t axis)
      : outer(countOf(dims.first(axis))),
        size(dims[axis]),
        inner(countOf(dims.subspan(axis + 1))) {}
};

// Calls f(offset of the first element, step between elements) for every row along the axis.
template <class F>
void forEachRow(const AxisView& view, F&& f) {
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.inner; ++i) f(o * view.size * view.inner + i, view.inner);
}

// All elements as doubles; none of an input left out.
std::vector<double> readReals(const ConstTensorView& tensor);
void writeReals(const TensorView& tensor, std::span<const double> values);
// All elements of an integer tensor modulo 2^64, which sums and products then wrap around in.
std::vector<uint64_t> readIntegers(const ConstTensorView& tensor);
void writeIntegers(const TensorView& tensor, std::span<const uint64_t> values);

}  // namespace camshaft
