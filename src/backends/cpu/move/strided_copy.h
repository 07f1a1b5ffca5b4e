// Copies between strided views: all that most moving operators do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

// memcpy() for what is most often short: a call costs more than such a copy.
inline void copyBytes(const std::byte* from, std::byte* to, int64_t count) {
  constexpr int64_t kShort = 512;
  if (count > kShort) {
    std::memcpy(to, from, static_cast<size_t>(count));
    return;
  }
  const auto copy = [&]<size_t kBytes>() {
    std::memcpy(to, from, kBytes);
    from += kBytes;
    to += kBytes;
  };
  for (; count >= 64; count -= 64) copy.operator()<64>();
  if (count & 32) copy.operator()<32>();
  if (count & 16) copy.operator()<16>();
  if (count & 8) copy.operator()<8>();
  if (count & 4) copy.operator()<4>();
  if (count & 2) copy.operator()<2>();
  if (count & 1) *to = *from;
}

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
