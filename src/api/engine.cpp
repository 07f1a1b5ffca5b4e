#include "api/engine.h"

#include <algorithm>

#include "api/context.h"
#include "api/convert.h"
#include "api/engine_config.h"
#include "api/formats.h"
#include "api/inspector.h"
#include "engine/engine_file.h"
#include "support/guest_threads.h"
#include "support/utf8.h"

namespace camshaft::api {

using namespace nvinfer1;

IoRef findIo(const Plan& plan, const char* name) {
  if (!name) return {};
  const auto find = [&](auto&& isNamed) -> IoRef {
    for (const auto* tensors : {&plan.inputs, &plan.outputs})
      for (size_t i = 0; i < tensors->size(); ++i)
        if (isNamed((*tensors)[i].name))
          return {&(*tensors)[i], static_cast<int>(i), tensors == &plan.inputs};
    return {};
  };
  const IoRef io = find([&](const std::string& own) { return own == name; });
  // Python knows a name that is no text by what is shown of it.
  return io ? io : find([&](const std::string& own) { return shown(own) == name; });
}

IoRef requireIo(const Plan& plan, const char* name) {
  const IoRef io = findIo(plan, name);
  if (io) return io;
  std::vector<std::string_view> names;
  for (const auto* tensors : {&plan.inputs, &plan.outputs})
    for (const IoTensor& tensor : *tensors) names.push_back(tensor.name);
  const std::string suggestion = name ? nearest(name, names) : "";
  fail(ErrorKind::kInvalidArgument, "'", name ? name : "(null)",
       "' is no input or output of the engine",
       suggestion.empty() ? str("; it has ", join(names, ", "))
                          : str("; did you mean '", suggestion, "'?"));
}

static const std::vector<int64_t>& partOf(const InputRange& range, OptProfileSelector select) {
  return select == OptProfileSelector::kMIN   ? range.min
         : select == OptProfileSelector::kOPT ? range.opt
                                              : range.max;
}

std::unique_ptr<ThreadPool> ThreadSettings::make() const {
  if (!pool) return std::make_unique<ThreadPool>(most);
  const auto schedule = [pool = pool](IThreadPool::Task task, void* argument) {
    return pool->schedule(task, argument);
  };
  return std::make_unique<ThreadPool>(most, std::make_shared<GuestThreads>(most - 1, schedule));
}

Engine::Engine(std::shared_ptr<const LoadedEngine> loaded, const Reporter& reporter,
               ThreadSettings threads)
    : loaded_(std::move(loaded)), reporter_(reporter), threads_(threads) {
  if (loaded_->device()) device_ = std::make_unique<DeviceAccess>(*loaded_->device(), reporter_);
  for (const auto* tensors : {&plan().inputs, &plan().outputs})
    for (const IoTensor& tensor : *tensors) formatTexts_[tensor.name] = formatText(tensor);
}

int32_t Engine::getNbLayers() const noexcept {
  return static_cast<int32_t>(plan().profiles[0].steps.size());
}

IHostMemory* Engine::serialize() const noexcept {
  return guarded<IHostMemory*>(
      reporter_, nullptr, [&] { return makeHostMemory(writeEngine(plan())); },
      OutOfMemory{"out of memory while serialising the engine"});
}

IExecutionContext* Engine::createExecutionContext(
    ExecutionContextAllocationStrategy strategy) noexcept {
  return guarded<IExecutionContext*>(
      reporter_, nullptr,
      [&]() -> IExecutionContext* {
        requireKnown(strategy, "allocation strategy");
        if (!loaded_->canRun())
          fail(ErrorKind::kInvalidArgument,
               "the engine was loaded to be inspected, and has no contexts; load it with "
               "setInspectionOnly(false), on a machine that it was built for, to run it");
        using Strategy = ExecutionContextAllocationStrategy;
        const auto owner = strategy == Strategy::kUSER_MANAGED ? Context::ArenaOwner::kCaller
                           : strategy == Strategy::kON_PROFILE_CHANGE
                               ? Context::ArenaOwner::kPerProfile
                               : Context::ArenaOwner::kContext;
        return new ExecutionContext(
            *this, std::make_shared<Context>(loaded_, threads_.make(), owner), strategy, reporter_);
      },
      OutOfMemory{"out of memory while creating an execution context"});
}

IExecutionContext* Engine::createExecutionContextWithoutDeviceMemory() noexcept {
  return createExecutionContext(ExecutionContextAllocationStrategy::kUSER_MANAGED);
}

IExecutionContext* Engine::createExecutionContextWithRuntimeConfig(
    IRuntimeConfig* config) noexcept {
  return guarded<IExecutionContext*>(reporter_, nullptr, [&] {
    if (!config)
      fail(ErrorKind::kInvalidArgument, "createExecutionContext was given no runtime config");
    return createExecutionContext(config->getExecutionContextAllocationStrategy());
  });
}

IRuntimeConfig* Engine::createRuntimeConfig() noexcept {
  return guarded<IRuntimeConfig*>(reporter_, nullptr, [&] { return new RuntimeConfig(reporter_); });
}

ISerializationConfig* Engine::createSerializationConfig() noexcept {
  return guarded<ISerializationConfig*>(reporter_, nullptr,
                                        [&] { return new SerializationConfig(reporter_); });
}

IHostMemory* Engine::serializeWithConfig(ISerializationConfig& config) const noexcept {
  return guarded<IHostMemory*>(
      reporter_, nullptr,
      [&] {
        const bool isExcluded = config.getFlag(SerializationFlag::kEXCLUDE_WEIGHTS);
        if (isExcluded && !isRefittable())
          fail(ErrorKind::kInvalidArgument,
               "the engine cannot be refitted, so it cannot be serialised without its weights; "
               "clear kEXCLUDE_WEIGHTS");
        // What has no weights is of use only as long as it can be given some.
        const bool staysRefittable =
            isExcluded || lacksWeights(plan()) || config.getFlag(SerializationFlag::kINCLUDE_REFIT);
        return makeHostMemory(
            writeEngine(plan(), {.weights = !isExcluded, .refit = staysRefittable}));
      },
      OutOfMemory{"out of memory while serialising the engine"});
}

IRefitter* Engine::createRefitter(ILogger& logger) noexcept {
  return static_cast<IRefitter*>(
      createInferRefitter_INTERNAL(getPImpl(), &logger, NV_TENSORRT_VERSION));
}

const char* Engine::getAliasedInputTensor(const char* name) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&]() -> const char* {
    const int32_t input = requireIo(plan(), name).tensor->aliasedInput;
    return input < 0 ? nullptr : plan().inputs[static_cast<size_t>(input)].name.c_str();
  });
}

int64_t Engine::getEngineStat(EngineStat stat) const noexcept {
  return guarded(reporter_, int64_t{-1}, [&] {
    requireKnown(stat, "statistic of an engine");
    if (stat == EngineStat::kTOTAL_WEIGHTS_SIZE) return static_cast<int64_t>(plan().weights.size());
    return lacksWeights(plan()) ? static_cast<int64_t>(plan().weights.size()) : int64_t{0};
  });
}

IEngineInspector* Engine::createEngineInspector() const noexcept {
  return guarded<IEngineInspector*>(
      reporter_, nullptr, [&] { return new EngineInspector(loaded_, reporter_); },
      OutOfMemory{"out of memory while creating an inspector"});
}

ProfilingVerbosity Engine::getProfilingVerbosity() const noexcept {
  return static_cast<ProfilingVerbosity>(plan().profilingVerbosity);
}

bool Engine::isDebugTensor(const char* name) const noexcept {
  return guarded(reporter_, false, [&] {
    const std::vector<std::string> marked = debugTensorsOf(plan());
    return name && std::find(marked.begin(), marked.end(), name) != marked.end();
  });
}

int32_t Engine::getNbIOTensors() const noexcept {
  return static_cast<int32_t>(plan().inputs.size() + plan().outputs.size());
}

const char* Engine::getIOTensorName(int32_t index) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    const auto inputs = static_cast<int32_t>(plan().inputs.size());
    if (index < 0 || index >= getNbIOTensors())
      fail(ErrorKind::kInvalidArgument, "there is no I/O tensor ", index, "; the engine has ",
           getNbIOTensors());
    return (index < inputs ? plan().inputs[index] : plan().outputs[index - inputs]).name.c_str();
  });
}

TensorIOMode Engine::getTensorIOMode(const char* name) const noexcept {
  const IoRef io = guarded(reporter_, IoRef{}, [&] { return findIo(plan(), name); });
  return !io ? TensorIOMode::kNONE : io.isInput ? TensorIOMode::kINPUT : TensorIOMode::kOUTPUT;
}

nvinfer1::Dims Engine::getTensorShape(const char* name) const noexcept {
  return guarded(reporter_, invalidDims(), [&] {
    const IoTensor& tensor = *requireIo(plan(), name).tensor;
    std::vector<int64_t> dims;
    for (const DimRef& dim : tensor.tensor.dims)
      dims.push_back(dim.isConstant() ? dim.constant : -1);
    return toPublic(logicalDims(tensor, dims));
  });
}

nvinfer1::DataType Engine::getTensorDataType(const char* name) const noexcept {
  return guarded(reporter_, nvinfer1::DataType::kFLOAT,
                 [&] { return toPublic(requireIo(plan(), name).tensor->tensor.type); });
}

TensorLocation Engine::getTensorLocation(const char* name) const noexcept {
  return guarded(reporter_, TensorLocation::kHOST, [&] {
    const IoTensor& tensor = *requireIo(plan(), name).tensor;
    return plan().hasDeviceMemory && !tensor.isOnHost ? TensorLocation::kDEVICE
                                                      : TensorLocation::kHOST;
  });
}

bool Engine::isShapeInferenceIO(const char* name) const noexcept {
  return guarded(reporter_, false, [&] { return requireIo(plan(), name).tensor->isShapeTensor; });
}

void Engine::requireProfile(int32_t profile) const {
  if (profile < 0 || profile >= getNbOptimizationProfiles())
    fail(ErrorKind::kInvalidArgument, "profile ", profile, " does not exist; the engine has ",
         getNbOptimizationProfiles());
}

const IoTensor& Engine::requireIoIn(int32_t profile, const char* name) const {
  requireProfile(profile);
  return *requireIo(plan(), name).tensor;
}

int32_t Engine::getTensorBytesPerComponentV2(const char* name, int32_t profile) const noexcept {
  return guarded(reporter_, int32_t{-1}, [&] {
    const IoTensor& tensor = requireIoIn(profile, name);
    return componentsPerElement(tensor) < 0 ? -1
                                            : static_cast<int32_t>(bitsOf(tensor.tensor.type) / 8);
  });
}

int32_t Engine::getTensorComponentsPerElementV2(const char* name, int32_t profile) const noexcept {
  return guarded(reporter_, int32_t{-1},
                 [&] { return componentsPerElement(requireIoIn(profile, name)); });
}

TensorFormat Engine::getTensorFormatV2(const char* name, int32_t profile) const noexcept {
  return guarded(reporter_, TensorFormat::kLINEAR,
                 [&] { return formatOf(requireIoIn(profile, name)); });
}

const char* Engine::getTensorFormatDescV2(const char* name, int32_t profile) const noexcept {
  return guarded<const char*>(
      reporter_, "", [&] { return formatTexts_.at(requireIoIn(profile, name).name).c_str(); });
}

int32_t Engine::getTensorVectorizedDimV2(const char* name, int32_t profile) const noexcept {
  return guarded(reporter_, int32_t{-1}, [&] { return vectorizedDim(requireIoIn(profile, name)); });
}

nvinfer1::Dims Engine::getProfileShape(const char* name, int32_t profile,
                                       OptProfileSelector select) const noexcept {
  return guarded(reporter_, invalidDims(), [&] {
    const IoRef io = requireIo(plan(), name);
    if (!io.isInput)
      fail(ErrorKind::kInvalidArgument, "'", name, "' is an output; profiles describe inputs");
    requireProfile(profile);
    requireKnown(select, "selector of a profile");
    const InputRange& range = plan().profiles[profile].inputs[io.index];
    return toPublic(logicalDims(*io.tensor, partOf(range, select)));
  });
}

const std::vector<int64_t>& Engine::profileValues(const char* name, int32_t profile,
                                                  OptProfileSelector select) const {
  const IoRef io = requireIo(plan(), name);
  requireProfile(profile);
  requireKnown(select, "selector of a profile");
  static const std::vector<int64_t> none;
  if (!io.isInput || io.tensor->valueSlots.empty()) return none;
  return partOf(plan().profiles[profile].inputValues[io.index], select);
}

const int64_t* Engine::getProfileTensorValuesV2(const char* name, int32_t profile,
                                                OptProfileSelector select) const noexcept {
  return guarded<const int64_t*>(reporter_, nullptr, [&]() -> const int64_t* {
    const std::vector<int64_t>& values = profileValues(name, profile, select);
    return values.empty() ? nullptr : values.data();
  });
}

const int32_t* Engine::getProfileTensorValues(const char* name, int32_t profile,
                                              OptProfileSelector select) const noexcept {
  return guarded<const int32_t*>(reporter_, nullptr, [&]() -> const int32_t* {
    const std::vector<int64_t>& values = profileValues(name, profile, select);
    const auto fits = [](int64_t value) { return value == static_cast<int32_t>(value); };
    if (values.empty() || !std::all_of(values.begin(), values.end(), fits)) return nullptr;
    const std::lock_guard lock(narrowing_);
    std::vector<int32_t>& narrow = narrowValues_[&values];
    narrow.assign(values.begin(), values.end());
    return narrow.data();
  });
}

int64_t Engine::getDeviceMemorySizeV2() const noexcept {
  int64_t largest = 0;
  for (const ProfilePlan& profile : plan().profiles)
    largest = std::max(largest, profile.arenaBytes);
  return largest;
}

int64_t Engine::getDeviceMemorySizeForProfileV2(int32_t profile) const noexcept {
  const bool known = profile >= 0 && profile < getNbOptimizationProfiles();
  return known ? plan().profiles[profile].arenaBytes : -1;
}

}  // namespace camshaft::api
