#pragma once

// Base types of the API: data types, dimensions, error codes, and the interface that every object
// implemented by the caller derives from.
//
// Rules that hold for the whole API:
// - No method throws. A failing call says why through the ILogger and the IErrorRecorder and
//   returns null, false, -1, or a Dims with nbDims == -1.
// - A pointer returned by a create* or build* function, or by serialize(), belongs to the caller,
//   who ends it with `delete`. Every other returned pointer, and an optimisation profile, belongs
//   to the object that returned it.
// - A string argument is copied. A returned string lives as long as its object, or until the same
//   property is set again.
// - Objects given to a set* function (logger, recorder, profiler, monitor, allocator) are borrowed
//   and must outlive the object they were given to. Null unsets where null makes sense.
// - Everything that TensorRT declares is declared, since compiled programs count on its place. What
//   is not available is marked "refused": the call fails, and the message says so.

#include <cstddef>
#include <cstdint>

#include "NvInferVersion.h"

#if defined(__GNUC__)
#define CAMSHAFT_API __attribute__((visibility("default")))
#else
#define CAMSHAFT_API
#endif
#define TENSORRTAPI CAMSHAFT_API

// For clients that use these names. Nothing is marked with them here: what TensorRT calls
// deprecated stays.
#define TRT_DEPRECATED [[deprecated]]
#define TRT_DEPRECATED_BECAUSE(REASON) [[deprecated(REASON)]]
#define TRT_DEPRECATED_ENUM TRT_DEPRECATED
#define TRT_DEPRECATED_API TRT_DEPRECATED TENSORRTAPI
#define TRT_NODISCARD [[nodiscard]]
#define TRT_NODISCARD_BECAUSE(REASON) [[nodiscard]]
#define TRTNOEXCEPT

// Same types as cuda_runtime.h declares, so both headers may be included, in either order, and
// neither needs the other. On a CPU the stream is null.
struct CUstream_st;
struct CUevent_st;
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;

// Handles of libraries that old plugins are given, and that are null here.
extern "C" {
struct cublasContext;
struct cudnnContext;
}

namespace nvinfer1 {

using char_t = char;
using AsciiChar = char_t;

// Number of values in an enumeration whose values are 0 .. n-1.
template <typename Enum>
constexpr int32_t EnumMax() noexcept;

enum class DataType : int32_t {
  kFLOAT = 0,
  kHALF = 1,
  kINT8 = 2,
  kINT32 = 3,
  kBOOL = 4,
  kUINT8 = 5,
  kFP8 = 6,
  kBF16 = 7,
  kINT64 = 8,
  kINT4 = 9,
  kFP4 = 10,
  kE8M0 = 11,
  // Camshaft's own: ONNX types that TensorRT has no name for.
  kDOUBLE = 64,
  kINT16 = 65,
  kUINT16 = 66,
  kUINT32 = 67,
  kUINT64 = 68,
  kFP8E5M2 = 69,
  kUINT4 = 70,
  kFP8E4M3FNUZ = 71,
  kFP8E5M2FNUZ = 72,
  kINT2 = 73,
  kUINT2 = 74,
};
template <>
constexpr int32_t EnumMax<DataType>() noexcept {
  return 12;
}

// Sizes of up to MAX_DIMS dimensions. nbDims == 0 is a scalar, nbDims == -1 an invalid or unknown
// shape, d[i] == -1 a dimension known only at run time.
class Dims64 {
 public:
  static constexpr int32_t MAX_DIMS{8};
  int32_t nbDims;
  int64_t d[MAX_DIMS];
};
using Dims = Dims64;

using InterfaceKind = const char*;

class InterfaceInfo {
 public:
  InterfaceKind kind;
  int32_t major;
  int32_t minor;
};

enum class APILanguage : int32_t {
  kCPP = 0,
  kPYTHON = 1,
};
template <>
constexpr int32_t EnumMax<APILanguage>() noexcept {
  return 2;
}

// Root of the interfaces that callers implement. The library asks for the version before it calls
// a method that a later version of the interface added.
class CAMSHAFT_API IVersionedInterface {
 public:
  virtual APILanguage getAPILanguage() const noexcept { return APILanguage::kCPP; }
  virtual InterfaceInfo getInterfaceInfo() const noexcept = 0;
  virtual ~IVersionedInterface() noexcept = default;

 protected:
  IVersionedInterface() = default;
  IVersionedInterface(const IVersionedInterface&) = default;
  IVersionedInterface(IVersionedInterface&&) = default;
  IVersionedInterface& operator=(const IVersionedInterface&) & = default;
  IVersionedInterface& operator=(IVersionedInterface&&) & = default;
};

enum class ErrorCode : int32_t {
  kSUCCESS = 0,
  kUNSPECIFIED_ERROR = 1,
  kINTERNAL_ERROR = 2,
  kINVALID_ARGUMENT = 3,
  kINVALID_CONFIG = 4,
  kFAILED_ALLOCATION = 5,
  kFAILED_INITIALIZATION = 6,
  kFAILED_EXECUTION = 7,
  kFAILED_COMPUTATION = 8,
  kINVALID_STATE = 9,
  kUNSUPPORTED_STATE = 10,
};
template <>
constexpr int32_t EnumMax<ErrorCode>() noexcept {
  return 11;
}

namespace v_1_0 {

// Collects errors for programs that do not read logs. Implemented by the caller; every method may
// be called from several threads at once. An object made by another (an engine by a runtime, a
// context by an engine) inherits its maker's recorder. The library takes a reference when a
// recorder is set and gives it back when the recorder is replaced or the object ends.
class CAMSHAFT_API IErrorRecorder : public IVersionedInterface {
 public:
  using ErrorDesc = const char*;
  using RefCount = int32_t;

  // Longest description that must be kept, without the final zero; the rest may be cut off.
  static constexpr size_t kMAX_DESC_LENGTH{127U};

  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IErrorRecorder", 1, 0}; }

  virtual int32_t getNbErrors() const noexcept = 0;
  // Indices run from 0 (oldest) to getNbErrors() - 1.
  virtual ErrorCode getErrorCode(int32_t errorIdx) const noexcept = 0;
  virtual ErrorDesc getErrorDesc(int32_t errorIdx) const noexcept = 0;
  // True once an error was dropped for want of room.
  virtual bool hasOverflowed() const noexcept = 0;
  virtual void clear() noexcept = 0;

  // Called by the library; desc is valid during the call only. The returned value says whether
  // the caller holds the error to be fatal.
  virtual bool reportError(ErrorCode val, ErrorDesc desc) noexcept = 0;

  virtual RefCount incRefCount() noexcept = 0;
  virtual RefCount decRefCount() noexcept = 0;

  IErrorRecorder() = default;
  ~IErrorRecorder() noexcept override = default;

 protected:
  IErrorRecorder(const IErrorRecorder&) = default;
  IErrorRecorder(IErrorRecorder&&) = default;
  IErrorRecorder& operator=(const IErrorRecorder&) & = default;
  IErrorRecorder& operator=(IErrorRecorder&&) & = default;
};

}  // namespace v_1_0
using IErrorRecorder = v_1_0::IErrorRecorder;

enum class TensorIOMode : int32_t {
  kNONE = 0,  // not an input or output of the engine
  kINPUT = 1,
  kOUTPUT = 2,
};
template <>
constexpr int32_t EnumMax<TensorIOMode>() noexcept {
  return 3;
}

}  // namespace nvinfer1

// NV_TENSORRT_VERSION of the library that is loaded, to compare with that of the headers.
extern "C" CAMSHAFT_API int32_t getInferLibVersion() noexcept;
