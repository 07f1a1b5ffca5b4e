// Launches the steps of a context, in order and at the addresses they have.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/body_runner.h"
#include "runtime/observer.h"
#include "runtime/operand_memory.h"
#include "runtime/recordings.h"
#include "runtime/segments.h"
#include "runtime/sizes.h"
#include "support/log.h"
#include "support/thread_pool.h"

namespace camshaft {

// The last thing a run needs: segments of steps go to the kernels, or are replayed from recordings
// made of them. What bind steps and bodies find out goes back to the sizes.
class Launcher {
 public:
  using StepTimer = std::function<void(const Step& step, double milliseconds)>;

  Launcher(const LoadedEngine& engine, Sizes& sizes, OperandMemory& memory, ThreadPool& threads);

  // What a profile's steps need: how they are cut, and plugins of this context's own.
  struct ProfileSteps {
    std::vector<Segment> segments;
    std::set<size_t> unrecordable;
    std::unordered_map<size_t, std::unique_ptr<AttachedPlugin>> plugins;
  };
  ProfileSteps stepsOf(int profile) const;
  // After `sizes` and `memory` have become that profile's.
  void setProfile(ProfileSteps steps) noexcept;
  void setBranches(bool sideBySide) noexcept;
  bool hasBranches();
  void setStepTimer(StepTimer timer) { timer_ = std::move(timer); }
  void setLog(Log log) { log_ = std::move(log); }
  void setInputConsumedEvent(void* event) { inputConsumed_ = event; }
  // What ranges of NVTX around steps are called; they cost little where no profiler looks.
  enum class Ranges { kNone, kNames, kKernels };
  void setRanges(Ranges ranges) { ranges_ = ranges; }
  // Null: nobody, and observed tensors cost nothing but their memory. Must outlive the runs.
  void setObserver(const Observer* observer) noexcept;

  void run(void* stream);
  void abandonRun(void* stream) noexcept;  // waits for what a run that failed has queued

 private:
  std::vector<Segment> segmentsWith(int profile, std::set<size_t> unrecordable) const;
  void findSegments();
  void runSegment(const Segment& segment, size_t number, void* stream);
  void launchSegment(const Segment& segment, void* stream);
  std::unique_ptr<Recording> recordSegment(const Segment& segment, void* stream);
  void leaveOut(size_t step, const Error& reason);
  std::vector<TouchedMemory> memoryTouchedBy(const Segment& segment);
  bool takesRecordings(void* stream) const;
  RecordingKey recordingKey() const;
  void runStep(size_t index, void* stream);
  void checkLaunch(const Step& step, const LoadedEngine::LoadedStep& loaded,
                   const LaunchArgs& args) const;
  std::string rangeOf(const Step& step) const;
  void bindDims(const Step& step, const TensorArg& values);
  void show(const Step& step, const TensorArg& value, void* stream) const;
  void runBodies(size_t index, const LaunchArgs& args);
  void bindShapes(const Step& step, const std::vector<std::vector<int64_t>>& shapes);
  void reportTimes(void* stream);

  struct TimedStep {
    size_t step;
    std::shared_ptr<void> begin, end;
  };

  const LoadedEngine& engine_;
  Sizes& sizes_;
  OperandMemory& memory_;
  ThreadPool& threads_;
  Device* device_;  // null: the host is the device
  std::vector<Segment> segments_;
  bool segmentsCurrent_ = false;
  std::set<size_t> unrecordable_;  // steps of the profile that are plugins or were seen to be
  std::unordered_map<size_t, std::unique_ptr<AttachedPlugin>> plugins_;  // by step
  Recordings recordings_;
  bool runsBranches_ = false;
  // Of steps with bodies, made at their first run.
  std::unordered_map<size_t, std::unique_ptr<BodyRunner>> runners_;
  StepTimer timer_;
  std::vector<TimedStep> timed_;
  Log log_;
  void* inputConsumed_ = nullptr;
  const Observer* observer_ = nullptr;
  Ranges ranges_ = Ranges::kNone;
};

}  // namespace camshaft
