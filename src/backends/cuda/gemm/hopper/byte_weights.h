// Constant matrices of 8-bit integers as the Hopper kernel reads them. With
//   (a - za) · (b - zb) = a · (b - zb) - za * (sums of the columns of b - zb)
// zero points cost nothing but one number per column.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace camshaft::cuda {

// i8 or u8, whichever holds every b - zero; none when neither does. B is a matrix [k, n], the zero
// point one number or one for each column; null: zero.
std::optional<DataType> byteWeightType(const Value& b, const Value* zero);

struct ByteWeights {
  std::vector<std::byte> bytes;  // b - zero as [n, k], of that type
  std::vector<int32_t> sums;     // of each column, wrapped around
};
ByteWeights byteWeights(const Value& b, const Value* zero);

}  // namespace camshaft::cuda
