#include "support/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/cpu_info.h"
#include "support/guest_threads.h"
#include "support/worker_threads.h"
#include "testing/task_queue.h"

namespace camshaft {
namespace {

// How many threads, and whether they are an application's. More than there are cores are wanted
// here: what can go wrong is to go wrong.
struct Setting {
  int threads;
  bool isApplications;
};

class ThreadPools : public testing::TestWithParam<Setting> {
 protected:
  static int threads() { return GetParam().threads; }
  std::shared_ptr<HelperSource> source() {
    if (GetParam().isApplications)
      return std::make_shared<GuestThreads>(threads() - 1, queue_.scheduler());
    auto own = std::make_shared<WorkerThreads>(threads());
    own->reserve(threads());
    return own;
  }

 private:
  TaskQueue queue_{GetParam().isApplications ? GetParam().threads - 1 : 0};
};
INSTANTIATE_TEST_SUITE_P(Own, ThreadPools,
                         testing::Values(Setting{1, false}, Setting{2, false}, Setting{3, false},
                                         Setting{8, false}));
INSTANTIATE_TEST_SUITE_P(Applications, ThreadPools,
                         testing::Values(Setting{1, true}, Setting{2, true}, Setting{8, true}));

TEST_P(ThreadPools, RunCallsEveryWorkerOnce) {
  ThreadPool pool(threads(), source());
  std::vector<int> calls(static_cast<size_t>(pool.threads()));
  for (int repeat = 0; repeat < 500; ++repeat)
    pool.run([&](int worker) { ++calls[static_cast<size_t>(worker)]; });
  EXPECT_EQ(calls, std::vector<int>(calls.size(), 500));
}

TEST_P(ThreadPools, ParallelForCoversTheRangeOnce) {
  ThreadPool pool(threads(), source());
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
  ThreadPool pool(threads(), source());
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
  ThreadPool pool(threads(), source()), other(threads(), source());
  {
    const ThreadPool::Limit limit(pool, 2);
    EXPECT_EQ(pool.threads(), std::min(2, threads()));
    EXPECT_EQ(other.threads(), threads());
    std::atomic<int> calls{0};
    pool.run([&](int) { ++calls; });
    EXPECT_EQ(calls, pool.threads());
    pool.parallelFor(1000, 1, [&](int64_t, int64_t, int worker) { ASSERT_LT(worker, 2); });
    const ThreadPool::Limit tighter(pool, 0);
    EXPECT_EQ(pool.threads(), 1);
  }
  EXPECT_EQ(pool.threads(), threads());
}

TEST_P(ThreadPools, WakesWorkersThatFellAsleep) {
  ThreadPool pool(threads(), source());
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<int> calls{0};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pool.run([&](int) { ++calls; });
    ASSERT_EQ(calls, pool.threads());
  }
}

TEST_P(ThreadPools, CarriesAnExceptionAndStaysUsable) {
  ThreadPool pool(threads(), source());
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
  ThreadPool pool(threads(), source());
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
  ThreadPool pool(threads(), source());
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

// Told before the loop, and inside of one, where all is one's own.
TEST(ThreadPool, TellsWhereSharesEnd) {
  ThreadPool pool(2);
  const ThreadPool::Shares shares = pool.sharesOf(10, 1);
  EXPECT_EQ(shares.workers, 2);
  EXPECT_EQ(shares.endOf(0), 5);
  EXPECT_EQ(shares.endOf(1), 10);
  EXPECT_EQ(pool.sharesOf(100, 7).endOf(0), 49);  // chunks of 7
  EXPECT_EQ(pool.sharesOf(3, 8).endOf(0), 3);
  EXPECT_EQ(pool.sharesOf(0, 1).endOf(0), 0);
  pool.parallelFor(1, 1, [&](int64_t, int64_t, int worker) {
    EXPECT_EQ(pool.sharesOf(10, 1).endOf(worker), 10);
  });
}

// The first body waits for the second, so it takes two threads at once.
bool computesOnTwo(ThreadPool& pool, std::chrono::milliseconds patience) {
  std::atomic<int> begun{0};
  bool isMet = false;
  pool.parallelFor(2, 1, [&](int64_t item, int64_t, int) {
    ++begun;
    if (item > 0) return;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (begun < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    isMet = begun == 2;
  });
  return isMet;
}

TEST(WorkerThreads, AreSharedByThePoolsOfAProcess) {
  const auto threads = WorkerThreads::ofProcess();
  const ThreadPool first(64), second(64), third(64);
  EXPECT_EQ(WorkerThreads::ofProcess(), threads);
  EXPECT_LE(threads->started(), usableCores() - 1);
}

TEST(WorkerThreads, CallersCountAsThreads) {
  const auto threads = std::make_shared<WorkerThreads>(2);
  threads->reserve(8);
  EXPECT_EQ(threads->started(), 1);
  ThreadPool pool(2, threads), other(2, threads);
  EXPECT_TRUE(computesOnTwo(pool, std::chrono::seconds(20)));
  {
    const ThreadPool::Presence presence(other);
    EXPECT_FALSE(computesOnTwo(pool, std::chrono::milliseconds(100))) << "both cores have a caller";
  }
  EXPECT_TRUE(computesOnTwo(pool, std::chrono::seconds(20)));
}

TEST(WorkerThreads, AreDividedAmongCallers) {
  WorkerThreads threads(8);
  threads.reserve(8);
  std::vector<Helper*> first, second;
  first.reserve(7), second.reserve(7);
  threads.enter();
  threads.borrow(first, 7);
  EXPECT_EQ(first.size(), 7u);
  threads.enter();
  threads.borrow(second, 7);
  EXPECT_EQ(second.size(), 0u) << "all are lent until the next loop of the first";
  threads.borrow(first, 7);
  threads.borrow(second, 7);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(second.size(), 3u);
  threads.giveBack(second);
  threads.leave();
  threads.borrow(first, 5);
  EXPECT_EQ(first.size(), 5u);
  threads.giveBack(first);
  threads.leave();
}

TEST(WorkerThreads, KeepToTheCoresOfTheirMaker) {
  const auto threads = WorkerThreads::ofProcess();
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one core is all there is";
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
  std::thread([&] {
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_NE(WorkerThreads::ofProcess(), threads);
  }).join();
}

TEST(WorkerThreads, AChildProcessHasItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer knows no threads in a child of fork()";
#endif
  ThreadPool inherited(2);
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int64_t> sum{0};
    const auto add = [&](int64_t begin, int64_t end, int) { sum += end - begin; };
    inherited.parallelFor(10, 1, add);
    ThreadPool(2).parallelFor(10, 1, add);
    _exit(sum == 20 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(GuestThreads, ARefusalLeavesTheCallerAlone) {
  const auto refuse = [](void (*)(void*), void*) { return false; };
  ThreadPool pool(4, std::make_shared<GuestThreads>(3, refuse));
  std::set<int> workers;
  pool.parallelFor(100, 1, [&](int64_t, int64_t, int worker) { workers.insert(worker); });
  EXPECT_EQ(workers, std::set<int>{0});
}

TEST(GuestThreads, APoolThatRunsTasksAtOnceLeavesTheCallerAlone) {
  const auto runAtOnce = [](void (*task)(void*), void* argument) { return task(argument), true; };
  ThreadPool pool(4, std::make_shared<GuestThreads>(3, runAtOnce));
  std::set<int> workers;
  pool.parallelFor(100, 1, [&](int64_t, int64_t, int worker) { workers.insert(worker); });
  EXPECT_EQ(workers, std::set<int>{0});
}

TEST(GuestThreads, ATaskMayComeWhenThePoolHasEnded) {
  std::vector<std::pair<void (*)(void*), void*>> tasks;
  const auto keep = [&](void (*task)(void*), void* argument) {
    return tasks.emplace_back(task, argument), true;
  };
  std::atomic<int64_t> sum{0};
  {
    ThreadPool pool(4, std::make_shared<GuestThreads>(3, keep));
    for (int repeat = 0; repeat < 10; ++repeat)
      pool.parallelFor(100, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  }
  EXPECT_EQ(sum, 1000);
  EXPECT_EQ(tasks.size(), 3u) << "a task that waits is not scheduled again";
  for (const auto& [task, argument] : tasks) task(argument);
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
