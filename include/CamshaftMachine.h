#pragma once

// What Camshaft finds on this machine, and what it will use. Not part of TensorRT's interface.

#include "NvInferRuntime.h"

#define CAMSHAFT_MACHINE_VERSION 1

extern "C" CAMSHAFT_API void* camshaftDescribeMachine_INTERNAL(void* logger, int version) noexcept;

namespace camshaft {
namespace {

// A JSON object as text, asked of the same code that builds and runs engines:
//
//   {"version": "0.1.0",
//    "cpu": {"model": ..., "cores": usable ones, "features": "neon+...", "l1": bytes, "l2": bytes},
//    "camshaft": [finding, ...], "cpu_units": [finding, ...], "cuda": [finding, ...]}
//
// where a finding is {"name", "version", "path", "problem"}; what has a problem is not used.
// Opens the GPU's driver and libraries, as a build would. Null, with the reason in the log, on
// failure.
inline nvinfer1::IHostMemory* describeMachine(nvinfer1::ILogger& logger) noexcept {
  return static_cast<nvinfer1::IHostMemory*>(
      camshaftDescribeMachine_INTERNAL(&logger, CAMSHAFT_MACHINE_VERSION));
}

}  // namespace
}  // namespace camshaft
