#include "cuda_emulator/block_runner.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "cuda_emulator/emulator.h"
#include "cuda_emulator/memory.h"
#include "cuda_emulator/module.h"

namespace camshaft::emulator {
namespace {

constexpr unsigned char kPoison = 0xFF;
constexpr unsigned char kRedzone = 0xA5;
constexpr size_t kSharedAlignment = 1024;
constexpr size_t kSharedMapping = 256 * 1024;
constexpr size_t kSharedGuard = 64 * 1024;
// A block whose threads only yield to each other this often is taken to be stuck.
constexpr uint64_t kMaxIdleTurns = 20'000'000;

thread_local BlockRunner* currentRunner = nullptr;

size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

std::string indexText(const unsigned index[3]) {
  return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
         std::to_string(index[2]) + ")";
}

// "kernel.cu:12", or nothing when binutils aren't there.
std::string sourceLine(const void* instruction) {
  Dl_info info{};
  if (!instruction || !dladdr(instruction, &info) || !info.dli_fname) return {};
  char command[4096];
  std::snprintf(command, sizeof command, "addr2line -e '%s' %#zx 2>/dev/null", info.dli_fname,
                static_cast<size_t>(static_cast<const char*>(instruction) -
                                    static_cast<const char*>(info.dli_fbase)));
  FILE* pipe = popen(command, "r");
  if (!pipe) return {};
  char line[1024] = "";
  const bool found = std::fgets(line, sizeof line, pipe) && line[0] != '?';
  pclose(pipe);
  if (!found) return {};
  std::string text(line, std::strcspn(line, " \n"));
  return text.substr(text.rfind('/') + 1);
}

}  // namespace

struct HookFunctions {
  static unsigned barrier(unsigned id, unsigned threads, int predicate) {
    return currentRunner->barrier(id, threads, predicate != 0);
  }
  static void arrive(unsigned id, unsigned threads) { currentRunner->arrive(id, threads); }
  static WarpResult exchange(unsigned mask, unsigned long long value, unsigned sourceLane,
                             unsigned long long* all) {
    return currentRunner->exchange(mask, value, sourceLane, all);
  }
  static unsigned liveLanes() { return currentRunner->warps_[currentRunner->running_ / 32].live; }
  static void yield() {
    BlockRunner& runner = *currentRunner;
    if (++runner.turnsWithoutProgress_ > kMaxIdleTurns) runner.fail(runner.describeDeadlock());
    runner.ready_.push_back(runner.running_);
    runner.suspend("a loop");
  }
  // As the table's type has it: clang compares the attribute.
  __attribute__((noreturn)) static void trap(const char* reason) { currentRunner->fail(reason); }
  static constexpr Hooks kTable = {barrier, arrive, exchange, liveLanes, yield, trap};
};

BlockRunner* BlockRunner::current() { return currentRunner; }

BlockRunner::BlockRunner() {
  void* mapping = mmap(nullptr, kSharedMapping + kSharedGuard, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  dynamicMapping_ = static_cast<char*>(mapping);
  mprotect(dynamicMapping_ + kSharedMapping, kSharedGuard, PROT_NONE);
}

BlockRunner::~BlockRunner() { munmap(dynamicMapping_, kSharedMapping + kSharedGuard); }

void BlockRunner::begin(const LaunchShape& shape) {
  refreshThreadStorage();
  shape_ = shape;
  threadCount_ = shape.block[0] * shape.block[1] * shape.block[2];
  state_ = shape.module->threadState();
  staticShared_ = static_cast<char*>(shape.module->sharedStorage());
  dynamicShared_ = dynamicMapping_ + kSharedMapping - roundUp(shape.sharedBytes, kSharedAlignment);
}

void BlockRunner::startBlock(const unsigned blockIndex[3]) {
  std::memset(staticShared_, kPoison, shape_.module->sharedBytes);
  std::memset(dynamicShared_, kPoison, shape_.sharedBytes);
  char* dynamicEnd = dynamicMapping_ + kSharedMapping;
  std::memset(dynamicShared_ + shape_.sharedBytes, kRedzone,
              static_cast<size_t>(dynamicEnd - dynamicShared_) - shape_.sharedBytes);
  for (int axis = 0; axis < 3; ++axis) {
    state_->block[axis] = blockIndex[axis];
    state_->blockSize[axis] = shape_.block[axis];
    state_->gridSize[axis] = shape_.grid[axis];
  }
  state_->dynamicShared = dynamicShared_;
  state_->hooks = &HookFunctions::kTable;

  threads_.assign(threadCount_, Thread());
  warps_.assign((threadCount_ + 31) / 32, Warp());
  for (unsigned i = 0; i < threadCount_; ++i) warps_[i / 32].live |= 1u << (i % 32);
  for (Barrier& barrier : barriers_) barrier = Barrier();
  ready_.clear();
  freeStacks_.clear();
  for (const auto& stack : stacks_) freeStacks_.push_back(stack.get());
  nextThread_ = 0;
  live_ = threadCount_;
  turnsWithoutProgress_ = 0;
  fault_ = Fault();
  error_.clear();
}

std::string BlockRunner::run(const unsigned blockIndex[3]) {
  startBlock(blockIndex);
  currentRunner = this;
  while (error_.empty() && !fault_.signal) {
    if (nextThread_ < threadCount_) {
      startFiber();
    } else if (!ready_.empty()) {
      const unsigned thread = ready_.front();
      ready_.pop_front();
      resume(thread);
    } else {
      if (live_ > 0) error_ = describeDeadlock();
      break;
    }
  }
  currentRunner = nullptr;
  return endBlock();
}

std::string BlockRunner::endBlock() {
  if (fault_.signal) error_ = describeFault();
  for (char* at = dynamicShared_ + shape_.sharedBytes;
       error_.empty() && at < dynamicMapping_ + kSharedMapping; ++at) {
    if (static_cast<unsigned char>(*at) != kRedzone) {
      error_ = "a thread wrote past the end of " + std::to_string(shape_.sharedBytes) +
               " bytes of dynamic shared memory";
    }
  }
  if (error_.empty()) return {};
  return std::string("kernel '") + shape_.entry->name + "', block " + indexText(state_->block) +
         ", thread " + indexText(state_->thread) + ": " + error_;
}

// Threads that never wait run one after another on one stack. A thread that waits keeps the stack,
// and the scheduler gives the threads that have not started another one.
void BlockRunner::startFiber() {
  if (freeStacks_.empty()) {
    stacks_.push_back(std::make_unique<Stack>());
    freeStacks_.push_back(stacks_.back().get());
  }
  runningStack_ = freeStacks_.back();
  freeStacks_.pop_back();
  camshaftSwitchStack(&schedulerStackPointer_, runningStack_->prepare(&BlockRunner::fiberMain));
}

void BlockRunner::fiberMain() {
  BlockRunner& runner = *currentRunner;
  runner.runUnstartedThreads();
  runner.freeStacks_.push_back(runner.runningStack_);
  void* ignored = nullptr;
  camshaftSwitchStack(&ignored, runner.schedulerStackPointer_);
  __builtin_unreachable();
}

void BlockRunner::runUnstartedThreads() {
  while (nextThread_ < threadCount_) {
    const unsigned thread = nextThread_++;
    threads_[thread].stack = runningStack_;
    setCurrentThread(thread);
    shape_.entry->invoke(shape_.parameters);
    endThread();
  }
}

void BlockRunner::setCurrentThread(unsigned thread) {
  running_ = thread;
  state_->linearThread = thread;
  state_->thread[0] = thread % shape_.block[0];
  state_->thread[1] = thread / shape_.block[0] % shape_.block[1];
  state_->thread[2] = thread / (shape_.block[0] * shape_.block[1]);
}

void BlockRunner::resume(unsigned thread) {
  runningStack_ = threads_[thread].stack;
  threads_[thread].waitsAt = nullptr;
  setCurrentThread(thread);
  camshaftSwitchStack(&schedulerStackPointer_, threads_[thread].stackPointer);
}

void BlockRunner::suspend(const char* waitsAt) {
  Thread& self = threads_[running_];
  self.waitsAt = waitsAt;
  camshaftSwitchStack(&self.stackPointer, schedulerStackPointer_);
}

void BlockRunner::endThread() {
  turnsWithoutProgress_ = 0;
  --live_;
  const unsigned warp = running_ / 32;
  warps_[warp].live &= ~(1u << (running_ % 32));
  threads_[running_].stack = nullptr;
  if (warps_[warp].waiting) completeExchanges(warp);
  for (Barrier& barrier : barriers_) {
    if (!barrier.waiting.empty()) releaseIfComplete(barrier);
  }
}

void BlockRunner::fail(std::string reason) {
  // No destructor of this fiber runs any more: `reason` must end up without memory of its own.
  std::string().swap(error_);
  error_ = std::move(reason);
  void* ignored = nullptr;
  camshaftSwitchStack(&ignored, schedulerStackPointer_);
  __builtin_unreachable();
}

void BlockRunner::abandonThread(int signal, void* address, void* instruction) {
  fault_ = {signal, address, instruction};
  void* ignored = nullptr;
  camshaftSwitchStack(&ignored, schedulerStackPointer_);
  __builtin_unreachable();
}

unsigned BlockRunner::barrier(unsigned id, unsigned threads, bool predicate) {
  if (id >= kBarriers) fail("barrier " + std::to_string(id) + " does not exist (0 to 15)");
  Barrier& barrier = barriers_[id];
  barrier.expected = threads;
  ++barrier.arrived;
  barrier.votes += predicate;
  barrier.waiting.push_back(running_);
  releaseIfComplete(barrier);
  suspend(id == 0 ? "__syncthreads()" : "a named barrier");
  return threads_[running_].barrierResult;
}

void BlockRunner::arrive(unsigned id, unsigned threads) {
  if (id >= kBarriers) fail("barrier " + std::to_string(id) + " does not exist (0 to 15)");
  barriers_[id].expected = threads;
  ++barriers_[id].arrived;
  releaseIfComplete(barriers_[id]);
}

void BlockRunner::releaseIfComplete(Barrier& barrier) {
  if (barrier.arrived < (barrier.expected ? barrier.expected : live_)) return;
  turnsWithoutProgress_ = 0;
  for (unsigned thread : barrier.waiting) {
    threads_[thread].barrierResult = barrier.votes;
    ready_.push_back(thread);
  }
  barrier.waiting.clear();
  barrier.arrived = 0;
  barrier.votes = 0;
}

WarpResult BlockRunner::exchange(unsigned mask, unsigned long long value, unsigned sourceLane,
                                 unsigned long long* all) {
  const unsigned warp = running_ / 32;
  const unsigned self = 1u << (running_ % 32);
  if (!(mask & self)) fail("a warp collective whose mask leaves out the calling lane");
  threads_[running_].exchange = {mask, sourceLane, value, all, {}};
  warps_[warp].waiting |= self;
  completeExchanges(warp);
  suspend("a warp collective");
  return threads_[running_].exchange.result;
}

// Lanes belong together when their masks agree on the lanes that still run.
void BlockRunner::completeExchanges(unsigned warp) {
  const Warp& state = warps_[warp];
  unsigned candidates = state.waiting;
  while (candidates) {
    const unsigned first = static_cast<unsigned>(__builtin_ctz(candidates));
    const unsigned lanes = threads_[warp * 32 + first].exchange.mask & state.live;
    candidates &= ~(1u << first);
    if ((state.waiting & lanes) != lanes) continue;
    bool agree = true;
    for (unsigned rest = lanes; rest && agree; rest &= rest - 1) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
      agree = (threads_[warp * 32 + lane].exchange.mask & state.live) == lanes;
    }
    if (agree) deliver(warp, lanes);
    candidates &= ~lanes;
  }
}

void BlockRunner::deliver(unsigned warp, unsigned lanes) {
  turnsWithoutProgress_ = 0;
  Thread* threads = &threads_[warp * 32];
  unsigned ballot = 0;
  for (unsigned rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (threads[lane].exchange.value) ballot |= 1u << lane;
  }
  for (unsigned rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    Exchange& own = threads[lane].exchange;
    const bool sourceTookPart = own.sourceLane < 32 && (lanes >> own.sourceLane & 1u);
    own.result = {sourceTookPart ? threads[own.sourceLane].exchange.value : ~0ull, ballot, lanes};
    for (unsigned i = 0; own.all && i < 32; ++i) {
      own.all[i] = lanes >> i & 1u ? threads[i].exchange.value : ~0ull;
    }
    ready_.push_back(warp * 32 + lane);
  }
  warps_[warp].waiting &= ~lanes;
}

std::string BlockRunner::describeFault() const {
  const std::string line = sourceLine(fault_.instruction);
  const std::string place = line.empty() ? "" : " at " + line;
  switch (fault_.signal) {
    case SIGFPE:
      return "an integer division by zero" + place;
    case SIGILL:
    case SIGTRAP:
      return "an index outside of an array, a misaligned pointer or, on some CPUs, an integer "
             "division by zero" +
             place;
    default:
      break;
  }
  const char* address = static_cast<const char*>(fault_.address);
  const char* sharedEnd = dynamicMapping_ + kSharedMapping;
  if (runningStack_->inGuardPage(address)) return "the thread's stack overflowed" + place;
  if (address >= sharedEnd && address < sharedEnd + kSharedGuard) {
    return "an access past the end of " + std::to_string(shape_.sharedBytes) +
           " bytes of dynamic shared memory" + place;
  }
  return "a bad access" + place + ": " + describeAddress(address);
}

std::string BlockRunner::describeDeadlock() const {
  std::string text = "the block is stuck:";
  unsigned shown = 0;
  const char* last = nullptr;
  for (unsigned i = 0; i < threadCount_ && shown < 4; ++i) {
    const char* place = threads_[i].waitsAt;
    if (!place || place == last) continue;
    text +=
        std::string(shown ? ", thread " : " thread ") + std::to_string(i) + " waits at " + place;
    last = place;
    ++shown;
  }
  return text;
}

}  // namespace camshaft::emulator
