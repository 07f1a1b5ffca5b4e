#include "tuner/timing_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace camshaft {
namespace {

TEST(TimingTurn, OneAtATimeOnADevice) {
  std::atomic<bool> hasTurn = false;
  std::thread other;
  {
    const TimingTurn mine("a device of the tests");
    other = std::thread([&] {
      const TimingTurn theirs("a device of the tests");
      hasTurn = true;
    });
    const TimingTurn elsewhere("another device of the tests");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(hasTurn);
  }
  other.join();
  EXPECT_TRUE(hasTurn);
}

}  // namespace
}  // namespace camshaft
