#include "bindings.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace camshaft::python {
namespace {

thread_local std::string lastReason;

class RememberingLogger : public nvinfer1::ILogger {
 public:
  explicit RememberingLogger(nvinfer1::ILogger& inner) : inner_(inner) {}
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) {
      if (!lastReason.empty()) lastReason += "\n";
      lastReason += message;
    }
    inner_.log(severity, message);
  }

 private:
  nvinfer1::ILogger& inner_;
};

}  // namespace

nvinfer1::ILogger& remembering(nvinfer1::ILogger& logger) {
  // One forwarder per logger, for good: objects made from it may outlive any scope here.
  static std::mutex mutex;
  static std::unordered_map<nvinfer1::ILogger*, std::unique_ptr<RememberingLogger>> forwarders;
  const std::lock_guard lock(mutex);
  auto& forwarder = forwarders[&logger];
  if (!forwarder) forwarder = std::make_unique<RememberingLogger>(logger);
  return *forwarder;
}

void forgetReason() { lastReason.clear(); }

void raiseReason(const char* call) {
  const std::string text = lastReason.empty() ? std::string(call) + " failed" : lastReason;
  nb::object type = nb::module_::import_("camshaft").attr("Error");
  PyErr_SetString(type.ptr(), text.c_str());
  throw nb::python_error();
}

}  // namespace camshaft::python

NB_MODULE(_camshaft, m) {
  using namespace camshaft::python;
  m.doc() = "Bindings of the C++ API; import camshaft instead.";
  bindEnums(m);
  bindBasics(m);
  bindCallbacks(m);
  bindNetwork(m);
  bindLayers(m);
  bindBuilder(m);
  bindDevice(m);
  bindRuntime(m);
  bindParser(m);
  bindSlim(m);
  m.attr("TENSORRT_VERSION") = std::to_string(NV_TENSORRT_MAJOR) + "." + std::to_string(NV_TENSORRT_MINOR) + "." +
                               std::to_string(NV_TENSORRT_PATCH);
  m.def("get_nv_onnx_parser_version", &getNvOnnxParserVersion);
}
