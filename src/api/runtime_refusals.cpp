// What only the whole library can do, as libcamshaft_runtime.so answers: refitting an engine is
// building it again, and the runtime has no compiler in it.
#include "NvInferRuntime.h"
#include "api/report.h"

extern "C" CAMSHAFT_API void* createInferRefitter_INTERNAL(void* /*engine*/, void* logger,
                                                           int32_t version) noexcept {
  using namespace camshaft::api;
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return createForTensorRt<nvinfer1::IRefitter>(typed, version, [&] {
    return refused<nvinfer1::IRefitter*>(
        Reporter(typed), "libcamshaft_runtime.so cannot refit engines; link libcamshaft.so",
        nullptr);
  });
}
