#include "backends/cpu/parallel.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

namespace camshaft::cpu {
namespace {

TEST(PartsOfUnits, AreFewAndLeaveNoThreadWaiting) {
  EXPECT_EQ(partsOfUnits(12, 1, 8), 1);
  EXPECT_EQ(partsOfUnits(12, 2, 8), 1);
  EXPECT_EQ(partsOfUnits(12, 16, 8), 4) << "48 parts are three rounds, 12 heads leave four idle";
  EXPECT_EQ(partsOfUnits(12, 16, 2), 1) << "no more than there are blocks of rows, nor for nothing";
  EXPECT_EQ(partsOfUnits(192, 16, 8), 1);
  EXPECT_EQ(partsOfUnits(1, 16, 8), 8);
  EXPECT_EQ(partsOfUnits(17, 16, 8), 6) << "102 parts in seven rounds of 16";
}

// Sizes of the pieces that a loop is cut into.
std::vector<int64_t> piecesOf(int64_t count, double workPerItem, int threads) {
  ThreadPool pool(threads);
  std::mutex mutex;
  std::vector<int64_t> pieces;
  parallelItems(&pool, count, workPerItem, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    pieces.push_back(end - begin);
  });
  return pieces;
}

TEST(ParallelItems, SmallWorkStaysOnTheCaller) {
  EXPECT_EQ(piecesOf(1000, 1, 16), std::vector<int64_t>{1000});
}

TEST(ParallelItems, RowsOfATransformerAreEnoughForSixteenThreads) {
  EXPECT_GE(piecesOf(128, 768 * 2, 16).size(), 16u) << "a norm of BERT's at batch 1";
  EXPECT_GE(piecesOf(16 * 128, 768 * 2, 16).size(), 64u);
}

}  // namespace
}  // namespace camshaft::cpu
