#include "support/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace camshaft {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The definition: sign, exponent and mantissa of a minifloat, without its special values.
double valueOf(uint32_t bits, int exponentBits, int mantissaBits, int bias) {
  const uint32_t exponent = (bits >> mantissaBits) & ((1u << exponentBits) - 1);
  const double fraction = (bits & ((1u << mantissaBits) - 1)) / std::ldexp(1.0, mantissaBits);
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
  return (bits >> (exponentBits + mantissaBits)) ? -magnitude : magnitude;
}

struct Format {
  int exponentBits, mantissaBits, bias;
  uint32_t largest;  // bits of the largest finite value
  bool hasMinus0 = true;
};

// Every value decodes to its definition and survives the round trip; the point halfway between
// two neighbours goes to the even one, and a hair to either side of it to the nearer one.
template <class Narrow>
void checkFormat(Format format) {
  const uint32_t signBit = 1u << (format.exponentBits + format.mantissaBits);
  const auto exact = [&](uint32_t bits) {
    return static_cast<float>(valueOf(bits, format.exponentBits, format.mantissaBits, format.bias));
  };
  using Bits = decltype(Narrow::bits);
  for (uint32_t bits = 0; bits <= format.largest; ++bits) {
    for (uint32_t sign : {0u, signBit}) {
      if (bits == 0 && sign && !format.hasMinus0) continue;
      const Narrow value = Narrow::fromBits(static_cast<Bits>(bits | sign));
      ASSERT_EQ(static_cast<float>(value), exact(bits | sign)) << bits;
      ASSERT_EQ(Narrow(static_cast<float>(value)).bits, bits | sign);
    }
    if (bits == format.largest) break;
    const float middle = (exact(bits) + exact(bits + 1)) / 2;
    ASSERT_EQ(Narrow(middle).bits, bits + bits % 2) << middle;
    const uint32_t even = bits + bits % 2;
    ASSERT_EQ(Narrow(-middle).bits, even | (even || format.hasMinus0 ? signBit : 0)) << middle;
    ASSERT_EQ(Narrow(std::nextafter(middle, 0.0f)).bits, bits) << middle;
    ASSERT_EQ(Narrow(std::nextafter(middle, kInfinity)).bits, bits + 1) << middle;
  }
}

TEST(Half, FollowsItsDefinition) { checkFormat<Half>({5, 10, 15, 0x7bff}); }
TEST(BFloat16, FollowsItsDefinition) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const BFloat16 value = BFloat16::fromBits(static_cast<uint16_t>(bits));
    ASSERT_EQ(static_cast<float>(value), static_cast<float>(valueOf(bits, 8, 7, 127)));
    ASSERT_EQ(BFloat16(static_cast<float>(value)).bits, bits);
    const uint32_t middle = (bits << 16) | 0x8000;
    ASSERT_EQ(BFloat16(std::bit_cast<float>(middle)).bits, bits + bits % 2);
    ASSERT_EQ(BFloat16(std::bit_cast<float>(middle - 1)).bits, bits);
    ASSERT_EQ(BFloat16(std::bit_cast<float>(middle + 1)).bits, bits + 1);
  }
}
TEST(Float8E4M3, FollowsItsDefinition) { checkFormat<Float8E4M3>({4, 3, 7, 0x7e}); }
TEST(Float8E5M2, FollowsItsDefinition) { checkFormat<Float8E5M2>({5, 2, 15, 0x7b}); }
TEST(Float8E4M3Fnuz, FollowsItsDefinition) { checkFormat<Float8E4M3Fnuz>({4, 3, 8, 0x7f, false}); }
TEST(Float8E5M2Fnuz, FollowsItsDefinition) { checkFormat<Float8E5M2Fnuz>({5, 2, 16, 0x7f, false}); }
TEST(Float4E2M1, FollowsItsDefinition) { checkFormat<Float4E2M1>({2, 1, 1, 0x7}); }

TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(Half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(-1e30f).bits, 0xfc00);
  EXPECT_EQ(Half(kInfinity).bits, 0x7c00);
  EXPECT_EQ(static_cast<float>(Half::fromBits(0xfc00)), -kInfinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(kNan))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Half::fromBits(0x7c01))));
  EXPECT_EQ(Half(1e-45f).bits, 0);
  EXPECT_EQ(Half(-1e-45f).bits, 0x8000);
}

TEST(BFloat16, OverflowsToInfinity) {
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(-kInfinity).bits, 0xff80);
  // A NaN whose set bits are all dropped stays a NaN.
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7fffffffu)))));
}

TEST(Float8, SaturatesAsCastDoes) {
  for (float large : {449.0f, 480.0f, 1e30f, kInfinity}) {
    EXPECT_EQ(static_cast<float>(Float8E4M3(large)), 448.0f);
    EXPECT_EQ(static_cast<float>(Float8E4M3(-large)), -448.0f);
  }
  for (float large : {57345.0f, 65536.0f, kInfinity}) {
    EXPECT_EQ(static_cast<float>(Float8E5M2(large)), 57344.0f);
    EXPECT_EQ(static_cast<float>(Float8E5M2(-large)), -57344.0f);
  }
  EXPECT_EQ(static_cast<float>(Float8E5M2::fromBits(0x7c)), kInfinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E5M2::fromBits(0x7d))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E4M3(kNan))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E5M2(-kNan))));
}

TEST(Float8Fnuz, MinusZeroIsNan) {
  EXPECT_EQ(Float8E4M3Fnuz(-0.0f).bits, 0);
  EXPECT_EQ(Float8E5M2Fnuz(-1e-30f).bits, 0);
  EXPECT_EQ(Float8E4M3Fnuz(kNan).bits, 0x80);
  EXPECT_EQ(Float8E5M2Fnuz(-kNan).bits, 0x80);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E4M3Fnuz::fromBits(0x80))));
  EXPECT_EQ(static_cast<float>(Float8E4M3Fnuz(kInfinity)), 240.0f);
  EXPECT_EQ(static_cast<float>(Float8E5M2Fnuz(-kInfinity)), -57344.0f);
}

TEST(Float8E8M0, RoundsUpToPowersOfTwo) {
  for (int bits = 0; bits < 255; ++bits) {
    const Float8E8M0 value = Float8E8M0::fromBits(static_cast<uint8_t>(bits));
    ASSERT_EQ(static_cast<float>(value), std::ldexp(1.0f, bits - 127));
    ASSERT_EQ(Float8E8M0(static_cast<float>(value)).bits, bits);
    const float above = std::nextafter(static_cast<float>(value), kInfinity);
    ASSERT_EQ(Float8E8M0(above).bits, std::min(bits + 1, 254));
  }
  EXPECT_EQ(Float8E8M0(0.0f).bits, 0);
  EXPECT_EQ(Float8E8M0(kInfinity).bits, 254);
  EXPECT_EQ(Float8E8M0(kNan).bits, 255);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E8M0::fromBits(255))));
}

TEST(Float4E2M1, HasNoSpecialValues) {
  EXPECT_EQ(static_cast<float>(Float4E2M1(kInfinity)), 6.0f);
  EXPECT_EQ(static_cast<float>(Float4E2M1(-100.0f)), -6.0f);
  EXPECT_EQ(static_cast<float>(Float4E2M1(kNan)), 0.0f);
  EXPECT_EQ(static_cast<float>(Float4E2M1(-kNan)), 0.0f);
}

template <class Narrow>
void checkBulk(const std::vector<float>& values) {
  for (size_t count : {size_t{0}, size_t{7}, size_t{8}, size_t{61}, values.size()}) {
    std::vector<Narrow> narrow(count);
    std::vector<float> wide(count);
    convertFromFloat(values.data(), narrow.data(), count);
    convertToFloat(narrow.data(), wide.data(), count);
    for (size_t i = 0; i < count; ++i) {
      const float expected = static_cast<float>(Narrow(values[i]));
      ASSERT_TRUE(wide[i] == expected || (std::isnan(wide[i]) && std::isnan(expected)))
          << values[i] << " gave " << wide[i] << ", not " << expected;
    }
  }
}

TEST(BulkConversion, AgreesWithOneByOne) {
  std::mt19937 random(1);
  std::vector<float> values(100'003);
  // Random bits are mostly huge or tiny; every other value lies in the range of a Half.
  std::uniform_real_distribution<float> exponent(-30, 18);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i % 2 ? std::exp2(exponent(random)) : std::bit_cast<float>(uint32_t(random()));
  checkBulk<Half>(values);
  checkBulk<BFloat16>(values);
  checkBulk<Float8E4M3>(values);
  checkBulk<Float8E5M2>(values);
  checkBulk<Float8E4M3Fnuz>(values);
  checkBulk<Float8E5M2Fnuz>(values);
  checkBulk<Float8E8M0>(values);
}

}  // namespace
}  // namespace camshaft
