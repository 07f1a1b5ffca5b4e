#include "bindings.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace camshaft::python {
namespace {

// What the calling thread was told since forgetReason().
struct Reason {
  std::string text;       // errors of objects that raise
  bool returned = false;  // an object that returns its failures had one
};
thread_local Reason lastReason;

class RememberingLogger : public nvinfer1::ILogger {
 public:
  RememberingLogger(nvinfer1::ILogger& logger, bool returns)
      : inner(&logger), returnsFailures(returns) {}
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) {
      if (returnsFailures) {
        lastReason.returned = true;
      } else {
        if (!lastReason.text.empty()) lastReason.text += "\n";
        lastReason.text += message;
      }
    }
    if (nvinfer1::ILogger* logger = inner) logger->log(severity, message);
  }

  std::atomic<nvinfer1::ILogger*> inner;  // null once it has ended
  const bool returnsFailures;
};

// One forwarder for each logger, for good: the library keeps the last that it was given. Threads
// may still log while the process ends, so nothing here is destroyed.
struct Forwarders {
  std::mutex mutex;
  std::unordered_map<nvinfer1::ILogger*, RememberingLogger*> all;
};
Forwarders& forwarders() {
  static auto& forwarders = *new Forwarders;
  return forwarders;
}

}  // namespace

nvinfer1::ILogger& remembering(nvinfer1::ILogger& logger) {
  const bool returns = dynamic_cast<ReturningLogger*>(&logger) != nullptr;
  const std::lock_guard lock(forwarders().mutex);
  RememberingLogger*& forwarder = forwarders().all[&logger];
  if (!forwarder) forwarder = new RememberingLogger(logger, returns);
  return *forwarder;
}

void forgetLogger(nvinfer1::ILogger& logger) {
  const std::lock_guard lock(forwarders().mutex);
  const auto found = forwarders().all.find(&logger);
  if (found == forwarders().all.end()) return;
  found->second->inner = nullptr;
  forwarders().all.erase(found);
}

nvinfer1::ILogger* loggerOf(nvinfer1::ILogger* logger) {
  auto* forwarder = dynamic_cast<RememberingLogger*>(logger);
  return forwarder ? forwarder->inner.load() : logger;
}

nvinfer1::ILogger& quietLogger() {
  struct Quiet : nvinfer1::ILogger {
    void log(Severity, const char*) noexcept override {}
  };
  static Quiet quiet;
  return remembering(quiet);
}

void forgetReason() { lastReason = {}; }

void raiseReason(const char* call) {
  if (lastReason.text.empty() && lastReason.returned) return;
  const std::string text =
      lastReason.text.empty() ? std::string(call) + " failed" : lastReason.text;
  nb::object type = nb::module_::import_("camshaft").attr("Error");
  PyErr_SetObject(type.ptr(), textOf(text.c_str()).ptr());
  throw nb::python_error();
}

OwnReason::OwnReason() : outer_(std::exchange(lastReason.text, {})) {}
OwnReason::~OwnReason() { lastReason.text = std::move(outer_); }
void OwnReason::raiseIfAny() const {
  if (!lastReason.text.empty()) raiseReason("");
}

bool streamFrom(nb::handle source, Stream& stream) noexcept {
  try {
    nb::object number = nb::borrow(source);
    if (nb::hasattr(source, "__cuda_stream__")) {
      number = source.attr("__cuda_stream__")()[1];
    } else {
      for (const char* name : {"cuda_stream", "ptr", "handle"})
        if (nb::hasattr(source, name)) {
          number = source.attr(name);
          break;
        }
    }
    stream.handle = static_cast<cudaStream_t>(PyLong_AsVoidPtr(nb::int_(number).ptr()));
    return !PyErr_Occurred() || (PyErr_Clear(), false);
  } catch (const std::exception&) {
    return false;
  }
}

nb::str textOf(const char* bytes) {
  if (!bytes) return nb::borrow<nb::str>(nb::none());
  auto text = nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "backslashreplace"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

}  // namespace camshaft::python

NB_MODULE(_camshaft, m) {
  using namespace camshaft::python;
  // What threads hold while the process ends cannot be given back; the program is not to blame.
  nb::set_leak_warnings(false);
  m.doc() = "Bindings of the C++ API; import camshaft instead.";
  bindEnums(m);
  bindBasics(m);
  bindCallbacks(m);
  bindNetwork(m);
  bindLayers(m);
  bindBlocks(m);
  bindListedLayers(m);
  bindConfig(m);
  bindBuilder(m);
  bindDevice(m);
  bindRuntime(m);
  bindParser(m);
  bindPlugins(m);
  bindRefit(m);
  bindMachine(m);
  bindSlim(m);
  bindAccuracy(m);
  bindQuantize(m);
  bindOlderStyle();
  guardClasses(m);
  m.attr("TENSORRT_VERSION") = std::to_string(NV_TENSORRT_MAJOR) + "." +
                               std::to_string(NV_TENSORRT_MINOR) + "." +
                               std::to_string(NV_TENSORRT_PATCH);
  m.def("get_nv_onnx_parser_version", &getNvOnnxParserVersion);
}
