#include "api/context.h"

#include <algorithm>

#include "api/convert.h"

namespace camshaft::api {

using namespace nvinfer1;

ExecutionContext::ExecutionContext(const Engine& engine, std::shared_ptr<Context> context,
                                   ExecutionContextAllocationStrategy strategy,
                                   const Reporter& reporter)
    : engine_(engine.link()),
      standIn_(engine.again()),
      context_(std::move(context)),
      reporter_(reporter),
      config_(reporter, strategy),
      allocators_(engine.plan().outputs.size()) {
  context_->setLog(reporter_.log());
}

void ExecutionContext::setName(const char* name) noexcept {
  guarded(reporter_, false, [&] {
    name_ = name ? name : "";
    return true;
  });
}

bool ExecutionContext::setOptimizationProfileAsync(int32_t profile, cudaStream_t) noexcept {
  return guarded(
      reporter_, false,
      [&] {
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
    context_->setInputShape(io.index, fromPublic(dims));
    return true;
  });
}

nvinfer1::Dims ExecutionContext::getTensorShape(const char* name) const noexcept {
  return guarded(reporter_, invalidDims(), [&] {
    const IoRef io = requireIo(plan(), name);
    return toPublic(io.isInput ? context_->inputShape(io.index) : context_->outputShape(io.index));
  });
}

nvinfer1::Dims ExecutionContext::getTensorStrides(const char* name) const noexcept {
  nvinfer1::Dims dims = getTensorShape(name);
  int64_t stride = 1;
  for (int32_t i = dims.nbDims - 1; i >= 0; --i) {
    const int64_t size = dims.d[i];
    dims.d[i] = stride;
    stride = size < 0 || stride < 0 ? -1 : stride * size;
  }
  return dims;
}

int32_t ExecutionContext::inferShapes(int32_t maxNames, const char** names) noexcept {
  return guarded(reporter_, int32_t{-1}, [&] {
    int32_t missing = 0;
    const std::vector<IoTensor>& inputs = plan().inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int64_t> dims = context_->inputShape(static_cast<int>(i));
      if (std::find(dims.begin(), dims.end(), -1) == dims.end()) continue;
      if (names && missing < maxNames) names[missing] = inputs[i].name.c_str();
      ++missing;
    }
    return missing;
  });
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
              own->reallocateOutputAsync(name, current, static_cast<uint64_t>(bytes), 64, nullptr);
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
  try {
    context_->run(stream);
  } catch (...) {
    lastTimes_.clear();
    throw;
  }
  // An output may share its memory with a tensor of another shape: its own is known at the end.
  for (size_t i = 0; i < allocators_.size(); ++i) {
    const char* name = plan().outputs[i].name.c_str();
    if (allocators_[i])
      allocators_[i]->notifyShape(name, toPublic(context_->outputShape(static_cast<int>(i))));
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
  if (!allocator) return true;
  return refused(reporter_,
                 "an execution context cannot have an allocator of its own yet; give it to the "
                 "runtime with setGpuAllocator before the engine is loaded",
                 false);
}

bool ExecutionContext::setNvtxVerbosity(ProfilingVerbosity verbosity) noexcept {
  if (verbosity == ProfilingVerbosity::kNONE) return true;
  return refused(reporter_, "NVTX ranges are not available yet; use a profiler", false);
}

namespace {

constexpr char kNoDebugTensors[] =
    "debug tensors are not available yet; mark the tensor as an output of the network";

}  // namespace

bool ExecutionContext::setDebugListener(IDebugListener* listener) noexcept {
  return listener ? refused(reporter_, kNoDebugTensors, false) : true;
}

bool ExecutionContext::setTensorDebugState(const char*, bool) noexcept {
  return refused(reporter_, kNoDebugTensors, false);
}

bool ExecutionContext::setUnfusedTensorsDebugState(bool flag) noexcept {
  return flag ? refused(reporter_, kNoDebugTensors, false) : true;
}

bool ExecutionContext::setCommunicator(void*) noexcept {
  return refused(reporter_, "layers on several devices are not available yet", false);
}

}  // namespace camshaft::api
