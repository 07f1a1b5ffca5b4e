// Running an engine: shapes, addresses, and the loop over the steps.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "runtime/body_runner.h"
#include "runtime/hazards.h"
#include "runtime/loaded_engine.h"
#include "runtime/recordings.h"
#include "support/log.h"
#include "support/thread_pool.h"

namespace camshaft {

// One stream of inferences; contexts of one engine are independent, a context is used by one
// thread at a time. The arena is allocated here, once; run() does not allocate unless the network
// has sizes without bound. On a device, what a shape and its addresses lead to is recorded the
// second time it is asked for, and replayed from then on.
class Context {
 public:
  // Called when an output's size is known only now; returns where to write it (at least `bytes`).
  using OutputAllocator =
      std::function<void*(int output, void* current, int64_t bytes, std::span<const int64_t> dims)>;
  using StepTimer = std::function<void(const Step& step, double milliseconds)>;

  enum class ArenaOwner { kContext, kCaller };

  Context(std::shared_ptr<const LoadedEngine> engine, int threads,
          ArenaOwner arenaOwner = ArenaOwner::kContext);
  // Of a body: on the threads of the context that runs it.
  Context(std::shared_ptr<const LoadedEngine> engine, ThreadPool& threads, ArenaOwner arenaOwner);
  ~Context();

  const LoadedEngine& engine() const { return *engine_; }
  int profile() const { return profile_; }
  void setProfile(int profile);  // forgets the input shapes; throws where memory is short

  // Throws Error naming the input when the shape is outside the profile.
  void setInputShape(int input, std::span<const int64_t> dims);
  void setInputAddress(int input, const void* data) { inputs_[input] = data; }
  void setOutputAddress(int output, void* data) { outputs_[output] = data; }
  const void* inputAddress(int input) const { return inputs_[input]; }
  void* outputAddress(int output) const { return outputs_[output]; }
  void setOutputAllocator(OutputAllocator allocator) { allocator_ = std::move(allocator); }
  void setStepTimer(StepTimer timer) { timer_ = std::move(timer); }
  void setLog(Log log) { log_ = std::move(log); }  // for what is slower than it could be

  bool allShapesSet() const;
  // -1 for a dimension that is not known yet: its input shape is not set, or only a run decides it.
  std::vector<int64_t> inputShape(int input) const;
  std::vector<int64_t> outputShape(int output) const;
  // Bytes that an output needs at most under the profile; -1: there is no bound.
  int64_t outputMaxBytes(int output) const { return plan().outputMaxBytes[output]; }
  // Those that its shape has, where no run has a say in that; -1 elsewhere.
  int64_t outputBytesAhead(int output) const;
  int64_t sizeOf(const DimRef& dim) const;  // of any tensor, likewise
  int64_t arenaBytes() const { return plan().arenaBytes; }
  // Memory for the arena, on the engine's device, when it is the caller's: at least arenaBytes().
  void setArena(void* memory, int64_t bytes);
  // Whether steps that do not need one another are recorded side by side; as the plan says until
  // this is called.
  void setBranches(bool sideBySide);
  bool hasBranches();  // steps that could, at the shapes and addresses that are set
  // An event of the device, signalled when the inputs may be overwritten; null: none.
  void setInputConsumedEvent(void* event) { inputConsumed_ = event; }

  // On a device: queued on `stream`, and still running when this returns unless a layer runs on the
  // host or sizes are read from data. A run that throws leaves shapes, addresses and sizes as they
  // were, and nothing of it in the stream.
  void run(void* stream = nullptr);
  // Sizes that the last run read from its data are unknown again. Else they are taken to be the
  // same in the next run, until that reads others.
  void forgetRunSizes();

 private:
  Context(std::shared_ptr<const LoadedEngine> engine, std::unique_ptr<ThreadPool> own,
          ThreadPool* threads, ArenaOwner arenaOwner);

  struct ResolvedStep {
    std::vector<TensorArg> inputs, outputs;
    std::vector<int64_t> dims;
    int64_t workspaceBytes = 0;
    bool checked = false;  // the kernel takes operands of these sizes
    bool settled = false;  // the sizes it has bound are those that later steps have
  };

  void select(int profile);
  void makeArenas();
  void runSegments(void* stream);
  void abandonRun(void* stream) noexcept;
  const ProfilePlan& plan() const { return engine_->plan().profiles[profile_]; }
  void runProgram(int32_t begin, int32_t end);
  int64_t valueOf(const DimRef& dim) const;  // kUnknown when its slot has no value
  void resolveSizes();
  void checkSizes() const;
  void resolveStep(size_t index);
  void resolveOperand(const Step& step, const Operand& operand, TensorArg& arg) const;
  void checkReady();
  void checkAddresses();
  void bindDims(const Step& step, const ResolvedStep& resolved);
  void bindSizes(const Step& step, std::span<const int64_t> values);
  void settleSizesAfter(const Step& step);
  void runBodies(size_t index, const LaunchArgs& args);
  void* memoryFor(const Step& step, size_t output, int64_t bytes);
  void bindShapes(const Step& step, const std::vector<std::vector<int64_t>>& shapes);
  std::string nameOf(const Step& step, const Operand& operand) const;
  [[noreturn]] void failForSize(const Step& step, const Operand& operand,
                                const TensorArg& arg) const;
  void requireRoom(const Step& step, const Operand& operand, const TensorArg& arg) const;
  void requireOutputHolds(const Step& step, int output, int64_t bytes) const;
  void requireOutputsWritten() const;
  void makeRoom(const Step& step, const ResolvedStep& resolved);
  void enlarge(DeviceBuffer& buffer, int64_t bytes);
  void checkLaunch(const Step& step, const LoadedEngine::LoadedStep& loaded,
                   const LaunchArgs& args) const;
  void* addressOf(const Operand& operand, bool onHost);
  void* outputMemory(int output, int64_t bytes, std::span<const int64_t> dims);
  LaunchArgs placeOperands(size_t index);
  void findSegments();
  void runStep(size_t index, void* stream);
  void runSegment(size_t segment, void* stream);
  void noteResults(size_t segment);
  void launchSegment(size_t segment, void* stream);
  std::unique_ptr<Recording> recordSegment(size_t segment, void* stream);
  void leaveOut(size_t step, const Error& reason);
  std::vector<TouchedMemory> memoryTouchedBy(size_t segment);
  bool takesRecordings(void* stream) const;
  RecordingKey recordingKey() const;
  void reportTimes(void* stream);

  // Steps [begin, end) that run without the host's help, or one step that the host runs or leads, or
  // that cannot be recorded.
  struct Segment {
    size_t begin, end;
    bool onHost, isAlone;
    bool waits;  // the host touches memory that queued work may be at
    std::vector<std::pair<size_t, size_t>> results = {};  // steps' outputs that are the network's
  };

  std::shared_ptr<const LoadedEngine> engine_;
  Device* device_;  // null: the host is the device
  std::unique_ptr<ThreadPool> ownThreads_;
  ThreadPool* threads_;
  int profile_ = 0;
  ArenaOwner arenaOwner_;
  DeviceBuffer arena_, hostArena_;
  std::byte* arenaData_ = nullptr;  // arena_'s, or the caller's
  std::vector<DeviceBuffer> dynamic_;
  std::vector<std::unique_ptr<BodyRunner>>
      runners_;  // of steps with bodies, made at their first run
  std::vector<Segment> segments_;
  bool segmentsCurrent_ = false;
  void* stream_ = nullptr;  // of the run
  Recordings recordings_;
  std::set<size_t> unrecordable_;  // steps of the profile that were seen to be
  bool runsBranches_ = false;
  void* inputConsumed_ = nullptr;
  struct TimedStep {
    size_t step;
    std::shared_ptr<void> begin, end;
  };
  std::vector<TimedStep> timed_;
  std::vector<std::optional<std::vector<int64_t>>> inputShapes_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;  // the caller's
  std::vector<void*> placed_;   // where the current run writes: there, or where the allocator says
  std::vector<const void*> checkedAddresses_;  // of inputs, then outputs, found fit for the device
  std::vector<int64_t> outputBytes_;           // written there by the current run
  std::vector<int64_t> bytesAhead_;  // of outputs whose sizes follow from the inputs' alone; or -1
  OutputAllocator allocator_;
  StepTimer timer_;
  Log log_;
  std::vector<int64_t> slots_;
  std::vector<ResolvedStep> resolved_;
  bool sizesCurrent_ = false;
  bool sizesChecked_ = false;  // those that are known satisfy what the network asks of them
  bool bindsSizes_ = false;    // some step of the profile does
};

}  // namespace camshaft
