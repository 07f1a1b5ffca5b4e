#include "support/growing_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "support/error.h"

namespace camshaft {
namespace {

std::vector<std::byte> pattern(size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(seed + i * 7);
  return bytes;
}

TEST(GrowingMemory, KeepsWhatWasAppended) {
  GrowingMemory memory;
  std::vector<std::byte> wanted;
  for (const size_t size : {1, 63, 70'000, 0, 1'000'000, 5}) {
    const std::vector<std::byte> piece = pattern(size, static_cast<int>(size));
    memory.append(piece);
    wanted.insert(wanted.end(), piece.begin(), piece.end());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 4096, 0u);
  }
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), wanted));
  memory.shrinkToFit();
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), wanted));
}

TEST(GrowingMemory, NewBytesAreZero) {
  GrowingMemory memory;
  memory.append(pattern(200, 1));
  memory.resize(100);
  memory.resize(100'000);
  for (size_t i = 100; i < memory.size(); ++i) ASSERT_EQ(memory.bytes()[i], std::byte{0}) << i;
}

TEST(GrowingMemory, MovesWithoutItsBytes) {
  GrowingMemory memory;
  memory.append(pattern(10, 3));
  const std::byte* const data = memory.data();
  GrowingMemory moved = std::move(memory);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.size(), 10u);
  moved = GrowingMemory();
  moved.shrinkToFit();
  EXPECT_EQ(moved.size(), 0u);
}

TEST(GrowingMemory, WhatCannotBeHadIsAnError) {
  GrowingMemory memory;
  memory.append(pattern(10, 3));
  EXPECT_THROW(memory.resize(SIZE_MAX / 2), Error);
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), pattern(10, 3)));
}

}  // namespace
}  // namespace camshaft
