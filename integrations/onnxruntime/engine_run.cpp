#include "onnxruntime/engine_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/error.h"

namespace camshaft::ort {

namespace {

using nvinfer1::OptProfileSelector;

void require(bool success) {
  if (success) return;
  const std::string reason = Logger::takeError();
  fail(ErrorKind::kDevice, reason.empty() ? "Camshaft failed for no reason it has told" : reason);
}

// Memory that grows, of a device or the host.
class Buffer {
 public:
  explicit Buffer(nvinfer1::IDevice* device) : device_(device) {}
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* reserve(size_t bytes) {
    if (memory_ && bytes <= size_) return memory_;
    release();
    size_ = std::max<size_t>(bytes, 64);
    memory_ = device_ ? device_->allocate(static_cast<int64_t>(size_))
                      : std::aligned_alloc(64, (size_ + 63) / 64 * 64);
    return memory_;
  }
  void* data() const { return memory_; }

 private:
  void release() {
    if (device_ && memory_) device_->release(memory_);
    if (!device_) std::free(memory_);
    memory_ = nullptr;
  }

  nvinfer1::IDevice* device_;
  void* memory_ = nullptr;
  size_t size_ = 0;
};

// An output whose size the run finds.
class FoundOutput : public nvinfer1::IOutputAllocator {
 public:
  explicit FoundOutput(nvinfer1::IDevice* device) : memory(device) {}
  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept override {
    return memory.reserve(size);
  }
  void notifyShape(const char*, const nvinfer1::Dims& dims) noexcept override { shape = dims; }

  Buffer memory;
  nvinfer1::Dims shape{};
};

}  // namespace

class EngineContext {
 public:
  EngineContext(nvinfer1::ICudaEngine& engine, const Subgraph& subgraph)
      : subgraph_(subgraph),
        device_(engine.getDevice()),
        context_(engine.createExecutionContext()) {
    require(context_ != nullptr);
    for (const ModelInput& input : subgraph.inputs)
      inputs_.push_back({deviceOf(engine, input.name), false});
    for (const std::string& output : subgraph.outputs)
      outputs_.push_back({deviceOf(engine, output), false});
    if (device_) {
      stream_ = device_->createStream();
      require(stream_ != nullptr);
    }
  }
  ~EngineContext() {
    context_.reset();
    if (stream_) device_->destroyStream(stream_);
  }
  EngineContext(const EngineContext&) = delete;
  EngineContext& operator=(const EngineContext&) = delete;

  void run(std::span<const RunInput> inputs, const OutputMemory& outputMemory) {
    for (size_t i = 0; i < inputs.size(); ++i) setInput(i, inputs[i]);
    results_.clear();
    for (size_t i = 0; i < outputs_.size(); ++i) setOutput(i, outputMemory);
    require(context_->enqueueV3(stream_));
    for (size_t i = 0; i < outputs_.size(); ++i) fetch(i, outputMemory);
    if (stream_) require(device_->synchronize(stream_));
  }

 private:
  struct Place {
    nvinfer1::IDevice* device;  // null: on the host
    bool isFound;               // an output of a size that the run finds
    std::unique_ptr<FoundOutput> memory = nullptr;
  };

  nvinfer1::IDevice* deviceOf(const nvinfer1::ICudaEngine& engine, const std::string& name) const {
    const bool onDevice =
        engine.getTensorLocation(name.c_str()) == nvinfer1::TensorLocation::kDEVICE;
    return onDevice ? device_ : nullptr;
  }

  FoundOutput& memoryOf(Place& place) const {
    if (!place.memory) place.memory = std::make_unique<FoundOutput>(place.device);
    return *place.memory;
  }

  void setInput(size_t index, const RunInput& input) {
    const char* name = subgraph_.inputs[index].name.c_str();
    nvinfer1::Dims dims{static_cast<int32_t>(input.shape.size()), {}};
    if (input.shape.size() > nvinfer1::Dims::MAX_DIMS)
      fail(ErrorKind::kUnsupported, "input '", name, "' has ", input.shape.size(), " dimensions");
    std::ranges::copy(input.shape, dims.d);
    require(context_->setInputShape(name, dims));
    static const char nothing[64] = {};  // of tensors without elements
    const void* address = input.data ? input.data : nothing;
    if (Place& place = inputs_[index]; place.device) {
      void* memory = memoryOf(place).memory.reserve(input.bytes);
      require(memory &&
              place.device->copy(memory, address, static_cast<int64_t>(input.bytes), stream_));
      address = memory;
    }
    require(context_->setInputTensorAddress(name, address));
  }

  void setOutput(size_t index, const OutputMemory& outputMemory) {
    const char* name = subgraph_.outputs[index].c_str();
    Place& place = outputs_[index];
    HostMemory& result = results_.emplace_back();
    const nvinfer1::Dims dims = context_->getTensorShape(name);
    require(dims.nbDims >= 0);
    const std::span<const int64_t> shape(dims.d, static_cast<size_t>(dims.nbDims));
    const bool isFound = std::ranges::count(shape, -1) > 0;
    if (isFound != place.isFound)
      require(context_->setOutputAllocator(name, isFound ? &memoryOf(place) : nullptr));
    place.isFound = isFound;
    if (isFound) return;
    result = outputMemory(index, shape);
    const bool inPlace = !place.device && result.data;
    void* address = inPlace ? result.data : memoryOf(place).memory.reserve(result.bytes);
    require(address && context_->setOutputTensorAddress(name, address));
  }

  // Copies an output that was not written where it belongs.
  void fetch(size_t index, const OutputMemory& outputMemory) {
    const Place& place = outputs_[index];
    HostMemory result = results_[index];
    if (!place.device && !place.isFound) return;
    if (place.isFound) {
      const nvinfer1::Dims& dims = place.memory->shape;
      result = outputMemory(index, {dims.d, static_cast<size_t>(dims.nbDims)});
    }
    if (result.bytes == 0) return;
    const void* from = place.memory->memory.data();
    if (place.device)
      require(place.device->copy(result.data, from, static_cast<int64_t>(result.bytes), stream_));
    else
      std::memcpy(result.data, from, result.bytes);
  }

  const Subgraph& subgraph_;
  nvinfer1::IDevice* device_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  cudaStream_t stream_ = nullptr;
  std::vector<Place> inputs_;
  std::vector<Place> outputs_;
  std::vector<HostMemory> results_;
};

LoadedEngine::LoadedEngine(std::unique_ptr<nvinfer1::ICudaEngine> engine, const Subgraph& subgraph)
    : engine_(std::move(engine)), subgraph_(subgraph) {
  for (const ModelInput& input : subgraph.inputs) {
    const auto bound = [&](OptProfileSelector which) {
      const nvinfer1::Dims dims = engine_->getProfileShape(input.name.c_str(), 0, which);
      require(dims.nbDims >= 0);
      return std::vector<int64_t>(dims.d, dims.d + dims.nbDims);
    };
    ranges_.push_back({bound(OptProfileSelector::kMIN), bound(OptProfileSelector::kOPT),
                       bound(OptProfileSelector::kMAX)});
  }
}

LoadedEngine::~LoadedEngine() = default;

bool LoadedEngine::holds(std::span<const std::span<const int64_t>> shapes) const {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (!ort::holds(ranges_[i], shapes[i])) return false;
  return true;
}

void LoadedEngine::run(std::span<const RunInput> inputs, const OutputMemory& outputMemory) {
  Logger::takeError();
  std::unique_ptr<EngineContext> context;
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      context = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!context) context = std::make_unique<EngineContext>(*engine_, subgraph_);
  context->run(inputs, outputMemory);
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(context));
}

}  // namespace camshaft::ort
