#include "tuner/measure.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "backend/device.h"
#include "support/error.h"
#include "support/half.h"
#include "support/stopwatch.h"

namespace camshaft {
namespace {

// The operands of one kernel, in memory of its device.
class Bench {
 public:
  Bench(const MeasureOptions& options, Device* device) : options_(options), device_(device) {}

  TensorArg scratch(const TensorType& type) {
    TensorArg arg = argFor(type);
    const std::vector<std::byte> content = randomContent(arg.type, arg.count());
    arg.data = upload(content);
    return arg;
  }

  TensorArg fixed(const TensorType& type, std::span<const std::byte> bytes) {
    TensorArg arg = argFor(type);
    arg.data = upload(bytes);
    return arg;
  }

  std::byte* workspace(int64_t bytes) { return bytes == 0 ? nullptr : reserve(bytes); }

 private:
  TensorArg argFor(const TensorType& type) {
    TensorArg arg{.type = type.type, .rank = static_cast<int32_t>(type.rank())};
    for (int i = 0; i < arg.rank; ++i) arg.dims[i] = evaluate(type.shape[i], options_.opt);
    return arg;
  }

  std::byte* reserve(int64_t bytes) {
    buffers_.emplace_back(device_).reserve(std::max<int64_t>(bytes, 1));
    return buffers_.back().data();
  }

  std::byte* upload(std::span<const std::byte> bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    std::byte* memory = reserve(size);
    if (device_ && size > 0) {
      device_->copy(memory, bytes.data(), size, nullptr);
      device_->synchronize(nullptr);
    } else {
      std::copy(bytes.begin(), bytes.end(), memory);
    }
    return memory;
  }

  // Random numbers where their values could matter for the time; large tensors repeat a block.
  static std::vector<std::byte> randomContent(DataType type, int64_t count) {
    std::vector<std::byte> bytes(bytesOf(type, count));
    const std::span<const std::byte> block = randomBlock(type);
    if (block.empty()) return bytes;
    for (size_t at = 0; at < bytes.size(); at += block.size())
      std::memcpy(bytes.data() + at, block.data(), std::min(block.size(), bytes.size() - at));
    return bytes;
  }

  static std::span<const std::byte> randomBlock(DataType type) {
    static const std::vector<float> kF32 = randomNumbers<float>();
    static const std::vector<Half> kF16 = randomNumbers<Half>();
    static const std::vector<BFloat16> kBF16 = randomNumbers<BFloat16>();
    if (type == DataType::kF32) return std::as_bytes(std::span(kF32));
    if (type == DataType::kF16) return std::as_bytes(std::span(kF16));
    if (type == DataType::kBF16) return std::as_bytes(std::span(kBF16));
    return {};
  }

  template <class T>
  static std::vector<T> randomNumbers() {
    std::minstd_rand random;
    std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
    std::vector<T> numbers(1 << 18);
    for (T& number : numbers) number = T(uniform(random));
    return numbers;
  }

  const MeasureOptions& options_;
  Device* device_;
  std::vector<DeviceBuffer> buffers_;
};

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
  const std::unique_ptr<Recording> recording = device.record(stream, [&] {
    for (int i = 0; i < launches; ++i) launch();
  });
  const auto replay = [&] { recording->replay(stream); };
  replay();
  std::vector<double> times;
  double total = 0;
  const auto minRuns = static_cast<size_t>(options.minRuns);
  while (times.size() < minRuns || (total < options.minMilliseconds && times.size() < 50)) {
    const double milliseconds = between(device, stream, replay);
    times.push_back(milliseconds / launches);
    total += milliseconds;
  }
  return median(std::move(times));
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

}  // namespace

double measure(const Node& node, std::string_view runtimeKernel, const Prepared& prepared,
               const std::vector<std::byte>* binary, const MeasureOptions& options) {
  const RuntimeKernel* kernel = findRuntimeKernel(runtimeKernel);
  const RuntimeBackend* backend = findRuntimeBackend(runtimeKernel);
  CAMSHAFT_CHECK(kernel, "kernel '", runtimeKernel, "' has no run-time half");
  Device* device = backend->device ? backend->device() : nullptr;
  if (device) device->makeCurrent();
  const OwnStream stream(device);

  std::shared_ptr<const void> state;
  AlignedBuffer params(std::max<size_t>(prepared.params.size(), 1));
  std::copy(prepared.params.begin(), prepared.params.end(), params.data());
  const void* statePointer = params.data();
  if (kernel->loadCode) {
    state = kernel->loadCode(
        runtimeKernel, prepared.params,
        binary ? std::span<const std::byte>(*binary) : std::span<const std::byte>());
    statePointer = state.get();
  } else if (kernel->load) {
    state = kernel->load(prepared.params);
    statePointer = state.get();
  }

  Bench bench(options, device);
  std::vector<TensorArg> inputs, outputs;
  for (const StepInput& input : prepared.inputs) {
    const Value* value = input.nodeInput < 0 ? nullptr : node.inputs[input.nodeInput];
    if (input.nodeInput < 0)
      inputs.push_back(bench.fixed(input.packedType, input.packed));
    else if (!value)
      inputs.emplace_back();
    else
      inputs.push_back(value->isConstant() ? bench.fixed(value->type, value->constant->bytes)
                                           : bench.scratch(value->type));
  }
  for (const Value* output : node.outputs) outputs.push_back(bench.scratch(output->type));
  std::vector<int64_t> dims;
  for (const Dim& dim : prepared.dimArgs) dims.push_back(evaluate(dim, options.opt));
  const int64_t workspaceBytes = evaluate(prepared.workspaceBytes, options.opt);
  const LaunchArgs args{.inputs = inputs,
                        .outputs = outputs,
                        .dims = dims,
                        .workspace = bench.workspace(workspaceBytes),
                        .workspaceBytes = workspaceBytes,
                        .threads = options.threads,
                        .stream = stream.get()};
  const auto launch = [&] { kernel->launch(statePointer, args); };
  return device ? timeOnDevice(*device, stream.get(), launch, options)
                : timeOnHost(launch, options);
}

}  // namespace camshaft
