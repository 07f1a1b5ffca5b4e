#include "support/guest_threads.h"

#include <algorithm>
#include <utility>

#include "support/spin.h"

namespace camshaft {
namespace {

// The application has other use for its threads: no longer than it takes to schedule one again.
constexpr int64_t kLingerNanoseconds = 30'000;

// This thread is inside of schedule(): a pool that runs the task there and then has no other thread
// for it.
thread_local bool isScheduling = false;

}  // namespace

struct GuestThreads::Guest : Helper {
  std::atomic<bool> isScheduled{false};
  std::shared_ptr<GuestThreads> home;  // while it is scheduled
};

GuestThreads::GuestThreads(int count, Schedule schedule)
    : schedule_(std::move(schedule)),
      guests_(std::make_unique<Guest[]>(static_cast<size_t>(std::max(count, 0)))),
      count_(std::max(count, 0)) {}

GuestThreads::~GuestThreads() = default;

void GuestThreads::borrow(std::vector<Helper*>& helpers, int wanted) noexcept {
  for (int i = static_cast<int>(helpers.size()); i < std::min(wanted, count_); ++i)
    helpers.push_back(&guests_[static_cast<size_t>(i)]);
}

void GuestThreads::call(Helper& helper) noexcept {
  auto& guest = static_cast<Guest&>(helper);
  if (guest.isScheduled.exchange(true)) return;
  guest.home = shared_from_this();
  isScheduling = true;
  const bool isTaken = schedule_(help, &guest);
  isScheduling = false;
  if (isTaken) return;
  guest.home = nullptr;
  guest.isScheduled.store(false);
}

bool GuestThreads::waitForOffer(const Guest& guest) const {
  return spinUntil(
             kLingerNanoseconds,
             [&] { return guest.isOffered() || callers_.load(std::memory_order_relaxed) == 0; }) &&
         guest.isOffered();
}

// Whoever makes an offer and then sees a guest that is scheduled may rely on it: it looks once more
// after it has said that it is not.
void GuestThreads::help(void* argument) {
  auto& guest = *static_cast<Guest*>(argument);
  const std::shared_ptr<GuestThreads> home = std::move(guest.home);
  do {
    while (!isScheduling && home->waitForOffer(guest)) guest.serve();
    guest.isScheduled.store(false);
  } while (!isScheduling && guest.isOffered() && !guest.isScheduled.exchange(true));
}

}  // namespace camshaft
