#include "support/data_type.h"

#include <gtest/gtest.h>

#include <set>

namespace camshaft {
namespace {

TEST(DataType, EveryNameParsesBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(parseDataType(toString(type)), type);
    EXPECT_TRUE(names.insert(toString(type)).second) << toString(type);
  }
  EXPECT_EQ(parseDataType("float"), std::nullopt);
}

TEST(DataType, PackedTypesRoundUpToWholeBytes) {
  EXPECT_EQ(bytesOf(DataType::kI4, 0), 0u);
  EXPECT_EQ(bytesOf(DataType::kI4, 3), 2u);
  EXPECT_EQ(bytesOf(DataType::kF4E2M1, 4), 2u);
  EXPECT_EQ(bytesOf(DataType::kU2, 5), 2u);
  EXPECT_EQ(bytesOf(DataType::kF64, 3), 24u);
  EXPECT_EQ(bytesOf(DataType::kBool, 3), 3u);
}

TEST(DataType, ClassesAreWhatTheNamesSay) {
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    const std::string_view name = toString(type);
    EXPECT_EQ(isFloat(type), name.starts_with("f") || name == "bf16") << name;
    EXPECT_EQ(isInteger(type), name[0] == 'i' || name[0] == 'u') << name;
    EXPECT_EQ(isSigned(type), isFloat(type) || name[0] == 'i') << name;
    EXPECT_EQ(isPacked(type), bitsOf(type) == 4 || bitsOf(type) == 2) << name;
  }
}

}  // namespace
}  // namespace camshaft
