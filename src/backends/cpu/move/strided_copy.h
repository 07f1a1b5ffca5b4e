// Copies between strided views: all that most moving operators do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/launch.h"

namespace camshaft::cpu::move {

// Element (i0, i1, ...) goes from `from` + i . fromStrides to `to` + i . toStrides. Strides are in
// elements and may be 0 or negative for the source.
struct StridedCopy {
  static constexpr int kMaxDims = 2 * kMaxRank;  // tiling splits every dimension in two

  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  int64_t width = 4;  // bytes of an element: 1, 2, 4 or 8
  int rank = 0;
  int64_t dims[kMaxDims];
  int64_t fromStrides[kMaxDims], toStrides[kMaxDims];

  void addDim(int64_t size, int64_t fromStride, int64_t toStride) {
    dims[rank] = size;
    fromStrides[rank] = fromStride;
    toStrides[rank++] = toStride;
  }
  void run(ThreadPool* pool);  // may reorder and merge the dimensions
};

// Row-major strides of a tensor.
struct Strides {
  int64_t at[kMaxRank];
  explicit Strides(const TensorArg& tensor) {
    int64_t stride = 1;
    for (int i = tensor.rank - 1; i >= 0; --i) {
      at[i] = stride;
      stride *= tensor.dims[i];
    }
  }
  int64_t operator[](int i) const { return at[i]; }
};

}  // namespace camshaft::cpu::move
