// A small client of the public API, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "CamshaftDevice.h"
#include "NvInfer.h"

namespace camshaft::api {

class TestLogger : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    const std::lock_guard lock(mutex_);
    if (severity <= Severity::kERROR)
      errors.push_back(message);
    else if (severity == Severity::kWARNING)
      warnings.push_back(message);
    else if (keepsNotes)
      notes.push_back(message);
  }
  // How many of the lines have this in them.
  static int64_t countIn(const std::vector<std::string>& lines, std::string_view part) {
    return std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  std::vector<std::string> errors, warnings;
  bool keepsNotes = false;
  std::vector<std::string> notes;  // information and verbose lines

 private:
  std::mutex mutex_;
};

class TestRecorder : public nvinfer1::IErrorRecorder {
 public:
  int32_t getNbErrors() const noexcept override { return static_cast<int32_t>(errors_.size()); }
  nvinfer1::ErrorCode getErrorCode(int32_t i) const noexcept override { return errors_[i].first; }
  ErrorDesc getErrorDesc(int32_t i) const noexcept override { return errors_[i].second.c_str(); }
  bool hasOverflowed() const noexcept override { return false; }
  void clear() noexcept override { errors_.clear(); }
  bool reportError(nvinfer1::ErrorCode code, ErrorDesc text) noexcept override {
    errors_.emplace_back(code, text);
    return true;
  }
  RefCount incRefCount() noexcept override { return ++references; }
  RefCount decRefCount() noexcept override { return --references; }
  int references = 0;

 private:
  std::vector<std::pair<nvinfer1::ErrorCode, std::string>> errors_;
};

// Memory for an output, as large as it turns out to be.
class TestAllocator : public nvinfer1::IOutputAllocator {
 public:
  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t alignment) noexcept override {
    memory.resize(size + alignment);
    void* start = memory.data();
    size_t space = memory.size();
    return address = std::align(alignment, size, start, space);
  }
  void notifyShape(const char* name, const nvinfer1::Dims& dims) noexcept override {
    tensor = name;
    shape = dims;
  }
  std::vector<std::byte> memory;
  void* address = nullptr;
  std::string tensor;
  nvinfer1::Dims shape{};
};

struct Feed {
  const char* name;
  nvinfer1::Dims dims;
  const void* data;
};

inline int64_t countOf(const nvinfer1::Dims& dims) {
  return std::accumulate(dims.d, dims.d + dims.nbDims, int64_t{1}, std::multiplies<>());
}

inline std::vector<int64_t> listOf(const nvinfer1::Dims& dims) {
  return {dims.d, dims.d + std::max(dims.nbDims, 0)};
}

template <class T>
nvinfer1::Weights weightsOf(const std::vector<T>& values,
                            nvinfer1::DataType type = nvinfer1::DataType::kFLOAT) {
  return {type, values.data(), static_cast<int64_t>(values.size())};
}
inline nvinfer1::Weights weightsOf(const std::vector<int64_t>& values) {
  return weightsOf(values, nvinfer1::DataType::kINT64);
}
inline nvinfer1::Weights noWeights() { return {nvinfer1::DataType::kFLOAT, nullptr, 0}; }

inline std::vector<float> iota(int64_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Where tests build for; programs that run them on an emulated GPU say so.
inline nvinfer1::DeviceType testDevice = nvinfer1::DeviceType::kCPU;

// Bytes that an engine reaches: in its device's memory, where that has its own.
class TestMemory {
 public:
  TestMemory() = default;
  TestMemory(const nvinfer1::ICudaEngine& engine, const void* data, int64_t bytes,
             nvinfer1::TensorLocation location = nvinfer1::TensorLocation::kDEVICE)
      : device_(location == nvinfer1::TensorLocation::kDEVICE ? engine.getDevice() : nullptr),
        bytes_(bytes) {
    if (!device_) host_.resize(static_cast<size_t>(bytes));
    if (device_) memory_ = device_->allocate(std::max<int64_t>(bytes, 1));
    if (data && device_) device_->copy(memory_, data, bytes, nullptr);
    if (data && !device_) std::memcpy(host_.data(), data, host_.size());
  }
  TestMemory(TestMemory&& other) noexcept { *this = std::move(other); }
  TestMemory& operator=(TestMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(host_, other.host_);
    return *this;
  }
  ~TestMemory() {
    if (device_) device_->release(memory_);
  }
  void* data() { return device_ ? memory_ : host_.data(); }
  template <class T>
  std::vector<T> read() const {
    std::vector<T> result(static_cast<size_t>(bytes_) / sizeof(T));
    if (device_) device_->copy(result.data(), memory_, bytes_, nullptr);
    if (device_) device_->synchronize(nullptr);
    if (!device_) std::memcpy(result.data(), host_.data(), host_.size());
    return result;
  }

 private:
  nvinfer1::IDevice* device_ = nullptr;
  void* memory_ = nullptr;
  int64_t bytes_ = 0;
  std::vector<std::byte> host_;
};

// A builder with one network, and what it takes to run it.
struct Client {
  TestLogger logger;
  TestRecorder recorder;
  std::unique_ptr<nvinfer1::IBuilder> builder{nvinfer1::createInferBuilder(logger)};
  std::unique_ptr<nvinfer1::INetworkDefinition> network;
  std::unique_ptr<nvinfer1::IBuilderConfig> config;
  std::unique_ptr<nvinfer1::IRuntime> runtime{nvinfer1::createInferRuntime(logger)};

  Client() {
    network.reset(builder->createNetworkV2(0));
    network->setErrorRecorder(&recorder);
    config.reset(builder->createBuilderConfig());
    config->setDefaultDeviceType(testDevice);
    config->setBuilderOptimizationLevel(0);
  }
  ~Client() { network->setErrorRecorder(nullptr); }

  nvinfer1::ITensor* input(const char* name, const nvinfer1::Dims& dims,
                           nvinfer1::DataType type = nvinfer1::DataType::kFLOAT) {
    return network->addInput(name, type, dims);
  }
  nvinfer1::ITensor* integers(const std::vector<int64_t>& values) {
    return network->addConstant({1, {static_cast<int64_t>(values.size())}}, weightsOf(values))
        ->getOutput(0);
  }
  void output(nvinfer1::ITensor* tensor, const char* name) {
    tensor->setName(name);
    network->markOutput(*tensor);
  }

  std::unique_ptr<nvinfer1::ICudaEngine> build() {
    std::unique_ptr<nvinfer1::IHostMemory> file(builder->buildSerializedNetwork(*network, *config));
    if (!file) return nullptr;
    return std::unique_ptr<nvinfer1::ICudaEngine>(
        runtime->deserializeCudaEngine(file->data(), file->size()));
  }

  // Builds and runs; all outputs' bytes, and their dimensions in `shapes`.
  template <class T = float>
  std::vector<T> run(const std::vector<Feed>& feeds, const char* wanted = "y") {
    const auto engine = build();
    if (!engine) {
      ADD_FAILURE() << "no engine: " << (logger.errors.empty() ? "" : logger.errors.back());
      return {};
    }
    return runEngine<T>(*engine, feeds, wanted);
  }

  template <class T = float>
  std::vector<T> runEngine(nvinfer1::ICudaEngine& engine, const std::vector<Feed>& feeds,
                           const char* wanted = "y") {
    const std::unique_ptr<nvinfer1::IExecutionContext> context(engine.createExecutionContext());
    for (const Feed& feed : feeds) {
      EXPECT_TRUE(context->setInputShape(feed.name, feed.dims)) << feed.name;
      EXPECT_TRUE(context->setInputTensorAddress(feed.name, feed.data));
    }
    std::map<std::string, TestAllocator> memory;
    for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
      const char* name = engine.getIOTensorName(i);
      if (engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kOUTPUT)
        context->setOutputAllocator(name, &memory[name]);
    }
    EXPECT_TRUE(context->enqueueV3(nullptr)) << (logger.errors.empty() ? "" : logger.errors.back());
    shape = memory[wanted].shape;
    std::vector<T> result(countOf(shape));
    std::memcpy(result.data(), memory[wanted].address, result.size() * sizeof(T));
    return result;
  }
  nvinfer1::Dims shape{};  // of the result of the last run

  // Whether the last call reported exactly one error, to logger and recorder, that has this in it.
  bool reported(const std::string& part) {
    const bool once = logger.errors.size() == 1 && recorder.getNbErrors() == 1;
    const bool found = once && logger.errors[0].find(part) != std::string::npos &&
                       logger.errors[0] == recorder.getErrorDesc(0);
    if (!found)
      for (const std::string& error : logger.errors) ADD_FAILURE() << "reported: " << error;
    logger.errors.clear();
    recorder.clear();
    return found;
  }
};

}  // namespace camshaft::api
