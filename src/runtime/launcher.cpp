#include "runtime/launcher.h"

#include <algorithm>
#include <optional>

#include "runtime/nvtx.h"
#include "runtime/overlaps.h"
#include "support/error.h"
#include "support/stopwatch.h"

namespace camshaft {
namespace {

int64_t readIndex(const TensorArg& tensor, int64_t i) {
  return tensor.type == DataType::kI32 ? tensor.as<int32_t>()[i] : tensor.as<int64_t>()[i];
}

// A step whose results have no elements need not run, and kernels and libraries, some of which take
// no empty problem, do not see it.
bool writesNothing(const LaunchArgs& args) {
  return std::all_of(args.outputs.begin(), args.outputs.end(),
                     [](const TensorArg& output) { return output.count() == 0; });
}

// launch(), whose errors then name the layer: kernels do not know theirs.
template <class F>
void naming(const Step& step, F&& launch) {
  try {
    launch();
  } catch (const Error& error) {
    if (error.message().find(step.name) != std::string::npos) throw;
    fail(error.kind(), "layer '", step.name, "': ", error.message());
  }
}

}  // namespace

Launcher::Launcher(const LoadedEngine& engine, Sizes& sizes, OperandMemory& memory,
                   ThreadPool& threads)
    : engine_(engine),
      sizes_(sizes),
      memory_(memory),
      threads_(threads),
      device_(engine.device()) {}

Launcher::ProfileSteps Launcher::stepsOf(int profile) const {
  ProfileSteps steps;
  steps.unrecordable = engine_.pluginSteps(profile);
  for (const size_t step : steps.unrecordable)
    steps.plugins.emplace(step, engine_.steps(profile)[step].plugin->attach());
  // Copies from the host are not recorded.
  if (device_ && engine_.deviceWeights()->isStreaming())
    steps.unrecordable.merge(engine_.deviceWeights()->placement().streamedSteps(
        engine_.plan(), engine_.plan().profiles[profile]));
  steps.segments = segmentsWith(profile, steps.unrecordable);
  return steps;
}

// An observer sees every run, so what shows it something is not recorded.
std::vector<Segment> Launcher::segmentsWith(int profile, std::set<size_t> unrecordable) const {
  const Plan& plan = engine_.plan();
  const std::vector<Step>& steps = plan.profiles[profile].steps;
  for (size_t i = 0; i < steps.size() && observer_; ++i)
    if (steps[i].kind == StepKind::kObserve) unrecordable.insert(i);
  return segmentsOf(plan, plan.profiles[profile], device_ != nullptr, unrecordable);
}

void Launcher::setObserver(const Observer* observer) noexcept {
  segmentsCurrent_ &= !observer_ == !observer;
  observer_ = observer;
}

void Launcher::setProfile(ProfileSteps steps) noexcept {
  segments_ = std::move(steps.segments);
  segmentsCurrent_ = true;
  unrecordable_ = std::move(steps.unrecordable);
  plugins_ = std::move(steps.plugins);
  runners_.clear();
  setBranches(sizes_.plan().runsBranches);
}

void Launcher::setBranches(bool sideBySide) noexcept {
  runsBranches_ = sideBySide;
  recordings_.clear();
}

bool Launcher::hasBranches() {
  return std::ranges::any_of(segments_, [&](const Segment& segment) {
    return !segment.onHost && !isChain(orderByMemory(memoryTouchedBy(segment)));
  });
}

void Launcher::findSegments() {
  segments_ = segmentsWith(sizes_.profile(), unrecordable_);
  recordings_.clear();  // they go by the number of their segment
  segmentsCurrent_ = true;
}

void Launcher::run(void* stream) {
  std::optional<ThreadPool::Presence> presence;
  if (!device_) presence.emplace(threads_);
  memory_.beginRun(stream);
  if (!segmentsCurrent_) findSegments();
  for (size_t i = 0; i < segments_.size(); ++i) runSegment(segments_[i], i, stream);
  memory_.requireOutputsWritten();
  if (device_ && inputConsumed_) device_->signal(inputConsumed_, stream);
  if (device_ && timer_) reportTimes(stream);
}

// What is queued may read and write memory that the caller takes back after a failure. Times are
// those of a run that did not happen.
void Launcher::abandonRun(void* stream) noexcept {
  timed_.clear();
  try {
    if (device_ && !device_->isRecording(stream)) device_->synchronize(stream);
  } catch (...) {  // the first error says more
  }
}

void Launcher::runSegment(const Segment& segment, size_t number, void* stream) {
  const Step& first = sizes_.plan().steps[segment.begin];
  if (device_ && (segment.onHost || runsBodies(first)) && device_->isRecording(stream))
    fail(ErrorKind::kUnsupported, "layer '", first.name,
         segment.onHost ? "' runs on" : "' is led by",
         " the host, so this engine cannot be captured into a CUDA graph");
  if (segment.waits) device_->synchronize(stream);
  const auto record = [&] { return recordSegment(segment, stream); };
  const auto refused = [&](const Error& reason) {
    if (segmentsCurrent_)  // else a step was named already
      log_.warning("layers are launched one by one, which is slower: ", reason.message());
  };
  const bool isRecordable = device_ && !segment.isAlone && takesRecordings(stream);
  if (isRecordable && recordings_.run(number, recordingKey(), stream, record, refused))
    for (const auto& [step, output] : segment.results) memory_.noteResult(step, output);
  else
    launchSegment(segment, stream);
}

// All steps are tried even if some cannot be recorded, so that these are found at once.
std::unique_ptr<Recording> Launcher::recordSegment(const Segment& segment, void* stream) {
  const size_t begin = segment.begin, end = segment.end;
  std::optional<Error> refusal;
  const auto runPiece = [&](size_t piece) {
    try {
      runStep(begin + piece, stream);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      leaveOut(begin + piece, error);
      refusal = error;
    }
    if (refusal && begin + piece + 1 == end) throw Error(*refusal);
  };
  if (runsBranches_) {
    const StepOrder order = orderByMemory(memoryTouchedBy(segment));
    if (!isChain(order)) return device_->recordBranches(stream, order, runPiece);
  }
  return device_->record(stream, [&] {
    for (size_t i = begin; i < end; ++i) runPiece(i - begin);
  });
}

// From the next run on the step is launched by itself, between recordings of what comes before and
// after it.
void Launcher::leaveOut(size_t step, const Error& reason) {
  log_.warning("layer '", sizes_.plan().steps[step].name,
               "' is launched by itself, which is slower: ", reason.message());
  unrecordable_.insert(step);
  segmentsCurrent_ = false;
}

std::vector<TouchedMemory> Launcher::memoryTouchedBy(const Segment& segment) {
  std::vector<TouchedMemory> steps;
  for (size_t i = segment.begin; i < segment.end; ++i) steps.push_back(memory_.touchedBy(i));
  return steps;
}

// Timed steps are launched one by one, a stream that its owner records takes no second recording,
// and an output allocator has its say in every run.
bool Launcher::takesRecordings(void* stream) const {
  return !timer_ && !memory_.hasOutputAllocator() && !device_->isRecording(stream);
}

RecordingKey Launcher::recordingKey() const {
  RecordingKey key(sizes_.slots().begin(), sizes_.slots().end());
  memory_.addAddresses(key);
  return key;
}

void Launcher::launchSegment(const Segment& segment, void* stream) {
  for (size_t i = segment.begin; i < segment.end; ++i) runStep(i, stream);
}

void Launcher::runStep(size_t index, void* stream) {
  const Step& step = sizes_.plan().steps[index];
  const NvtxRange range(rangeOf(step));
  LaunchArgs args = memory_.place(index);
  args.threads = &threads_;
  args.stream = stream;
  if (step.kind == StepKind::kBindDims) return bindDims(step, args.inputs[0]);
  if (step.kind == StepKind::kObserve) return show(step, args.inputs[0], stream);

  const bool isQueued = device_ && !isHostStep(engine_.plan(), step);
  const auto mark = [&] { return timer_ && isQueued ? device_->mark(stream) : nullptr; };
  std::shared_ptr<void> begin = mark();
  std::optional<Stopwatch> watch;  // asking for the time takes as long as a small kernel
  if (timer_ && !isQueued) watch.emplace();
  if (runsBodies(step)) {
    runBodies(index, args);
  } else if (step.kind == StepKind::kCopy) {
    const TensorArg& to = args.outputs[0];
    const auto bytes = static_cast<int64_t>(bytesOf(to.type, to.count()));
    if (bytes > 0) device_->copy(to.data, args.inputs[0].data, bytes, stream);
  } else {
    const LoadedEngine::LoadedStep& loaded = engine_.steps(sizes_.profile())[index];
    bool& isChecked = sizes_.step(index).isChecked;
    if (!isChecked) checkLaunch(step, loaded, args);
    isChecked = true;
    args.upcoming = engine_.upcoming(loaded);
    if (!writesNothing(args))
      naming(step, [&] {
        if (loaded.plugin)
          launchPlugin(*plugins_.at(index), args, isQueued ? device_ : nullptr);
        else
          loaded.kernel->launch(loaded.state.get(), args);
      });
  }
  if (watch) timer_(step, watch->milliseconds());
  if (timer_ && isQueued) timed_.push_back({index, std::move(begin), mark()});
}

void Launcher::checkLaunch(const Step& step, const LoadedEngine::LoadedStep& loaded,
                           const LaunchArgs& args) const {
  std::vector<int64_t> bytes;
  appendBytes(args.inputs, bytes);
  appendBytes(args.outputs, bytes);
  bytes.push_back(args.workspaceBytes);
  requireApart(step, bytes);
  if (!loaded.kernel->fits || loaded.kernel->fits(loaded.state.get(), args)) return;
  std::string shapes;
  for (const TensorArg& input : args.inputs)
    shapes += str(shapes.empty() ? "" : ", ", input.type, "[", join(input.shape(), ", "), "]");
  fail(ErrorKind::kInvalidArgument, "layer '", step.name,
       "' cannot run on tensors of these types and sizes (", shapes,
       "): the input shapes do not suit the network, or the engine is damaged");
}

void Launcher::bindDims(const Step& step, const TensorArg& values) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < step.bindSlots.size(); ++i)
    sizes.push_back(readIndex(values, static_cast<int64_t>(i)));
  sizes_.bind(step, sizes);
}

std::string Launcher::rangeOf(const Step& step) const {
  if (ranges_ == Ranges::kNone || !nvtxFunctions().push) return {};
  return ranges_ == Ranges::kNames ? step.name
                                   : str(step.name, " [", step.info.layerType, "] ", step.kernel);
}

void Launcher::show(const Step& step, const TensorArg& value, void* stream) const {
  if (observer_) (*observer_)(step.observed, value, device_ != nullptr, stream);
}

void Launcher::reportTimes(void* stream) {
  device_->synchronize(stream);
  for (const TimedStep& timed : timed_)
    timer_(sizes_.plan().steps[timed.step],
           device_->millisecondsBetween(timed.begin.get(), timed.end.get()));
  timed_.clear();
}

}  // namespace camshaft
