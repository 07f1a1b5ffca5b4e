#include "support/packed.h"

#include <gtest/gtest.h>

namespace camshaft {
namespace {

TEST(Packed, LowBitsFirst) {
  uint8_t packed[2] = {0x00, 0xff};
  setPacked(packed, 0, 4, 0x7);
  setPacked(packed, 1, 4, 0x8);
  setPacked(packed, 3, 4, 0x12);  // upper bits are dropped
  EXPECT_EQ(packed[0], 0x87);
  EXPECT_EQ(packed[1], 0x2f);
  EXPECT_EQ(getPacked(packed, 1, 4), 8);
  EXPECT_EQ(getPacked(packed, 2, 4), 15);

  setPacked(packed, 6, 2, 1);  // 0x2f is 3, 3, 2, 0 from the low end
  EXPECT_EQ(packed[1], 0x1f);
  EXPECT_EQ(getPacked(packed, 5, 2), 3);
  EXPECT_EQ(getPacked(packed, 6, 2), 1);
  EXPECT_EQ(getPacked(packed, 7, 2), 0);
}

TEST(Packed, IntegersKeepLowBits) {
  const auto int4 = [](int64_t value) {
    return static_cast<int>(static_cast<int8_t>(Int4(value)));
  };
  const auto int2 = [](int64_t value) {
    return static_cast<int>(static_cast<int8_t>(Int2(value)));
  };
  EXPECT_EQ(int4(7), 7);
  EXPECT_EQ(int4(-8), -8);
  EXPECT_EQ(int4(8), -8);
  EXPECT_EQ(int4(-9), 7);
  EXPECT_EQ(int2(1), 1);
  EXPECT_EQ(int2(2), -2);
  EXPECT_EQ(int2(-1), -1);
  EXPECT_EQ(static_cast<uint8_t>(UInt4(-1)), 15);
  EXPECT_EQ(static_cast<uint8_t>(UInt2(6)), 2);
}

}  // namespace
}  // namespace camshaft
