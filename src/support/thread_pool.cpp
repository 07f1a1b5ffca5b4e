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
  // Goes up when a job is offered to this worker, and again when the worker takes it or the caller
  // takes it back: odd while the offer stands.
  std::atomic<uint32_t> ticket{0};

  bool isOffered() const { return ticket.load(std::memory_order_acquire) % 2 != 0; }
  void offer() {
    ticket.store(ticket.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // True for one of those that try.
  bool take() {
    uint32_t offered = ticket.load(std::memory_order_acquire);
    return offered % 2 != 0 && ticket.compare_exchange_strong(offered, offered + 1);
  }
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
  } catch (const std::bad_alloc&) {
    stop();
    throw;
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
    slots_[i + 1].offer();
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
  const int workers = threads();
  if (enclosingScope()) {
    for (int worker = 0; worker < workers; ++worker) body(worker);
    return;
  }
  std::atomic<int> started{0};
  fork(workers, [&](int worker) {
    started.fetch_add(1);
    // Whoever has not begun when this worker ends is not waited for.
    if (worker == 0)
      while (started.load() < workers) std::this_thread::yield();
    body(worker);
  });
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

// Runs job on worker 0, and on those of 1 .. workers-1 that begin before it is done there. One that
// has no core, or still wakes up, would find nothing left to do.
void ThreadPool::fork(int workers, Job job) {
  const std::lock_guard lock(callers_);
  if (workers > 1) {
    job_ = &job;
    pending_.store(workers - 1, std::memory_order_relaxed);
    for (int worker = 1; worker < workers; ++worker) slots_[static_cast<size_t>(worker)].offer();
    // Both sides change sleepers_: whoever comes second sees what the first did before, so either
    // a worker that is about to sleep sees its new ticket, or it is counted here and woken.
    if (sleepers_.fetch_add(0) > 0)
      for (int worker = 1; worker < workers; ++worker)
        slots_[static_cast<size_t>(worker)].ticket.notify_one();
  }
  runJob(job, 0);
  for (int worker = 1; worker < workers && pending_.load(std::memory_order_acquire) > 0; ++worker)
    if (slots_[static_cast<size_t>(worker)].take()) pending_.fetch_sub(1);
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
  Slot& slot = slots_[static_cast<size_t>(worker)];
  for (;;) {
    if (!spinUntil(spinNanoseconds_, [&] { return slot.isOffered(); })) {
      sleepers_.fetch_add(1);
      const uint32_t seen = slot.ticket.load();
      if (seen % 2 == 0) slot.ticket.wait(seen);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (!slot.take()) continue;
    if (!job_) return;
    runJob(*job_, worker);
    if (pending_.fetch_sub(1) == 1) pending_.notify_one();
  }
}

}  // namespace camshaft
