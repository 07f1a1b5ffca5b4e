// Fork-join threads for CPU kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "support/function_ref.h"
#include "support/helpers.h"

namespace camshaft {

// The calling thread is worker 0; workers 1 .. threads-1 are helpers, threads that other pools use
// too. A loop takes those that it can have at the moment, and never waits for one: a helper that
// has no core, or still wakes up, would find nothing left to do. Between loops helpers spin for a
// moment, so a run of small kernels costs well under a microsecond of fork and join each. Calls
// allocate nothing.
//
// Any thread may call; calls from different threads take turns, so a worker index is used by one
// body at a time. A call from inside a body of the same pool runs inline on that worker. Only a
// worker of another pool must not call back into the pool that waits for it.
//
// When bodies throw, the first exception reaches the caller once all workers have finished.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // helpers are the process's WorkerThreads
  ThreadPool(int threads, std::shared_ptr<HelperSource> source);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // As many as calls from this thread use at most.
  int threads() const;

  // While it lives, helpers stay with this pool between its loops, and the thread that made it
  // counts as one that computes: for a run of an engine.
  class Presence;

  // While it lives, calls from this thread, outside of bodies, use at most `threads` workers: for
  // kernels whose memory was planned for fewer than the pool has.
  class Limit;

  // Calls body(worker) once for each worker index, at the same time as far as there are helpers, so
  // bodies must not wait for each other.
  void run(FunctionRef<void(int worker)> body);

  // Splits [0, count) into chunks. A worker begins with those of its own share, the same one in
  // each loop of as many chunks, so that it finds in its caches what it wrote before, and goes on
  // with those that others have not come to. Every chunk begins at a multiple of `grain` and, but
  // for the last, is a multiple of `grain` long.
  void parallelFor(int64_t count, int64_t grain,
                   FunctionRef<void(int64_t begin, int64_t end, int worker)> body);
  // How such a loop is shared, for bodies that want to know what else their worker will do.
  struct Shares {
    int64_t count = 0, chunk = 1, chunks = 0;
    int workers = 1;
    int64_t endOf(int worker) const {
      return std::min(count, chunks * (worker + 1) / workers * chunk);
    }
  };
  Shares sharesOf(int64_t count, int64_t grain) const;

 private:
  struct Scope;
  struct Share;  // of the chunks of a loop
  class Turn;
  using Job = Helper::Job;

  const Scope* enclosingScope() const;
  void arrive();
  void depart();
  void fork(int workers, Job job);
  void runJob(Job job, int worker) noexcept;

  const int threads_;
  const std::shared_ptr<HelperSource> source_;
  std::mutex callers_;
  std::vector<Helper*> helpers_;  // that this pool has at the moment
  const std::unique_ptr<Share[]> shares_;
  std::atomic<int> presences_{0};
  std::exception_ptr exception_;
  std::atomic_flag hasException_;

  static thread_local const Scope* scope_;
  static thread_local const Limit* limit_;
};

class ThreadPool::Presence {
 public:
  explicit Presence(ThreadPool& pool) : pool_(pool) { pool_.arrive(); }
  ~Presence() { pool_.depart(); }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  ThreadPool& pool_;
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
