#include "backends/cpu/pointwise/byte_table.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backends/cpu/simd/isa.h"

namespace camshaft::cpu::pointwise {
namespace {

// Rows of a table's results, elsewhere and in place; what lies between rows stays.
void expectFound(int64_t rows, int64_t columns, int64_t stride, std::mt19937& random) {
  const auto someBytes = [&](int64_t count) {
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
  };
  const std::vector<uint8_t> table = someBytes(256), from = someBytes(rows * stride);
  std::vector<uint8_t> to = someBytes(rows * stride), expected = to, inPlace = from, after = from;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = row * stride; i < row * stride + columns; ++i)
      expected[i] = after[i] = table[from[i]];
  lookUp(table.data(), from.data(), to.data(), rows, columns, stride);
  EXPECT_EQ(to, expected);
  lookUp(table.data(), inPlace.data(), inPlace.data(), rows, columns, stride);
  EXPECT_EQ(inPlace, after);
}

TEST(ByteTable, FindsEveryByteOfRowsOfAnyLength) {
  std::mt19937 random(3);
  for (std::string_view isa : availableIsas()) {
    ASSERT_TRUE(setIsa(isa));
    for (const int64_t rows : {1, 2, 3, 8})
      for (const int64_t columns : {1, 7, 31, 32, 33, 63, 64, 65, 200, 1000})
        for (const int64_t beside : {0, 1, 96}) {
          SCOPED_TRACE(testing::Message()
                       << isa << " " << rows << " rows of " << columns << " + " << beside);
          expectFound(rows, columns, columns + beside, random);
        }
  }
  setIsa(availableIsas().front());
}

}  // namespace
}  // namespace camshaft::cpu::pointwise
