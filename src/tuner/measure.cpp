#include "tuner/measure.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "backend/device.h"
#include "support/error.h"
#include "support/half.h"
#include "support/stopwatch.h"
#include "tuner/timing_turn.h"

namespace camshaft {
namespace {

// Random numbers where their values could matter for the time; large tensors repeat a block.
template <class T>
std::vector<T> randomNumbers() {
  std::minstd_rand random;
  std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
  std::vector<T> numbers(1 << 18);
  for (T& number : numbers) number = T(uniform(random));
  return numbers;
}

std::span<const std::byte> randomBlock(DataType type) {
  static const std::vector<float> kF32 = randomNumbers<float>();
  static const std::vector<Half> kF16 = randomNumbers<Half>();
  static const std::vector<BFloat16> kBF16 = randomNumbers<BFloat16>();
  if (type == DataType::kF32) return std::as_bytes(std::span(kF32));
  if (type == DataType::kF16) return std::as_bytes(std::span(kF16));
  if (type == DataType::kBF16) return std::as_bytes(std::span(kBF16));
  return {};
}

std::vector<std::byte> randomContent(DataType type, int64_t count) {
  std::vector<std::byte> bytes(bytesOf(type, count));
  const std::span<const std::byte> block = randomBlock(type);
  if (block.empty()) return bytes;
  for (size_t at = 0; at < bytes.size(); at += block.size())
    std::memcpy(bytes.data() + at, block.data(), std::min(block.size(), bytes.size() - at));
  return bytes;
}

// Memory of a device, or of the host.
class Memory {
 public:
  explicit Memory(Device* device) : device_(device) {}

  std::byte* reserve(int64_t bytes) {
    buffers_.emplace_back(device_).reserve(std::max<int64_t>(bytes, 1));
    return buffers_.back().data();
  }

  std::byte* upload(std::span<const std::byte> bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    std::byte* memory = reserve(size);
    if (device_)
      camshaft::upload(*device_, memory, bytes.data(), size);
    else
      std::copy(bytes.begin(), bytes.end(), memory);
    return memory;
  }

  Device* device() const { return device_; }

 private:
  Device* device_;
  std::vector<DeviceBuffer> buffers_;
};

TensorArg argFor(const TensorType& type, const SymbolValue& opt) {
  TensorArg arg{.type = type.type, .rank = static_cast<int32_t>(type.rank())};
  for (int i = 0; i < arg.rank; ++i) arg.dims[i] = evaluate(type.shape[i], opt);
  return arg;
}

double timeOnHost(const std::function<void()>& launch, const MeasureOptions& options) {
  launch();  // warm caches and threads
  std::vector<double> times;
  const Stopwatch total;
  const auto minRuns = static_cast<size_t>(options.minRuns);
  while (times.size() < minRuns ||
         (total.milliseconds() < options.minMilliseconds && times.size() < 50)) {
    const Stopwatch watch;
    launch();
    times.push_back(watch.milliseconds());
  }
  return median(std::move(times));
}

double between(Device& device, void* stream, const std::function<void()>& enqueue) {
  const std::shared_ptr<void> begin = device.mark(stream);
  enqueue();
  const std::shared_ptr<void> end = device.mark(stream);
  device.synchronize(stream);
  return device.millisecondsBetween(begin.get(), end.get());
}

// Null: what cannot be recorded is launched in runs too, so its launches are part of its time.
std::unique_ptr<Recording> recordIfPossible(Device& device, void* stream,
                                            const std::function<void()>& enqueue) {
  try {
    return device.record(stream, enqueue);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    return nullptr;
  }
}

double timeOnDevice(Device& device, void* stream, const std::function<void()>& launch,
                    const MeasureOptions& options) {
  constexpr double kHopeless = 4;       // times the best so far
  constexpr double kLaunchCost = 0.05;  // milliseconds that one launch may cost by itself
  constexpr int kMostLaunches = 20;
  launch();  // what a first launch sets up is not its time
  const double once = between(device, stream, launch);
  if (once > kHopeless * options.best + kLaunchCost) return once;

  // Enough launches per replay to hide the cost of starting one, fewer of what takes long anyway.
  const int launches = once > 2 ? 1 : once > 0.2 ? 5 : kMostLaunches;
  const auto launchAll = [&] {
    for (int i = 0; i < launches; ++i) launch();
  };
  const std::unique_ptr<Recording> recording = recordIfPossible(device, stream, launchAll);
  const auto replay = [&] { recording ? recording->replay(stream) : launchAll(); };
  replay();
  double quickest = std::numeric_limits<double>::infinity(), total = 0;
  for (int runs = 0; runs < options.minRuns || (total < options.minMilliseconds && runs < 50);
       ++runs) {
    const double milliseconds = between(device, stream, replay);
    quickest = std::min(quickest, milliseconds / launches);
    total += milliseconds;
  }
  return quickest;
}

// A stream for as long as it is needed.
class OwnStream {
 public:
  explicit OwnStream(Device* device)
      : device_(device), stream_(device ? device->createStream() : nullptr) {}
  ~OwnStream() {
    if (device_) device_->destroyStream(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  void* get() const { return stream_; }

 private:
  Device* device_;
  void* stream_;
};

// A runtime kernel with its state.
class LoadedKernel {
 public:
  LoadedKernel(std::string_view name, const Prepared& prepared,
               const std::vector<std::byte>* binary)
      : kernel_(findRuntimeKernel(name)), params_(std::max<size_t>(prepared.params.size(), 1)) {
    CAMSHAFT_CHECK(kernel_, "kernel '", name, "' has no run-time half");
    std::copy(prepared.params.begin(), prepared.params.end(), params_.data());
    if (kernel_->loadCode)
      state_ = kernel_->loadCode(
          name, prepared.params,
          binary ? std::span<const std::byte>(*binary) : std::span<const std::byte>());
    else if (kernel_->load)
      state_ = kernel_->load(prepared.params);
  }
  void launch(const LaunchArgs& args) const {
    kernel_->launch(state_ ? state_.get() : params_.data(), args);
  }

 private:
  const RuntimeKernel* kernel_;
  AlignedBuffer params_;
  std::shared_ptr<const void> state_;
};

}  // namespace

// Made when a kernel first asks for them: some read packed weights instead of the node's own.
class Bench::Operands {
 public:
  Operands(const Node& node, const SymbolValue& opt, Device* device, const DeviceWrapper& wrap)
      : node_(node),
        opt_(opt),
        device_(device),
        wrapped_(device && wrap ? wrap(*device) : nullptr),
        memory_(wrapped_ ? wrapped_.get() : device),
        inputs_(node.inputs.size()) {
    for (const Value* output : node.outputs) {
      TensorArg& arg = outputs_.emplace_back(argFor(output->type, opt));
      arg.data = memory_.reserve(bytesOf(arg.type, arg.count()));
    }
  }

  Device* device() const { return device_; }
  Memory moreMemory() const { return Memory(memory_.device()); }
  std::span<const TensorArg> outputs() const { return outputs_; }

  TensorArg input(int index) {
    const Value* value = node_.inputs[index];
    std::optional<TensorArg>& arg = inputs_[index];
    if (!value) return {};
    if (!arg) {
      arg = argFor(value->type, opt_);
      arg->data = value->isConstant() ? memory_.upload(value->constant->bytes)
                                      : memory_.upload(randomContent(arg->type, arg->count()));
    }
    return *arg;
  }

 private:
  const Node& node_;
  const SymbolValue& opt_;
  Device* device_;
  std::unique_ptr<Device> wrapped_;  // where memory comes from, if not from the device
  Memory memory_;
  std::vector<std::optional<TensorArg>> inputs_;
  std::vector<TensorArg> outputs_;
};

Bench::Bench(const Node& node, SymbolValue opt, const DeviceWrapper& wrapDevice)
    : node_(node), opt_(std::move(opt)), wrapDevice_(wrapDevice) {}
Bench::~Bench() = default;

Bench::Operands& Bench::operandsOn(Device* device) {
  if (!operands_ || operands_->device() != device)
    operands_ = std::make_unique<Operands>(node_, opt_, device, wrapDevice_);
  return *operands_;
}

double Bench::measure(std::string_view runtimeKernel, const Prepared& prepared,
                      const std::vector<std::byte>* binary, const MeasureOptions& options) {
  const RuntimeBackend* backend = findRuntimeBackend(runtimeKernel);
  CAMSHAFT_CHECK(backend, "kernel '", runtimeKernel, "' has no run-time half");
  Device* device = backend->device ? backend->device() : nullptr;
  if (device) device->makeCurrent();
  const OwnStream stream(device);
  const LoadedKernel kernel(runtimeKernel, prepared, binary);

  Operands& operands = operandsOn(device);
  Memory own = operands.moreMemory();
  std::vector<TensorArg> inputs;
  for (const StepInput& input : prepared.inputs) {
    if (input.nodeInput >= 0) {
      inputs.push_back(operands.input(input.nodeInput));
    } else {
      inputs.push_back(argFor(input.packedType, opt_));
      inputs.back().data = own.upload(input.packed);
    }
  }
  std::vector<TensorArg> outputs(operands.outputs().begin(), operands.outputs().end());
  std::vector<int64_t> dims;
  for (const Dim& dim : prepared.dimArgs) dims.push_back(evaluate(dim, opt_));
  const int64_t workspaceBytes = evaluate(prepared.workspaceBytes, opt_);
  const LaunchArgs args{.inputs = inputs,
                        .outputs = outputs,
                        .dims = dims,
                        .workspace = workspaceBytes == 0 ? nullptr : own.reserve(workspaceBytes),
                        .workspaceBytes = workspaceBytes,
                        .threads = options.threads,
                        .stream = stream.get()};
  const auto launch = [&] { kernel.launch(args); };
  if (!device) return timeOnHost(launch, options);
  const TimingTurn turn(device->describe());
  return timeOnDevice(*device, stream.get(), launch, options);
}

}  // namespace camshaft
