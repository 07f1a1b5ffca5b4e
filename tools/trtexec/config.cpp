#include "config.h"

#include <algorithm>

#include "options/values.h"
#include "require.h"

namespace trtexec {
namespace {

using namespace nvinfer1;

Dims toDims(const std::vector<int64_t>& sizes) {
  Dims dims{};
  dims.nbDims = static_cast<int32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), dims.d);
  return dims;
}

std::vector<std::string> inputNames(INetworkDefinition& network) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < network.getNbInputs(); ++i)
    names.emplace_back(network.getInput(i)->getName());
  return names;
}

void requireInputs(const ShapesByName& shapes, const std::string& flag,
                   const std::vector<std::string>& inputs) {
  for (const auto& [pattern, dims] : shapes) {
    const auto isOurs = [&own = pattern](const std::string& name) { return fits(own, name); };
    if (std::any_of(inputs.begin(), inputs.end(), isOurs)) continue;
    const std::string suggestion = nearest(pattern, inputs);
    throw std::runtime_error(flag + " names '" + pattern + "', which is no input of the model; " +
                             (suggestion.empty()
                                  ? "it has " + listed({inputs.begin(), inputs.end()})
                                  : "did you mean '" + suggestion + "'?"));
  }
}

IOptimizationProfile& makeProfile(const ProfileShapes& shapes, const char* suffix,
                                  const std::vector<std::string>& inputs, IBuilder& builder) {
  IOptimizationProfile* profile = builder.createOptimizationProfile();
  const struct {
    const ShapesByName& shapes;
    OptProfileSelector select;
    const char* flag;
  } parts[] = {{shapes.min, OptProfileSelector::kMIN, "--minShapes"},
               {shapes.opt, OptProfileSelector::kOPT, "--optShapes"},
               {shapes.max, OptProfileSelector::kMAX, "--maxShapes"}};
  for (const auto& part : parts) {
    requireInputs(part.shapes, std::string(part.flag) + suffix, inputs);
    for (const std::string& name : inputs)
      if (const auto* sizes = part.shapes.find(name))
        require(profile->setDimensions(name.c_str(), part.select, toDims(*sizes)));
  }
  return *profile;
}

void addProfiles(const Options& options, IBuilder& builder, INetworkDefinition& network,
                 IBuilderConfig& config) {
  const std::vector<std::string> inputs = inputNames(network);
  requireInputs(options.inference.shapes, "--shapes", inputs);
  const BuildOptions& build = options.build;
  for (const auto& [number, shapes] : build.profiles) {
    const IOptimizationProfile& profile = makeProfile(shapes, "", inputs, builder);
    require(config.addOptimizationProfile(&profile) >= 0);
    if (number == build.calibrationProfile) require(config.setCalibrationProfile(&profile));
  }
  ProfileShapes calibration = build.calibrationShapes;
  if (calibration.opt.empty()) return;
  // Only opt counts, and a profile has all three.
  if (calibration.min.empty()) calibration.min = calibration.opt;
  if (calibration.max.empty()) calibration.max = calibration.opt;
  require(config.setCalibrationProfile(&makeProfile(calibration, "Calib", inputs, builder)));
}

// A setter that returns nothing has been refused where the value is another afterwards.
template <class T>
void set(IBuilderConfig& config, void (IBuilderConfig::*setter)(T) noexcept,
         T (IBuilderConfig::*getter)() const noexcept, T value) {
  (config.*setter)(value);
  require((config.*getter)() == value);
}

void setFlags(const BuildOptions& build, IBuilderConfig& config) {
  for (const BuilderFlag flag : build.flags) config.setFlag(flag);
  // Stripped weights come back as they were, unless the engine takes any.
  if (config.getFlag(BuilderFlag::kSTRIP_PLAN) && !config.getFlag(BuilderFlag::kREFIT))
    config.setFlag(BuilderFlag::kREFIT_IDENTICAL);
  if (build.noTF32) config.clearFlag(BuilderFlag::kTF32);
}

void setSearch(const BuildOptions& build, IBuilderConfig& config) {
  for (const auto& [pool, bytes] : build.pools) config.setMemoryPoolLimit(pool, bytes);
  if (build.optimizationLevel) config.setBuilderOptimizationLevel(*build.optimizationLevel);
  if (build.avgTiming) config.setAvgTimingIterations(*build.avgTiming);
  if (build.maxAuxStreams) config.setMaxAuxStreams(*build.maxAuxStreams);
  if (build.maxTactics)
    set(config, &IBuilderConfig::setMaxNbTactics, &IBuilderConfig::getMaxNbTactics,
        *build.maxTactics);
  if (build.tilingLevel)
    require(config.setTilingOptimizationLevel(
        static_cast<TilingOptimizationLevel>(*build.tilingLevel)));
  if (build.l2LimitForTiling) require(config.setL2LimitForTiling(*build.l2LimitForTiling));
  if (!build.remoteAutoTuning.empty())
    require(config.setRemoteAutoTuningConfig(build.remoteAutoTuning.c_str()));
  if (!build.buildRoute.empty()) require(config.setBuildRoute(build.buildRoute.c_str()));
  if (build.tacticSources.empty()) return;
  TacticSources sources = config.getTacticSources();
  for (const auto& [source, isAdded] : build.tacticSources) {
    const uint32_t bit = 1u << static_cast<uint32_t>(source);
    sources = isAdded ? sources | bit : sources & ~bit;
  }
  require(config.setTacticSources(sources));
}

void setDevices(const Options& options, INetworkDefinition& network, IBuilderConfig& config) {
  const BuildOptions& build = options.build;
  if (build.cpu) config.setDefaultDeviceType(DeviceType::kCPU);
  config.setComputeCapability(build.computeCapability);
  if (options.system.dlaCore) {
    config.setDefaultDeviceType(DeviceType::kDLA);
    config.setDLACore(*options.system.dlaCore);  // there is none, as the build will say
  }
  if (build.layerDevices.empty()) return;
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    const ILayer* layer = network.getLayer(i);
    if (const DeviceType* device = build.layerDevices.find(layer->getName())) {
      config.setDeviceType(layer, *device);
      require(config.getDeviceType(layer) == *device);
    }
  }
}

void setEngineKind(const Options& options, IBuilderConfig& config) {
  const BuildOptions& build = options.build;
  config.setProfilingVerbosity(build.verbosity);
  set(config, &IBuilderConfig::setEngineCapability, &IBuilderConfig::getEngineCapability,
      build.capability);
  set(config, &IBuilderConfig::setHardwareCompatibilityLevel,
      &IBuilderConfig::getHardwareCompatibilityLevel, build.hardware);
  set(config, &IBuilderConfig::setRuntimePlatform, &IBuilderConfig::getRuntimePlatform,
      build.platform);
  std::vector<const char*> plugins;
  for (const std::string& path : options.system.serializedPlugins) plugins.push_back(path.c_str());
  if (plugins.empty()) return;
  const auto count = static_cast<int32_t>(plugins.size());
  config.setPluginsToSerialize(plugins.data(), count);
  require(config.getNbPluginsToSerialize() == count);
}

}  // namespace

void fillConfig(const Options& options, IBuilder& builder, INetworkDefinition& network,
                IBuilderConfig& config) {
  const BuildOptions& build = options.build;
  setFlags(build, config);
  setSearch(build, config);
  setDevices(options, network, config);
  setEngineKind(options, config);
  for (const std::string& pass : build.disabledPasses)
    require(config.setPassEnabled(pass.c_str(), false));
  config.setGraphFolder(build.graphFolder.c_str());
  addProfiles(options, builder, network, config);
}

}  // namespace trtexec
