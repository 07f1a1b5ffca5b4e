#include "inference.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "files.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

void require(bool worked) {
  if (!worked) throw std::runtime_error("");
}

void requireInput(const ICudaEngine& engine, const char* flag, const std::string& name) {
  if (engine.getTensorIOMode(name.c_str()) != TensorIOMode::kINPUT)
    throw std::runtime_error(std::string(flag) + " names '" + name +
                             "', which is no input of the engine");
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
      transfers_(device_ && !options.noDataTransfers),
      context_(engine.createExecutionContext()) {
  require(context_ && context_->setOptimizationProfileAsync(options.useProfile, nullptr));
  if (device_) require(stream_ = device_->createStream());
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i)
    tensors_.push_back(std::make_unique<IoTensor>(engine, engine.getIOTensorName(i)));
  for (const auto& [name, sizes] : options.shapes) requireInput(engine, "--shapes", name);
  for (const auto& [name, file] : options.loadInputs) requireInput(engine, "--loadInputs", name);
  for (const auto& tensor : tensors_)
    if (tensor->isInput()) setShape(tensor->name(), options);
  for (const auto& tensor : tensors_)
    if (tensor->isInput()) fillInput(*tensor, options, log, announce);
  for (const auto& tensor : tensors_)
    if (!tensor->isInput()) prepareOutput(*tensor);
  copyInputs();
  if (device_) require(device_->synchronize(stream_));
}

Stream::~Stream() {
  if (!device_) return;
  device_->synchronize(stream_);
  context_.reset();
  device_->destroyStream(stream_);
}

void Stream::setShape(const std::string& name, const Options& options) {
  Dims dims = engine_.getProfileShape(name.c_str(), options.useProfile, OptProfileSelector::kOPT);
  if (const auto given = options.shapes.find(name); given != options.shapes.end()) {
    dims.nbDims = static_cast<int32_t>(given->second.size());
    if (dims.nbDims > Dims::MAX_DIMS)
      throw std::runtime_error("--shapes gives '" + name + "' more than 8 dimensions");
    std::copy(given->second.begin(), given->second.end(), dims.d);
  }
  require(context_->setInputShape(name.c_str(), dims));
}

void Stream::fillInput(IoTensor& tensor, const Options& options, ConsoleLogger& log,
                       bool announce) {
  tensor.setDims(context_->getTensorShape(tensor.name().c_str()));
  const auto file = options.loadInputs.find(tensor.name());
  if (file != options.loadInputs.end()) {
    const std::vector<char> bytes = readFile(file->second);
    tensor.setBytes({bytes.data(), bytes.size()}, file->second);
    if (announce)
      log.info("Using values loaded from " + file->second + " for input " + tensor.name());
  } else {
    tensor.fillWithRandomValues();
    if (announce) log.info("Using random values for input " + tensor.name());
  }
  if (announce)
    log.info("Input binding for " + tensor.name() + " with dimensions " + tensor.dimsText() +
             " is created.");
  require(context_->setTensorAddress(tensor.name().c_str(), tensor.address()));
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

std::string Stream::outputsJson() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& tensor : tensors_) {
    if (tensor->isInput()) continue;
    std::vector<double> values;
    for (size_t i = 0; i < tensor->count(); ++i) values.push_back(tensor->valueAt(i));
    list.push_back(
        {{"name", tensor->name()}, {"dimensions", tensor->dimsText()}, {"values", values}});
  }
  return textOf(list);
}

void Stream::printOutputs(ConsoleLogger& log) const {
  constexpr size_t kShown = 64;
  for (const auto& tensor : tensors_) {
    if (tensor->isInput()) continue;
    log.info(tensor->name() + ": (" + tensor->dimsText() + ")");
    std::string line;
    for (size_t i = 0; i < std::min(tensor->count(), kShown); ++i)
      line += std::to_string(tensor->valueAt(i)) + " ";
    log.info(line + (tensor->count() > kShown ? "..." : ""));
  }
}

}  // namespace trtexec
