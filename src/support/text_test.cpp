#include "support/text.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "support/data_type.h"

namespace camshaft {
namespace {

TEST(Text, StrJoinsAnythingPrintable) {
  EXPECT_EQ(str("dim ", 3, " of '", std::string("x"), "' ", true, ' ', DataType::kBF16),
            "dim 3 of 'x' true bf16");
  EXPECT_EQ(str(), "");
  EXPECT_EQ(str(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(str(uint8_t{65}), "65") << "a byte is a number, not a letter";
}

TEST(Text, NumbersPrintShortestRoundTrip) {
  EXPECT_EQ(str(0.1f), "0.1");
  EXPECT_EQ(str(0.1), "0.1");
  EXPECT_EQ(str(static_cast<double>(0.1f)), "0.1");
  EXPECT_EQ(str(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(str(2.0), "2");
  EXPECT_EQ(str(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(Text, JoinPutsASeparatorBetweenItems) {
  EXPECT_EQ(join(std::vector<int>{1, 2, 3}, "x"), "1x2x3");
  EXPECT_EQ(join(std::vector<int>{}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string>{"", "a", ""}, ","), ",a,");
}

TEST(Text, NearestSuggestsOnlyWhatIsNear) {
  constexpr std::array<std::string_view, 3> kNames{"Conv", "ConvTranspose", "MatMul"};
  EXPECT_EQ(nearest("Conw", kNames), "Conv");
  EXPECT_EQ(nearest("MatMull", kNames), "MatMul");
  EXPECT_EQ(nearest("Softmax", kNames), "");
}

}  // namespace
}  // namespace camshaft
