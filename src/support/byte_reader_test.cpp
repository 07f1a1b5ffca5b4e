#include "support/byte_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/error.h"
#include "support/function_ref.h"

namespace camshaft {
namespace {

using testing::HasSubstr;

struct Padded {
  uint8_t small;
  float large;
};

std::string invalidMessage(FunctionRef<void()> action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidEngine);
    return error.message();
  }
  return "no error";
}

TEST(ByteReader, ReadsWhatWasWritten) {
  const std::vector<std::string> names{"", "conv", std::string("a\0b", 3)};
  ByteWriter writer;
  writer.write<uint8_t>(7);
  writer.write(-5);
  writer.write(true);
  writer.write(Padded{3, 0.5f});
  writer.writeString("gemm");
  writer.writeStrings(names);
  writer.writeVector(std::vector<int64_t>{1, -2, 3});
  writer.writeVector(std::vector<Padded>{{1, 1.5f}, {2, 2.5f}});
  writer.writeVector(std::vector<float>{});

  ByteReader reader(writer.bytes());
  EXPECT_EQ(reader.read<uint8_t>(), 7);
  EXPECT_EQ(reader.read<int>(), -5);
  EXPECT_TRUE(reader.read<bool>());
  EXPECT_EQ(reader.read<Padded>().large, 0.5f);
  EXPECT_EQ(reader.readString(), "gemm");
  EXPECT_EQ(reader.readStrings(), names);
  EXPECT_EQ(reader.readVector<int64_t>(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(reader.readVector<Padded>().at(1).large, 2.5f);
  EXPECT_TRUE(reader.readVector<float>().empty());
  EXPECT_EQ(reader.remaining(), 0u);
  reader.expectEnd();
}

TEST(ByteReader, IsLittleEndianWithoutAlignment) {
  ByteWriter writer;
  writer.write<uint8_t>(1);
  writer.write<uint32_t>(0x04030201);
  const std::vector<std::byte> bytes = writer.take();
  ASSERT_EQ(bytes.size(), 5u);
  EXPECT_EQ(bytes[1], std::byte{1});
  EXPECT_EQ(bytes[4], std::byte{4});
}

TEST(ByteWriter, PaddingIsZero) {
  alignas(Padded) std::byte memory[sizeof(Padded)];
  std::memset(memory, 0xff, sizeof memory);
  Padded dirty;
  std::memcpy(&dirty, memory, sizeof dirty);
  dirty.small = 1;
  dirty.large = 2;
  ByteWriter one, another;
  one.write(dirty);
  another.write(Padded{1, 2});
  EXPECT_TRUE(std::ranges::equal(one.bytes(), another.bytes()));
  EXPECT_EQ(one.bytes()[1], std::byte{0});
}

TEST(ByteReader, RefusesWhatDoesNotFit) {
  ByteWriter writer;
  writer.write<uint64_t>(UINT64_MAX);  // as a count, times any size, it overflows
  writer.write<uint32_t>(0);
  const auto bytes = writer.bytes();
  EXPECT_THAT(invalidMessage([&] { ByteReader(bytes.first(7), "the cache").read<uint64_t>(); }),
              HasSubstr("the cache ends too early"));
  EXPECT_THAT(invalidMessage([&] { ByteReader(bytes).readString(); }), HasSubstr("byte 8 of 12"));
  EXPECT_THAT(invalidMessage([&] { ByteReader(bytes).readVector<int64_t>(); }),
              HasSubstr("ends too early"));
  EXPECT_THAT(invalidMessage([&] { ByteReader(bytes).readStrings(); }),
              HasSubstr("ends too early"));
  EXPECT_THAT(invalidMessage([&] { ByteReader(bytes).readBytes(13); }),
              HasSubstr("ends too early"));
  EXPECT_THAT(invalidMessage([&] { ByteReader(bytes).read<bool>(); }), HasSubstr("0 or 1"));
  EXPECT_THAT(invalidMessage([&] { ByteReader({}).read<uint8_t>(); }), HasSubstr("ends too early"));
  EXPECT_THAT(invalidMessage([&] {
                ByteReader reader(bytes);
                reader.readBytes(10);
                reader.expectEnd();
              }),
              HasSubstr("2 bytes too many"));
}

}  // namespace
}  // namespace camshaft
