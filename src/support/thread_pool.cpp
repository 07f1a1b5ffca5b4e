#include "support/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "support/cpu_info.h"
#include "support/error.h"

namespace camshaft {
namespace {

// Longer than the gap between two kernels of a running model, shorter than anybody notices on a
// power meter.
constexpr int64_t kSpinNanoseconds = 150'000;

void relaxCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` is a no-op on most cores, `isb` is a short pause
#endif
}

// True as soon as done() is, false when it is still not after the given time.
template <class Done>
bool spinUntil(int64_t nanoseconds, const Done& done) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      relaxCpu();
    }
  } while (Clock::now() < deadline);
  return done();
}

}  // namespace

// Each worker has its own line to watch, so waking three of them leaves the others asleep.
struct alignas(64) ThreadPool::Slot {
  std::atomic<uint32_t> ticket{0};  // goes up by one per job given to this worker
};

// The bodies this thread is inside of, innermost first: how a nested call is recognised.
struct ThreadPool::Scope {
  Scope(const ThreadPool* pool, int worker) : pool(pool), worker(worker), outer(scope_) {
    scope_ = this;
  }
  ~Scope() { scope_ = outer; }

  const ThreadPool* pool;
  int worker;
  const Scope* outer;
};

thread_local const ThreadPool::Scope* ThreadPool::scope_ = nullptr;
thread_local const ThreadPool::Limit* ThreadPool::limit_ = nullptr;

int ThreadPool::threads() const {
  int threads = threads_;
  for (const Limit* limit = limit_; limit; limit = limit->outer_)
    if (limit->pool_ == this) threads = std::min(threads, std::max(limit->threads_, 1));
  return threads;
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(threads, 1)),
      // With more threads than cores, a spinning worker only keeps a working one from its core.
      spinNanoseconds_(threads_ <= usableCores() ? kSpinNanoseconds : 0),
      slots_(std::make_unique<Slot[]>(static_cast<size_t>(threads_))) {
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  try {
    for (int worker = 1; worker < threads_; ++worker)
      workers_.emplace_back([this, worker] { workerMain(worker); });
  } catch (const std::system_error& error) {
    stop();
    fail(ErrorKind::kOutOfMemory, "could not start ", threads_, " threads (", error.what(),
         "), use fewer threads");
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  job_ = nullptr;
  for (size_t i = 0; i < workers_.size(); ++i) {
    slots_[i + 1].ticket.fetch_add(1);
    slots_[i + 1].ticket.notify_one();
  }
  for (std::thread& worker : workers_) worker.join();
}

const ThreadPool::Scope* ThreadPool::enclosingScope() const {
  const Scope* scope = scope_;
  while (scope && scope->pool != this) scope = scope->outer;
  return scope;
}

void ThreadPool::run(FunctionRef<void(int worker)> body) {
  if (enclosingScope()) {
    for (int worker = 0; worker < threads(); ++worker) body(worker);
  } else {
    fork(threads(), body);
  }
}

void ThreadPool::parallelFor(int64_t count, int64_t grain,
                             FunctionRef<void(int64_t begin, int64_t end, int worker)> body) {
  if (count <= 0) return;
  if (const Scope* scope = enclosingScope()) {
    body(0, count, scope->worker);
    return;
  }
  // A few chunks per worker even out their speeds; more only cost traffic on the counter.
  constexpr int64_t kChunksPerWorker = 4;
  grain = std::clamp<int64_t>(grain, 1, count);
  const int64_t grains = (count - 1) / grain + 1;
  const int workers = threads();
  const int64_t chunk = grain * std::max<int64_t>(1, grains / (workers * kChunksPerWorker));
  const int64_t chunks = (count - 1) / chunk + 1;

  alignas(64) std::atomic<int64_t> nextChunk{0};
  fork(static_cast<int>(std::min<int64_t>(chunks, workers)), [&](int worker) {
    for (;;) {
      const int64_t index = nextChunk.fetch_add(1, std::memory_order_relaxed);
      if (index >= chunks || hasException_.test(std::memory_order_relaxed)) return;
      const int64_t begin = index * chunk;
      body(begin, begin + std::min(chunk, count - begin), worker);
    }
  });
}

// Runs job on workers 0 .. workers-1 and returns when all have finished.
void ThreadPool::fork(int workers, Job job) {
  const std::lock_guard lock(callers_);
  if (workers > 1) {
    job_ = &job;
    pending_.store(workers - 1, std::memory_order_relaxed);
    for (int worker = 1; worker < workers; ++worker) {
      std::atomic<uint32_t>& ticket = slots_[static_cast<size_t>(worker)].ticket;
      ticket.store(ticket.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    // Both sides change sleepers_: whoever comes second sees what the first did before, so either
    // a worker that is about to sleep sees its new ticket, or it is counted here and woken.
    if (sleepers_.fetch_add(0) > 0)
      for (int worker = 1; worker < workers; ++worker)
        slots_[static_cast<size_t>(worker)].ticket.notify_one();
  }
  runJob(job, 0);
  if (workers > 1) waitForWorkers();
  if (hasException_.test(std::memory_order_relaxed)) {
    hasException_.clear(std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(exception_, nullptr));
  }
}

void ThreadPool::runJob(Job job, int worker) noexcept {
  const Scope scope(this, worker);
  try {
    job(worker);
  } catch (...) {
    if (!hasException_.test_and_set()) exception_ = std::current_exception();
  }
}

void ThreadPool::waitForWorkers() {
  if (spinUntil(spinNanoseconds_, [&] { return pending_.load(std::memory_order_acquire) == 0; }))
    return;
  for (int pending = pending_.load(); pending != 0; pending = pending_.load())
    pending_.wait(pending);
}

void ThreadPool::workerMain(int worker) {
  std::atomic<uint32_t>& ticket = slots_[static_cast<size_t>(worker)].ticket;
  for (uint32_t seen = 0;; ++seen) {
    const auto hasJob = [&] { return ticket.load(std::memory_order_acquire) != seen; };
    if (!spinUntil(spinNanoseconds_, hasJob)) {
      sleepers_.fetch_add(1);
      ticket.wait(seen);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (!job_) return;
    runJob(*job_, worker);
    if (pending_.fetch_sub(1) == 1) pending_.notify_one();
  }
}

}  // namespace camshaft
