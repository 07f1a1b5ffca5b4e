// How to make a refitter: an object file of its own, in whose place libcamshaft_runtime.so has
// runtime_refusals.cpp.
#include "NvInferRuntime.h"
#include "api/engine.h"
#include "api/refitter.h"

extern "C" CAMSHAFT_API void* createInferRefitter_INTERNAL(void* engine, void* logger,
                                                           int32_t version) noexcept {
  using namespace camshaft::api;
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return createForTensorRt<nvinfer1::IRefitter>(typed, version, [&]() -> nvinfer1::IRefitter* {
    if (!engine)
      camshaft::fail(camshaft::ErrorKind::kInvalidArgument, "the refitter was given no engine");
    const auto& own = static_cast<const Engine&>(*static_cast<nvinfer1::ICudaEngine*>(engine));
    if (!own.isRefittable())
      camshaft::fail(camshaft::ErrorKind::kInvalidArgument,
                     "the engine cannot be refitted; build it with BuilderFlag::kREFIT");
    return new Refitter(own.shared(), typed);
  });
}
