#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "cuda_emulator/block_runner.h"
#include "cuda_emulator/emulator.h"
#include "cuda_emulator/module.h"

namespace camshaft::emulator {
namespace {

constexpr int kCaughtSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr size_t kSignalStackBytes = 64 * 1024;
// A launch that is done sooner is not worth starting host threads for.
constexpr auto kWorthThreads = std::chrono::microseconds(500);

[[noreturn]] void failWith(const std::string& message) {
  throw std::runtime_error("CUDA emulator: " + message);
}

struct sigaction previousActions[NSIG];

void* instructionPointer(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(machine.gregs[REG_RIP]);
#else
  return reinterpret_cast<void*>(machine.pc);
#endif
}

void onSignal(int signal, siginfo_t* info, void* context) {
  if (BlockRunner* runner = BlockRunner::current()) {
    runner->abandonThread(signal, info->si_addr, instructionPointer(context));
  }
  // Not a kernel's: raised again, with nobody here to catch it, once this handler returns.
  sigaction(signal, &previousActions[signal], nullptr);
}

// Catches what kernels raise while any launch runs.
class SignalGuard {
 public:
  SignalGuard() {
    std::lock_guard lock(mutex());
    if (users()++ > 0) return;
    struct sigaction action{};
    action.sa_sigaction = onSignal;
    // The handler does not return, so the signal must not stay blocked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : kCaughtSignals) sigaction(signal, &action, &previousActions[signal]);
  }
  ~SignalGuard() {
    std::lock_guard lock(mutex());
    if (--users() > 0) return;
    for (int signal : kCaughtSignals) sigaction(signal, &previousActions[signal], nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static int& users() {
    static int count = 0;
    return count;
  }
};

// A stack of its own for the handler, since a fiber's may be what overflowed.
class SignalStack {
 public:
  SignalStack() : memory_(std::make_unique<char[]>(kSignalStackBytes)) {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = kSignalStackBytes;
    sigaltstack(&stack, &previous_);
  }
  ~SignalStack() { sigaltstack(&previous_, nullptr); }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
  stack_t previous_{};
};

// Runners keep their stacks from launch to launch.
class RunnerPool {
 public:
  std::unique_ptr<BlockRunner> take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<BlockRunner>();
    std::unique_ptr<BlockRunner> runner = std::move(idle_.back());
    idle_.pop_back();
    return runner;
  }
  void giveBack(std::unique_ptr<BlockRunner> runner) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockRunner>> idle_;
};

RunnerPool& runnerPool() {
  static RunnerPool* instance = new RunnerPool;
  return *instance;
}

unsigned hostThreads() {
  const char* chosen = std::getenv("CAMSHAFT_EMULATOR_THREADS");
  const int count =
      chosen ? std::atoi(chosen) : static_cast<int>(std::thread::hardware_concurrency());
  return count > 1 ? static_cast<unsigned>(count) : 1;
}

// The blocks of one launch, taken one by one by the host threads.
class Grid {
 public:
  explicit Grid(const LaunchShape& shape)
      : shape_(shape), blocks_(uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2]) {}

  // Until all blocks are taken, or `deadline` has passed.
  void work(std::chrono::steady_clock::time_point deadline) {
    SignalStack signalStack;
    std::unique_ptr<BlockRunner> runner = runnerPool().take();
    runner->begin(shape_);
    do {
      const uint64_t block = next_++;
      if (block >= blocks_) break;
      const unsigned index[3] = {static_cast<unsigned>(block % shape_.grid[0]),
                                 static_cast<unsigned>(block / shape_.grid[0] % shape_.grid[1]),
                                 static_cast<unsigned>(block / shape_.grid[0] / shape_.grid[1])};
      std::string error = runner->run(index);
      if (!error.empty()) stop(std::move(error));
    } while (std::chrono::steady_clock::now() < deadline);
    runnerPool().giveBack(std::move(runner));
  }

  uint64_t blocksLeft() const { return blocks_ - std::min<uint64_t>(next_, blocks_); }
  const std::string& error() const { return error_; }

 private:
  void stop(std::string error) {
    std::lock_guard lock(mutex_);
    if (error_.empty()) error_ = std::move(error);
    next_ = blocks_;
  }

  const LaunchShape shape_;
  const uint64_t blocks_;
  std::atomic<uint64_t> next_{0};
  std::mutex mutex_;
  std::string error_;
};

LaunchShape checkedShape(const Function& function, const unsigned grid[3], const unsigned block[3],
                         size_t sharedBytes, void** parameters) {
  LaunchShape shape;
  shape.module = function.module.get();
  shape.entry = function.entry;
  shape.parameters = parameters;
  shape.sharedBytes = sharedBytes;
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    shape.grid[axis] = grid[axis];
    shape.block[axis] = block[axis];
    threads *= block[axis];
    if (grid[axis] == 0 || (axis > 0 && grid[axis] > 65535)) {
      failWith("kernel '" + function.name + "': grid size " + std::to_string(grid[axis]) +
               " on axis " + std::to_string(axis));
    }
  }
  if (threads == 0 || threads > 1024 || block[2] > 64) {
    failWith("kernel '" + function.name + "': " + std::to_string(threads) +
             " threads in a block (1 to 1024, at most 64 on axis 2)");
  }
  if (sharedBytes > kMaxSharedBytes) {
    failWith("kernel '" + function.name + "': " + std::to_string(sharedBytes) +
             " bytes of dynamic shared memory, more than " + std::to_string(kMaxSharedBytes));
  }
  return shape;
}

}  // namespace

void launch(const Function& function, const unsigned grid[3], const unsigned block[3],
            size_t sharedBytes, void** parameters) {
  Grid work(checkedShape(function, grid, block, sharedBytes, parameters));
  {
    using Clock = std::chrono::steady_clock;
    SignalGuard signals;
    const unsigned threads = hostThreads();
    work.work(threads > 1 ? Clock::now() + kWorthThreads : Clock::time_point::max());
    std::vector<std::thread> others;
    if (work.blocksLeft() > 0) {
      for (unsigned i = 1; i < threads && i < work.blocksLeft(); ++i) {
        others.emplace_back([&] { work.work(Clock::time_point::max()); });
      }
      work.work(Clock::time_point::max());
    }
    for (std::thread& other : others) other.join();
  }
  if (!work.error().empty()) failWith(work.error());
  try {
    checkMemory();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(error.what() + (" (after kernel '" + function.name + "')"));
  }
}

}  // namespace camshaft::emulator
