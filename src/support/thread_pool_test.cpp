#include "support/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace camshaft {
namespace {

class ThreadPools : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPools, testing::Values(1, 2, 3, 8));

TEST_P(ThreadPools, RunCallsEveryWorkerOnce) {
  ThreadPool pool(GetParam());
  std::vector<int> calls(static_cast<size_t>(pool.threads()));
  for (int repeat = 0; repeat < 500; ++repeat)
    pool.run([&](int worker) { ++calls[static_cast<size_t>(worker)]; });
  EXPECT_EQ(calls, std::vector<int>(calls.size(), 500));
}

TEST_P(ThreadPools, ParallelForCoversTheRangeOnce) {
  ThreadPool pool(GetParam());
  for (int64_t count : {0, 1, 2, 7, 64, 1000}) {
    for (int64_t grain : {0, 1, 3, 16, 5000}) {
      std::vector<int> touched(static_cast<size_t>(count));
      pool.parallelFor(count, grain, [&](int64_t begin, int64_t end, int worker) {
        ASSERT_LT(worker, pool.threads());
        ASSERT_LT(begin, end);
        if (grain > 0) {
          ASSERT_EQ(begin % grain, 0);
        }
        for (int64_t i = begin; i < end; ++i) ++touched[static_cast<size_t>(i)];
      });
      ASSERT_EQ(touched, std::vector<int>(touched.size(), 1)) << count << " by " << grain;
    }
  }
}

// So short that workers begin, fall asleep or are taken back at any moment.
TEST_P(ThreadPools, LateWorkersAreNotMissed) {
  ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 3000; ++repeat) {
    std::atomic<int> items{0};
    if (repeat % 300 == 0) std::this_thread::sleep_for(std::chrono::microseconds(repeat / 10));
    pool.parallelFor(repeat % 10, 1, [&](int64_t begin, int64_t end, int) {
      items += static_cast<int>(end - begin);
    });
    ASSERT_EQ(items, repeat % 10);
  }
}

TEST_P(ThreadPools, LimitsHoldForTheirPoolAndTheirLife) {
  ThreadPool pool(GetParam()), other(GetParam());
  {
    const ThreadPool::Limit limit(pool, 2);
    EXPECT_EQ(pool.threads(), std::min(2, GetParam()));
    EXPECT_EQ(other.threads(), GetParam());
    std::atomic<int> calls{0};
    pool.run([&](int) { ++calls; });
    EXPECT_EQ(calls, pool.threads());
    pool.parallelFor(1000, 1, [&](int64_t, int64_t, int worker) { ASSERT_LT(worker, 2); });
    const ThreadPool::Limit tighter(pool, 0);
    EXPECT_EQ(pool.threads(), 1);
  }
  EXPECT_EQ(pool.threads(), GetParam());
}

TEST_P(ThreadPools, WakesWorkersThatFellAsleep) {
  ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<int> calls{0};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pool.run([&](int) { ++calls; });
    ASSERT_EQ(calls, pool.threads());
  }
}

TEST_P(ThreadPools, CarriesAnExceptionAndStaysUsable) {
  ThreadPool pool(GetParam());
  for (int thrower = 0; thrower < pool.threads(); ++thrower) {
    EXPECT_THROW(pool.run([&](int worker) {
      if (worker == thrower) throw std::runtime_error("from a worker");
    }),
                 std::runtime_error);
  }
  EXPECT_THROW(pool.parallelFor(100, 1, [](int64_t, int64_t, int) { throw 7; }), int);
  std::atomic<int64_t> sum{0};
  pool.parallelFor(100, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum, 100);
}

TEST_P(ThreadPools, NestedCallsRunInline) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> items{0}, calls{0}, strangers{0};
  pool.run([&](int outer) {
    const std::thread::id self = std::this_thread::get_id();
    pool.parallelFor(10, 1, [&](int64_t begin, int64_t end, int inner) {
      items += end - begin;
      strangers += inner != outer || std::this_thread::get_id() != self;
    });
    pool.run([&](int) { ++calls; });
  });
  EXPECT_EQ(items, 10 * pool.threads());
  EXPECT_EQ(calls, pool.threads() * pool.threads());
  EXPECT_EQ(strangers, 0);
}

TEST_P(ThreadPools, CallersTakeTurns) {
  ThreadPool pool(GetParam());
  // Unguarded on purpose: two bodies under one worker index would be a race.
  std::vector<int64_t> perWorker(static_cast<size_t>(pool.threads()));
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat)
        pool.parallelFor(1 + repeat, 1, [&](int64_t begin, int64_t end, int worker) {
          perWorker[static_cast<size_t>(worker)] += end - begin;
        });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(std::accumulate(perWorker.begin(), perWorker.end(), int64_t{0}), 4 * (50 * 51 / 2));
}

TEST(ThreadPool, NestingInAnotherPoolUsesThatPool) {
  ThreadPool outer(2), inner(2);
  std::atomic<int> innerCalls{0}, outerCalls{0};
  outer.run([&](int) {
    inner.run([&](int worker) {
      ++innerCalls;
      if (worker == 0) outer.run([&](int) { ++outerCalls; });  // still inside a body of outer
    });
  });
  EXPECT_EQ(innerCalls, 4);
  EXPECT_EQ(outerCalls, 4);
}

TEST(ThreadPool, FewChunksUseFewWorkers) {
  ThreadPool pool(4);
  std::set<int> workers;
  pool.parallelFor(8, 8, [&](int64_t, int64_t, int worker) { workers.insert(worker); });
  EXPECT_EQ(workers, std::set<int>{0});
}

TEST(ThreadPool, AtLeastOneThread) { EXPECT_EQ(ThreadPool(0).threads(), 1); }

int doubled(int value) { return 2 * value; }

TEST(FunctionRef, CallsLambdasFunctionsAndConstObjects) {
  const auto apply = [](FunctionRef<int(int)> function) { return function(21); };
  int calls = 0;
  EXPECT_EQ(apply([&](int value) { return ++calls, value; }), 21);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(apply(doubled), 42);
  EXPECT_EQ(apply(&doubled), 42);
  const auto negate = [](int value) { return -value; };
  EXPECT_EQ(apply(negate), -21);
}

}  // namespace
}  // namespace camshaft
