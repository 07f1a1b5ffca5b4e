#include "calibration/plan_runner.h"

#include <algorithm>
#include <cstring>

#include "ir/dispatch.h"
#include "runtime/context.h"
#include "support/cpu_info.h"

namespace camshaft {

class PlanRunner::Run {
 public:
  Run(Plan plan, const CompileOptions& options, TensorObserver observer)
      : engine_(std::make_shared<const LoadedEngine>(std::move(plan), options.wrapDevice,
                                                     options.loadPlugin)),
        device_(engine_->device()),
        context_(engine_, options.threads > 0 ? options.threads : usableCores()),
        show_(std::move(observer)),
        observer_([this](const ObservedTensor& tensor, const TensorArg& value, bool onDevice,
                         void* stream) { show(tensor.name, value, onDevice, stream); }) {
    const Plan& made = engine_->plan();
    for (size_t i = 0; i < made.inputs.size(); ++i) {
      setInputShape(i, made.profiles[0].inputs[i].opt);
      inputs_.emplace_back(isOnHost(i) ? nullptr : device_);
    }
    for (size_t i = 0; i < made.outputs.size(); ++i) outputs_.emplace_back(device_);
    context_.setOutputAllocator([this](int output, void*, int64_t bytes, std::span<const int64_t>) {
      outputs_[output].reserve(std::max<int64_t>(bytes, 1));
      return outputs_[output].data();
    });
    if (show_) context_.setObserver(&observer_);
    if (device_)
      stream_ = std::shared_ptr<void>(device_->createStream(), [device = device_](void* stream) {
        device->destroyStream(stream);
      });
  }

  void setInputShape(size_t i, std::span<const int64_t> dims) {
    context_.setInputShape(static_cast<int>(i), dims);
  }

  void run(std::span<const void* const> batch) {
    for (size_t i = 0; i < batch.size(); ++i)
      context_.setInputAddress(static_cast<int>(i), placed(i, batch[i]));
    context_.run(stream_.get());
    if (device_) device_->synchronize(stream_.get());
  }

  std::vector<OutputTensor> outputs() const {
    std::vector<OutputTensor> results;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      OutputTensor& result = results.emplace_back();
      result.type = engine_->plan().outputs[i].tensor.type;
      result.dims = context_.outputShape(static_cast<int>(i));
      result.bytes.resize(bytesOf(result.type, countOf(result.dims)));
      if (result.bytes.empty()) continue;
      if (device_)
        download(*device_, result.bytes.data(), outputs_[i].data(),
                 static_cast<int64_t>(result.bytes.size()));
      else
        std::memcpy(result.bytes.data(), outputs_[i].data(), result.bytes.size());
    }
    return results;
  }

 private:
  const IoTensor& input(size_t i) const { return engine_->plan().inputs[i]; }
  bool isOnHost(size_t i) const { return !device_ || input(i).isOnHost || input(i).isShapeTensor; }

  // The data where the network reads it, in the type it reads.
  const void* placed(size_t i, const void* data) {
    const DataType type = input(i).tensor.type;
    const bool converts = isFloat(type) && type != DataType::kF32;
    if (!data)
      fail(ErrorKind::kInvalidArgument, "no data was given for input '", input(i).name, "'");
    const bool isThere = isOnHost(i) || device_->canReach(data);
    if (isThere && !converts) return data;
    const int64_t elements = countOf(context_.inputShape(static_cast<int>(i)));
    const DataType given = converts ? DataType::kF32 : type;
    std::vector<std::byte> host(bytesOf(given, elements));
    if (isThere && !isOnHost(i))
      download(*device_, host.data(), data, static_cast<int64_t>(host.size()));
    else
      std::memcpy(host.data(), data, host.size());
    if (converts) host = converted(host, type, elements);
    inputs_[i].reserve(std::max<int64_t>(static_cast<int64_t>(host.size()), 1));
    if (isOnHost(i))
      std::memcpy(inputs_[i].data(), host.data(), host.size());
    else
      upload(*device_, inputs_[i].data(), host.data(), static_cast<int64_t>(host.size()));
    return inputs_[i].data();
  }

  static std::vector<std::byte> converted(const std::vector<std::byte>& f32, DataType type,
                                          int64_t elements) {
    std::vector<std::byte> made(bytesOf(type, elements));
    const auto* values = reinterpret_cast<const float*>(f32.data());
    for (int64_t i = 0; i < elements; ++i) writeElement(type, made.data(), i, values[i]);
    return made;
  }

  void show(const std::string& name, const TensorArg& value, bool onDevice, void* stream) {
    const int64_t elements = value.count();
    const void* data = value.data;
    if (onDevice) {
      staged_.resize(bytesOf(value.type, elements));
      device_->copy(staged_.data(), data, static_cast<int64_t>(staged_.size()), stream);
      device_->synchronize(stream);
      data = staged_.data();
    }
    if (value.type != DataType::kF32) {
      wide_.resize(static_cast<size_t>(elements));
      for (int64_t i = 0; i < elements; ++i)
        wide_[static_cast<size_t>(i)] = static_cast<float>(readElement(value.type, data, i));
      data = wide_.data();
    }
    show_(name, value.shape(), {static_cast<const float*>(data), static_cast<size_t>(elements)});
  }

  std::shared_ptr<const LoadedEngine> engine_;
  Device* device_;
  std::shared_ptr<void> stream_;
  std::vector<DeviceBuffer> inputs_, outputs_;
  std::vector<std::byte> staged_;
  std::vector<float> wide_;
  Context context_;
  const TensorObserver show_;
  const Observer observer_;
};

PlanRunner::PlanRunner(Plan plan, const CompileOptions& options, TensorObserver observer)
    : run_(std::make_unique<Run>(std::move(plan), options, std::move(observer))) {}
PlanRunner::~PlanRunner() = default;
void PlanRunner::setInputShape(size_t input, std::span<const int64_t> dims) {
  run_->setInputShape(input, dims);
}
void PlanRunner::run(std::span<const void* const> inputs) { run_->run(inputs); }
void PlanRunner::run(const Samples& samples, int sample) {
  const std::vector<SampleInput> given = samples.at(sample);
  std::vector<const void*> data;
  for (size_t i = 0; i < given.size(); ++i) {
    setInputShape(i, given[i].dims);
    data.push_back(given[i].data);
  }
  run(data);
}
std::vector<OutputTensor> PlanRunner::outputs() const { return run_->outputs(); }

}  // namespace camshaft
