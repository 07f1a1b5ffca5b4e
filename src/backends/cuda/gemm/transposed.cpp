#include "backends/cuda/gemm/transposed.h"

#include <algorithm>

#include "support/cpu_info.h"
#include "support/thread_pool.h"

namespace camshaft::cuda {
namespace {

template <class T>
std::vector<std::byte> transposedAs(const void* data, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = 32;  // a block of both sides stays in cache
  const T* const from = static_cast<const T*>(data);
  std::vector<std::byte> bytes(rows * columns * sizeof(T));
  T* const to = reinterpret_cast<T*>(bytes.data());
  ThreadPool threads(usableCores());
  threads.parallelFor(columns, kBlock, [&](int64_t begin, int64_t end, int) {
    for (int64_t i0 = 0; i0 < rows; i0 += kBlock)
      for (int64_t j0 = begin; j0 < end; j0 += kBlock)
        for (int64_t i = i0; i < std::min(i0 + kBlock, rows); ++i)
          for (int64_t j = j0; j < std::min(j0 + kBlock, end); ++j)
            to[j * rows + i] = from[i * columns + j];
  });
  return bytes;
}

}  // namespace

std::vector<std::byte> transposed(const void* data, int64_t rows, int64_t columns, int bytes) {
  return bytes == 4   ? transposedAs<uint32_t>(data, rows, columns)
         : bytes == 2 ? transposedAs<uint16_t>(data, rows, columns)
                      : transposedAs<uint8_t>(data, rows, columns);
}

}  // namespace camshaft::cuda
