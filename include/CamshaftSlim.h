#pragma once

// Slimming: a smaller ONNX model that computes the same, for Camshaft or anything else that reads
// ONNX. Not part of TensorRT's interface.

#include "NvInferRuntime.h"

#define CAMSHAFT_SLIM_VERSION 1

namespace camshaft {

// One thread at a time uses it.
class CAMSHAFT_API ISlimModel {
 public:
  virtual ~ISlimModel() noexcept = default;

  // The model as protobuf bytes; null, with the reason in the log, where they would exceed 2 GiB.
  virtual nvinfer1::IHostMemory* serialize() noexcept = 0;
  // Where the model exceeds 2 GiB, its weights lie beside it, in `path`.data.
  virtual bool writeFile(const char* path) noexcept = 0;

  // What went: nodes by operator, initializers and bytes, before and after, and which nodes were
  // left as they were. The size after is known once the model was serialized or written.
  virtual const char* reportTable() noexcept = 0;
  virtual const char* reportJson() noexcept = 0;
};

}  // namespace camshaft

extern "C" CAMSHAFT_API void* createSlimModel_INTERNAL(const void* bytes, size_t size,
                                                       const char* path, void* logger,
                                                       int version) noexcept;

namespace camshaft {
namespace {

// Null when the model cannot be read; the log says why. The bytes may be freed afterwards; `path`
// is the file they came from, for external data, or null.
inline ISlimModel* slimModel(const void* bytes, size_t size, nvinfer1::ILogger& logger,
                             const char* path = nullptr) noexcept {
  return static_cast<ISlimModel*>(
      createSlimModel_INTERNAL(bytes, size, path, &logger, CAMSHAFT_SLIM_VERSION));
}

inline ISlimModel* slimModelFile(const char* path, nvinfer1::ILogger& logger) noexcept {
  return static_cast<ISlimModel*>(
      createSlimModel_INTERNAL(nullptr, 0, path, &logger, CAMSHAFT_SLIM_VERSION));
}

}  // namespace
}  // namespace camshaft
