// Running an engine: shapes, addresses, and the loop over the steps.
#pragma once

#include <memory>
#include <vector>

#include "runtime/launcher.h"
#include "runtime/loaded_engine.h"
#include "runtime/operand_memory.h"
#include "runtime/sizes.h"
#include "support/log.h"
#include "support/thread_pool.h"

namespace camshaft {

// One stream of inferences; contexts of one engine are independent, a context is used by one
// thread at a time. A run goes through its three parts in order: shapes give sizes, sizes are given
// memory, and steps are launched on it. run() does not allocate memory for tensors unless the
// network has sizes without bound. On a device, what a shape and its addresses lead to is recorded
// the second time it is asked for, and replayed from then on.
class Context {
 public:
  using OutputAllocator = OperandMemory::OutputAllocator;
  using StepTimer = Launcher::StepTimer;
  using ArenaOwner = OperandMemory::ArenaOwner;

  Context(std::shared_ptr<const LoadedEngine> engine, int threads,
          ArenaOwner arenaOwner = ArenaOwner::kContext);
  Context(std::shared_ptr<const LoadedEngine> engine, std::unique_ptr<ThreadPool> threads,
          ArenaOwner arenaOwner);
  // Of a body: on the threads of the context that runs it.
  Context(std::shared_ptr<const LoadedEngine> engine, ThreadPool& threads, ArenaOwner arenaOwner);
  ~Context();
  Context(const Context&) = delete;  // its parts know one another
  Context& operator=(const Context&) = delete;

  const LoadedEngine& engine() const { return *engine_; }
  int profile() const { return sizes_.profile(); }
  void setProfile(int profile);  // forgets the input shapes; throws where memory is short

  // Throws Error naming the input when the shape is outside the profile.
  void setInputShape(int input, std::span<const int64_t> dims) {
    sizes_.setInputShape(input, dims);
  }
  bool allShapesSet() const { return sizes_.allInputsSet(); }
  // -1 for a dimension that is not known yet: its input shape is not set, or only a run decides it.
  std::vector<int64_t> inputShape(int input) const { return sizes_.inputShape(input); }
  std::vector<int64_t> outputShape(int output) const { return sizes_.outputShape(output); }
  int64_t sizeOf(const DimRef& dim) const { return sizes_.sizeOf(dim); }  // of any tensor, likewise
  // Bytes that an output needs at most under the profile; -1: there is no bound.
  int64_t outputMaxBytes(int output) const { return sizes_.plan().outputMaxBytes[output]; }
  // Those that its shape has, where no run has a say in that; -1 elsewhere.
  int64_t outputBytesAhead(int output) const { return sizes_.outputBytesAhead(output); }
  // Sizes that the last run read from its data are unknown again. Else they are taken to be the
  // same in the next run, until that reads others.
  void forgetRunSizes() { sizes_.forgetBound(); }

  // Reads the values of shape inputs from the addresses they have, where that is not null. Throws
  // Error naming the input and element that the profile does not allow. A run does this too.
  void readShapeInputs();
  bool allShapeInputsRead() const;  // there is none whose values are not known

  void setInputAddress(int input, const void* data) { memory_.setInputAddress(input, data); }
  void setOutputAddress(int output, void* data) { memory_.setOutputAddress(output, data); }
  const void* inputAddress(int input) const { return memory_.inputAddress(input); }
  void* outputAddress(int output) const { return memory_.outputAddress(output); }
  void setOutputAllocator(OutputAllocator allocator) {
    memory_.setOutputAllocator(std::move(allocator));
  }
  int64_t arenaBytes() const { return sizes_.plan().arenaBytes; }
  // Memory for the arena, on the engine's device, when it is the caller's: at least arenaBytes().
  void setArena(void* memory, int64_t bytes) { memory_.setArena(memory, bytes); }

  // Where memory comes from whose size only a run knows; null: as all other. Must outlive the runs.
  void setTemporaryDevice(Device* device) { memory_.setTemporaryDevice(device); }

  void setStepTimer(StepTimer timer) { launcher_.setStepTimer(std::move(timer)); }
  void setLog(Log log) { launcher_.setLog(std::move(log)); }  // for what is slower than it could be
  // Whether steps that do not need one another are recorded side by side; as the plan says until
  // this is called.
  void setBranches(bool sideBySide) { launcher_.setBranches(sideBySide); }
  bool hasBranches();  // steps that could, at the shapes and addresses that are set
  // An event of the device, signalled when the inputs may be overwritten; null: none.
  void setInputConsumedEvent(void* event) { launcher_.setInputConsumedEvent(event); }

  // Ranges of NVTX around the steps that are launched one by one.
  using Ranges = Launcher::Ranges;
  void setRanges(Ranges ranges) { launcher_.setRanges(ranges); }
  // Sees the tensors of kObserve steps; null: nobody does. Must outlive the runs.
  void setObserver(const Observer* observer) { launcher_.setObserver(observer); }

  // On a device: queued on `stream`, and still running when this returns unless a layer runs on the
  // host or sizes are read from data. A run that throws leaves shapes, addresses and sizes as they
  // were, and nothing of it in the stream.
  void run(void* stream = nullptr);

 private:
  Context(std::shared_ptr<const LoadedEngine> engine, std::unique_ptr<ThreadPool> own,
          ThreadPool* threads, ArenaOwner arenaOwner);
  Device* device() const { return engine_->device(); }

  std::shared_ptr<const LoadedEngine> engine_;
  std::shared_ptr<const void> weightsUse_;  // their budget stays as it is
  std::unique_ptr<ThreadPool> ownThreads_;
  Sizes sizes_;
  OperandMemory memory_;
  Launcher launcher_;
};

}  // namespace camshaft
