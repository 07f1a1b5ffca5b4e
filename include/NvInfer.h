#pragma once

// Build time: describe a network, say how to build it, get an engine file.

#include "NvInferBuilderConfig.h"
#include "NvInferLegacyDims.h"
#include "NvInferNetwork.h"
#include "NvInferRuntime.h"

namespace nvinfer1 {

// Where building starts. Must outlive the networks, configs and profiles it made. One thread at a
// time uses a builder; builders are independent of each other.
class CAMSHAFT_API IBuilder : public INoCopy {
 public:
  ~IBuilder() noexcept override = default;

  // Whether the device that kGPU builds for gains from these types.
  bool platformHasFastFp16() const noexcept { return mImpl->platformHasFastFp16(); }
  bool platformHasFastInt8() const noexcept { return mImpl->platformHasFastInt8(); }
  bool platformHasTf32() const noexcept { return mImpl->platformHasTf32(); }
  INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept {
    return mImpl->createNetworkV2(flags);
  }
  IBuilderConfig* createBuilderConfig() noexcept { return mImpl->createBuilderConfig(); }
  // The builder keeps it and ends it.
  IOptimizationProfile* createOptimizationProfile() noexcept {
    return mImpl->createOptimizationProfile();
  }

  // The engine file, or null with the reason reported.
  IHostMemory* buildSerializedNetwork(INetworkDefinition& network,
                                      IBuilderConfig& config) noexcept {
    return mImpl->buildSerializedNetwork(network, config);
  }
  // Whether the network has what a build needs: at least one output.
  bool isNetworkSupported(const INetworkDefinition& network,
                          const IBuilderConfig& config) const noexcept {
    return mImpl->isNetworkSupported(network, config);
  }

  ILogger* getLogger() const noexcept { return mImpl->getLogger(); }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  // Most threads a build uses, the caller's included; at least 1.
  bool setMaxThreads(int32_t maxThreads) noexcept { return mImpl->setMaxThreads(maxThreads); }
  int32_t getMaxThreads() const noexcept { return mImpl->getMaxThreads(); }
  // Gives the GPU memory that kernels are timed in; null: the driver does. It must outlive builds.
  void setGpuAllocator(IGpuAllocator* allocator) noexcept { mImpl->setGpuAllocator(allocator); }
  // Back to the state of a new builder; what it made stays.
  void reset() noexcept { mImpl->reset(); }

  // There is no DLA.
  int32_t getMaxDLABatchSize() const noexcept { return mImpl->getMaxDLABatchSize(); }
  int32_t getNbDLACores() const noexcept { return mImpl->getNbDLACores(); }
  // The same, written to a stream.
  bool buildSerializedNetworkToStream(INetworkDefinition& network, IBuilderConfig& config,
                                      IStreamWriter& writer) noexcept {
    return mImpl->buildSerializedNetworkToStream(network, config, writer);
  }
  // The same, with the source text of kernels, null where there is none.
  IHostMemory* buildSerializedNetwork(INetworkDefinition& network, IBuilderConfig& config,
                                      IHostMemory*& kernelText) noexcept {
    return mImpl->buildSerializedNetworkWithKernelText(network, config, kernelText);
  }
  // The engine itself, as a runtime would load it.
  ICudaEngine* buildEngineWithConfig(INetworkDefinition& network, IBuilderConfig& config) noexcept {
    return mImpl->buildEngineWithConfig(network, config);
  }
  // The builder's own, which looks for creators in the process's too.
  IPluginRegistry& getPluginRegistry() noexcept { return mImpl->getPluginRegistry(); }

 protected:
  apiv::VBuilder* mImpl{};
};

namespace safe {

class IPluginRegistry;

}  // namespace safe

}  // namespace nvinfer1

extern "C" CAMSHAFT_API void* createInferBuilder_INTERNAL(void* logger, int32_t version) noexcept;

namespace nvinfer1 {
namespace {

// Null when the headers are newer than the loaded library, or of another major version.
inline IBuilder* createInferBuilder(ILogger& logger) noexcept {
  return static_cast<IBuilder*>(createInferBuilder_INTERNAL(&logger, NV_TENSORRT_VERSION));
}

}  // namespace

// The registry of getPluginRegistry(); null for a capability that no engine has.
extern "C" CAMSHAFT_API nvinfer1::IPluginRegistry* getBuilderPluginRegistry(
    nvinfer1::EngineCapability capability) noexcept;
// True: the library needs no others of its own to be found.
extern "C" CAMSHAFT_API bool setInternalLibraryPath(const AsciiChar* path) noexcept;
// Null: there are no safe engines.
extern "C" CAMSHAFT_API nvinfer1::safe::IPluginRegistry* getBuilderSafePluginRegistry(
    nvinfer1::EngineCapability capability) noexcept;

}  // namespace nvinfer1
