// The threads of this process that help contexts with their loops.
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "support/helpers.h"

namespace camshaft {

// Threads shared by all callers. However many these are, no more threads work than there are cores:
// each caller counts as one, and has at most its share of the rest. Helpers spin for a moment after
// a job, and then sleep.
class WorkerThreads final : public HelperSource {
 public:
  explicit WorkerThreads(int cores);
  ~WorkerThreads() override;

  // Those of the process, for callers that may use the same cores as this thread: they live while
  // somebody holds them. A child of fork() has its own.
  static std::shared_ptr<WorkerThreads> ofProcess();

  // Starts threads until there are as many as one caller that uses `threads` can have beside it.
  // Throws Error where the system has none left.
  void reserve(int threads);
  int started() const;

  void enter() noexcept override { callers_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept override { callers_.fetch_sub(1, std::memory_order_relaxed); }
  void borrow(std::vector<Helper*>& helpers, int wanted) noexcept override;
  void giveBack(std::vector<Helper*>& helpers) noexcept override;
  bool hasSleepers() noexcept override;
  void call(Helper& helper) noexcept override { helper.wake(); }

 private:
  struct Worker;

  void work(Helper& helper);
  int share() const;  // helpers that each caller may have
  int spare() const;  // cores that nobody uses
  void giveBackBeyond(size_t kept, std::vector<Helper*>& helpers);

  const int cores_;
  const int process_;  // that the threads are of
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Helper*> idle_;                // those not lent; the last to come is the first to go
  alignas(64) std::atomic<int> callers_{0};  // read by every loop, changed by every run
  std::atomic<int> lent_{0};
  alignas(64) std::atomic<int> sleepers_{0};  // threads that need a wake-up call
};

}  // namespace camshaft
