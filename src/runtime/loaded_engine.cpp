#include "runtime/loaded_engine.h"

#include <algorithm>

#include "backend/device.h"
#include "runtime/overlaps.h"
#include "support/error.h"

namespace camshaft {
namespace {

// Errors then name the layer, which the loader does not know.
std::shared_ptr<const Plugin> loadPluginOf(const Step& step, const PluginLoader& loadPlugin) {
  if (!loadPlugin)
    fail(ErrorKind::kUnsupported, "layer '", step.name,
         "' is a plugin, and this program does not load plugins");
  try {
    return loadPlugin(step.params);
  } catch (const Error& error) {
    fail(error.kind(), "layer '", step.name, "': ", error.message());
  }
}

LoadedEngine::LoadedStep load(const Step& step, const Plan& plan, const PluginLoader& loadPlugin) {
  requireApart(step);
  if (step.kind != StepKind::kKernel) return {};
  const RuntimeKernel* kernel = findRuntimeKernel(step.kernel);
  if (!kernel)
    fail(ErrorKind::kInvalidEngine, "layer '", step.name, "' runs on kernel '", step.kernel,
         "', which this build of Camshaft does not have; rebuild the engine with this version");
  const RuntimeBackend& backend = *findRuntimeBackend(step.kernel);
  if (backend.device && !(plan.hasDeviceMemory && plan.device == backend.name))
    fail(ErrorKind::kInvalidEngine, "layer '", step.name, "' runs on kernel '", step.kernel,
         "', and its plan is not for that device; build the engine again");
  if (kernel->isPlugin) return {kernel, nullptr, loadPluginOf(step, loadPlugin)};
  if (kernel->loadCode) {
    const std::span<const std::byte> code =
        step.binary < 0 ? std::span<const std::byte>() : plan.binaries[step.binary];
    return {kernel, kernel->loadCode(step.kernel, step.params, code)};
  }
  if (kernel->load) return {kernel, kernel->load(step.params)};
  if (!step.params.empty())
    fail(ErrorKind::kInvalidEngine, "the engine is damaged: layer '", step.name,
         "' has parameters and its kernel '", step.kernel, "' takes none; build it again");
  return {kernel, nullptr};
}

// Finds what each step may fetch for those behind it, where the host computes: the first large
// weights that come.
void findUpcoming(const std::vector<Step>& steps, std::vector<LoadedEngine::LoadedStep>& loaded) {
  constexpr int64_t kLarge = 64 * 1024, kMostElements = int64_t{1} << 46;
  int64_t offset = 0, bytes = 0;
  for (size_t i = steps.size(); i-- > 0;) {
    loaded[i].upcomingOffset = offset;
    loaded[i].upcomingBytes = bytes;
    int64_t most = kLarge;
    for (const Operand& input : steps[i].inputs) {
      // Packed ones are a row. Engine files are not trusted, nor that it lies in their weights.
      if (input.place != Place::kWeights || input.tensor.dims.size() != 1) continue;
      const int64_t count = input.tensor.dims[0].constant;
      if (count < 0 || count > kMostElements) continue;
      const auto size = static_cast<int64_t>(bytesOf(input.tensor.type, count));
      if (size < most) continue;
      most = size;
      offset = input.offset;
      bytes = size;
    }
  }
}

// The device an engine runs on, which must be here.
Device* deviceFor(const Plan& plan) {
  if (!plan.hasDeviceMemory) return nullptr;
  const RuntimeBackend* backend = findRuntimeBackend(plan.device);
  if (!backend)
    fail(ErrorKind::kUnsupported, "the engine is for ", plan.builtFor, ", and ",
         whyBackendIsMissing(plan.device));
  if (!backend->device)
    fail(ErrorKind::kInvalidEngine, "the engine wants memory of the device '", plan.device,
         "', which has none of its own; build it again");
  return backend->device();
}

std::unordered_map<std::string_view, int> indicesOf(const std::vector<IoTensor>& tensors) {
  std::unordered_map<std::string_view, int> indices;
  for (size_t i = 0; i < tensors.size(); ++i) indices.emplace(tensors[i].name, static_cast<int>(i));
  return indices;
}

int findByName(const std::unordered_map<std::string_view, int>& indices, std::string_view name) {
  const auto it = indices.find(name);
  return it == indices.end() ? -1 : it->second;
}

}  // namespace

LoadedEngine::LoadedEngine(Plan plan, const DeviceWrapper& wrapDevice,
                           const PluginLoader& loadPlugin)
    : LoadedEngine(std::make_shared<const Plan>(std::move(plan)), wrapDevice, loadPlugin) {}

LoadedEngine::LoadedEngine(std::shared_ptr<const Plan> plan, Device* device)
    : inputIndices_(indicesOf(plan->inputs)),
      outputIndices_(indicesOf(plan->outputs)),
      plan_(std::move(plan)),
      device_(device) {}

LoadedEngine::LoadedEngine(std::shared_ptr<const Plan> plan, const DeviceWrapper& wrapDevice,
                           const PluginLoader& loadPlugin)
    : LoadedEngine(plan, deviceFor(*plan)) {
  if (device_ && wrapDevice) {
    wrapper_ = wrapDevice(*device_);
    device_ = wrapper_.get();
  }
  try {
    if (device_) device_->makeCurrent();  // for device code
    if (device_) deviceWeights_ = std::make_shared<DeviceWeights>(*plan_, *device_);
    if (device_ && !plan_->streamsWeights) deviceWeights_->load();
    loadSteps(loadPlugin);
  } catch (const Error& error) {
    const std::string here =
        device_ ? device_->describe() : runtimeBackends().front()->describeDevice();
    const bool isOfMachine = error.kind() != ErrorKind::kOutOfMemory &&
                             error.kind() != ErrorKind::kInvalidArgument;  // a missing plugin
    if (here == plan_->builtFor || !isOfMachine) throw;
    fail(error.kind(), error.message(), " (it was built for ", plan_->builtFor,
         "; this machine is ", here,
         "; rebuild it here with trtexec --onnx=MODEL --saveEngine=ENGINE)");
  }
}

LoadedEngine::LoadedEngine(std::shared_ptr<const Plan> body, const LoadedEngine& around,
                           const PluginLoader& loadPlugin)
    : LoadedEngine(body, body->hasDeviceMemory ? around.device_ : nullptr) {
  if (device_) deviceWeights_ = around.deviceWeights_;
  loadSteps(loadPlugin);
}

std::shared_ptr<const LoadedEngine> LoadedEngine::forInspection(Plan plan) {
  Device* const none = nullptr;
  return std::shared_ptr<const LoadedEngine>(
      new LoadedEngine(std::make_shared<const Plan>(std::move(plan)), none));
}

void LoadedEngine::loadSteps(const PluginLoader& loadPlugin) {
  for (const ProfilePlan& profile : plan_->profiles) {
    std::vector<LoadedStep>& steps = steps_.emplace_back();
    for (const Step& step : profile.steps) steps.push_back(load(step, *plan_, loadPlugin));
    if (!device_) findUpcoming(profile.steps, steps);
  }
  for (const std::shared_ptr<Plan>& body : plan_->bodies)
    bodies_.push_back(std::make_shared<const LoadedEngine>(body, *this, loadPlugin));
}

std::set<size_t> LoadedEngine::pluginSteps(int profile) const {
  std::set<size_t> plugins;
  for (size_t i = 0; i < steps_[profile].size(); ++i)
    if (steps_[profile][i].plugin) plugins.insert(i);
  return plugins;
}

std::span<const std::byte> LoadedEngine::upcoming(const LoadedStep& step) const {
  const std::span<const std::byte> weights = plan_->weights;
  const auto size = static_cast<int64_t>(weights.size());
  if (step.upcomingOffset < 0 || step.upcomingBytes > size - step.upcomingOffset) return {};
  return weights.subspan(step.upcomingOffset, step.upcomingBytes);
}

LoadedEngine::~LoadedEngine() {
  if (device_) device_->makeCurrent();  // for what gives memory back
}

void LoadedEngine::replaceWeights(std::span<const std::byte> weights,
                                  std::vector<SourceWeights> sources,
                                  std::optional<void*> stream) const {
  RefitRecord& record = *plan_->refit;
  CAMSHAFT_CHECK(weights.size() == record.weights.size(), "a refit made other weights");
  std::ranges::copy(weights, record.weights.begin());
  record.sources = std::move(sources);
  record.isStripped = false;
  if (deviceWeights_) deviceWeights_->refresh(stream);
}

int LoadedEngine::findInput(std::string_view name) const { return findByName(inputIndices_, name); }
int LoadedEngine::findOutput(std::string_view name) const {
  return findByName(outputIndices_, name);
}

}  // namespace camshaft
