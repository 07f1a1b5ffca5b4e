// IRuntime, and how to make one.
#include <dlfcn.h>

#include "api/allocator.h"
#include "api/engine.h"
#include "api/plugins/carried.h"
#include "api/plugins/loader.h"
#include "api/report.h"
#include "engine/engine_file.h"
#include "support/cpu_info.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

constexpr OutOfMemory kNoMemoryToLoad{"out of memory while loading an engine"};

class Runtime final : public Implements<IRuntime> {
 public:
  explicit Runtime(ILogger* logger) : reporter_(logger) {}

  IRuntime* getPImpl() noexcept override { return this; }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept override {
    reporter_.setRecorder(recorder);
  }
  IErrorRecorder* getErrorRecorder() const noexcept override { return reporter_.recorder(); }
  ILogger* getLogger() const noexcept override { return reporter_.logger(); }

  ICudaEngine* deserializeCudaEngine(const void* blob, std::size_t size) noexcept override {
    return guarded<ICudaEngine*>(
        reporter_, nullptr,
        [&] {
          if (!blob) fail(ErrorKind::kInvalidArgument, "deserializeCudaEngine was given no bytes");
          return load(readEngine({static_cast<const std::byte*>(blob), size}));
        },
        kNoMemoryToLoad);
  }

  ICudaEngine* deserializeCudaEngine(IStreamReader& reader) noexcept override {
    return loadFrom([&](void* to, int64_t bytes) { return reader.read(to, bytes); });
  }
  ICudaEngine* deserializeCudaEngineV2(IStreamReaderV2& reader) noexcept override {
    return loadFrom([&](void* to, int64_t bytes) { return reader.read(to, bytes, nullptr); });
  }

  ICudaEngine* deserializeCudaEngineFromFile(const char* path) noexcept override {
    return guarded<ICudaEngine*>(
        reporter_, nullptr,
        [&] {
          if (!path)
            fail(ErrorKind::kInvalidArgument, "deserializeCudaEngineFromFile was given no path");
          return load(readEngineFile(path));
        },
        kNoMemoryToLoad);
  }

  void setGpuAllocator(IGpuAllocator* allocator) noexcept override { allocator_ = allocator; }

  bool setMaxThreads(int32_t maxThreads) noexcept override {
    return guarded(reporter_, false, [&] {
      if (maxThreads < 1)
        fail(ErrorKind::kInvalidArgument, "setMaxThreads needs at least 1 thread, not ",
             maxThreads);
      threads_.most = maxThreads;
      return true;
    });
  }
  int32_t getMaxThreads() const noexcept override { return threads_.most; }
  void setThreadPool(IThreadPool* pool) noexcept override { threads_.pool = pool; }
  IThreadPool* getThreadPool() const noexcept override { return threads_.pool; }
  void setInspectionOnly(bool only) noexcept override { inspectionOnly_ = only; }
  bool getInspectionOnly() const noexcept override { return inspectionOnly_; }

  // Its own, which looks for creators in the process's too.
  IPluginRegistry& getPluginRegistry() noexcept override { return *plugins_; }
  void setPluginRegistryParent(IPluginRegistry* parent) noexcept override {
    plugins_->setParent(parent);
  }

  // Where libraries of plugins that an engine brings are put while they load.
  void setTemporaryDirectory(const char* path) noexcept override {
    guarded(reporter_, false, [&] {
      temporaryDirectory_ = path ? path : "";
      return true;
    });
  }
  const char* getTemporaryDirectory() const noexcept override {
    return temporaryDirectory_.c_str();
  }
  void setTempfileControlFlags(TempfileControlFlags flags) noexcept override {
    tempfileFlags_ = flags;
  }
  TempfileControlFlags getTempfileControlFlags() const noexcept override { return tempfileFlags_; }
  void setEngineHostCodeAllowed(bool allowed) noexcept override { hostCodeAllowed_ = allowed; }
  bool getEngineHostCodeAllowed() const noexcept override { return hostCodeAllowed_; }

  // There is no DLA.
  void setDLACore(int32_t core) noexcept override {
    guarded(reporter_, false, [&]() -> bool {
      fail(ErrorKind::kInvalidArgument, "there is no DLA core ", core, "; the runtime has none");
    });
  }
  int32_t getDLACore() const noexcept override { return -1; }
  int32_t getNbDLACores() const noexcept override { return 0; }

  // The library stays loaded: its objects may live as long as the process.
  IRuntime* loadRuntime(const char* path) noexcept override {
    return guarded<IRuntime*>(reporter_, nullptr, [&] {
      if (!path) fail(ErrorKind::kInvalidArgument, "loadRuntime was given no path");
      void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (!library) fail(ErrorKind::kIo, "the runtime '", path, "' cannot be loaded: ", dlerror());
      using Create = void* (*)(void* logger, int32_t version);
      const auto create = reinterpret_cast<Create>(dlsym(library, "createInferRuntime_INTERNAL"));
      if (!create)
        fail(ErrorKind::kInvalidArgument, "'", path,
             "' is no runtime library: it has no createInferRuntime_INTERNAL");
      auto* runtime = static_cast<IRuntime*>(create(reporter_.logger(), NV_TENSORRT_VERSION));
      if (!runtime)
        fail(ErrorKind::kUnsupported, "the runtime library '", path, "' gave no runtime");
      return runtime;
    });
  }

 private:
  // read(to, bytes) gives how many bytes were read: fewer at the end.
  template <class Read>
  ICudaEngine* loadFrom(Read&& read) noexcept {
    return guarded<ICudaEngine*>(
        reporter_, nullptr,
        [&] {
          constexpr int64_t kChunk = int64_t{1} << 24;
          std::vector<std::byte> bytes;
          for (int64_t got = kChunk; got == kChunk;) {
            const size_t size = bytes.size();
            bytes.resize(size + kChunk);
            got = read(bytes.data() + size, kChunk);
            if (got < 0 || got > kChunk)
              fail(ErrorKind::kIo, "the stream reader failed after ", size, " bytes of the engine");
            bytes.resize(size + static_cast<size_t>(got));
          }
          return load(readEngine(bytes));
        },
        kNoMemoryToLoad);
  }

  Engine* load(Plan plan) const {
    if (inspectionOnly_)
      return new Engine(LoadedEngine::forInspection(std::move(plan)), reporter_, threads_);
    if (!plan.pluginLibraries.empty() && !hostCodeAllowed_)
      fail(ErrorKind::kInvalidArgument, "the engine brings libraries of plugins with it, such as '",
           plan.pluginLibraries.front().name,
           "'; call setEngineHostCodeAllowed(true) to let it, if you trust it");
    const std::shared_ptr<PluginRegistry> registry =
        registryWith(plan.pluginLibraries, plugins_, {tempfileFlags_, temporaryDirectory_});
    return new Engine(std::make_shared<LoadedEngine>(std::move(plan), wrapperFor(allocator_),
                                                     pluginLoader(registry, allocator_, reporter_)),
                      reporter_, threads_);
  }

  Reporter reporter_;
  std::shared_ptr<PluginRegistry> plugins_ =
      std::make_shared<PluginRegistry>(&globalPluginRegistry());
  IGpuAllocator* allocator_ = nullptr;
  ThreadSettings threads_{.most = usableCores()};
  std::string temporaryDirectory_;
  TempfileControlFlags tempfileFlags_ = (1u << EnumMax<TempfileControlFlag>()) - 1;
  bool hostCodeAllowed_ = false;
  bool inspectionOnly_ = false;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createInferRuntime_INTERNAL(void* logger, int32_t version) noexcept {
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return camshaft::api::createForTensorRt<nvinfer1::IRuntime>(
      typed, version, [&] { return new camshaft::api::Runtime(typed); });
}

extern "C" CAMSHAFT_API int32_t getInferLibVersion() noexcept { return NV_TENSORRT_VERSION; }
extern "C" CAMSHAFT_API int32_t getInferLibMajorVersion() noexcept { return NV_TENSORRT_MAJOR; }
extern "C" CAMSHAFT_API int32_t getInferLibMinorVersion() noexcept { return NV_TENSORRT_MINOR; }
extern "C" CAMSHAFT_API int32_t getInferLibPatchVersion() noexcept { return NV_TENSORRT_PATCH; }
extern "C" CAMSHAFT_API int32_t getInferLibBuildVersion() noexcept { return NV_TENSORRT_BUILD; }
