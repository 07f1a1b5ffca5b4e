#include "support/once_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace camshaft {
namespace {

TEST(OnceMap, MakesEachOnceAndForgetsTheOldest) {
  OnceMap<int, int> map(2);
  int made = 0;
  const auto square = [&](int key) { return map.get(key, [&] { return ++made, key * key; }); };
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(made, 1);
  square(4), square(5);
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(made, 4);
}

TEST(OnceMap, WhatThrewIsTriedAgain) {
  OnceMap<int, int> map(2);
  EXPECT_THROW(map.get(1, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(map.get(1, [] { return 7; }), 7);
}

// Each of two keys can only be made while the other one is.
TEST(OnceMap, KeysDoNotWaitForEachOther) {
  OnceMap<int, int> map(8);
  std::atomic<int> made = 0;
  const auto meet = [&](int key) {
    return map.get(key, [&] {
      ++made;
      while (made < 2) std::this_thread::yield();
      return key;
    });
  };
  std::vector<std::thread> threads;
  std::atomic<int> sum = 0;
  for (int i = 0; i < 6; ++i) threads.emplace_back([&, i] { sum += meet(i % 2); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 2);
  EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace camshaft
