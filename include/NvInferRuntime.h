#pragma once

// Run time: load an engine file, inspect it, run it, give it other weights.

#include "CamshaftThreads.h"
#include "NvInferCallbacks.h"
#include "NvInferContext.h"
#include "NvInferEngine.h"
#include "NvInferShapePlugin.h"

namespace nvinfer1 {

// Loads engine files. Methods may be called from several threads at once, setters excepted. The
// engines it made may outlive it.
class CAMSHAFT_API IRuntime : public INoCopy {
 public:
  ~IRuntime() noexcept override = default;

  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  ILogger* getLogger() const noexcept { return mImpl->getLogger(); }

  // Reads the `size` bytes at `blob`, which may be freed afterwards. Null when they are damaged,
  // are not an engine file, or were built for another machine; the message says which.
  ICudaEngine* deserializeCudaEngine(const void* blob, std::size_t size) noexcept {
    return mImpl->deserializeCudaEngine(blob, size);
  }
  // Camshaft's own: the same from a file, which is mapped and not copied, so that engines load
  // faster and processes share their weights. The file may be replaced while the engine lives, and
  // must not be changed in place; a pipe is read to its end.
  ICudaEngine* deserializeCudaEngineFromFile(const char* path) noexcept {
    return mImpl->deserializeCudaEngineFromFile(path);
  }

  // Where engines loaded from now on get device memory; null: from the driver. Borrowed: it must
  // outlive them. CPU engines do not use it.
  void setGpuAllocator(IGpuAllocator* allocator) noexcept { mImpl->setGpuAllocator(allocator); }

  // Most threads, the caller's included, that engines loaded from now on use to run; at least 1.
  bool setMaxThreads(int32_t maxThreads) noexcept { return mImpl->setMaxThreads(maxThreads); }
  int32_t getMaxThreads() const noexcept { return mImpl->getMaxThreads(); }
  // Camshaft's own: the application's threads, on which engines loaded from now on share their
  // loops; null: threads that all engines of the process have in common. Borrowed: it must outlive
  // them.
  void setThreadPool(IThreadPool* pool) noexcept { mImpl->setThreadPool(pool); }
  IThreadPool* getThreadPool() const noexcept { return mImpl->getThreadPool(); }
  // Camshaft's own: engines loaded from now on can be asked what they are made of, by their own
  // calls and an inspector, and not run. Their device and plugins need not be here.
  void setInspectionOnly(bool only) noexcept { mImpl->setInspectionOnly(only); }
  bool getInspectionOnly() const noexcept { return mImpl->getInspectionOnly(); }

  // Refused: there is no DLA, and the core is -1.
  void setDLACore(int32_t dlaCore) noexcept { mImpl->setDLACore(dlaCore); }
  int32_t getDLACore() const noexcept { return mImpl->getDLACore(); }
  int32_t getNbDLACores() const noexcept { return mImpl->getNbDLACores(); }
  // The same from a stream of bytes, which is read to its end.
  ICudaEngine* deserializeCudaEngine(IStreamReader& streamReader) noexcept {
    return mImpl->deserializeCudaEngine(streamReader);
  }
  // The same from a stream of bytes, which is read to its end.
  ICudaEngine* deserializeCudaEngine(IStreamReaderV2& streamReader) noexcept {
    return mImpl->deserializeCudaEngineV2(streamReader);
  }
  // Stored, both: engines are loaded without temporary files.
  void setTemporaryDirectory(const char* path) noexcept { mImpl->setTemporaryDirectory(path); }
  const char* getTemporaryDirectory() const noexcept { return mImpl->getTemporaryDirectory(); }
  void setTempfileControlFlags(TempfileControlFlags flags) noexcept {
    mImpl->setTempfileControlFlags(flags);
  }
  TempfileControlFlags getTempfileControlFlags() const noexcept {
    return mImpl->getTempfileControlFlags();
  }
  // The runtime's own, which looks for creators in the process's too.
  IPluginRegistry& getPluginRegistry() noexcept { return mImpl->getPluginRegistry(); }
  // That of another library, which stays loaded: for engines of the version it has.
  IRuntime* loadRuntime(const char* path) noexcept { return mImpl->loadRuntime(path); }
  // Whether engines may bring libraries of plugins (IBuilderConfig::setPluginsToSerialize), whose
  // code then runs in this process. Default: such engines are refused.
  void setEngineHostCodeAllowed(bool allowed) noexcept { mImpl->setEngineHostCodeAllowed(allowed); }
  bool getEngineHostCodeAllowed() const noexcept { return mImpl->getEngineHostCodeAllowed(); }

 protected:
  apiv::VRuntime* mImpl{};
};

// Gives an engine other weights: its plan is built again from them, with the kernels it has.
// Weights are named as in the model, or by layer and role. They are borrowed until the refit, and
// stay set for the next one. One thread at a time uses a refitter and its engine, and nothing of
// the engine runs meanwhile; contexts that exist compute with the new weights. A refit that fails
// changes nothing.
class CAMSHAFT_API IRefitter : public INoCopy {
 public:
  ~IRefitter() noexcept override = default;

  bool setWeights(const char* layerName, WeightsRole role, Weights weights) noexcept {
    return mImpl->setWeights(layerName, role, weights);
  }
  bool refitCudaEngine() noexcept { return mImpl->refitCudaEngine(); }
  // How many there are; the first `size` are written, where the arrays are not null. Missing are
  // those that must be set too before a refit.
  int32_t getMissing(int32_t size, const char** layerNames, WeightsRole* roles) noexcept {
    return mImpl->getMissing(size, layerNames, roles);
  }
  int32_t getAll(int32_t size, const char** layerNames, WeightsRole* roles) noexcept {
    return mImpl->getAll(size, layerNames, roles);
  }
  // Engines have no dynamic ranges that could be changed.
  bool setDynamicRange(const char* tensorName, float min, float max) noexcept {
    return mImpl->setDynamicRange(tensorName, min, max);
  }
  float getDynamicRangeMin(const char* tensorName) const noexcept {
    return mImpl->getDynamicRangeMin(tensorName);
  }
  float getDynamicRangeMax(const char* tensorName) const noexcept {
    return mImpl->getDynamicRangeMax(tensorName);
  }
  int32_t getTensorsWithDynamicRange(int32_t size, const char** tensorNames) const noexcept {
    return mImpl->getTensorsWithDynamicRange(size, tensorNames);
  }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  bool setNamedWeights(const char* name, Weights weights) noexcept {
    return mImpl->setNamedWeights(name, weights);
  }
  // The same by names.
  int32_t getMissingWeights(int32_t size, const char** weightsNames) noexcept {
    return mImpl->getMissingWeights(size, weightsNames);
  }
  int32_t getAllWeights(int32_t size, const char** weightsNames) noexcept {
    return mImpl->getAllWeights(size, weightsNames);
  }
  ILogger* getLogger() const noexcept { return mImpl->getLogger(); }
  bool setMaxThreads(int32_t maxThreads) noexcept { return mImpl->setMaxThreads(maxThreads); }
  int32_t getMaxThreads() const noexcept { return mImpl->getMaxThreads(); }
  // In host or device memory.
  bool setNamedWeights(const char* name, Weights weights, TensorLocation location) noexcept {
    return mImpl->setNamedWeightsWithLocation(name, weights, location);
  }
  Weights getNamedWeights(const char* weightsName) const noexcept {
    return mImpl->getNamedWeights(weightsName);
  }
  TensorLocation getWeightsLocation(const char* weightsName) const noexcept {
    return mImpl->getWeightsLocation(weightsName);
  }
  bool unsetNamedWeights(const char* weightsName) noexcept {
    return mImpl->unsetNamedWeights(weightsName);
  }
  // Whether weights that are not finite cost a warning; on in a new refitter.
  void setWeightsValidation(bool weightsValidation) noexcept {
    mImpl->setWeightsValidation(weightsValidation);
  }
  bool getWeightsValidation() const noexcept { return mImpl->getWeightsValidation(); }
  bool refitCudaEngineAsync(cudaStream_t stream) noexcept {
    return mImpl->refitCudaEngineAsync(stream);
  }
  // Type and count that the weights must have; the values are null.
  Weights getWeightsPrototype(const char* weightsName) const noexcept {
    return mImpl->getWeightsPrototype(weightsName);
  }

 protected:
  apiv::VRefitter* mImpl{};
};

}  // namespace nvinfer1

// Symbols of the shared library. Programs use the functions below.
extern "C" CAMSHAFT_API void* createInferRuntime_INTERNAL(void* logger, int32_t version) noexcept;
extern "C" CAMSHAFT_API void* createInferRefitter_INTERNAL(void* engine, void* logger,
                                                           int32_t version) noexcept;
// The registry that all builders and runtimes of the process look into.
extern "C" CAMSHAFT_API nvinfer1::IPluginRegistry* getPluginRegistry() noexcept;
// The logger that the last builder, runtime or refitter was made with; null before there was one.
extern "C" CAMSHAFT_API nvinfer1::ILogger* getLogger() noexcept;
// Parts of getInferLibVersion().
extern "C" CAMSHAFT_API int32_t getInferLibMajorVersion() noexcept;
extern "C" CAMSHAFT_API int32_t getInferLibMinorVersion() noexcept;
extern "C" CAMSHAFT_API int32_t getInferLibPatchVersion() noexcept;
extern "C" CAMSHAFT_API int32_t getInferLibBuildVersion() noexcept;

namespace nvinfer1 {
namespace {

// Null when the headers are newer than the loaded library, or of another major version.
inline IRuntime* createInferRuntime(ILogger& logger) noexcept {
  return static_cast<IRuntime*>(createInferRuntime_INTERNAL(&logger, NV_TENSORRT_VERSION));
}

inline IRefitter* createInferRefitter(ICudaEngine& engine, ILogger& logger) noexcept {
  return static_cast<IRefitter*>(
      createInferRefitter_INTERNAL(&engine, &logger, NV_TENSORRT_VERSION));
}

}  // namespace

// Registers a creator when it is constructed; REGISTER_TENSORRT_PLUGIN makes one for a class.
template <typename T>
class PluginRegistrar {
 public:
  PluginRegistrar() { getPluginRegistry()->registerCreator(instance, ""); }

 private:
  T instance{};
};

}  // namespace nvinfer1

#define REGISTER_TENSORRT_PLUGIN(name) \
  static nvinfer1::PluginRegistrar<name> pluginRegistrar##name {}
