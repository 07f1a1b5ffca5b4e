// Runs the threads of one block after another as fibers of the calling host thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cuda_emulator/device/interface.h"
#include "cuda_emulator/fiber.h"

namespace camshaft::emulator {

struct LoadedModule;

struct LaunchShape {
  const LoadedModule* module = nullptr;
  const EntryPoint* entry = nullptr;
  void** parameters = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  size_t sharedBytes = 0;
};

class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // To be called once per launch, on the host thread that then calls run().
  void begin(const LaunchShape& shape);
  // Returns what went wrong, or nothing.
  std::string run(const unsigned blockIndex[3]);

  // A signal that the running thread raised: leaves its fiber for good.
  [[noreturn]] void abandonThread(int signal, void* address, void* instruction);
  static BlockRunner* current();

 private:
  struct Exchange {
    unsigned mask = 0;
    unsigned sourceLane = 0;
    unsigned long long value = 0;
    unsigned long long* all = nullptr;
    WarpResult result{};
  };
  struct Thread {
    const Stack* stack = nullptr;  // while started and not ended
    void* stackPointer = nullptr;
    unsigned barrierResult = 0;
    Exchange exchange;
    const char* waitsAt = nullptr;
  };
  struct Warp {
    unsigned live = 0;
    unsigned waiting = 0;
  };
  struct Barrier {
    unsigned arrived = 0;
    unsigned expected = 0;  // 0: all live threads
    unsigned votes = 0;
    std::vector<unsigned> waiting;
  };
  struct Fault {
    int signal = 0;
    void* address = nullptr;
    void* instruction = nullptr;
  };
  static constexpr unsigned kBarriers = 16;
  friend struct HookFunctions;

  void startBlock(const unsigned blockIndex[3]);
  std::string endBlock();
  static void fiberMain();
  void runUnstartedThreads();
  void startFiber();
  void resume(unsigned thread);
  void setCurrentThread(unsigned thread);
  void suspend(const char* waitsAt);
  void endThread();
  [[noreturn]] void fail(std::string reason);
  std::string describeFault() const;
  std::string describeDeadlock() const;

  unsigned barrier(unsigned id, unsigned threads, bool predicate);
  void arrive(unsigned id, unsigned threads);
  void releaseIfComplete(Barrier& barrier);
  WarpResult exchange(unsigned mask, unsigned long long value, unsigned sourceLane,
                      unsigned long long* all);
  void completeExchanges(unsigned warp);
  void deliver(unsigned warp, unsigned lanes);

  LaunchShape shape_;
  unsigned threadCount_ = 0;
  ThreadState* state_ = nullptr;
  char* staticShared_ = nullptr;
  char* dynamicMapping_ = nullptr;
  char* dynamicShared_ = nullptr;

  std::vector<std::unique_ptr<Stack>> stacks_;
  std::vector<const Stack*> freeStacks_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Barrier barriers_[kBarriers];
  std::deque<unsigned> ready_;
  unsigned nextThread_ = 0;
  unsigned live_ = 0;
  unsigned running_ = 0;
  const Stack* runningStack_ = nullptr;
  uint64_t turnsWithoutProgress_ = 0;
  void* schedulerStackPointer_ = nullptr;
  Fault fault_;
  std::string error_;
};

}  // namespace camshaft::emulator
