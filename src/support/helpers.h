// Threads that help callers with their loops, as a ThreadPool sees them.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "support/function_ref.h"

namespace camshaft {

// Where one thread waits for a loop to help with. It goes round: idle, offered a job, busy with it,
// idle again. One borrower at a time makes offers, takes them back and joins; one thread serves.
// Each has a cache line to watch, so that waking three leaves the others asleep, and so that those
// who finish at the same time do not queue for one counter.
class alignas(64) Helper {
 public:
  using Job = FunctionRef<void(int worker)>;

  // Null asks the thread to end. The job must live until it was taken back or joined.
  void offer(const Job* job, int worker);
  bool takeBack();  // false: it has begun
  void join();      // once it has begun, until it is done
  void wake() { ticket_.notify_one(); }

  bool isOffered() const { return ticket_.load(std::memory_order_acquire) % 4 == kOffered; }
  // Does what is offered, where it was not taken back; false: it is asked to end.
  bool serve();
  void sleep();  // until there is an offer, or for no reason

 private:
  enum : uint32_t { kIdle, kOffered, kBusy, kNext = 4 };

  std::atomic<uint32_t> ticket_{kIdle};  // a state, plus 4 for each round
  int worker_ = 0;
  const Job* job_ = nullptr;
};

// Who lends helpers. Callers come and go; between the two they borrow for each loop anew, and keep
// what they have.
class HelperSource {
 public:
  virtual ~HelperSource() = default;
  virtual void enter() noexcept = 0;
  virtual void leave() noexcept = 0;
  // Brings `helpers` to the number `wanted`, as far as the caller may have as many now, and takes
  // away what it has beyond its share.
  virtual void borrow(std::vector<Helper*>& helpers, int wanted) noexcept = 0;
  virtual void giveBack(std::vector<Helper*>& helpers) noexcept = 0;
  // After offers were made: whether some of those who have one may sleep until they are called.
  virtual bool hasSleepers() noexcept = 0;
  virtual void call(Helper& helper) noexcept = 0;
};

}  // namespace camshaft
