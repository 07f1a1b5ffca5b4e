// IRefitter, which is refused: engines do not keep the way from a model's weights to their own.
#include "NvInferRuntime.h"
#include "api/report.h"

extern "C" CAMSHAFT_API void* createInferRefitter_INTERNAL(void* /*engine*/, void* logger,
                                                           int32_t version) noexcept {
  using namespace camshaft::api;
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return createForTensorRt<nvinfer1::IRefitter>(typed, version, [&] {
    return refused<nvinfer1::IRefitter*>(
        Reporter(typed), "engines cannot be refitted yet; build again from the new model", nullptr);
  });
}
