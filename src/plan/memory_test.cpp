#include "plan/memory.h"

#include <gtest/gtest.h>

#include <random>

namespace camshaft {
namespace {

void expectNoOverlap(const std::vector<BufferLifetime>& buffers, int64_t arenaBytes) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferLifetime& a = buffers[i];
    EXPECT_EQ(a.offset % kArenaAlignment, 0);
    EXPECT_LE(a.offset + a.bytes, arenaBytes);
    for (size_t j = i + 1; j < buffers.size(); ++j) {
      const BufferLifetime& b = buffers[j];
      if (a.firstStep > b.lastStep || b.firstStep > a.lastStep) continue;
      EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset)
          << "buffers " << i << " and " << j << " overlap";
    }
  }
}

TEST(Memory, ChainNeedsTwoBuffers) {
  std::vector<BufferLifetime> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back({1024, i, i + 1});
  EXPECT_EQ(placeBuffers(buffers), 2048);
  expectNoOverlap(buffers, 2048);
}

// A fan, every branch of which waits for the last.
TEST(Memory, ThousandsAliveAtOnceLieOneOnAnother) {
  constexpr int kBranches = 3000;
  std::vector<BufferLifetime> buffers;
  for (int i = 0; i < kBranches; ++i) buffers.push_back({256 * (1 + i % 3), i, kBranches});
  const int64_t arenaBytes = placeBuffers(buffers);
  EXPECT_EQ(arenaBytes, kBranches * 512);
  expectNoOverlap(buffers, arenaBytes);
}

TEST(Memory, GapsAndTheTopOfManyNeverOverlap) {
  std::mt19937 random(11);
  std::vector<BufferLifetime> buffers(3000);
  for (auto& buffer : buffers) {
    buffer.bytes = static_cast<int64_t>(random() % 2000);
    buffer.firstStep = static_cast<int>(random() % 1000);
    buffer.lastStep = buffer.firstStep + static_cast<int>(random() % (random() % 4 == 0 ? 900 : 4));
  }
  expectNoOverlap(buffers, placeBuffers(buffers));
}

TEST(Memory, NothingTakesNothing) {
  std::vector<BufferLifetime> none;
  EXPECT_EQ(placeBuffers(none), 0);
}

TEST(Memory, RandomLifetimesNeverOverlapAndStayNearTheLowerBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<BufferLifetime> buffers(1 + random() % 100);
    for (auto& buffer : buffers) {
      buffer.bytes = 1 + random() % 5000;
      buffer.firstStep = static_cast<int>(random() % 60);
      buffer.lastStep = buffer.firstStep + static_cast<int>(random() % 8);
    }
    const int64_t arenaBytes = placeBuffers(buffers);
    expectNoOverlap(buffers, arenaBytes);
    int64_t densest = 0;
    for (int step = 0; step < 70; ++step) {
      int64_t alive = 0;
      for (const auto& buffer : buffers)
        if (buffer.firstStep <= step && step <= buffer.lastStep)
          alive += (buffer.bytes + 63) / 64 * 64;
      densest = std::max(densest, alive);
    }
    EXPECT_LE(arenaBytes, densest * 3 / 2);
  }
}

}  // namespace
}  // namespace camshaft
