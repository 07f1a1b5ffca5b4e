// What kernels that follow indices print alike.
#pragma once

#include "backends/cuda/codegen/walk.h"

namespace camshaft::cuda::index {

inline void includeIndex(KernelText& kernel) {
  for (const char* file : {"device/coordinates.cuh", "device/index.cuh", "index/index.cuh"})
    kernel.include(file);
}

// Bit i: dimension i of the data may be shorter than that of the indices.
inline unsigned shorterDims(const Shape& data, const Shape& indices) {
  unsigned bits = 0;
  for (size_t i = 0; i < data.size(); ++i)
    if (data[i] != indices[i]) bits |= 1u << i;
  return bits;
}

}  // namespace camshaft::cuda::index
