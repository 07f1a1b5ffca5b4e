// An engine ready to run: a plan with its kernels found and loaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/device.h"
#include "plan/plan.h"
#include "runtime/device_weights.h"

namespace camshaft {

// Shared by any number of contexts and threads. Nothing of it changes but the weights, by a refit,
// for which callers see to it that nothing runs.
class LoadedEngine {
 public:
  struct LoadedStep {
    const RuntimeKernel* kernel = nullptr;  // null for bind steps
    std::shared_ptr<const void> state;
    std::shared_ptr<const Plugin> plugin = nullptr;  // where the kernel is one
    // The next large weights that a step behind it reads, in the engine's.
    int64_t upcomingOffset = 0, upcomingBytes = 0;
  };

  // Throws Error(kInvalidEngine) when a kernel the plan names is not here. Without a loader an
  // engine cannot have plugins.
  explicit LoadedEngine(Plan plan, const DeviceWrapper& wrapDevice = nullptr,
                        const PluginLoader& loadPlugin = nullptr);
  explicit LoadedEngine(std::shared_ptr<const Plan> plan, const DeviceWrapper& wrapDevice = nullptr,
                        const PluginLoader& loadPlugin = nullptr);
  // A body of `around`, whose device and weights it shares; it must not outlive that.
  LoadedEngine(std::shared_ptr<const Plan> body, const LoadedEngine& around,
               const PluginLoader& loadPlugin);

  // To be asked what it is made of: neither its kernels nor its device need to be here.
  static std::shared_ptr<const LoadedEngine> forInspection(Plan plan);

  ~LoadedEngine();
  LoadedEngine(const LoadedEngine&) = delete;
  LoadedEngine& operator=(const LoadedEngine&) = delete;

  bool canRun() const { return !steps_.empty(); }
  const Plan& plan() const { return *plan_; }
  Device* device() const { return device_; }  // null: everything is in host memory
  DeviceWeights* deviceWeights() const { return deviceWeights_.get(); }  // null: on the host
  // What a refit made, for all contexts: bytes and addresses that these have stay where they are.
  // With a stream the device gets them by work that is queued there.
  void replaceWeights(std::span<const std::byte> weights, std::vector<SourceWeights> sources,
                      std::optional<void*> stream = std::nullopt) const;
  const std::vector<LoadedStep>& steps(int profile) const { return steps_[profile]; }
  std::set<size_t> pluginSteps(int profile) const;
  std::span<const std::byte> upcoming(const LoadedStep& step) const;  // LaunchArgs::upcoming
  // Plan::bodies, ready to run.
  const std::vector<std::shared_ptr<const LoadedEngine>>& bodies() const { return bodies_; }
  int findInput(std::string_view name) const;   // -1: none
  int findOutput(std::string_view name) const;  // -1: none

 private:
  explicit LoadedEngine(std::shared_ptr<const Plan> plan, Device* device);
  void loadSteps(const PluginLoader& loadPlugin);

  using Indices = std::unordered_map<std::string_view, int>;  // by name, of the plan's tensors
  Indices inputIndices_, outputIndices_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Device> wrapper_;  // device_, when it was wrapped
  Device* device_ = nullptr;
  std::shared_ptr<DeviceWeights> deviceWeights_;  // those around a body are its own
  std::vector<std::vector<LoadedStep>> steps_;
  std::vector<std::shared_ptr<const LoadedEngine>> bodies_;
};

}  // namespace camshaft
