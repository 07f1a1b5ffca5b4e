#include "backends/cuda/gemm/hopper/byte_weights.h"

#include <algorithm>

#include "ops/gemm_int8.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

int integerAt(const Value& value, int64_t index) {
  const void* data = value.view().data;
  return value.dataType() == DataType::kI8 ? static_cast<const int8_t*>(data)[index]
                                           : static_cast<const uint8_t*>(data)[index];
}

// The zero point of each column.
std::vector<int> zerosOf(const Value& b, const Value* zero) {
  const int64_t columns = b.shape().back().value();
  std::vector<int> zeros(columns, 0);
  if (!zero) return zeros;
  const int64_t step = isOneNumber(*zero) ? 0 : 1;
  for (int64_t j = 0; j < columns; ++j) zeros[j] = integerAt(*zero, j * step);
  return zeros;
}

bool areAllZero(const std::vector<int>& zeros) {
  return std::all_of(zeros.begin(), zeros.end(), [](int zero) { return zero == 0; });
}

// each(column, row, b - zero), in blocks of which both sides stay in cache.
template <class T, class Each>
void forEachElement(const T* from, int64_t rows, const std::vector<int>& zeros, Each each) {
  constexpr int64_t kBlock = 64;
  const auto columns = static_cast<int64_t>(zeros.size());
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock)
    for (int64_t j0 = 0; j0 < columns; j0 += kBlock)
      for (int64_t i = i0; i < std::min(i0 + kBlock, rows); ++i)
        for (int64_t j = j0; j < std::min(j0 + kBlock, columns); ++j)
          each(j, i, from[i * columns + j] - zeros[j]);
}

template <class Each>
void forEachElement(const Value& b, const std::vector<int>& zeros, Each each) {
  const int64_t rows = b.shape()[b.rank() - 2].value();
  const void* data = b.view().data;
  if (b.dataType() == DataType::kI8)
    forEachElement(static_cast<const int8_t*>(data), rows, zeros, each);
  else
    forEachElement(static_cast<const uint8_t*>(data), rows, zeros, each);
}

}  // namespace

std::optional<DataType> byteWeightType(const Value& b, const Value* zero) {
  const std::vector<int> zeros = zerosOf(b, zero);
  if (areAllZero(zeros)) return b.dataType();
  int least = 0, most = 0;
  forEachElement(b, zeros, [&](int64_t, int64_t, int value) {
    least = std::min(least, value);
    most = std::max(most, value);
  });
  if (least >= -128 && most <= 127) return DataType::kI8;
  if (least >= 0 && most <= 255) return DataType::kU8;
  return std::nullopt;
}

ByteWeights byteWeights(const Value& b, const Value* zero) {
  const std::vector<int> zeros = zerosOf(b, zero);
  const int64_t rows = b.shape()[b.rank() - 2].value();
  ByteWeights weights;
  weights.bytes.resize(rows * zeros.size());
  std::vector<uint32_t> sums(zeros.size());
  forEachElement(b, zeros, [&](int64_t column, int64_t row, int value) {
    weights.bytes[column * rows + row] = static_cast<std::byte>(value);
    sums[column] += static_cast<uint32_t>(value);
  });
  weights.sums.assign(sums.begin(), sums.end());
  return weights;
}

}  // namespace camshaft::cuda
