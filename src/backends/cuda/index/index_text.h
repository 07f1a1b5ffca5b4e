// What kernels that follow indices print alike.
#pragma once

#include "backends/cuda/codegen/walk.h"
#include "support/text.h"

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

// The row of the data, [rows, columns], that a tuple of ScatterND's indices leads to, or -1.
inline std::string rowOfTupleText(KernelText& kernel, const std::string& indices,
                                  const std::string& tuple, const Shape& data, int64_t length) {
  const Shape indexed(data.begin(), data.begin() + length);
  return str("positionOfTuple(", indices, " + ", tuple, " * ", length, ", ",
             sizesText(kernel, indexed), ", ", sizesText(kernel, contiguousStrides(indexed)), ")");
}

}  // namespace camshaft::cuda::index
