#include "support/helpers.h"

#include "support/spin.h"

namespace camshaft {

// As long as a helper may need for the rest of what it has begun; then the caller sleeps too.
static constexpr int64_t kJoinNanoseconds = 150'000;

void Helper::offer(const Job* job, int worker) {
  job_ = job;
  worker_ = worker;
  ticket_.store(ticket_.load(std::memory_order_relaxed) + kOffered, std::memory_order_release);
}

bool Helper::takeBack() {
  uint32_t seen = ticket_.load(std::memory_order_relaxed);
  return seen % kNext == kOffered && ticket_.compare_exchange_strong(seen, seen - kOffered + kNext);
}

void Helper::join() {
  const auto isDone = [&] { return ticket_.load(std::memory_order_acquire) % kNext != kBusy; };
  if (spinUntil(kJoinNanoseconds, isDone)) return;
  for (uint32_t seen = ticket_.load(); seen % kNext == kBusy; seen = ticket_.load())
    ticket_.wait(seen);
}

bool Helper::serve() {
  uint32_t seen = ticket_.load(std::memory_order_acquire);
  if (seen % kNext != kOffered || !ticket_.compare_exchange_strong(seen, seen - kOffered + kBusy))
    return true;
  const bool goesOn = job_ != nullptr;
  if (goesOn) (*job_)(worker_);
  ticket_.fetch_add(kNext - kBusy);
  ticket_.notify_one();
  return goesOn;
}

void Helper::sleep() {
  if (const uint32_t seen = ticket_.load(); seen % kNext != kOffered) ticket_.wait(seen);
}

}  // namespace camshaft
