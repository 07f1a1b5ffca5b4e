// What ONNX Runtime finds in this library: a factory of providers.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "NvInfer.h"
#include "onnxruntime/provider.h"
#include "support/error.h"

namespace camshaft::ort {
namespace {

constexpr uint32_t kNvidia = 0x10de;  // PCI's number of the vendor

class Silence : public nvinfer1::ILogger {
 public:
  void log(Severity, const char*) noexcept override {}
};

bool hasUsableGpu() {
  static Silence silence;
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(silence));
  return builder && builder->platformHasFastFp16();
}

class Factory : public OrtEpFactory {
 public:
  explicit Factory(const void* table);

 private:
  void makeDevices(const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** made,
                   size_t most, size_t& number);
  OrtEp* makeProvider(const OrtHardwareDevice* const* devices, size_t count,
                      const OrtSessionOptions* options, const OrtLogger* log) const;
  std::map<std::string, std::string> optionsOf(const OrtSessionOptions* options) const;

  OrtApi api_;
};

Factory::Factory(const void* table) : OrtEpFactory{}, api_(table) {
  ort_version_supported = kApiVersion;
  GetName = [](const OrtEpFactory*) { return kProviderName; };
  GetVendor = [](const OrtEpFactory*) { return "Camshaft"; };
  GetVendorId = [](const OrtEpFactory*) -> uint32_t { return 0; };
  GetVersion = [](const OrtEpFactory*) { return CAMSHAFT_VERSION_TEXT; };
  CreateDataTransfer = [](OrtEpFactory*, void** made) {
    *made = nullptr;  // tensors stay on the host between nodes
    return static_cast<OrtStatus*>(nullptr);
  };
  IsStreamAware = [](const OrtEpFactory*) { return false; };
  GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                           size_t count, OrtEpDevice** made, size_t most, size_t* number) {
    auto* factory = static_cast<Factory*>(self);
    return factory->api_.guarded(
        [&] { factory->makeDevices(devices, count, made, most, *number); });
  };
  CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                const OrtKeyValuePairs* const*, size_t count, const OrtSessionOptions* options,
                const OrtLogger* log, OrtEp** made) {
    auto* factory = static_cast<Factory*>(self);
    return factory->api_.guarded(
        [&] { *made = factory->makeProvider(devices, count, options, log); });
  };
  ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Provider*>(ep); };
}

void Factory::makeDevices(const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** made,
                          size_t most, size_t& number) {
  number = 0;
  for (size_t i = 0; i < count && number < most; ++i) {
    const int type = api_.HardwareDevice_Type(devices[i]);
    const bool isGpu = type == kOrtGpu && api_.HardwareDevice_VendorId(devices[i]) == kNvidia;
    if (type != kOrtCpu && !(isGpu && hasUsableGpu())) continue;
    api_.check(api_.CreateEpDevice(this, devices[i], nullptr, nullptr, &made[number]));
    ++number;
  }
}

// Options of a provider are entries of the session's, behind its name in small letters.
std::map<std::string, std::string> Factory::optionsOf(const OrtSessionOptions* options) const {
  std::string prefix = str("ep.", kProviderName, ".");
  std::ranges::transform(prefix, prefix.begin(),
                         [](char c) { return static_cast<char>(std::tolower(c)); });
  OrtKeyValuePairs* entries = api_.get(api_.GetSessionOptionsConfigEntries, options);
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  api_.GetKeyValuePairs(entries, &keys, &values, &count);
  std::map<std::string, std::string> own;
  for (size_t i = 0; i < count; ++i)
    if (std::string_view(keys[i]).starts_with(prefix)) own[keys[i] + prefix.size()] = values[i];
  api_.ReleaseKeyValuePairs(entries);
  return own;
}

OrtEp* Factory::makeProvider(const OrtHardwareDevice* const* devices, size_t count,
                             const OrtSessionOptions* sessionOptions, const OrtLogger* log) const {
  Options options = parseOptions(optionsOf(sessionOptions));
  if (!options.onGpu)
    options.onGpu = std::any_of(devices, devices + count, [&](const OrtHardwareDevice* device) {
      return api_.HardwareDevice_Type(device) == kOrtGpu;
    });
  if (*options.onGpu && !hasUsableGpu())
    fail(ErrorKind::kInvalidArgument,
         "option 'device' asks for a GPU and none can be used here; leave it out or set 'cpu'");
  return new Provider(api_, log, std::move(options));
}

}  // namespace
}  // namespace camshaft::ort

using namespace camshaft::ort;  // NOLINT: what follows is ONNX Runtime's

// NOLINTBEGIN(readability-identifier-naming)
#define CAMSHAFT_EXPORT extern "C" __attribute__((visibility("default")))

CAMSHAFT_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*,
                                             OrtEpFactory** factories, size_t most,
                                             size_t* number) {
  const void* table = base->GetApi(kApiVersion);
  if (!table) {
    // The place of CreateStatus is the same in all versions.
    const auto* const oldest = static_cast<void* const*>(base->GetApi(1));
    const auto createStatus =
        reinterpret_cast<OrtStatus* (*)(int, const char*)>(oldest[0]);  // NOLINT
    const std::string message =
        camshaft::str("Camshaft's provider needs ONNX Runtime 1.", kApiVersion,
                      " or later, and this is ", base->GetVersionString());
    return createStatus(kOrtFail, message.c_str());
  }
  if (most == 0) return OrtApi(table).CreateStatus(kOrtInvalidArgument, "no room for a factory");
  try {
    factories[0] = new Factory(table);
    *number = 1;
    return nullptr;
  } catch (const std::exception& error) {
    return OrtApi(table).CreateStatus(kOrtFail, error.what());
  }
}

CAMSHAFT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
// NOLINTEND(readability-identifier-naming)
