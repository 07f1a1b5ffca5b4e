#include "support/stopwatch.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/error.h"

namespace camshaft {
namespace {

TEST(Stopwatch, CountsMilliseconds) {
  Stopwatch stopwatch;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double first = stopwatch.milliseconds();
  EXPECT_GE(first, 5);
  EXPECT_LT(first, 5000);
  EXPECT_GE(stopwatch.milliseconds(), first);
  stopwatch.restart();
  EXPECT_GE(stopwatch.milliseconds(), 0);
}

TEST(Median, IsTheMiddleOfAnyOrder) {
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 100}), 3.5);
  EXPECT_EQ(median({2, 2, 2, 2}), 2);
  EXPECT_THROW(median({}), Error);
}

}  // namespace
}  // namespace camshaft
