#include "support/thread_pool.h"

#include <algorithm>
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

struct alignas(64) ThreadPool::Share {
  std::atomic<int64_t> next;
  int64_t end;
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
    : threads_(std::max(threads, 1)),
      source_(std::move(source)),
      shares_(std::make_unique<Share[]>(static_cast<size_t>(threads_))) {
  helpers_.reserve(static_cast<size_t>(threads_ - 1));
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::arrive() {
  if (presences_.fetch_add(1) == 0) source_->enter();
}

void ThreadPool::depart() {
  if (presences_.fetch_sub(1) != 1) return;
  {
    const std::lock_guard lock(callers_);
    if (presences_.load() == 0) source_->giveBack(helpers_);
  }
  source_->leave();
}

// One caller's loop, while others wait. A loop that is of no run is one by itself.
class ThreadPool::Turn {
 public:
  explicit Turn(ThreadPool& pool) : pool_(pool), isAlone_(pool.presences_.load() == 0) {
    if (isAlone_) pool_.arrive();
    pool_.callers_.lock();
  }
  ~Turn() {
    pool_.callers_.unlock();
    if (isAlone_) pool_.depart();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  ThreadPool& pool_;
  const bool isAlone_;
};

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
  const Turn turn(*this);
  std::atomic<int> next{0};
  fork(workers, [&](int) {
    for (int index = next.fetch_add(1); index < workers; index = next.fetch_add(1)) {
      const Scope scope(this, index);
      body(index);
    }
  });
}

// A few chunks per worker even out their speeds; more only cost traffic on the counters.
ThreadPool::Shares ThreadPool::sharesOf(int64_t count, int64_t grain) const {
  constexpr int64_t kChunksPerWorker = 4;
  if (count <= 0 || enclosingScope()) return {.count = count, .chunk = count, .chunks = 1};
  grain = std::clamp<int64_t>(grain, 1, count);
  const int64_t grains = (count - 1) / grain + 1;
  const int64_t chunk = grain * std::max<int64_t>(1, grains / (threads() * kChunksPerWorker));
  const int64_t chunks = (count - 1) / chunk + 1;
  return {count, chunk, chunks, static_cast<int>(std::min<int64_t>(chunks, threads()))};
}

void ThreadPool::parallelFor(int64_t count, int64_t grain,
                             FunctionRef<void(int64_t begin, int64_t end, int worker)> body) {
  if (count <= 0) return;
  if (const Scope* scope = enclosingScope()) {
    body(0, count, scope->worker);
    return;
  }
  const Shares all = sharesOf(count, grain);
  const Turn turn(*this);
  for (int i = 0; i < all.workers; ++i) {
    Share& share = shares_[static_cast<size_t>(i)];
    share.next.store(all.chunks * i / all.workers, std::memory_order_relaxed);
    share.end = all.chunks * (i + 1) / all.workers;
  }
  fork(all.workers, [&](int worker) {
    for (int i = 0; i < all.workers; ++i) {
      Share& share = shares_[static_cast<size_t>((worker + i) % all.workers)];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        const int64_t index = share.next.fetch_add(1, std::memory_order_relaxed);
        if (index >= share.end) break;
        if (hasException_.test(std::memory_order_relaxed)) return;
        const int64_t begin = index * all.chunk;
        body(begin, begin + std::min(all.chunk, count - begin), worker);
      }
    }
  });
}

// Runs job on worker 0, and on those of 1 .. workers-1 that begin before it is done there. Waking a
// thread takes microseconds, so those who come call others before they begin: whoever is free does
// it, and none is waited for.
void ThreadPool::fork(int workers, Job job) {
  constexpr int kCallsOfCaller = 4, kCallsOfHelper = 2;
  if (workers > 1) source_->borrow(helpers_, workers - 1);
  const size_t helping = std::min(helpers_.size(), static_cast<size_t>(workers - 1));
  std::atomic<size_t> called{helping};
  const auto work = [&](int worker) {
    for (int calls = worker == 0 ? kCallsOfCaller : kCallsOfHelper;
         calls > 0 && called.load(std::memory_order_relaxed) < helping; --calls)
      if (const size_t i = called.fetch_add(1); i < helping) source_->call(*helpers_[i]);
    runJob(job, worker);
  };
  const Job offer = work;
  for (size_t i = 0; i < helping; ++i) helpers_[i]->offer(&offer, static_cast<int>(i) + 1);
  if (helping > 0 && source_->hasSleepers()) called.store(0, std::memory_order_relaxed);
  work(0);
  for (size_t i = 0; i < helping; ++i)
    if (!helpers_[i]->takeBack()) helpers_[i]->join();
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
