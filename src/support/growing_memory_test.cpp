#include "support/growing_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/mapped_pages.h"
#include "support/scratch_file.h"

namespace camshaft {
namespace {

std::vector<std::byte> pattern(size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(seed + i * 7);
  return bytes;
}

// Where the bytes lie.
class GrowingMemoryIn : public testing::TestWithParam<bool> {
 protected:
  static GrowingMemory made() {
    return GetParam() ? GrowingMemory::inScratchFile() : GrowingMemory();
  }
};
INSTANTIATE_TEST_SUITE_P(, GrowingMemoryIn, testing::Bool(),
                         [](const auto& place) { return place.param ? "ScratchFile" : "Memory"; });

TEST_P(GrowingMemoryIn, KeepsWhatWasAppended) {
  GrowingMemory memory = made();
  std::vector<std::byte> wanted;
  for (const size_t size : {1, 63, 70'000, 0, 1'000'000, 5}) {
    const std::vector<std::byte> piece = pattern(size, static_cast<int>(size));
    memory.append(piece);
    wanted.insert(wanted.end(), piece.begin(), piece.end());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 4096, 0u);
  }
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), wanted));
  letGoOfMapped(memory.bytes());
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), wanted));
  memory.shrinkToFit();
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), wanted));
}

TEST_P(GrowingMemoryIn, NewBytesAreZero) {
  GrowingMemory memory = made();
  memory.append(pattern(200, 1));
  memory.resize(100);
  memory.resize(100'000);
  for (size_t i = 100; i < memory.size(); ++i) ASSERT_EQ(memory.bytes()[i], std::byte{0}) << i;
}

TEST_P(GrowingMemoryIn, MovesWithoutItsBytes) {
  GrowingMemory memory = made();
  memory.append(pattern(10, 3));
  const std::byte* const data = memory.data();
  GrowingMemory moved = std::move(memory);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.size(), 10u);
  moved = GrowingMemory();
  moved.shrinkToFit();
  EXPECT_EQ(moved.size(), 0u);
}

TEST_P(GrowingMemoryIn, WhatCannotBeHadIsAnError) {
  GrowingMemory memory = made();
  memory.append(pattern(10, 3));
  EXPECT_THROW(memory.resize(SIZE_MAX / 2), Error);
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), pattern(10, 3)));
}

// Files of at most so many bytes, for as long as it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &old_); }

 private:
  rlimit old_{};
};

TEST(GrowingMemory, LeavesAFileThatHasNoMoreRoom) {
  GrowingMemory memory = GrowingMemory::inScratchFile();
  std::vector<std::byte> wanted = pattern(50'000, 1);
  memory.append(wanted);
  const FileSizeLimit limit(60'000);  // less than is mapped already
  for (int i = 0; i < 3; ++i) {
    const std::vector<std::byte> piece = pattern(100'000, i);
    memory.append(piece);
    wanted.insert(wanted.end(), piece.begin(), piece.end());
    EXPECT_TRUE(std::ranges::equal(memory.bytes(), wanted));
  }
  EXPECT_LT(openScratchFile().get(), 0);
}

TEST(GrowingMemory, ABlockThatDoesNotFitTheFileIsInMemory) {
  GrowingMemory memory = GrowingMemory::inScratchFile();
  memory.append(pattern(100, 1));
  const FileSizeLimit limit(30'000);  // so much of the first pages can be written
  memory.append(pattern(40'000, 2));
  EXPECT_TRUE(std::ranges::equal(memory.bytes().subspan(100), pattern(40'000, 2)));
  EXPECT_TRUE(std::ranges::equal(memory.bytes().first(100), pattern(100, 1)));
}

}  // namespace
}  // namespace camshaft
