#include "bindings.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

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
  // Threads may still log while the process ends, so nothing here is destroyed.
  static auto& mutex = *new std::mutex;
  static auto& forwarders =
      *new std::unordered_map<nvinfer1::ILogger*, std::unique_ptr<RememberingLogger>>;
  const std::lock_guard lock(mutex);
  auto& forwarder = forwarders[&logger];
  if (!forwarder) forwarder = std::make_unique<RememberingLogger>(logger);
  return *forwarder;
}

void forgetReason() { lastReason.clear(); }

void raiseReason(const char* call) {
  const std::string text = lastReason.empty() ? std::string(call) + " failed" : lastReason;
  nb::object type = nb::module_::import_("camshaft").attr("Error");
  PyErr_SetObject(type.ptr(), textOf(text.c_str()).ptr());
  throw nb::python_error();
}

OwnReason::OwnReason() : outer_(std::exchange(lastReason, {})) {}
OwnReason::~OwnReason() { lastReason = std::move(outer_); }
void OwnReason::raiseIfAny() const {
  if (!lastReason.empty()) raiseReason("");
}

nb::object textOf(const char* bytes) {
  if (!bytes) return nb::none();
  nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "backslashreplace"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

}  // namespace camshaft::python

NB_MODULE(_camshaft, m) {
  using namespace camshaft::python;
  // What threads hold while the process ends cannot be given back, and is no fault of the program's.
  nb::set_leak_warnings(false);
  m.doc() = "Bindings of the C++ API; import camshaft instead.";
  bindEnums(m);
  bindBasics(m);
  bindCallbacks(m);
  bindNetwork(m);
  bindLayers(m);
  bindBlocks(m);
  bindBuilder(m);
  bindDevice(m);
  bindRuntime(m);
  bindParser(m);
  bindSlim(m);
  m.attr("TENSORRT_VERSION") = std::to_string(NV_TENSORRT_MAJOR) + "." +
                               std::to_string(NV_TENSORRT_MINOR) + "." +
                               std::to_string(NV_TENSORRT_PATCH);
  m.def("get_nv_onnx_parser_version", &getNvOnnxParserVersion);
}
