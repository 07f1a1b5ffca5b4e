#pragma once

// How to build.

#include "NvInferCalibration.h"
#include "NvInferTimingCache.h"

namespace nvinfer1 {

// Bit numbers of BuilderFlags. Acting today: kTF32 (f32 products may run at TF32's precision or
// better), kFP16 and kBF16 (f32 work may be done and stored in 16 bits where the device gains from
// it, which a CPU does not; with both, kHALF, and kBF16 where weights exceed its range),
// kPREFER_PRECISION_CONSTRAINTS (types set on layers are kept where they can be) and
// kOBEY_PRECISION_CONSTRAINTS (on every device, or the build fails), kGPU_FALLBACK (what is to run
// on DLA runs on the GPU, with a warning; without it, it is refused), kDISABLE_TIMING_CACHE (every
// layer is timed, layers alike too), kEDITABLE_TIMING_CACHE (ITimingCache::update),
// kERROR_ON_TIMING_CACHE_MISS (a kernel that the cache has no time of ends the build),
// kREJECT_EMPTY_ALGORITHMS (an algorithm selector that selects nothing ends the build),
// kMONITOR_MEMORY (the log tells how much memory the process had).
// One of kREFIT (all weights can be given anew: floating-point ones that are not single numbers,
// and matrices of 8 bits and less), kREFIT_INDIVIDUAL (those that the network marks) and
// kREFIT_IDENTICAL (all, with the values of the build) makes an engine that can be refitted.
// kSTRIP_PLAN (kWEIGHTLESS) leaves these weights out of it; alone it implies kREFIT_IDENTICAL.
// kWEIGHT_STREAMING lets an engine run with fewer weights on its device than it has.
// All others grant a freedom that goes unused, or ask for what holds anyway, and change nothing;
// the log of a build says so of each. A new config has kTF32 set and nothing else.
enum class BuilderFlag : int32_t {
  kFP16 = 0,
  kINT8 = 1,
  kDEBUG = 2,
  kGPU_FALLBACK = 3,
  kREFIT = 4,
  kDISABLE_TIMING_CACHE = 5,
  kTF32 = 6,
  kSPARSE_WEIGHTS = 7,
  kSAFETY_SCOPE = 8,
  kOBEY_PRECISION_CONSTRAINTS = 9,
  kPREFER_PRECISION_CONSTRAINTS = 10,
  kDIRECT_IO = 11,
  kREJECT_EMPTY_ALGORITHMS = 12,
  kVERSION_COMPATIBLE = 13,
  kEXCLUDE_LEAN_RUNTIME = 14,
  kFP8 = 15,
  kERROR_ON_TIMING_CACHE_MISS = 16,
  kBF16 = 17,
  kDISABLE_COMPILATION_CACHE = 18,
  kSTRIP_PLAN = 19,
  kWEIGHTLESS = 19,
  kREFIT_IDENTICAL = 20,
  kWEIGHT_STREAMING = 21,
  kINT4 = 22,
  kREFIT_INDIVIDUAL = 23,
  kSTRICT_NANS = 24,
  kMONITOR_MEMORY = 25,
  kFP4 = 26,
  kEDITABLE_TIMING_CACHE = 27,
  kDISTRIBUTIVE_INDEPENDENCE = 28,
};
template <>
constexpr int32_t EnumMax<BuilderFlag>() noexcept {
  return 29;
}

// Where the engine is to run.
enum class RuntimePlatform : int32_t {
  kSAME_AS_BUILD = 0,
  kWINDOWS_AMD64 = 1,
};
template <>
constexpr int32_t EnumMax<RuntimePlatform>() noexcept {
  return 2;
}

// Memory a build may plan with. Only kWORKSPACE is used today; the others are stored.
enum class MemoryPoolType : int32_t {
  kWORKSPACE = 0,
  kDLA_MANAGED_SRAM = 1,
  kDLA_LOCAL_DRAM = 2,
  kDLA_GLOBAL_DRAM = 3,
  kTACTIC_DRAM = 4,
  kTACTIC_SHARED_MEMORY = 5,
};
template <>
constexpr int32_t EnumMax<MemoryPoolType>() noexcept {
  return 6;
}

enum class PreviewFeature : int32_t {
  kPROFILE_SHARING_0806 = 0,
  kALIASED_PLUGIN_IO_10_03 = 1,
  kRUNTIME_ACTIVATION_RESIZE_10_10 = 2,
  kMULTIDEVICE_RUNTIME_10_16 = 3,
};
template <>
constexpr int32_t EnumMax<PreviewFeature>() noexcept {
  return 4;
}

// Which GPUs the engine is to run on. Beyond kNONE it does without plans of cuDNN and cuBLASLt,
// which are made for one GPU; for kAMPERE_PLUS it holds PTX, which the driver compiles when the
// engine is loaded first.
enum class HardwareCompatibilityLevel : int32_t {
  kNONE = 0,                     // the one it was built on
  kAMPERE_PLUS = 1,              // compute capability 8.0 or later
  kSAME_COMPUTE_CAPABILITY = 2,  // the same compute capability
};
template <>
constexpr int32_t EnumMax<HardwareCompatibilityLevel>() noexcept {
  return 3;
}

// How long to look for tilings of several layers.
enum class TilingOptimizationLevel : int32_t {
  kNONE = 0,
  kFAST = 1,
  kMODERATE = 2,
  kFULL = 3,
};
template <>
constexpr int32_t EnumMax<TilingOptimizationLevel>() noexcept {
  return 4;
}

namespace v_1_0 {

// Follows a build, and can stop it. Implemented by the caller; called from the building thread and
// possibly from several at once. Phases nest: parentPhase is null for an outermost one.
class CAMSHAFT_API IProgressMonitor : public IVersionedInterface {
 public:
  IProgressMonitor() = default;
  ~IProgressMonitor() override = default;
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IProgressMonitor", 1, 0}; }

  virtual void phaseStart(const char* phaseName, const char* parentPhase,
                          int32_t nbSteps) noexcept = 0;
  // step counts from 0, each once; returning false stops the build, which then returns null.
  virtual bool stepComplete(const char* phaseName, int32_t step) noexcept = 0;
  virtual void phaseFinish(const char* phaseName) noexcept = 0;

 protected:
  IProgressMonitor(const IProgressMonitor&) = default;
  IProgressMonitor(IProgressMonitor&&) = default;
  IProgressMonitor& operator=(const IProgressMonitor&) & = default;
  IProgressMonitor& operator=(IProgressMonitor&&) & = default;
};

}  // namespace v_1_0

// How to build. One thread at a time uses a config. A setter given nonsense reports the error and
// changes nothing.
class CAMSHAFT_API IBuilderConfig : public INoCopy {
 public:
  ~IBuilderConfig() noexcept override = default;

  // Back to the state of a new config.
  void reset() noexcept { mImpl->reset(); }

  void setFlags(BuilderFlags builderFlags) noexcept { mImpl->setFlags(builderFlags); }
  BuilderFlags getFlags() const noexcept { return mImpl->getFlags(); }
  void clearFlag(BuilderFlag builderFlag) noexcept { mImpl->clearFlag(builderFlag); }
  void setFlag(BuilderFlag builderFlag) noexcept { mImpl->setFlag(builderFlag); }
  bool getFlag(BuilderFlag builderFlag) const noexcept { return mImpl->getFlag(builderFlag); }

  // Where the engine is to run. Default: kGPU, which builds for the CPU, saying why in the log,
  // where no GPU can be used.
  void setDefaultDeviceType(DeviceType deviceType) noexcept {
    mImpl->setDefaultDeviceType(deviceType);
  }
  DeviceType getDefaultDeviceType() const noexcept { return mImpl->getDefaultDeviceType(); }
  // Camshaft's own: builds for a GPU of this compute capability, 10 * major + minor (90 for an
  // H200), which need not be here: nothing is timed then, and the vendor's libraries are not used.
  // 0, the default: for the GPU at hand.
  void setComputeCapability(int32_t capability) noexcept {
    mImpl->setComputeCapability(capability);
  }
  int32_t getComputeCapability() const noexcept { return mImpl->getComputeCapability(); }
  // Camshaft's own: leaves out a pass of the optimiser, or takes it in again, by its name in the
  // verbose log (src/passes/pipeline.cpp), to find the one that matters. False when there is none
  // of that name.
  bool setPassEnabled(const char* pass, bool enabled) noexcept {
    return mImpl->setPassEnabled(pass, enabled);
  }
  bool isPassEnabled(const char* pass) const noexcept { return mImpl->isPassEnabled(pass); }
  // Camshaft's own: builds write the graph as text into this folder, as it came and after each pass
  // that changed it. Null or empty, the default: nothing is written.
  void setGraphFolder(const char* folder) noexcept { mImpl->setGraphFolder(folder); }
  const char* getGraphFolder() const noexcept { return mImpl->getGraphFolder(); }

  // 0 (quickest build) to 5 (fastest engine); 3 unless set.
  void setBuilderOptimizationLevel(int32_t level) noexcept {
    mImpl->setBuilderOptimizationLevel(level);
  }
  int32_t getBuilderOptimizationLevel() noexcept { return mImpl->getBuilderOptimizationLevel(); }
  // Runs averaged per timing of a kernel; 1 or more.
  virtual void setAvgTimingIterations(int32_t avgTiming) noexcept {
    mImpl->setAvgTimingIterations(avgTiming);
  }
  int32_t getAvgTimingIterations() const noexcept { return mImpl->getAvgTimingIterations(); }
  // 0: layers of a GPU's engine run one after the other. Else those that do not need one another
  // run side by side where the build finds that faster; an engine needs no streams for that.
  void setMaxAuxStreams(int32_t nbStreams) noexcept { mImpl->setMaxAuxStreams(nbStreams); }
  int32_t getMaxAuxStreams() const noexcept { return mImpl->getMaxAuxStreams(); }
  // Bytes. Kernels that need more are not chosen, with a warning where these are the better ones.
  // Where no kernel of a layer does with so little, the one that needs least is taken, and the
  // warning says how much that is.
  void setMemoryPoolLimit(MemoryPoolType pool, std::size_t poolSize) noexcept {
    mImpl->setMemoryPoolLimit(pool, poolSize);
  }
  std::size_t getMemoryPoolLimit(MemoryPoolType pool) const noexcept {
    return mImpl->getMemoryPoolLimit(pool);
  }

  void setProfilingVerbosity(ProfilingVerbosity verbosity) noexcept {
    mImpl->setProfilingVerbosity(verbosity);
  }
  ProfilingVerbosity getProfilingVerbosity() const noexcept {
    return mImpl->getProfilingVerbosity();
  }
  void setProgressMonitor(IProgressMonitor* monitor) noexcept {
    mImpl->setProgressMonitor(monitor);
  }
  IProgressMonitor* getProgressMonitor() const noexcept { return mImpl->getProgressMonitor(); }

  // Returns the profile's index, or -1 when it is not valid. The profile is borrowed: it stays the
  // builder's.
  int32_t addOptimizationProfile(const IOptimizationProfile* profile) noexcept {
    return mImpl->addOptimizationProfile(profile);
  }
  int32_t getNbOptimizationProfiles() const noexcept { return mImpl->getNbOptimizationProfiles(); }

  // From the bytes of ITimingCache::serialize(), or empty when size is 0. Damaged bytes give null.
  ITimingCache* createTimingCache(const void* blob, std::size_t size) const noexcept {
    return mImpl->createTimingCache(blob, size);
  }
  // Builds read the cache and add to it until another is set, also when the caller has ended it.
  bool setTimingCache(const ITimingCache& cache, bool ignoreMismatch) noexcept {
    return mImpl->setTimingCache(cache, ignoreMismatch);
  }
  // Null when none was set, or the caller has ended it.
  const ITimingCache* getTimingCache() const noexcept { return mImpl->getTimingCache(); }

  // A setter that is refused takes the value that its getter tells, and no other.

  // Refused: engines are kSTANDARD.
  void setEngineCapability(EngineCapability capability) noexcept {
    mImpl->setEngineCapability(capability);
  }
  EngineCapability getEngineCapability() const noexcept { return mImpl->getEngineCapability(); }
  // Finds ranges for kINT8 where the network has no Q/DQ layers. Borrowed.
  void setInt8Calibrator(IInt8Calibrator* calibrator) noexcept {
    mImpl->setInt8Calibrator(calibrator);
  }
  IInt8Calibrator* getInt8Calibrator() const noexcept { return mImpl->getInt8Calibrator(); }
  // Of one layer. All run on the default device: kDLA is refused by a build as it is there, and
  // others get a warning.
  void setDeviceType(const ILayer* layer, DeviceType deviceType) noexcept {
    mImpl->setDeviceType(layer, deviceType);
  }
  DeviceType getDeviceType(const ILayer* layer) const noexcept {
    return mImpl->getDeviceType(layer);
  }
  bool isDeviceTypeSet(const ILayer* layer) const noexcept { return mImpl->isDeviceTypeSet(layer); }
  void resetDeviceType(const ILayer* layer) noexcept { mImpl->resetDeviceType(layer); }
  bool canRunOnDLA(const ILayer* layer) const noexcept { return mImpl->canRunOnDLA(layer); }
  // Changes nothing: there is no DLA. A warning says so.
  void setDLACore(int32_t dlaCore) noexcept { mImpl->setDLACore(dlaCore); }
  int32_t getDLACore() const noexcept { return mImpl->getDLACore(); }
  // Stored: kernels are timed on streams of the build's own.
  void setProfileStream(const cudaStream_t stream) noexcept { mImpl->setProfileStream(stream); }
  cudaStream_t getProfileStream() const noexcept { return mImpl->getProfileStream(); }
  // Is asked which kernels a layer may have, before they are timed, and told what was taken.
  // Borrowed.
  void setAlgorithmSelector(IAlgorithmSelector* selector) noexcept {
    mImpl->setAlgorithmSelector(selector);
  }
  IAlgorithmSelector* getAlgorithmSelector() const noexcept {
    return mImpl->getAlgorithmSelector();
  }
  // The shapes that a calibrator's batches have, its opt ones; null: those of the first profile.
  bool setCalibrationProfile(const IOptimizationProfile* profile) noexcept {
    return mImpl->setCalibrationProfile(profile);
  }
  const IOptimizationProfile* getCalibrationProfile() noexcept {
    return mImpl->getCalibrationProfile();
  }
  // Stored: tensors are always calibrated before fusion.
  void setQuantizationFlags(QuantizationFlags flags) noexcept {
    mImpl->setQuantizationFlags(flags);
  }
  QuantizationFlags getQuantizationFlags() const noexcept { return mImpl->getQuantizationFlags(); }
  void clearQuantizationFlag(QuantizationFlag flag) noexcept { mImpl->clearQuantizationFlag(flag); }
  void setQuantizationFlag(QuantizationFlag flag) noexcept { mImpl->setQuantizationFlag(flag); }
  bool getQuantizationFlag(QuantizationFlag flag) const noexcept {
    return mImpl->getQuantizationFlag(flag);
  }
  // Which of the vendor's libraries are tried: kCUBLAS or kCUBLAS_LT for matrix products, kCUDNN.
  // The other sources have no kernels here, and our own kernels are always tried.
  bool setTacticSources(TacticSources tacticSources) noexcept {
    return mImpl->setTacticSources(tacticSources);
  }
  TacticSources getTacticSources() const noexcept { return mImpl->getTacticSources(); }
  // Stored: none of the features is a choice here.
  void setPreviewFeature(PreviewFeature feature, bool enable) noexcept {
    mImpl->setPreviewFeature(feature, enable);
  }
  bool getPreviewFeature(PreviewFeature feature) const noexcept {
    return mImpl->getPreviewFeature(feature);
  }
  void setHardwareCompatibilityLevel(
      HardwareCompatibilityLevel hardwareCompatibilityLevel) noexcept {
    mImpl->setHardwareCompatibilityLevel(hardwareCompatibilityLevel);
  }
  HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept {
    return mImpl->getHardwareCompatibilityLevel();
  }
  // Paths of libraries of plugins that go into the engine, each once. A runtime loads them where
  // setEngineHostCodeAllowed(true) says that it may.
  void setPluginsToSerialize(const char* const* paths, int32_t nbPaths) noexcept {
    mImpl->setPluginsToSerialize(paths, nbPaths);
  }
  const char* getPluginToSerialize(int32_t index) const noexcept {
    return mImpl->getPluginToSerialize(index);
  }
  int32_t getNbPluginsToSerialize() const noexcept { return mImpl->getNbPluginsToSerialize(); }
  // Refused.
  void setRuntimePlatform(RuntimePlatform runtimePlatform) noexcept {
    mImpl->setRuntimePlatform(runtimePlatform);
  }
  RuntimePlatform getRuntimePlatform() const noexcept { return mImpl->getRuntimePlatform(); }
  // Most kernels that are timed for a layer; -1: as the optimisation level says.
  void setMaxNbTactics(int32_t maxNbTactics) noexcept { mImpl->setMaxNbTactics(maxNbTactics); }
  int32_t getMaxNbTactics() const noexcept { return mImpl->getMaxNbTactics(); }
  // Stored: layers are not tiled together.
  bool setTilingOptimizationLevel(TilingOptimizationLevel level) noexcept {
    return mImpl->setTilingOptimizationLevel(level);
  }
  TilingOptimizationLevel getTilingOptimizationLevel() const noexcept {
    return mImpl->getTilingOptimizationLevel();
  }
  // Bytes. Stored.
  bool setL2LimitForTiling(int64_t size) noexcept { return mImpl->setL2LimitForTiling(size); }
  int64_t getL2LimitForTiling() const noexcept { return mImpl->getL2LimitForTiling(); }
  // Refused: kernels are timed where the build runs.
  bool setRemoteAutoTuningConfig(const char* config) noexcept {
    return mImpl->setRemoteAutoTuningConfig(config);
  }
  const char* getRemoteAutoTuningConfig() const noexcept {
    return mImpl->getRemoteAutoTuningConfig();
  }
  // Of TensorRT 11.1. Refused: there is one route, without a name.
  bool setBuildRoute(const char* buildRoute) noexcept { return mImpl->setBuildRoute(buildRoute); }
  const char* getBuildRoute() const noexcept { return mImpl->getBuildRoute(); }
  const char* getAllBuildRoutes() const noexcept { return mImpl->getAllBuildRoutes(); }

 protected:
  apiv::VBuilderConfig* mImpl{};
};

}  // namespace nvinfer1
