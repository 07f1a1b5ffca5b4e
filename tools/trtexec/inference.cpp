#include "inference.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <thread>

#include "build.h"

namespace trtexec {

using namespace nvinfer1;
using Clock = std::chrono::steady_clock;

namespace {

size_t bitsOf(DataType type) {
  switch (type) {
    case DataType::kDOUBLE:
    case DataType::kINT64:
    case DataType::kUINT64:
      return 64;
    case DataType::kFLOAT:
    case DataType::kINT32:
    case DataType::kUINT32:
      return 32;
    case DataType::kHALF:
    case DataType::kBF16:
    case DataType::kINT16:
    case DataType::kUINT16:
      return 16;
    case DataType::kINT4:
    case DataType::kUINT4:
    case DataType::kFP4:
      return 4;
    default:
      return 8;
  }
}

size_t bytesOf(DataType type, const Dims& dims) {
  size_t count = 1;
  for (int32_t i = 0; i < dims.nbDims; ++i)
    count *= static_cast<size_t>(std::max<int64_t>(dims.d[i], 0));
  return (count * bitsOf(type) + 7) / 8;
}

std::string toText(const Dims& dims) {
  std::string text;
  for (int32_t i = 0; i < dims.nbDims; ++i) text += (i ? "x" : "") + std::to_string(dims.d[i]);
  return text.empty() ? "scalar" : text;
}

double elementAt(DataType type, const std::vector<char>& bytes, size_t i) {
  const auto read = [&](auto value) {
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case DataType::kFLOAT:
      return read(float{});
    case DataType::kDOUBLE:
      return read(double{});
    case DataType::kINT64:
      return read(int64_t{});
    case DataType::kUINT64:
      return read(uint64_t{});
    case DataType::kINT32:
      return read(int32_t{});
    case DataType::kUINT32:
      return read(uint32_t{});
    case DataType::kINT16:
      return read(int16_t{});
    case DataType::kINT8:
      return read(int8_t{});
    case DataType::kUINT16:
    case DataType::kHALF:
    case DataType::kBF16:
      return read(uint16_t{});  // 16-bit floats as their bits
    default:
      return read(uint8_t{});
  }
}

}  // namespace

struct Stream::Tensor : IOutputAllocator {
  std::string name;
  DataType type;
  bool isInput;
  Dims dims{};
  std::vector<char> bytes;

  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept override {
    if (bytes.size() < size) bytes.resize(size);
    return bytes.data();
  }
  void notifyShape(const char*, const Dims& shape) noexcept override { dims = shape; }
};

Stream::~Stream() = default;

Stream::Stream(ICudaEngine& engine, const Options& options, ConsoleLogger& log, bool announce)
    : engine_(engine), context_(engine.createExecutionContext()) {
  if (!context_ || !context_->setOptimizationProfileAsync(options.useProfile, nullptr))
    throw std::runtime_error("");
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    auto tensor = std::make_unique<Tensor>();
    tensor->name = engine.getIOTensorName(i);
    tensor->type = engine.getTensorDataType(tensor->name.c_str());
    tensor->isInput = engine.getTensorIOMode(tensor->name.c_str()) == TensorIOMode::kINPUT;
    tensors_.push_back(std::move(tensor));
  }
  for (const auto& [name, sizes] : options.shapes)
    if (engine.getTensorIOMode(name.c_str()) != TensorIOMode::kINPUT)
      throw std::runtime_error("--shapes names '" + name + "', which is no input of the engine");
  for (const auto& [name, file] : options.loadInputs)
    if (engine.getTensorIOMode(name.c_str()) != TensorIOMode::kINPUT)
      throw std::runtime_error("--loadInputs names '" + name +
                               "', which is no input of the engine");
  for (const auto& tensor : tensors_)
    if (tensor->isInput) setShape(tensor->name, options);
  for (const auto& tensor : tensors_) {
    if (tensor->isInput) {
      fillInput(*tensor, options, log, announce);
    } else if (!context_->setOutputAllocator(tensor->name.c_str(), tensor.get())) {
      throw std::runtime_error("");
    }
  }
}

void Stream::setShape(const std::string& name, const Options& options) {
  Dims dims = engine_.getProfileShape(name.c_str(), options.useProfile, OptProfileSelector::kOPT);
  if (const auto given = options.shapes.find(name); given != options.shapes.end()) {
    dims.nbDims = static_cast<int32_t>(given->second.size());
    if (dims.nbDims > Dims::MAX_DIMS)
      throw std::runtime_error("--shapes gives '" + name + "' more than 8 dimensions");
    std::copy(given->second.begin(), given->second.end(), dims.d);
  }
  if (!context_->setInputShape(name.c_str(), dims)) throw std::runtime_error("");
}

void Stream::fillInput(Tensor& tensor, const Options& options, ConsoleLogger& log, bool announce) {
  tensor.dims = context_->getTensorShape(tensor.name.c_str());
  tensor.bytes.resize(bytesOf(tensor.type, tensor.dims));
  const auto file = options.loadInputs.find(tensor.name);
  if (file != options.loadInputs.end()) {
    const std::vector<char> loaded = readFile(file->second);
    if (loaded.size() != tensor.bytes.size())
      throw std::runtime_error("'" + file->second + "' has " + std::to_string(loaded.size()) +
                               " bytes and input '" + tensor.name + "' of shape " +
                               toText(tensor.dims) + " takes " +
                               std::to_string(tensor.bytes.size()));
    tensor.bytes = loaded;
    if (announce)
      log.info("Using values loaded from " + file->second + " for input " + tensor.name);
  } else {
    // Integers stay zero: indices into any table.
    if (tensor.type == DataType::kFLOAT) {
      std::minstd_rand random;
      std::uniform_real_distribution<float> uniform(-1, 1);
      for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
        const float value = uniform(random);
        std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
      }
    }
    if (announce) log.info("Using random values for input " + tensor.name);
  }
  if (announce)
    log.info("Input binding for " + tensor.name + " with dimensions " + toText(tensor.dims) +
             " is created.");
  if (!context_->setTensorAddress(tensor.name.c_str(), tensor.bytes.data()))
    throw std::runtime_error("");
}

void Stream::run() {
  if (!context_->enqueueV3(nullptr)) throw std::runtime_error("");
}

std::string Stream::outputsJson() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& tensor : tensors_) {
    if (tensor->isInput) continue;
    std::vector<double> values;
    const size_t count = bytesOf(tensor->type, tensor->dims) * 8 / bitsOf(tensor->type);
    if (bitsOf(tensor->type) >= 8)
      for (size_t i = 0; i < count; ++i)
        values.push_back(elementAt(tensor->type, tensor->bytes, i));
    list.push_back(
        {{"name", tensor->name}, {"dimensions", toText(tensor->dims)}, {"values", values}});
  }
  return list.dump(2);
}

void Stream::printOutputs(ConsoleLogger& log) const {
  constexpr size_t kShown = 64;
  for (const auto& tensor : tensors_) {
    if (tensor->isInput) continue;
    log.info(tensor->name + ": (" + toText(tensor->dims) + ")");
    std::string line;
    const size_t count = bytesOf(tensor->type, tensor->dims) * 8 / bitsOf(tensor->type);
    for (size_t i = 0; i < std::min(count, kShown) && bitsOf(tensor->type) >= 8; ++i)
      line += std::to_string(elementAt(tensor->type, tensor->bytes, i)) + " ";
    log.info(line + (count > kShown ? "..." : ""));
  }
}

TimedRuns timeStreams(std::vector<std::unique_ptr<Stream>>& streams, const Options& options,
                      ConsoleLogger& log) {
  const auto warmUpEnd = Clock::now() + std::chrono::duration<double, std::milli>(options.warmUpMs);
  size_t warmUps = 0;
  do {
    for (auto& stream : streams) stream->run();
    warmUps += streams.size();
  } while (Clock::now() < warmUpEnd);
  log.info("Warmup completed " + std::to_string(warmUps) + " queries over " +
           std::to_string(static_cast<int>(options.warmUpMs)) + " ms");

  TimedRuns timed;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto start = Clock::now();
  const auto since = [&start] {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  const auto loop = [&](Stream& stream) {
    std::vector<RunTimes> own;
    try {
      while (static_cast<int>(own.size()) < options.iterations ||
             since() < options.durationS * 1000) {
        const double begin = since();
        stream.run();
        const double end = since();
        own.push_back({begin, end, begin, end});
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    timed.runs.insert(timed.runs.end(), own.begin(), own.end());
  };
  if (streams.size() == 1) {
    loop(*streams.front());
  } else {  // CPU streams only overlap on threads of their own
    std::vector<std::thread> threads;
    for (auto& stream : streams) threads.emplace_back([&] { loop(*stream); });
    for (std::thread& thread : threads) thread.join();
  }
  if (failure) std::rethrow_exception(failure);
  timed.wallMs = since();
  std::sort(timed.runs.begin(), timed.runs.end(),
            [](const RunTimes& a, const RunTimes& b) { return a.startEnqueue < b.startEnqueue; });
  log.info("Timing trace has " + std::to_string(timed.runs.size()) + " queries over " +
           std::to_string(timed.wallMs / 1000) + " s");
  return timed;
}

}  // namespace trtexec
