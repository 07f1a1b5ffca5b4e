#pragma once

// Types of the run time that everything else uses: weights, bytes, devices, formats, the logger.

#include "NvInferImpl.h"

namespace nvinfer1 {

// Objects made by the library: neither copied nor moved, ended with `delete`.
class CAMSHAFT_API INoCopy {
 protected:
  INoCopy() = default;
  virtual ~INoCopy() = default;
  INoCopy(const INoCopy&) = delete;
  INoCopy(INoCopy&&) = delete;
  INoCopy& operator=(const INoCopy&) = delete;
  INoCopy& operator=(INoCopy&&) = delete;
};

// A borrowed array of `count` elements. The values must stay alive and unchanged until the network
// that uses them is built for the last time. count == 0 with null values means "no weights".
class Weights {
 public:
  DataType type;
  const void* values;
  int64_t count;
};

// Bytes owned by the library on the caller's behalf: an engine file, a timing cache.
class CAMSHAFT_API IHostMemory : public INoCopy {
 public:
  ~IHostMemory() noexcept override = default;

  void* data() const noexcept { return mImpl->data(); }
  std::size_t size() const noexcept { return mImpl->size(); }
  DataType type() const noexcept { return mImpl->type(); }

 protected:
  apiv::VHostMemory* mImpl{};
};

// What an engine may be restricted to; kSTANDARD is not, and the only one that builds make.
enum class EngineCapability : int32_t {
  kSTANDARD = 0,
  kSAFETY = 1,
  kDLA_STANDALONE = 2,
};
template <>
constexpr int32_t EnumMax<EngineCapability>() noexcept {
  return 3;
}

enum class TensorLocation : int32_t {
  kDEVICE = 0,
  kHOST = 1,
};
template <>
constexpr int32_t EnumMax<TensorLocation>() noexcept {
  return 2;
}

enum class DeviceType : int32_t {
  kGPU = 0,
  kDLA = 1,  // known by name; no backend drives it
  kCPU = 2,  // Camshaft's own value: tensor addresses are host pointers, the stream is null
};
template <>
constexpr int32_t EnumMax<DeviceType>() noexcept {
  return 3;
}

// How the elements of a tensor lie in memory. Engines built today use kLINEAR (row-major) for all
// inputs and outputs.
enum class TensorFormat : int32_t {
  kLINEAR = 0,
  kCHW2 = 1,
  kHWC8 = 2,
  kCHW4 = 3,
  kCHW16 = 4,
  kCHW32 = 5,
  kDHWC8 = 6,
  kCDHW32 = 7,
  kHWC = 8,
  kDLA_LINEAR = 9,
  kDLA_HWC4 = 10,
  kHWC16 = 11,
  kDHWC = 12,
};
template <>
constexpr int32_t EnumMax<TensorFormat>() noexcept {
  return 13;
}

// Bit numbers of TempfileControlFlags: where a runtime may put code it has to load as a file.
enum class TempfileControlFlag : int32_t {
  kALLOW_IN_MEMORY_FILES = 0,
  kALLOW_TEMPORARY_FILES = 1,
};
template <>
constexpr int32_t EnumMax<TempfileControlFlag>() noexcept {
  return 2;
}

// What weights are to their layer.
enum class WeightsRole : int32_t {
  kKERNEL = 0,
  kBIAS = 1,
  kSHIFT = 2,
  kSCALE = 3,
  kCONSTANT = 4,
  kANY = 5,
};
template <>
constexpr int32_t EnumMax<WeightsRole>() noexcept {
  return 6;
}

enum class OptProfileSelector : int32_t {
  kMIN = 0,
  kOPT = 1,  // what kernels are chosen for
  kMAX = 2,  // what memory is planned for
};
template <>
constexpr int32_t EnumMax<OptProfileSelector>() noexcept {
  return 3;
}

// How much the engine remembers about its layers for the inspector and profiler.
enum class ProfilingVerbosity : int32_t {
  kLAYER_NAMES_ONLY = 0,
  kNONE = 1,
  kDETAILED = 2,
};
template <>
constexpr int32_t EnumMax<ProfilingVerbosity>() noexcept {
  return 3;
}

// Who allocates a context's scratch memory, and when.
enum class ExecutionContextAllocationStrategy : int32_t {
  kSTATIC = 0,             // grows when a profile needs more, never shrinks
  kON_PROFILE_CHANGE = 1,  // the same
  kUSER_MANAGED = 2,       // by the caller, who gives it with setDeviceMemoryV2 before running
};
template <>
constexpr int32_t EnumMax<ExecutionContextAllocationStrategy>() noexcept {
  return 3;
}

// Bit numbers of TacticSources: libraries whose kernels a build may choose.
enum class TacticSource : int32_t {
  kCUBLAS = 0,
  kCUBLAS_LT = 1,
  kCUDNN = 2,
  kEDGE_MASK_CONVOLUTIONS = 3,
  kJIT_CONVOLUTIONS = 4,
};
template <>
constexpr int32_t EnumMax<TacticSource>() noexcept {
  return 5;
}

enum class LayerInformationFormat : int32_t {
  kONELINE = 0,
  kJSON = 1,
};
template <>
constexpr int32_t EnumMax<LayerInformationFormat>() noexcept {
  return 2;
}

// Receives messages. Implemented by the caller; log() may be called from several threads at once
// and must not call back into the library. The message is valid during the call only.
class CAMSHAFT_API ILogger {
 public:
  enum class Severity : int32_t {
    kINTERNAL_ERROR = 0,  // a bug in the library
    kERROR = 1,           // the call failed
    kWARNING = 2,         // the call succeeded, though perhaps not as wished
    kINFO = 3,
    kVERBOSE = 4,
  };

  virtual void log(Severity severity, const AsciiChar* msg) noexcept = 0;
  ILogger() = default;
  virtual ~ILogger() = default;

 protected:
  ILogger(const ILogger&) = default;
  ILogger(ILogger&&) = default;
  ILogger& operator=(const ILogger&) & = default;
  ILogger& operator=(ILogger&&) & = default;
};
template <>
constexpr int32_t EnumMax<ILogger::Severity>() noexcept {
  return 5;
}

// Finds the logger for a library that has none of its own.
class CAMSHAFT_API ILoggerFinder {
 public:
  virtual ILogger* findLogger() = 0;

 protected:
  virtual ~ILoggerFinder() = default;
};

// As TensorRT 11 calls them.
namespace v_1_0 {

using ILogger = nvinfer1::ILogger;
using ILoggerFinder = nvinfer1::ILoggerFinder;

}  // namespace v_1_0

}  // namespace nvinfer1
