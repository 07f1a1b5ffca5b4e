// What is used of ONNX Runtime's C interface for plug-in execution providers, version 1.24 and
// later: no package carries its headers, so functions are taken from its tables by their places
// (ort_functions.def), and the structs that a provider fills in are laid out as that version has
// them. Names are ONNX Runtime's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace camshaft::ort {

inline constexpr uint32_t kApiVersion = 24;

struct OrtEpDevice;
struct OrtEpGraphSupportInfo;
struct OrtGraph;
struct OrtHardwareDevice;
struct OrtKernelContext;
struct OrtKeyValuePairs;
struct OrtLogger;
struct OrtNode;
struct OrtNodeComputeContext;
struct OrtOpAttr;
struct OrtRunOptions;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtTensorTypeAndShapeInfo;
struct OrtTypeInfo;
struct OrtValue;
struct OrtValueInfo;

// Numbers of its enumerations. Element types are ONNX's own codes.
// Of its error codes none that makes its Python module change to another provider in silence.
inline constexpr int kOrtFail = 1;  // OrtErrorCode
inline constexpr int kOrtInvalidArgument = 2;
inline constexpr int kOrtVerbose = 0;  // OrtLoggingLevel
inline constexpr int kOrtInfo = 1;
inline constexpr int kOrtWarning = 2;
inline constexpr int kOrtError = 3;
inline constexpr int kOrtCpu = 0;  // OrtHardwareDeviceType
inline constexpr int kOrtGpu = 1;
inline constexpr int kOrtTensor = 1;  // ONNXType
enum class OrtAttribute {
  kUndefined,
  kInt,
  kInts,
  kFloat,
  kFloats,
  kString,
  kStrings,
  kGraph,
  kTensor
};

// NOLINTBEGIN(readability-identifier-naming)
struct OrtApiBase {
  const void* (*GetApi)(uint32_t version);  // null for versions newer than the runtime
  const char* (*GetVersionString)();
};

struct OrtNodeFusionOptions {
  uint32_t ort_version_supported;
  bool drop_constant_initializers;
};

struct OrtNodeComputeInfo {
  uint32_t ort_version_supported;
  OrtStatus* (*CreateState)(OrtNodeComputeInfo* self, OrtNodeComputeContext* context, void** state);
  OrtStatus* (*Compute)(OrtNodeComputeInfo* self, void* state, OrtKernelContext* context);
  void (*ReleaseState)(OrtNodeComputeInfo* self, void* state);
};

// Slots that a provider leaves null have no signature here.
struct OrtEp {
  uint32_t ort_version_supported;
  const char* (*GetName)(const OrtEp* self);
  OrtStatus* (*GetCapability)(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info);
  OrtStatus* (*Compile)(OrtEp* self, const OrtGraph** graphs, const OrtNode** fusedNodes,
                        size_t count, OrtNodeComputeInfo** infos, OrtNode** contextNodes);
  void (*ReleaseNodeComputeInfos)(OrtEp* self, OrtNodeComputeInfo** infos, size_t count);
  void* GetPreferredDataLayout;
  void* ShouldConvertDataLayoutForOp;
  void* SetDynamicOptions;
  void* OnRunStart;
  void* OnRunEnd;
  void* CreateAllocator;
  void* CreateSyncStreamForDevice;
  void* GetCompiledModelCompatibilityInfo;
  void* GetKernelRegistry;
  void* IsConcurrentRunSupported;
};

struct OrtEpFactory {
  uint32_t ort_version_supported;
  const char* (*GetName)(const OrtEpFactory* self);
  const char* (*GetVendor)(const OrtEpFactory* self);
  OrtStatus* (*GetSupportedDevices)(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                    size_t count, OrtEpDevice** made, size_t most, size_t* number);
  OrtStatus* (*CreateEp)(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                         const OrtKeyValuePairs* const* metadata, size_t count,
                         const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** made);
  void (*ReleaseEp)(OrtEpFactory* self, OrtEp* ep);
  uint32_t (*GetVendorId)(const OrtEpFactory* self);
  const char* (*GetVersion)(const OrtEpFactory* self);
  void* ValidateCompiledModelCompatibilityInfo;
  void* CreateAllocator;
  void* ReleaseAllocator;
  OrtStatus* (*CreateDataTransfer)(OrtEpFactory* self, void** made);  // null: not needed
  bool (*IsStreamAware)(const OrtEpFactory* self);
  void* CreateSyncStreamForDevice;
  void* GetHardwareDeviceIncompatibilityDetails;
  void* CreateExternalResourceImporterForDevice;
  void* GetNumCustomOpDomains;
  void* GetCustomOpDomains;
};

static_assert(sizeof(OrtNodeComputeInfo) == 4 * sizeof(void*));
static_assert(offsetof(OrtEp, ReleaseNodeComputeInfos) == 4 * sizeof(void*));
static_assert(sizeof(OrtEp) == 15 * sizeof(void*));
static_assert(offsetof(OrtEpFactory, IsStreamAware) == 12 * sizeof(void*));
static_assert(sizeof(OrtEpFactory) == 18 * sizeof(void*));

// The functions, ready to be called.
class OrtApi {
 public:
  explicit OrtApi(const void* table);  // OrtApi of ONNX Runtime, version 1.24 or later

#define ORT_API(slot, returns, name, ...)                            \
  static_assert((slot) <= 414, #name " is newer than version 1.24"); \
  returns (*name)(__VA_ARGS__);
#define ORT_EP_API(slot, returns, name, ...) returns (*name)(__VA_ARGS__);
#include "onnxruntime/ort_functions.def"
#undef ORT_API
#undef ORT_EP_API
  // NOLINTEND(readability-identifier-naming)

  // Throws the Error that a status tells of, and ends it.
  void check(OrtStatus* status) const;

  // what(function, object): the one result of a function that writes it, as most do.
  template <class Result, class Object>
  Result get(OrtStatus* (*function)(const Object*, Result*), const Object* object) const {
    Result result{};
    check(function(object, &result));
    return result;
  }

  // The elements that one function counts and another writes.
  template <class Element, class Object>
  std::vector<Element> list(OrtStatus* (*count)(const Object*, size_t*),
                            OrtStatus* (*write)(const Object*, Element*, size_t),
                            const Object* object) const {
    std::vector<Element> elements(get(count, object));
    check(write(object, elements.data(), elements.size()));
    return elements;
  }

  // body(), whose exceptions become a status; null when there was none.
  template <class F>
  OrtStatus* guarded(F&& body) const noexcept {
    try {
      body();
      return nullptr;
    } catch (...) {
      return statusOfException();
    }
  }

 private:
  OrtStatus* statusOfException() const noexcept;
};

}  // namespace camshaft::ort
