#include "support/thread_pool.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "support/worker_threads.h"

namespace camshaft {

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

static std::shared_ptr<HelperSource> processThreads(int threads) {
  std::shared_ptr<WorkerThreads> source = WorkerThreads::ofProcess();
  source->reserve(threads);
  return source;
}

ThreadPool::ThreadPool(int threads) : ThreadPool(threads, processThreads(threads)) {}

ThreadPool::ThreadPool(int threads, std::shared_ptr<HelperSource> source)
    : threads_(std::max(threads, 1)), source_(std::move(source)) {
  helpers_.reserve(static_cast<size_t>(threads_ - 1));
}

ThreadPool::Presence::Presence(ThreadPool& pool) : pool_(pool) {
  if (pool_.presences_.fetch_add(1) == 0) pool_.source_->enter();
}

ThreadPool::Presence::~Presence() {
  if (pool_.presences_.fetch_sub(1) != 1) return;
  {
    const std::lock_guard lock(pool_.callers_);
    if (pool_.presences_.load() == 0) pool_.source_->giveBack(pool_.helpers_);
  }
  pool_.source_->leave();
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
  std::atomic<int> next{0};
  fork(workers, [&](int) {
    for (int index = next.fetch_add(1); index < workers; index = next.fetch_add(1)) {
      const Scope scope(this, index);
      body(index);
    }
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

// Runs job on worker 0, and on those of 1 .. workers-1 that begin before it is done there.
void ThreadPool::fork(int workers, Job job) {
  std::optional<Presence> presence;  // of this loop alone, where it is of no run
  if (presences_.load(std::memory_order_relaxed) == 0) presence.emplace(*this);
  const std::lock_guard lock(callers_);
  const auto work = [&](int worker) { runJob(job, worker); };
  const Job offer = work;
  if (workers > 1) source_->borrow(helpers_, workers - 1);
  const std::span helping(helpers_.data(),
                          std::min(helpers_.size(), static_cast<size_t>(workers - 1)));
  int worker = 0;
  for (Helper* helper : helping) helper->offer(&offer, ++worker);
  if (!helping.empty()) source_->call(helping);
  work(0);
  for (Helper* helper : helping)
    if (!helper->takeBack()) helper->join();
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

}  // namespace camshaft
