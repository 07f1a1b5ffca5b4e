#include "inference.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "files.h"
#include "options/values.h"
#include "require.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

std::vector<std::string> inputsOf(const ICudaEngine& engine) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i)
    if (engine.getTensorIOMode(engine.getIOTensorName(i)) == TensorIOMode::kINPUT)
      names.emplace_back(engine.getIOTensorName(i));
  return names;
}

// A name, or a pattern, that stands for at least one input.
void requireInput(const ICudaEngine& engine, const char* flag, const std::string& pattern) {
  const std::vector<std::string> inputs = inputsOf(engine);
  const auto isOurs = [&](const std::string& name) { return fits(pattern, name); };
  if (std::any_of(inputs.begin(), inputs.end(), isOurs)) return;
  const std::string suggestion = nearest(pattern, inputs);
  throw std::runtime_error(std::string(flag) + " names '" + pattern +
                           "', which is no input of the engine; " +
                           (suggestion.empty() ? "it has " + listed({inputs.begin(), inputs.end()})
                                               : "did you mean '" + suggestion + "'?"));
}

double hostMilliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Stream::Stream(ICudaEngine& engine, const Options& options, ConsoleLogger& log, bool announce)
    : engine_(engine),
      device_(engine.getDevice()),
      transfers_(device_ && !options.inference.noDataTransfers),
      context_(engine.createExecutionContext(options.inference.allocation)) {
  const InferenceOptions& inference = options.inference;
  const FilesByName& files = inference.pairs.begin()->second.inputs;
  require(context_ && context_->setOptimizationProfileAsync(inference.useProfile, nullptr));
  if (inference.nvtx) require(context_->setNvtxVerbosity(*inference.nvtx));
  if (device_) require(stream_ = device_->createStream());
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i)
    tensors_.push_back(std::make_unique<IoTensor>(engine, engine.getIOTensorName(i)));
  for (const auto& [name, sizes] : inference.shapes) requireInput(engine, "--shapes", name);
  for (const auto& [number, pair] : inference.pairs)
    for (const auto& [name, file] : pair.inputs) requireInput(engine, "--loadInputs", name);
  for (const auto& tensor : tensors_)
    if (tensor->isInput()) setShape(tensor->name(), options);
  for (const auto& tensor : tensors_)
    if (tensor->isInput()) prepareInput(*tensor);
  setInputs(files);
  if (inference.allocation == ExecutionContextAllocationStrategy::kUSER_MANAGED) giveMemory();
  for (const auto& tensor : tensors_)
    if (!tensor->isInput()) prepareOutput(*tensor);
  watchDebugTensors(options, log);
  if (!announce) return;
  for (const auto& tensor : tensors_) {
    const auto file = files.find(tensor->name());
    if (tensor->isInput())
      log.info((file == files.end() ? "Using random values"
                                    : "Using values loaded from " + file->second) +
               " for input " + tensor->name());
    log.info((tensor->isInput() ? "Input" : "Output") + std::string(" binding for ") +
             tensor->name() + " with dimensions " + tensor->dimsText() + " is created.");
  }
}

Stream::~Stream() {
  if (!device_) return;
  device_->synchronize(stream_);
  context_.reset();
  device_->destroyStream(stream_);
}

void Stream::setShape(const std::string& name, const Options& options) {
  const InferenceOptions& inference = options.inference;
  Dims dims = engine_.getProfileShape(name.c_str(), inference.useProfile, OptProfileSelector::kOPT);
  if (const auto* given = inference.shapes.find(name)) {
    dims.nbDims = static_cast<int32_t>(given->size());
    std::copy(given->begin(), given->end(), dims.d);
  }
  require(context_->setInputShape(name.c_str(), dims));
}

void Stream::prepareInput(IoTensor& tensor) {
  tensor.setDims(context_->getTensorShape(tensor.name().c_str()));
  require(context_->setTensorAddress(tensor.name().c_str(), tensor.address()));
}

void Stream::setInputs(const FilesByName& files) {
  for (const auto& tensor : tensors_) {
    if (!tensor->isInput()) continue;
    const auto file = files.find(tensor->name());
    if (file == files.end()) {
      tensor->fillWithRandomValues();
    } else {
      const std::vector<char> bytes = readFile(file->second);
      tensor->setBytes({bytes.data(), bytes.size()}, file->second);
    }
  }
  copyInputs();
  if (device_) require(device_->synchronize(stream_));
}

void Stream::giveMemory() {
  const size_t bytes = std::max<size_t>(context_->updateDeviceMemorySizeForShapes(), 1);
  arena_ = device_ ? deviceMemory(*device_, bytes) : plainMemory(bytes);
  require(arena_ != nullptr);
  context_->setDeviceMemoryV2(arena_.get(), static_cast<int64_t>(bytes));
}

void Stream::watchDebugTensors(const Options& options, ConsoleLogger& log) {
  const InferenceOptions& inference = options.inference;
  if (inference.debugTensorFiles.empty() && inference.debugTensorFormats.empty()) return;
  debugTensors_ = std::make_unique<DebugTensorWriter>(device_, inference, log);
  require(context_->setDebugListener(debugTensors_.get()));
  for (const auto& [name, file] : inference.debugTensorFiles)
    require(context_->setTensorDebugState(name.c_str(), true));
  if (inference.debugTensorFormats.empty()) return;
  require(context_->setAllTensorsDebugState(true));
  if (options.build.debugUnfusedTensors) require(context_->setUnfusedTensorsDebugState(true));
}

// Only outputs whose size a run decides have an allocator: with fixed addresses runs are recorded.
void Stream::prepareOutput(IoTensor& tensor) {
  const char* name = tensor.name().c_str();
  const Dims dims = context_->getTensorShape(name);
  if (std::find(dims.d, dims.d + dims.nbDims, -1) != dims.d + dims.nbDims) {
    require(context_->setOutputAllocator(name, &tensor));
    return;
  }
  tensor.setDims(dims);
  require(context_->setTensorAddress(name, tensor.address()));
}

void Stream::copyInputs() {
  for (const auto& tensor : tensors_)
    if (tensor->isInput()) tensor->copyToDevice(stream_);
}

void Stream::copyOutputs() {
  for (const auto& tensor : tensors_)
    if (!tensor->isInput()) tensor->copyToHost(stream_);
}

Stream::Mark Stream::mark() {
  void* mark = device_->mark(stream_);
  require(mark);
  return {mark, [device = device_](void* m) { device->releaseMark(m); }};
}

double Stream::milliseconds() const { return hostMilliseconds() - clockStart_; }

void Stream::startClock() {
  if (device_) {
    require(device_->synchronize(stream_));
    firstMark_ = mark();
  }
  clockStart_ = hostMilliseconds();
}

void Stream::launch() { require(context_->enqueueV3(stream_)); }

void Stream::enqueue() {
  Queued run;
  if (device_) run.begin = mark();
  if (transfers_) copyInputs();
  run.computeBegin = transfers_ ? mark() : run.begin;
  run.times.startEnqueue = milliseconds();
  launch();
  run.times.endEnqueue = milliseconds();
  if (device_) run.computeEnd = mark();
  if (transfers_) copyOutputs();
  run.end = transfers_ ? mark() : run.computeEnd;
  queued_.push_back(std::move(run));
}

void Stream::finish(std::vector<RunTimes>& runs) {
  if (device_) require(device_->synchronize(stream_));
  const auto between = [&](const Mark& begin, const Mark& end) {
    return begin == end ? 0
                        : static_cast<double>(device_->millisecondsBetween(begin.get(), end.get()));
  };
  for (Queued& run : queued_) {
    RunTimes& times = run.times;
    if (device_) {
      times.startH2d = between(firstMark_, run.begin);
      times.h2d = between(run.begin, run.computeBegin);
      times.compute = between(run.computeBegin, run.computeEnd);
      times.d2h = between(run.computeEnd, run.end);
    } else {
      times.startH2d = times.startEnqueue;
      times.compute = times.endEnqueue - times.startEnqueue;
    }
    runs.push_back(times);
  }
  queued_.clear();
}

void Stream::run() {
  launch();
  if (device_) require(device_->synchronize(stream_));
}

void Stream::fetchOutputs() {
  copyOutputs();
  if (device_) require(device_->synchronize(stream_));
}

}  // namespace trtexec
