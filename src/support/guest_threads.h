// Threads of the application that help contexts with their loops.
#pragma once

#include <functional>
#include <memory>

#include "support/helpers.h"

namespace camshaft {

// The helpers of one ThreadPool, each a task that the application's pool runs whenever it likes.
// One that comes when the loop is over, or the ThreadPool has ended, finds nothing to do. Between
// the loops of a run a task waits a moment for the next one, so that few are scheduled.
class GuestThreads final : public HelperSource, public std::enable_shared_from_this<GuestThreads> {
 public:
  // Runs task(argument) on another thread, once; false: it will not. From any thread.
  using Schedule = std::function<bool(void (*task)(void* argument), void* argument)>;

  GuestThreads(int count, Schedule schedule);
  ~GuestThreads() override;

  void enter() noexcept override { callers_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept override { callers_.fetch_sub(1, std::memory_order_relaxed); }
  void borrow(std::vector<Helper*>& helpers, int wanted) noexcept override;
  void giveBack(std::vector<Helper*>& helpers) noexcept override { helpers.clear(); }
  bool hasSleepers() noexcept override { return true; }
  void call(Helper& helper) noexcept override;

 private:
  struct Guest;

  static void help(void* guest);
  bool waitForOffer(const Guest& guest) const;

  const Schedule schedule_;
  const std::unique_ptr<Guest[]> guests_;
  const int count_;
  std::atomic<int> callers_{0};
};

}  // namespace camshaft
