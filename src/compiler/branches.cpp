#include "compiler/branches.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/phase.h"
#include "runtime/context.h"

namespace camshaft {
namespace {

constexpr int kRounds = 5, kRunsPerRound = 10, kWarmUps = 3;  // recorded at the second run
constexpr double kWorthwhile = 0.99;                          // of the time one after the other

bool runsByItself(const Plan& plan, const ProfilePlan& profile) {
  const bool readsValues = std::any_of(plan.inputs.begin(), plan.inputs.end(),
                                       [](const IoTensor& input) { return input.isShapeTensor; });
  return !readsValues && profile.dynamicBuffers.empty() &&
         std::none_of(profile.steps.begin(), profile.steps.end(),
                      [&](const Step& step) { return isHostStep(plan, step) || runsBodies(step); });
}

int64_t bytesOf(const TensorDesc& tensor, std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return static_cast<int64_t>(camshaft::bytesOf(tensor.type, count));
}

// A context whose inputs and outputs are there; inputs hold zeros, valid as whatever they mean.
class TimedEngine {
 public:
  TimedEngine(std::shared_ptr<const LoadedEngine> engine, int profile)
      : device_(*engine->device()), context_(std::move(engine), 1) {
    context_.setProfile(profile);
    const Plan& plan = context_.engine().plan();
    for (size_t i = 0; i < plan.inputs.size(); ++i) {
      const std::vector<int64_t>& dims = plan.profiles[profile].inputs[i].opt;
      context_.setInputShape(static_cast<int>(i), dims);
      context_.setInputAddress(static_cast<int>(i), zeros(bytesOf(plan.inputs[i].tensor, dims)));
    }
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      const std::vector<int64_t> dims = context_.outputShape(static_cast<int>(i));
      context_.setOutputAddress(static_cast<int>(i), memory(bytesOf(plan.outputs[i].tensor, dims)));
    }
    stream_ = std::shared_ptr<void>(device_.createStream(),
                                    [this](void* stream) { device_.destroyStream(stream); });
  }

  bool hasBranches() { return context_.hasBranches(); }
  double milliseconds(bool sideBySide) {
    context_.setBranches(sideBySide);
    for (int i = 0; i < kWarmUps; ++i) context_.run(stream_.get());
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      const std::shared_ptr<void> begin = device_.mark(stream_.get());
      for (int i = 0; i < kRunsPerRound; ++i) context_.run(stream_.get());
      const std::shared_ptr<void> end = device_.mark(stream_.get());
      device_.synchronize(stream_.get());
      best = std::min(best, device_.millisecondsBetween(begin.get(), end.get()) / kRunsPerRound);
    }
    return best;
  }

 private:
  std::byte* memory(int64_t bytes) {
    DeviceBuffer& buffer = buffers_.emplace_back(&device_);
    buffer.reserve(std::max<int64_t>(bytes, 1));
    return buffer.data();
  }
  std::byte* zeros(int64_t bytes) {
    std::byte* data = memory(bytes);
    const std::vector<std::byte> host(static_cast<size_t>(bytes));
    upload(device_, data, host.data(), bytes);
    return data;
  }

  Device& device_;
  std::vector<DeviceBuffer> buffers_;
  std::shared_ptr<void> stream_;
  Context context_;
};

}  // namespace

void chooseBranches(Plan& plan, const CompileOptions& options, std::string_view parent) {
  if (!plan.hasDeviceMemory) return;
  Phase phase(options.progress, "Timing branches side by side", parent,
              static_cast<int>(plan.profiles.size()));
  std::shared_ptr<const LoadedEngine> engine;
  for (size_t i = 0; i < plan.profiles.size(); ++i) {
    phase.completePart(static_cast<int>(i), static_cast<int>(plan.profiles.size()));
    if (!runsByItself(plan, plan.profiles[i])) continue;
    if (!engine)
      engine = std::make_shared<const LoadedEngine>(plan, options.wrapDevice, options.loadPlugin);
    TimedEngine trial(engine, static_cast<int>(i));
    if (!trial.hasBranches()) continue;
    const double chain = trial.milliseconds(false), branches = trial.milliseconds(true);
    plan.profiles[i].runsBranches = branches < kWorthwhile * chain;
    options.log.verbose("branches of profile ", i, ": ", chain, " ms one after the other, ",
                        branches, " ms side by side");
  }
  phase.completeAll();
}

}  // namespace camshaft
