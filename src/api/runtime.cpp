// IRuntime, and how to make one.
#include "api/allocator.h"
#include "api/engine.h"
#include "api/report.h"
#include "engine/engine_file.h"
#include "support/cpu_info.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

constexpr OutOfMemory kNoMemoryToLoad{"out of memory while loading an engine"};

class Runtime : public IRuntime {
 public:
  explicit Runtime(ILogger* logger) : reporter_(logger) {}

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
      maxThreads_ = maxThreads;
      return true;
    });
  }
  int32_t getMaxThreads() const noexcept override { return maxThreads_; }

 private:
  Engine* load(Plan plan) const {
    return new Engine(std::make_shared<LoadedEngine>(std::move(plan), wrapperFor(allocator_)),
                      reporter_, maxThreads_);
  }

  Reporter reporter_;
  IGpuAllocator* allocator_ = nullptr;
  int32_t maxThreads_ = usableCores();
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createInferRuntime_INTERNAL(void* logger, int32_t version) noexcept {
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return camshaft::api::createChecked<nvinfer1::IRuntime>(
      typed, version, NV_TENSORRT_VERSION, [&] { return new camshaft::api::Runtime(typed); });
}

extern "C" CAMSHAFT_API int32_t getInferLibVersion() noexcept { return NV_TENSORRT_VERSION; }
