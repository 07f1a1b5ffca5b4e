#include "support/aligned_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "support/error.h"

namespace camshaft {
namespace {

TEST(AlignedBuffer, BeginsOnACacheLine) {
  for (size_t size : {1, 63, 64, 65, 100'000}) {
    AlignedBuffer buffer(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % AlignedBuffer::kAlignment, 0u);
    EXPECT_EQ(buffer.bytes().size(), size);
    std::memset(buffer.data(), 1, size);
  }
  EXPECT_EQ(AlignedBuffer(0).data(), nullptr);
}

TEST(AlignedBuffer, MovesItsMemory) {
  AlignedBuffer first(10);
  const std::byte* address = first.data();
  AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first.size(), 0u);
}

TEST(AlignedBuffer, ReserveOnlyGrows) {
  AlignedBuffer buffer(100);
  const std::byte* address = buffer.data();
  buffer.reserve(50);
  EXPECT_EQ(buffer.data(), address);
  EXPECT_EQ(buffer.size(), 100u);
  buffer.reserve(200);
  EXPECT_EQ(buffer.size(), 200u);
  std::memset(buffer.data(), 1, 200);
}

TEST(AlignedBuffer, ImpossibleSizesAreAnError) {
  for (size_t size : {SIZE_MAX, SIZE_MAX / 2, size_t{1} << 60}) {
    AlignedBuffer buffer(10);
    try {
      buffer.reserve(size);
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
      EXPECT_THAT(error.message(), testing::HasSubstr(str(size, " bytes")));
    }
    EXPECT_EQ(buffer.size(), 0u) << "an empty buffer, not one that claims the size";
  }
}

}  // namespace
}  // namespace camshaft
