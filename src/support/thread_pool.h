// Fork-join threads for CPU kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "support/function_ref.h"

namespace camshaft {

// The calling thread is worker 0; workers 1 .. threads-1 are threads of the pool. Between calls
// they spin for a moment, so a run of small kernels costs well under a microsecond of fork and
// join each, and then sleep. Calls allocate nothing.
//
// Any thread may call; calls from different threads take turns, so a worker index is used by one
// body at a time. A call from inside a body of the same pool runs inline on that worker. Only a
// worker of another pool must not call back into the pool that waits for it.
//
// When bodies throw, the first exception reaches the caller once all workers have finished.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // As many as calls from this thread use.
  int threads() const;

  // While it lives, calls from this thread, outside of bodies, use at most `threads` workers: for
  // kernels whose memory was planned for fewer than the pool has.
  class Limit;

  // Calls body(worker) once for each worker, all at the same time; one after the other when
  // nested, so bodies must not wait for each other.
  void run(FunctionRef<void(int worker)> body);

  // Splits [0, count) into chunks and hands them to whichever worker is free. Every chunk begins
  // at a multiple of `grain` and, but for the last, is a multiple of `grain` long.
  void parallelFor(int64_t count, int64_t grain,
                   FunctionRef<void(int64_t begin, int64_t end, int worker)> body);

 private:
  struct Slot;  // where one worker waits for its next job
  struct Scope;
  using Job = FunctionRef<void(int worker)>;

  const Scope* enclosingScope() const;
  void fork(int workers, Job job);
  void runJob(Job job, int worker) noexcept;
  void workerMain(int worker);
  void waitForWorkers();
  void stop();

  const int threads_;
  const int64_t spinNanoseconds_;
  std::mutex callers_;
  const Job* job_ = nullptr;  // null asks a woken worker to exit
  std::exception_ptr exception_;
  std::atomic_flag hasException_;
  std::unique_ptr<Slot[]> slots_;
  std::vector<std::thread> workers_;
  alignas(64) std::atomic<int> pending_{0};   // workers still running the current job
  alignas(64) std::atomic<int> sleepers_{0};  // workers that need a wake-up call

  static thread_local const Scope* scope_;
  static thread_local const Limit* limit_;
};

class ThreadPool::Limit {
 public:
  Limit(const ThreadPool& pool, int threads) : pool_(&pool), threads_(threads), outer_(limit_) {
    limit_ = this;
  }
  ~Limit() { limit_ = outer_; }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  friend class ThreadPool;
  const ThreadPool* pool_;
  const int threads_;
  const Limit* outer_;
};

}  // namespace camshaft
