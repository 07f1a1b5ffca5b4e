#include "api/context.h"

#include <algorithm>
#include <cstring>

#include "api/convert.h"
#include "api/formats.h"

namespace camshaft::api {

using namespace nvinfer1;

ExecutionContext::ExecutionContext(const Engine& engine, std::shared_ptr<Context> context,
                                   ExecutionContextAllocationStrategy strategy,
                                   const Reporter& reporter)
    : engine_(engine.link()),
      standIn_(engine.again()),
      context_(std::move(context)),
      reporter_(reporter),
      debug_(*context_),
      config_(reporter, strategy),
      nvtx_(static_cast<ProfilingVerbosity>(engine.plan().profilingVerbosity)),
      allocators_(engine.plan().outputs.size()) {
  context_->setLog(reporter_.log());
  setRanges(nvtx_);
}

void ExecutionContext::setRanges(ProfilingVerbosity verbosity) {
  nvtx_ = verbosity;
  context_->setRanges(verbosity == ProfilingVerbosity::kNONE       ? Context::Ranges::kNone
                      : verbosity == ProfilingVerbosity::kDETAILED ? Context::Ranges::kKernels
                                                                   : Context::Ranges::kNames);
}

void ExecutionContext::setName(const char* name) noexcept {
  guarded(reporter_, false, [&] {
    name_ = name ? name : "";
    return true;
  });
}

// What is queued may still use memory that another profile has no need of.
bool ExecutionContext::setOptimizationProfileAsync(int32_t profile, cudaStream_t stream) noexcept {
  return guarded(
      reporter_, false,
      [&] {
        if (Device* device = context_->engine().device()) {
          device->makeCurrent();
          if (!device->isRecording(stream)) device->synchronize(stream);
        }
        context_->setProfile(profile);
        return true;
      },
      OutOfMemory{"out of memory while changing the profile; the context keeps the one it had"});
}

bool ExecutionContext::setInputShape(const char* name, const nvinfer1::Dims& dims) noexcept {
  return guarded(reporter_, false, [&] {
    const IoRef io = requireIo(plan(), name);
    if (!io.isInput)
      fail(ErrorKind::kInvalidArgument, "'", name,
           "' is an output; its shape follows from the inputs");
    requireInProfile(io, fromPublic(dims));
    context_->setInputShape(io.index, storedDims(*io.tensor, fromPublic(dims)));
    return true;
  });
}

nvinfer1::Dims ExecutionContext::getTensorShape(const char* name) const noexcept {
  return guarded(reporter_, invalidDims(), [&] {
    const IoRef io = requireIo(plan(), name);
    return toPublic(logicalDims(*io.tensor, storedShape(io)));
  });
}

// What the profile says of the dimensions as callers know them: the context would speak of those
// that are stored.
void ExecutionContext::requireInProfile(const IoRef& io, const std::vector<int64_t>& dims) const {
  if (formatOf(*io.tensor) == TensorFormat::kLINEAR) return;
  const InputRange& stored = plan().profiles[context_->profile()].inputs[io.index];
  const std::vector<int64_t> min = logicalDims(*io.tensor, stored.min),
                             max = logicalDims(*io.tensor, stored.max);
  for (size_t i = 0; i < dims.size() && dims.size() == min.size(); ++i)
    if (dims[i] < min[i] || dims[i] > max[i])
      fail(ErrorKind::kInvalidArgument, "dimension ", i, " of input '", io.tensor->name, "' is ",
           dims[i], " and profile ", context_->profile(), " allows ", min[i], " to ", max[i]);
}

std::vector<int64_t> ExecutionContext::storedShape(const IoRef& io) const {
  if (!io.isInput) context_->readShapeInputs();  // which may decide it
  return io.isInput ? context_->inputShape(io.index) : context_->outputShape(io.index);
}

nvinfer1::Dims ExecutionContext::getTensorStrides(const char* name) const noexcept {
  return guarded(reporter_, invalidDims(), [&] {
    const IoRef io = requireIo(plan(), name);
    const std::vector<int64_t> stored = storedShape(io);
    if (std::find(stored.begin(), stored.end(), -1) != stored.end()) return invalidDims();
    return toPublic(stridesOf(*io.tensor, stored));
  });
}

bool ExecutionContext::isMissing(size_t input) const {
  const std::vector<int64_t> dims = context_->inputShape(static_cast<int>(input));
  return std::find(dims.begin(), dims.end(), -1) != dims.end() ||
         (plan().inputs[input].isShapeTensor && !context_->inputAddress(static_cast<int>(input)));
}

bool ExecutionContext::allInputShapesSpecified() const noexcept {
  return guarded(reporter_, false, [&] {
    for (size_t i = 0; i < plan().inputs.size(); ++i)
      if (isMissing(i)) return false;
    return true;
  });
}

int32_t ExecutionContext::inferShapes(int32_t maxNames, const char** names) noexcept {
  return guarded(reporter_, int32_t{-1}, [&] {
    if (maxNames < 0 || (maxNames > 0 && !names))
      fail(ErrorKind::kInvalidArgument, "inferShapes was given no room for ", maxNames, " names");
    int32_t missing = 0;
    const std::vector<IoTensor>& inputs = plan().inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!isMissing(i)) continue;
      if (missing < maxNames) names[missing] = inputs[i].name.c_str();
      ++missing;
    }
    context_->readShapeInputs();
    if (missing == 0) writeShapeOutputs();
    return missing;
  });
}

// Outputs that hold sizes, marked with markOutputForShapes, are known without a run.
void ExecutionContext::writeShapeOutputs() const {
  const ProfilePlan& profile = plan().profiles[context_->profile()];
  for (size_t i = 0; i < plan().outputs.size(); ++i) {
    void* address = context_->outputAddress(static_cast<int>(i));
    if (!plan().outputs[i].isShapeTensor || !address || i >= profile.outputValues.size()) continue;
    std::vector<int64_t> values;
    for (const DimRef& dim : profile.outputValues[i]) values.push_back(context_->sizeOf(dim));
    std::vector<int32_t> narrow(values.begin(), values.end());
    const bool isNarrow = plan().outputs[i].tensor.type == DataType::kI32;
    const void* data = isNarrow ? static_cast<const void*>(narrow.data()) : values.data();
    const auto bytes =
        static_cast<int64_t>(values.size() * (isNarrow ? sizeof(int32_t) : sizeof(int64_t)));
    if (Device* device = context_->engine().device()) {
      device->makeCurrent();
      upload(*device, address, data, bytes);
    } else {
      std::memcpy(address, data, static_cast<size_t>(bytes));
    }
  }
}

int ExecutionContext::requireOutput(const char* name) const {
  const IoRef io = requireIo(plan(), name);
  if (io.isInput) fail(ErrorKind::kInvalidArgument, "'", name, "' is an input, not an output");
  return io.index;
}

bool ExecutionContext::setTensorAddress(const char* name, void* data) noexcept {
  return guarded(reporter_, false, [&] {
    const IoRef io = requireIo(plan(), name);
    if (io.isInput)
      context_->setInputAddress(io.index, data);
    else
      context_->setOutputAddress(io.index, data);
    return true;
  });
}

const void* ExecutionContext::getTensorAddress(const char* name) const noexcept {
  return guarded<const void*>(reporter_, nullptr, [&]() -> const void* {
    const IoRef io = requireIo(plan(), name);
    return io.isInput ? context_->inputAddress(io.index) : context_->outputAddress(io.index);
  });
}

bool ExecutionContext::setInputTensorAddress(const char* name, const void* data) noexcept {
  return guarded(reporter_, false, [&] {
    const IoRef io = requireIo(plan(), name);
    if (!io.isInput) fail(ErrorKind::kInvalidArgument, "'", name, "' is an output, not an input");
    context_->setInputAddress(io.index, data);
    return true;
  });
}

bool ExecutionContext::setOutputTensorAddress(const char* name, void* data) noexcept {
  return guarded(reporter_, false, [&] {
    context_->setOutputAddress(requireOutput(name), data);
    return true;
  });
}

void* ExecutionContext::getOutputTensorAddress(const char* name) const noexcept {
  return guarded<void*>(reporter_, nullptr,
                        [&] { return context_->outputAddress(requireOutput(name)); });
}

bool ExecutionContext::setOutputAllocator(const char* name, IOutputAllocator* allocator) noexcept {
  return guarded(reporter_, false, [&] {
    allocators_[requireOutput(name)] = allocator;
    const auto isNone = [](const IOutputAllocator* own) { return !own; };
    if (std::all_of(allocators_.begin(), allocators_.end(), isNone)) {
      context_->setOutputAllocator(nullptr);  // a device may record runs again
      return true;
    }
    context_->setOutputAllocator(
        [this](int output, void* current, int64_t bytes, std::span<const int64_t>) -> void* {
          IOutputAllocator* own = allocators_[output];
          if (!own) return nullptr;
          const char* name = plan().outputs[output].name.c_str();
          void* memory =
              own->reallocateOutputAsync(name, current, static_cast<uint64_t>(bytes), 64, stream_);
          if (!memory && bytes > 0)
            fail(ErrorKind::kOutOfMemory, "the output allocator of '", name,
                 "' gave no memory for ", bytes, " bytes");
          return memory;
        });
    return true;
  });
}

IOutputAllocator* ExecutionContext::getOutputAllocator(const char* name) noexcept {
  return guarded<IOutputAllocator*>(reporter_, nullptr,
                                    [&] { return allocators_[requireOutput(name)]; });
}

int64_t ExecutionContext::getMaxOutputSize(const char* name) const noexcept {
  return guarded(reporter_, int64_t{-1}, [&] {
    const int output = requireOutput(name);
    context_->readShapeInputs();
    int64_t count = 1;
    for (int64_t dim : context_->outputShape(output)) {
      if (dim < 0) return context_->outputMaxBytes(output);
      count *= dim;
    }
    return static_cast<int64_t>(bytesOf(plan().outputs[output].tensor.type, count));
  });
}

void ExecutionContext::setDeviceMemory(void* memory) noexcept {
  setDeviceMemoryV2(memory, standIn_->getDeviceMemorySizeV2());
}

void ExecutionContext::setDeviceMemoryV2(void* memory, int64_t size) noexcept {
  guarded(reporter_, false, [&] {
    context_->setArena(memory, size);
    return true;
  });
}

// Memory is planned for the largest sizes of a profile.
size_t ExecutionContext::updateDeviceMemorySizeForShapes() noexcept {
  return static_cast<size_t>(standIn_->getDeviceMemorySizeForProfileV2(context_->profile()));
}

bool ExecutionContext::setInputConsumedEvent(cudaEvent_t event) noexcept {
  inputConsumed_ = event;
  context_->setInputConsumedEvent(event);
  return true;
}

constexpr OutOfMemory kNoMemoryToRun{"out of memory while running the engine"};

void ExecutionContext::run(cudaStream_t stream) {
  lastTimes_.clear();
  stream_ = stream;
  if (temporaryDevice_) temporaryDevice_->setStream(stream);
  try {
    context_->run(stream);
  } catch (...) {
    lastTimes_.clear();
    throw;
  }
  // An output may share its memory with a tensor of another shape: its own is known at the end.
  for (size_t i = 0; i < allocators_.size(); ++i) {
    const IoTensor& output = plan().outputs[i];
    if (allocators_[i])
      allocators_[i]->notifyShape(
          output.name.c_str(),
          toPublic(logicalDims(output, context_->outputShape(static_cast<int>(i)))));
  }
  context_->forgetRunSizes();
  if (profiler_ && emitsProfile_) reportToProfiler();
}

bool ExecutionContext::enqueueV3(cudaStream_t stream) noexcept {
  return guarded(
      reporter_, false,
      [&] {
        run(stream);
        if (Device* device = context_->engine().device(); debugSync_ && device)
          device->synchronize(stream);
        return true;
      },
      kNoMemoryToRun);
}

namespace {

// Sets a context's addresses back to what they were.
class AddressesKept {
 public:
  explicit AddressesKept(Context& context) : context_(context) {
    const Plan& plan = context.engine().plan();
    for (size_t i = 0; i < plan.inputs.size(); ++i)
      inputs_.push_back(context.inputAddress(static_cast<int>(i)));
    for (size_t i = 0; i < plan.outputs.size(); ++i)
      outputs_.push_back(context.outputAddress(static_cast<int>(i)));
  }
  ~AddressesKept() {
    for (size_t i = 0; i < inputs_.size(); ++i)
      context_.setInputAddress(static_cast<int>(i), inputs_[i]);
    for (size_t i = 0; i < outputs_.size(); ++i)
      context_.setOutputAddress(static_cast<int>(i), outputs_[i]);
  }
  AddressesKept(const AddressesKept&) = delete;
  AddressesKept& operator=(const AddressesKept&) = delete;

 private:
  Context& context_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace

bool ExecutionContext::executeV2(void* const* bindings) noexcept {
  return guarded(
      reporter_, false,
      [&] {
        if (!bindings)
          fail(ErrorKind::kInvalidArgument,
               "executeV2 needs one address per input and output, in order");
        const AddressesKept kept(*context_);
        const size_t inputs = plan().inputs.size();
        for (size_t i = 0; i < inputs; ++i)
          context_->setInputAddress(static_cast<int>(i), bindings[i]);
        for (size_t i = 0; i < plan().outputs.size(); ++i)
          context_->setOutputAddress(static_cast<int>(i), bindings[inputs + i]);
        run(nullptr);
        if (Device* device = context_->engine().device()) device->synchronize(nullptr);
        return true;
      },
      kNoMemoryToRun);
}

void ExecutionContext::setProfiler(IProfiler* profiler) noexcept {
  profiler_ = profiler;
  if (!profiler) return context_->setStepTimer(nullptr);
  context_->setStepTimer([this](const Step& step, double milliseconds) {
    lastTimes_.emplace_back(step.name, static_cast<float>(milliseconds));
  });
}

bool ExecutionContext::reportToProfiler() const noexcept {
  if (!profiler_ || lastTimes_.empty()) return false;
  for (const auto& [layer, milliseconds] : lastTimes_)
    profiler_->reportLayerTime(layer.c_str(), milliseconds);
  return true;
}

bool ExecutionContext::setTemporaryStorageAllocator(IGpuAllocator* allocator) noexcept {
  return guarded(reporter_, false, [&] {
    Device* device = context_->engine().device();
    std::unique_ptr<AllocatorDevice> wrapped;
    if (device) device->makeCurrent();
    if (device && allocator) wrapped = std::make_unique<AllocatorDevice>(*device, *allocator);
    context_->setTemporaryDevice(wrapped.get());  // gives back what there is
    temporaryDevice_ = std::move(wrapped);
    temporaryAllocator_ = allocator;
    return true;
  });
}

bool ExecutionContext::setNvtxVerbosity(ProfilingVerbosity verbosity) noexcept {
  return guarded(reporter_, false, [&] {
    requireKnown(verbosity, "profiling verbosity");
    // In the order of what they tell.
    const auto rank = [](ProfilingVerbosity one) {
      return one == ProfilingVerbosity::kNONE ? 0 : one == ProfilingVerbosity::kDETAILED ? 2 : 1;
    };
    const auto built = static_cast<ProfilingVerbosity>(plan().profilingVerbosity);
    if (rank(verbosity) > rank(built))
      fail(ErrorKind::kInvalidArgument,
           "the verbosity of NVTX ranges cannot be above that which the engine was built with; "
           "build it with setProfilingVerbosity");
    setRanges(verbosity);
    return true;
  });
}

bool ExecutionContext::setDebugListener(IDebugListener* listener) noexcept {
  return guarded(reporter_, false, [&] {
    debug_.setListener(listener);
    return true;
  });
}

bool ExecutionContext::setTensorDebugState(const char* name, bool flag) noexcept {
  return guarded(reporter_, false, [&] {
    debug_.setState(name, flag);
    return true;
  });
}

bool ExecutionContext::setAllTensorsDebugState(bool flag) noexcept {
  return guarded(reporter_, false, [&] {
    debug_.setAll(flag);
    return true;
  });
}

bool ExecutionContext::setUnfusedTensorsDebugState(bool flag) noexcept {
  return guarded(reporter_, false, [&] {
    debug_.setUnfused(flag);
    return true;
  });
}

}  // namespace camshaft::api
