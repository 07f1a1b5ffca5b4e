#include "backends/cpu/weights_ahead.h"

#include <gtest/gtest.h>

#include <vector>

namespace camshaft::cpu {
namespace {

constexpr int64_t kBlock = WeightsAhead::kBytes / 2;  // two of them are as far as is looked

class WeightsAheadTest : public ::testing::Test {
 protected:
  std::vector<std::byte> weights_ = std::vector<std::byte>(8 * kBlock);
  std::vector<std::byte> next_ = std::vector<std::byte>(4 * kBlock);

  // In blocks from the beginning of `of`; -1 for null.
  static int64_t blockOf(const char* place, const std::vector<std::byte>& of) {
    return place ? (place - reinterpret_cast<const char*>(of.data())) / kBlock : -1;
  }
  const std::byte* block(int64_t i) const { return weights_.data() + i * kBlock; }
};

TEST_F(WeightsAheadTest, GoesOnWithWhatComesNext) {
  const WeightsAhead ahead(block(8), next_);
  EXPECT_EQ(blockOf(ahead.at(block(0), kBlock), weights_), 2);
  EXPECT_EQ(blockOf(ahead.at(block(5), kBlock), weights_), 7);
  EXPECT_EQ(blockOf(ahead.at(block(6), kBlock), next_), 0);
  EXPECT_EQ(blockOf(ahead.at(block(7), kBlock), next_), 1);
  EXPECT_EQ(ahead.at(block(0), 0), nullptr);
  EXPECT_EQ(WeightsAhead().at(block(0), kBlock), nullptr);
  EXPECT_EQ(WeightsAhead(block(2), {}).at(block(0), kBlock), nullptr);
}

// Large blocks are looked for two ahead.
TEST_F(WeightsAheadTest, LooksTwoBlocksAheadAtLeast) {
  const WeightsAhead ahead(block(8), next_);
  EXPECT_EQ(blockOf(ahead.at(block(0), 3 * kBlock), weights_), 6);
}

// Of two workers each has half of the columns, then half of what comes next.
TEST_F(WeightsAheadTest, SharesWhatComesNext) {
  ThreadPool pool(2);
  const ThreadPool::Shares shares = pool.sharesOf(4, 1);
  const SharedWeights weights(shares, weights_.data(), 1, 2 * kBlock, 8 * kBlock, next_);
  EXPECT_EQ(blockOf(weights.from(0, 0).at(block(1), kBlock), weights_), 3);
  EXPECT_EQ(blockOf(weights.from(1, 0).at(block(2), kBlock), next_), 0);
  EXPECT_EQ(blockOf(weights.from(3, 1).at(block(6), kBlock), next_), 2);
  EXPECT_EQ(weights.from(2, 0).at(block(4), kBlock), nullptr);  // the other worker's
}

// A worker of any number computes all of a loop inside of another.
TEST_F(WeightsAheadTest, BelongsToAnyWorkerOfALoopInside) {
  ThreadPool pool(2);
  pool.parallelFor(1, 1, [&](int64_t, int64_t, int) {
    const ThreadPool::Shares shares = pool.sharesOf(4, 1);
    const SharedWeights weights(shares, weights_.data(), 1, 2 * kBlock, 8 * kBlock, next_);
    EXPECT_EQ(blockOf(weights.from(0, 1).at(block(1), kBlock), weights_), 3);
    EXPECT_EQ(blockOf(weights.from(3, 1).at(block(6), kBlock), next_), 0);
  });
}

// Tasks of other rows read the same columns again; the last one goes on.
TEST_F(WeightsAheadTest, KnowsTasksOfOtherRows) {
  ThreadPool pool(2);
  const ThreadPool::Shares shares = pool.sharesOf(4, 1);
  const SharedWeights weights(shares, weights_.data(), 4, 8 * kBlock, 8 * kBlock, next_);
  EXPECT_EQ(blockOf(weights.from(0, 0).at(block(0), kBlock), weights_), 2);
  EXPECT_EQ(weights.from(0, 0).at(block(6), kBlock), nullptr);
  EXPECT_EQ(blockOf(weights.from(1, 0).at(block(6), kBlock), next_), 0);
}

}  // namespace
}  // namespace camshaft::cpu
