#include "support/worker_threads.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "support/cpu_info.h"
#include "support/error.h"
#include "support/spin.h"

namespace camshaft {
namespace {

// Longer than the gap between two kernels of a running model, shorter than anybody notices on a
// power meter.
constexpr int64_t kSpinNanoseconds = 150'000;

}  // namespace

struct WorkerThreads::Worker {
  Helper helper;
  std::thread thread;
};

WorkerThreads::WorkerThreads(int cores) : cores_(std::max(cores, 1)), process_(getpid()) {}

WorkerThreads::~WorkerThreads() {
  for (const auto& worker : workers_) {
    // A child of fork() has a copy of this object, and none of its threads.
    if (process_ != getpid()) {
      worker->thread.detach();
      continue;
    }
    worker->helper.offer(nullptr, 0);
    if (hasSleepers()) call(worker->helper);
    worker->thread.join();
  }
}

// Whoever pins a thread to some cores wants its helpers there too: threads inherit the mask of the
// one that starts them, and are shared by those that have the same.
std::shared_ptr<WorkerThreads> WorkerThreads::ofProcess() {
  using Key = std::pair<int, std::vector<bool>>;  // process and cores
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<WorkerThreads>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<WorkerThreads>& place = known[{getpid(), affinityMask()}];
  std::shared_ptr<WorkerThreads> threads = place.lock();
  if (!threads) place = threads = std::make_shared<WorkerThreads>(usableCores());
  return threads;
}

int WorkerThreads::started() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(workers_.size());
}

void WorkerThreads::reserve(int threads) {
  const auto wanted = static_cast<size_t>(std::max(std::min(threads, cores_) - 1, 0));
  const std::lock_guard lock(mutex_);
  workers_.reserve(wanted);
  idle_.reserve(wanted);  // giving back never allocates
  try {
    while (workers_.size() < wanted) {
      auto worker = std::make_unique<Worker>();
      worker->thread = std::thread([this, helper = &worker->helper] { work(*helper); });
      idle_.push_back(&worker->helper);
      workers_.push_back(std::move(worker));
    }
  } catch (const std::system_error& error) {
    fail(ErrorKind::kOutOfMemory, "could not start ", threads, " threads (", error.what(),
         "), use fewer threads");
  }
}

int WorkerThreads::share() const {
  // The cores divided among the callers, rounded up, without the caller's own.
  return (cores_ - 1) / std::max(callers_.load(std::memory_order_relaxed), 1);
}

int WorkerThreads::spare() const {
  return cores_ - callers_.load(std::memory_order_relaxed) - lent_.load(std::memory_order_relaxed);
}

void WorkerThreads::borrow(std::vector<Helper*>& helpers, int wanted) noexcept {
  const auto most = static_cast<size_t>(share());
  const size_t enough = std::min(static_cast<size_t>(std::max(wanted, 0)), most);
  if (helpers.size() > most) {
    const std::lock_guard lock(mutex_);
    giveBackBeyond(most, helpers);
  } else if (helpers.size() < enough && spare() > 0) {
    const std::lock_guard lock(mutex_);
    for (int free = spare(); free > 0 && helpers.size() < enough && !idle_.empty(); --free) {
      helpers.push_back(idle_.back());
      idle_.pop_back();
      lent_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void WorkerThreads::giveBack(std::vector<Helper*>& helpers) noexcept {
  if (helpers.empty()) return;
  const std::lock_guard lock(mutex_);
  giveBackBeyond(0, helpers);
}

void WorkerThreads::giveBackBeyond(size_t kept, std::vector<Helper*>& helpers) {
  for (; helpers.size() > kept; helpers.pop_back()) {
    idle_.push_back(helpers.back());
    lent_.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Both sides change sleepers_: whoever comes second sees what the first did before, so either a
// helper that is about to sleep sees its offer, or it is counted here and woken.
bool WorkerThreads::hasSleepers() noexcept { return sleepers_.fetch_add(0) > 0; }

void WorkerThreads::work(Helper& helper) {
  do {
    if (spinUntil(kSpinNanoseconds, [&] { return helper.isOffered(); })) continue;
    sleepers_.fetch_add(1);
    helper.sleep();
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  } while (helper.serve());
}

}  // namespace camshaft
