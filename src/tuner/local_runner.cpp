#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "support/error.h"
#include "support/hash.h"
#include "tuner/timing.h"
#include "tuner/timing_turn.h"
#include "tuner/trial.h"

namespace camshaft {
namespace {

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

// A device takes the block and doubles what it has: tensors of many images are large, and come
// slowly from the host.
void fill(Device* device, std::byte* memory, const Filling& filling) {
  if (filling.bytes == 0) return;
  const OwnStream stream(device);
  const auto copy = [&](std::byte* to, const std::byte* from, int64_t bytes) {
    if (device)
      device->copy(to, from, bytes, stream.get());
    else
      std::copy_n(from, bytes, to);
  };
  int64_t filled = std::min(std::ssize(filling.block), filling.bytes);
  copy(memory, filling.block.data(), filled);
  while (filled < filling.bytes) {
    const int64_t more = std::min(filled, filling.bytes - filled);
    copy(memory + filled, memory, more);
    filled += more;
  }
  if (device) device->synchronize(stream.get());
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
    std::byte* memory = reserve(static_cast<int64_t>(bytes.size()));
    if (device_)
      camshaft::upload(*device_, memory, bytes.data(), static_cast<int64_t>(bytes.size()));
    else
      std::copy(bytes.begin(), bytes.end(), memory);
    return memory;
  }
  std::byte* filledWith(const Filling& filling) {
    std::byte* memory = reserve(filling.bytes);
    fill(device_, memory, filling);
    return memory;
  }

  Device* device() const { return device_; }

 private:
  Device* device_;
  std::vector<DeviceBuffer> buffers_;
};

// A runtime kernel with its state.
class LoadedKernel {
 public:
  LoadedKernel(const Trial& trial, const PluginLoader& loadPlugin)
      : kernel_(findRuntimeKernel(trial.kernel)),
        params_(std::max<size_t>(trial.params.size(), 1)) {
    CAMSHAFT_CHECK(kernel_, "kernel '", trial.kernel, "' has no run-time half");
    std::copy(trial.params.begin(), trial.params.end(), params_.data());
    if (kernel_->isPlugin) {
      if (!loadPlugin) fail(ErrorKind::kUnsupported, "this build does not load plugins");
      plugin_ = loadPlugin(trial.params)->attach();
    } else if (kernel_->loadCode)
      state_ = kernel_->loadCode(trial.kernel, trial.params, trial.binary);
    else if (kernel_->load)
      state_ = kernel_->load(trial.params);
  }

  // Sizes that only a run decides are guessed here, and need not fit each other.
  void requireFit(const LaunchArgs& args) const {
    if (kernel_->fits && !kernel_->fits(state(), args))
      fail(ErrorKind::kInvalidArgument, "its operands do not fit one another at the sizes to time");
  }
  void launch(const LaunchArgs& args, Device* device) const {
    if (plugin_)
      launchPlugin(*plugin_, args, device);
    else
      kernel_->launch(state(), args);
  }

 private:
  const void* state() const { return state_ ? state_.get() : params_.data(); }

  const RuntimeKernel* kernel_;
  AlignedBuffer params_;
  std::shared_ptr<const void> state_;
  std::unique_ptr<AttachedPlugin> plugin_;
};

// Operands in memory. An input is made when a kernel first asks for it: some read packed weights
// instead of the node's own.
class Stage {
 public:
  Stage(const TrialOperands& operands, Device* device, const DeviceWrapper& wrap)
      : operands_(operands),
        device_(device),
        wrapped_(device && wrap ? wrap(*device) : nullptr),
        memory_(wrapped_ ? wrapped_.get() : device),
        inputs_(operands.inputs.size()) {
    for (TensorArg output : operands.outputs) {
      output.data = memory_.reserve(static_cast<int64_t>(bytesOf(output.type, output.count())));
      outputs_.push_back(output);
    }
  }

  Device* device() const { return device_; }
  Memory moreMemory() const { return Memory(memory_.device()); }
  const std::vector<TensorArg>& outputs() const { return outputs_; }

  TensorArg input(int index) {
    const TrialInput& input = operands_.inputs[index];
    if (!input.isPresent) return {};
    std::optional<TensorArg>& known = inputs_[index];
    if (!known) {
      TensorArg arg = input.tensor;  // known once it is there: an upload may fail
      arg.data =
          input.bytes.empty() ? memory_.filledWith(fillingOf(input)) : memory_.upload(input.bytes);
      known = arg;
    }
    return *known;
  }

  // Bytes in the place of a kernel's packed input `number` that is not packed yet. Kernels that
  // compete have the same ones: it takes longer to bring weights here than to multiply by them.
  std::byte* fillingFor(size_t number, const TensorArg& packed) {
    while (fillings_.size() <= number) fillings_.emplace_back(memory_.device());
    DeviceBuffer& filling = fillings_[number];
    const auto bytes = static_cast<int64_t>(bytesOf(packed.type, packed.count()));
    if (filling.size() < std::max<int64_t>(bytes, 1)) {
      filling.reserve(std::max<int64_t>(bytes, 1));
      fill(memory_.device(), filling.data(), anyBytes(packed));
    }
    return filling.data();
  }

 private:
  const TrialOperands& operands_;
  Device* device_;
  std::unique_ptr<Device> wrapped_;  // where memory comes from, if not from the device
  Memory memory_;
  std::vector<std::optional<TensorArg>> inputs_;
  std::vector<TensorArg> outputs_;
  std::vector<DeviceBuffer> fillings_;
};

// A trial that is ready to be launched.
class Attempt {
 public:
  Attempt(const Trial& trial, const LoadedKernel& kernel, Stage& stage, ThreadPool* threads)
      : device_(stage.device()), stream_(device_), kernel_(kernel), own_(stage.moreMemory()) {
    for (const TrialStepInput& input : trial.inputs) {
      inputs_.push_back(input.nodeInput >= 0 ? stage.input(input.nodeInput) : input.packed);
      if (input.nodeInput < 0)
        inputs_.back().data = input.bytes.empty()
                                  ? stage.fillingFor(inputs_.size() - 1, input.packed)
                                  : own_.upload(input.bytes);
    }
    args_ = {.inputs = inputs_,
             .outputs = stage.outputs(),
             .dims = trial.dims,
             .workspace = trial.workspaceBytes == 0 ? nullptr : own_.reserve(trial.workspaceBytes),
             .workspaceBytes = trial.workspaceBytes,
             .threads = threads,
             .stream = stream_.get()};
    kernel_.requireFit(args_);
  }

  void launch() {
    for (const auto& [input, first, distance, count] : copies_)
      inputs_[input].data = first + launches_ % count * distance;
    ++launches_;
    kernel_.launch(args_, device_);
  }
  void* stream() const { return stream_.get(); }

  // What is read once and is most of what is read, as weights are by few rows, comes from memory in
  // a network, and here from copies in turn: the caches of a device would hold one.
  void spreadWeights() {
    constexpr int64_t kLeast = 8 << 20, kMostElse = 8, kBeyondCaches = 192 << 20, kAligned = 256;
    int64_t all = 0;
    for (const TensorArg& input : inputs_) all += bytesOf(input);
    for (const TensorArg& output : args_.outputs) all += bytesOf(output);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int64_t bytes = bytesOf(inputs_[i]), distance = (bytes / kAligned + 1) * kAligned;
      const int64_t count = kBeyondCaches / distance + 1;
      if (bytes < kLeast || bytes < kMostElse * (all - bytes) || count < 2) continue;
      if (device_->freeBytes() < 2 * count * distance) continue;
      std::byte* first = own_.reserve(count * distance);
      for (int64_t copy = 0; copy < count; ++copy)
        device_->copy(first + copy * distance, inputs_[i].data, bytes, stream_.get());
      copies_.push_back({i, first, distance, count});
    }
  }

 private:
  struct Copies {
    size_t input;
    std::byte* first;
    int64_t distance, count;
  };
  static int64_t bytesOf(const TensorArg& tensor) {
    return tensor.data ? static_cast<int64_t>(camshaft::bytesOf(tensor.type, tensor.count())) : 0;
  }

  Device* device_;
  OwnStream stream_;
  const LoadedKernel& kernel_;
  Memory own_;
  std::vector<TensorArg> inputs_;
  LaunchArgs args_;
  std::vector<Copies> copies_;
  int64_t launches_ = 0;
};

void poison(const TensorArg& tensor, Device* device) {
  constexpr int64_t kBlock = 1 << 16;
  fill(device, tensor.as<std::byte>(),
       {.block = std::vector<std::byte>(kBlock, std::byte{0xFF}),
        .bytes = static_cast<int64_t>(bytesOf(tensor.type, tensor.count()))});
}

std::vector<std::byte> sampled(const TensorArg& tensor, Device* device, void* stream) {
  std::vector<std::byte> bytes;
  for (const auto& [offset, size] :
       samplesOf(static_cast<int64_t>(bytesOf(tensor.type, tensor.count())))) {
    if (size == 0) continue;
    const size_t at = bytes.size();
    bytes.resize(at + static_cast<size_t>(size));
    const std::byte* from = tensor.as<std::byte>() + offset;
    if (device)
      device->copy(bytes.data() + at, from, size, stream), device->synchronize(stream);
    else
      std::memcpy(bytes.data() + at, from, static_cast<size_t>(size));
  }
  return bytes;
}

class LocalRunner : public TrialRunner {
 public:
  LocalRunner(ThreadPool* threads, DeviceWrapper wrap, TakeTurn takeTurn, PluginLoader loadPlugin)
      : threads_(threads),
        wrap_(std::move(wrap)),
        takeTurn_(std::move(takeTurn)),
        loadPlugin_(std::move(loadPlugin)) {}

  void setOperands(TrialOperands operands) override {
    stage_.reset();
    loaded_.clear();
    operands_ = std::move(operands);
  }

  double measure(const Trial& trial, const MeasureOptions& options) override {
    Device* device = enter(trial);
    Attempt attempt(trial, loaded(trial), stageOn(device), threads_);
    const auto launch = [&] { attempt.launch(); };
    if (!device) return timeOnHost(launch, options);
    attempt.spreadWeights();
    const std::shared_ptr<const void> turn =
        takeTurn_ ? takeTurn_(*device) : std::make_shared<const TimingTurn>(device->describe());
    return timeOnDevice(*device, attempt.stream(), launch, options);
  }

  TrialResults run(const Trial& trial) override {
    Device* device = enter(trial);
    Stage& stage = stageOn(device);
    Attempt attempt(trial, loaded(trial), stage, threads_);
    const std::shared_ptr<const void> turn = device && takeTurn_ ? takeTurn_(*device) : nullptr;
    for (const TensorArg& output : stage.outputs()) poison(output, device);
    attempt.launch();
    if (device) device->synchronize(attempt.stream());
    TrialResults results;
    for (const TensorArg& output : stage.outputs())
      results.push_back(sampled(output, device, attempt.stream()));
    return results;
  }

  bool isUsable() override {
    if (!device_) return true;
    try {
      device_->synchronize(OwnStream(device_).get());
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void loadAhead(const Trial& trial) override {
    enter(trial);
    ahead_.emplace(keyOf(trial), std::make_shared<const LoadedKernel>(trial, loadPlugin_));
  }

 private:
  using Loaded = std::shared_ptr<const LoadedKernel>;
  using Key = std::pair<uint64_t, uint64_t>;  // hashes of parameters and code

  static Key keyOf(const Trial& trial) {
    return {hashBytes(trial.params),
            hashBytes(trial.binary) ^ hashBytes(std::as_bytes(std::span(trial.kernel)))};
  }

  // Kernels stay loaded while they compete: they are run several times, in turns.
  const LoadedKernel& loaded(const Trial& trial) {
    Loaded& known = loaded_[keyOf(trial)];
    if (const auto ahead = ahead_.find(keyOf(trial)); !known && ahead != ahead_.end())
      known = ahead->second;
    if (!known) known = std::make_shared<const LoadedKernel>(trial, loadPlugin_);
    return *known;
  }

  // The device that the kernel runs on, made the thread's own; null: the host.
  Device* enter(const Trial& trial) {
    const RuntimeBackend* backend = findRuntimeBackend(trial.kernel);
    CAMSHAFT_CHECK(backend, "kernel '", trial.kernel, "' has no run-time half");
    Device* device = backend->device ? backend->device() : nullptr;
    if (device) device->makeCurrent();
    if (device) device_ = device;
    return device;
  }

  Stage& stageOn(Device* device) {
    if (!stage_ || stage_->device() != device)
      stage_ = std::make_unique<Stage>(operands_, device, wrap_);
    return *stage_;
  }

  ThreadPool* threads_;
  DeviceWrapper wrap_;
  TakeTurn takeTurn_;
  PluginLoader loadPlugin_;
  TrialOperands operands_;
  std::map<Key, Loaded> loaded_, ahead_;
  std::unique_ptr<Stage> stage_;
  Device* device_ = nullptr;  // the last that was used
};

}  // namespace

std::vector<SampledBlock> samplesOf(int64_t bytes) {
  constexpr int64_t kBlocks = 256, kBlockBytes = kMostCompared / kBlocks, kAlignment = 64;
  if (bytes <= kMostCompared) return {{0, bytes}};
  std::vector<SampledBlock> blocks;
  for (int64_t i = 0; i < kBlocks; ++i) {
    const int64_t even = (bytes - kBlockBytes) / (kBlocks - 1) * i / kAlignment * kAlignment;
    blocks.push_back({i == kBlocks - 1 ? bytes - kBlockBytes : even, kBlockBytes});
  }
  return blocks;
}

std::unique_ptr<TrialRunner> makeLocalRunner(ThreadPool* threads, DeviceWrapper wrapDevice,
                                             TakeTurn takeTurn, PluginLoader loadPlugin) {
  return std::make_unique<LocalRunner>(threads, std::move(wrapDevice), std::move(takeTurn),
                                       std::move(loadPlugin));
}

}  // namespace camshaft
