#include <algorithm>
#include <optional>
#include <tuple>

#include "runtime/context.h"
#include "support/error.h"
#include "support/stopwatch.h"

namespace camshaft {
namespace {

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

using HostMemory = std::tuple<Place, int64_t, int32_t>;
HostMemory memoryOf(const Operand& operand) {
  return {operand.place, operand.offset, operand.index};
}

// Whether queued work may be at the host's memory of a context while the host is: copies from and
// to it, and bodies that find their inputs there.
bool sharesHostMemory(const Plan& plan, const ProfilePlan& profile) {
  const auto isOwn = [&](const Operand& operand) {
    return operand.place != Place::kInput && isHostOperand(plan, profile, operand);
  };
  return std::ranges::any_of(profile.steps, [&](const Step& step) {
    if (step.kind == StepKind::kCopy) return isOwn(step.inputs[0]) || isOwn(step.outputs[0]);
    if (!runsBodies(step) || isHostStep(plan, step)) return false;
    return std::any_of(step.inputs.begin() + static_cast<std::ptrdiff_t>(courseInputs(step)),
                       step.inputs.end(), isOwn);
  });
}

}  // namespace

Context::~Context() {
  if (device_) device_->makeCurrent();
}

void Context::setArena(void* memory, int64_t bytes) {
  if (arenaOwner_ != ArenaOwner::kCaller)
    fail(ErrorKind::kInvalidArgument,
         "this context allocated its own memory; create it with user-managed memory to set it");
  if (bytes < plan().arenaBytes)
    fail(ErrorKind::kInvalidArgument, "the device memory given has ", bytes, " bytes and profile ",
         profile_, " needs ", plan().arenaBytes);
  arenaData_ = static_cast<std::byte*>(memory);
}

void Context::setBranches(bool sideBySide) {
  runsBranches_ = sideBySide;
  recordings_.clear();
}

bool Context::hasBranches() {
  resolveSizes();
  for (size_t i = 0; i < segments_.size(); ++i)
    if (!segments_[i].onHost && !isChain(orderByMemory(memoryTouchedBy(i)))) return true;
  return false;
}

// On the host one segment is everything: steps run one after the other anyway.
void Context::findSegments() {
  segments_.clear();
  recordings_.clear();  // they go by the number of their segment
  const std::vector<Step>& steps = plan().steps;
  const bool isShared = device_ && sharesHostMemory(engine_->plan(), plan());
  std::set<HostMemory> copied;
  const auto readsCopies = [&](const Step& step) {
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (readsOnHost(engine_->plan(), step, i) && copied.contains(memoryOf(step.inputs[i])))
        return true;
    return false;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool onHost = device_ && isHostStep(engine_->plan(), steps[i]);
    // A graph that holds a copy from or to the host crashes in the driver when it is launched after
    // that memory was given back and taken anew, at the same address too.
    const bool isCopy = steps[i].kind == StepKind::kCopy;
    if (isCopy) copied.insert(memoryOf(steps[i].outputs[0]));
    const bool isLed = device_ && !onHost && runsBodies(steps[i]);
    const bool waits = onHost ? isShared : isLed && readsCopies(steps[i]);
    const bool isAlone = onHost || isCopy || isLed || unrecordable_.count(i) > 0;
    if (isAlone || segments_.empty() || segments_.back().isAlone)
      segments_.push_back({i, i + 1, onHost, isAlone, waits});
    else
      segments_.back().end = i + 1;
    for (size_t output = 0; output < steps[i].outputs.size(); ++output)
      if (steps[i].outputs[output].place == Place::kOutput)
        segments_.back().results.emplace_back(i, output);
  }
  segmentsCurrent_ = true;
}

void Context::run(void* stream) {
  resolveSizes();
  if (device_) device_->makeCurrent();
  makeArenas();
  checkReady();
  if (plan().arenaBytes > 0 && !arenaData_)
    fail(ErrorKind::kInvalidArgument,
         "the context has no device memory; give it some with setDeviceMemoryV2 first");
  try {
    runSegments(stream);
  } catch (...) {
    abandonRun(stream);
    throw;
  }
}

void Context::runSegments(void* stream) {
  placed_ = outputs_;
  std::fill(outputBytes_.begin(), outputBytes_.end(), 0);
  stream_ = stream;
  if (!segmentsCurrent_) findSegments();
  for (size_t i = 0; i < segments_.size(); ++i) runSegment(i, stream);
  requireOutputsWritten();
  if (device_ && inputConsumed_) device_->signal(inputConsumed_, stream);
  if (device_ && timer_) reportTimes(stream);
}

// What is queued may read and write memory that the caller takes back after a failure, so it is
// waited for. Sizes read from data and times are those of a run that did not happen.
void Context::abandonRun(void* stream) noexcept {
  timed_.clear();
  try {
    if (device_ && !device_->isRecording(stream)) device_->synchronize(stream);
  } catch (...) {  // the first error says more
  }
  try {
    forgetRunSizes();
  } catch (...) {  // the next run resolves them, and reports
  }
}

void Context::runSegment(size_t segment, void* stream) {
  const Step& first = plan().steps[segments_[segment].begin];
  const bool onHost = segments_[segment].onHost;
  if (device_ && (onHost || runsBodies(first)) && device_->isRecording(stream))
    fail(ErrorKind::kUnsupported, "layer '", first.name, onHost ? "' runs on" : "' is led by",
         " the host, so this engine cannot be captured into a CUDA graph");
  if (segments_[segment].waits) device_->synchronize(stream);
  const auto record = [&] { return recordSegment(segment, stream); };
  const auto refused = [&](const Error& reason) {
    if (segmentsCurrent_)  // else a step was named already
      log_.warning("layers are launched one by one, which is slower: ", reason.message());
  };
  const bool isRecordable = device_ && !segments_[segment].isAlone && takesRecordings(stream);
  if (isRecordable && recordings_.run(segment, recordingKey(), stream, record, refused))
    noteResults(segment);
  else
    launchSegment(segment, stream);
}

// What a recording has written, which later steps may read.
void Context::noteResults(size_t segment) {
  for (const auto& [step, output] : segments_[segment].results) {
    const TensorArg& result = resolved_[step].outputs[output];
    outputBytes_[plan().steps[step].outputs[output].index] =
        static_cast<int64_t>(bytesOf(result.type, result.count()));
  }
}

// All steps are tried even if some cannot be recorded, so that these are found at once.
std::unique_ptr<Recording> Context::recordSegment(size_t segment, void* stream) {
  const size_t begin = segments_[segment].begin, end = segments_[segment].end;
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
void Context::leaveOut(size_t step, const Error& reason) {
  log_.warning("layer '", plan().steps[step].name,
               "' is launched by itself, which is slower: ", reason.message());
  unrecordable_.insert(step);
  segmentsCurrent_ = false;
}

std::vector<TouchedMemory> Context::memoryTouchedBy(size_t segment) {
  std::vector<TouchedMemory> steps;
  const auto range = [](const void* data, int64_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(data);
    return MemoryRange{begin, begin + static_cast<uintptr_t>(bytes)};
  };
  const auto ranges = [&](std::span<const TensorArg> operands) {
    std::vector<MemoryRange> touched;
    for (const TensorArg& operand : operands)
      if (operand.data)
        touched.push_back(
            range(operand.data, static_cast<int64_t>(bytesOf(operand.type, operand.count()))));
    return touched;
  };
  for (size_t i = segments_[segment].begin; i < segments_[segment].end; ++i) {
    const LaunchArgs args = placeOperands(i);
    TouchedMemory& step =
        steps.emplace_back(TouchedMemory{ranges(args.inputs), ranges(args.outputs)});
    step.written.push_back(range(args.workspace, args.workspaceBytes));
  }
  return steps;
}

// Timed steps are launched one by one, a stream that its owner records takes no second recording,
// and an output allocator has its say in every run.
bool Context::takesRecordings(void* stream) const {
  return !timer_ && !allocator_ && !device_->isRecording(stream);
}

// Queued work may still use the memory that is given back.
void Context::enlarge(DeviceBuffer& buffer, int64_t bytes) {
  if (device_ && buffer.data() && bytes > buffer.size() && !device_->isRecording(stream_))
    device_->synchronize(stream_);
  buffer.reserve(std::max<int64_t>(bytes, 1));
}

void Context::launchSegment(size_t segment, void* stream) {
  for (size_t i = segments_[segment].begin; i < segments_[segment].end; ++i) runStep(i, stream);
}

void Context::runStep(size_t index, void* stream) {
  const Step& step = plan().steps[index];
  const LoadedEngine::LoadedStep& loaded = engine_->steps(profile_)[index];
  ResolvedStep& resolved = resolved_[index];
  LaunchArgs args = placeOperands(index);
  args.stream = stream;
  if (step.kind == StepKind::kBindDims) return bindDims(step, resolved);

  const bool isQueued = device_ && !isHostStep(engine_->plan(), step);
  const auto mark = [&] { return timer_ && isQueued ? device_->mark(stream) : nullptr; };
  std::shared_ptr<void> begin = mark();
  const Stopwatch watch;
  if (runsBodies(step)) {
    runBodies(index, args);
  } else if (step.kind == StepKind::kCopy) {
    const TensorArg& to = resolved.outputs[0];
    const auto bytes = static_cast<int64_t>(bytesOf(to.type, to.count()));
    if (bytes > 0) device_->copy(to.data, resolved.inputs[0].data, bytes, stream);
  } else {
    if (!resolved.checked) checkLaunch(step, loaded, args);
    resolved.checked = true;
    if (!writesNothing(args))
      naming(step, [&] { loaded.kernel->launch(loaded.state.get(), args); });
  }
  if (timer_ && !isQueued) timer_(step, watch.milliseconds());
  if (timer_ && isQueued) timed_.push_back({index, std::move(begin), mark()});
}

void Context::reportTimes(void* stream) {
  device_->synchronize(stream);
  for (const TimedStep& timed : timed_)
    timer_(plan().steps[timed.step],
           device_->millisecondsBetween(timed.begin.get(), timed.end.get()));
  timed_.clear();
}

RecordingKey Context::recordingKey() const {
  RecordingKey key = slots_;
  const auto add = [&](const void* address) { key.push_back(reinterpret_cast<int64_t>(address)); };
  for (size_t i = 0; i < inputs_.size(); ++i)  // those on the host are for steps between recordings
    if (!engine_->plan().inputs[i].isOnHost) add(inputs_[i]);
  for (const void* address : outputs_) add(address);
  for (const DeviceBuffer& buffer : dynamic_) add(buffer.data());
  add(arenaData_);
  return key;
}

}  // namespace camshaft
