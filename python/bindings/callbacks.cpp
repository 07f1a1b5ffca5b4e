// What the user implements: loggers, recorders, profilers, monitors, output allocators. Python
// exceptions in a callback cannot cross the library; they are printed as unraisable.
#include <cstdio>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// Calls into Python from any thread of the library; `fallback` when it raised.
template <class T, class F>
T fromPython(T fallback, F&& body) noexcept {
  if (!Py_IsInitialized()) return fallback;
  const Locked locked;
  try {
    return untilExit([&] { return body(); });  // Python code lets go of the lock at any time
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("a camshaft callback");
  } catch (const std::exception& error) {
    PyErr_WarnEx(PyExc_RuntimeWarning, error.what(), 1);
    PyErr_Clear();
  }
  return fallback;
}

struct PyILogger : ILogger {
  NB_TRAMPOLINE(ILogger, 1);
  void log(Severity severity, const char* message) noexcept override {
    fromPython(0, [&] {
      nb_trampoline.base().attr("log")(severity, textOf(message));
      return 0;
    });
  }
};

// Prints to stderr by itself, so that C++ threads need no GIL for it.
class Logger : public ILogger {
 public:
  explicit Logger(Severity minSeverity) : minSeverity(minSeverity) {}
  void log(Severity severity, const char* message) noexcept override {
    static constexpr const char* kTags[] = {"F", "E", "W", "I", "V"};
    if (severity <= minSeverity)
      std::fprintf(stderr, "[TRT] [%s] %s\n", kTags[static_cast<int>(severity)], message);
  }
  Severity minSeverity;
};

struct PyErrorRecorder : IErrorRecorder {
  NB_TRAMPOLINE(IErrorRecorder, 8);
  int32_t getNbErrors() const noexcept override {
    return fromPython(0, [&] { return nb::cast<int32_t>(self().attr("num_errors")()); });
  }
  ErrorCode getErrorCode(int32_t index) const noexcept override {
    return fromPython(ErrorCode::kUNSPECIFIED_ERROR,
                      [&] { return nb::cast<ErrorCode>(self().attr("get_error_code")(index)); });
  }
  ErrorDesc getErrorDesc(int32_t index) const noexcept override {
    text_ = fromPython(std::string(),
                       [&] { return nb::cast<std::string>(self().attr("get_error_desc")(index)); });
    return text_.c_str();
  }
  bool hasOverflowed() const noexcept override {
    return fromPython(false, [&] { return nb::cast<bool>(self().attr("has_overflowed")()); });
  }
  void clear() noexcept override {
    fromPython(0, [&] { return self().attr("clear")(), 0; });
  }
  bool reportError(ErrorCode code, ErrorDesc text) noexcept override {
    return fromPython(false, [&] {
      return nb::cast<bool>(nb::bool_(self().attr("report_error")(code, textOf(text))));
    });
  }
  RefCount incRefCount() noexcept override {
    return ++references_;
  }  // Python keeps the object alive
  RefCount decRefCount() noexcept override { return --references_; }

 private:
  nb::handle self() const { return nb_trampoline.base(); }
  mutable std::string text_;
  RefCount references_ = 0;
};

struct PyProfiler : IProfiler {
  NB_TRAMPOLINE(IProfiler, 1);
  void reportLayerTime(const char* layer, float ms) noexcept override {
    fromPython(
        0, [&] { return nb_trampoline.base().attr("report_layer_time")(textOf(layer), ms), 0; });
  }
};

struct PyProgressMonitor : IProgressMonitor {
  NB_TRAMPOLINE(IProgressMonitor, 3);
  void phaseStart(const char* phase, const char* parent, int32_t steps) noexcept override {
    fromPython(0, [&] {
      return nb_trampoline.base().attr("phase_start")(textOf(phase), textOf(parent), steps), 0;
    });
  }
  bool stepComplete(const char* phase, int32_t step) noexcept override {
    return fromPython(false, [&] {
      return nb::cast<bool>(
          nb::bool_(nb_trampoline.base().attr("step_complete")(textOf(phase), step)));
    });
  }
  void phaseFinish(const char* phase) noexcept override {
    fromPython(0, [&] { return nb_trampoline.base().attr("phase_finish")(textOf(phase)), 0; });
  }
};

struct PyOutputAllocator : IOutputAllocator {
  NB_TRAMPOLINE(IOutputAllocator, 2);
  void* reallocateOutput(const char* name, void* memory, uint64_t size,
                         uint64_t alignment) noexcept override {
    return fromPython<void*>(nullptr, [&] {
      nb::object address = nb_trampoline.base().attr("reallocate_output")(
          textOf(name), reinterpret_cast<uintptr_t>(memory), size, alignment);
      return address.is_none() ? nullptr : reinterpret_cast<void*>(nb::cast<uintptr_t>(address));
    });
  }
  void notifyShape(const char* name, const Dims& dims) noexcept override {
    fromPython(0, [&] { return nb_trampoline.base().attr("notify_shape")(textOf(name), dims), 0; });
  }
};

}  // namespace

void bindCallbacks(nb::module_& m) {
  nb::class_<ILogger, PyILogger> logger(m, "ILogger");
  nb::enum_<ILogger::Severity>(logger, "Severity", nb::is_arithmetic())
      .value("INTERNAL_ERROR", ILogger::Severity::kINTERNAL_ERROR)
      .value("ERROR", ILogger::Severity::kERROR)
      .value("WARNING", ILogger::Severity::kWARNING)
      .value("INFO", ILogger::Severity::kINFO)
      .value("VERBOSE", ILogger::Severity::kVERBOSE)
      .export_values();
  logger.def(nb::init<>());
  nb::class_<Logger, ILogger>(m, "Logger")
      .def(nb::init<ILogger::Severity>(), "min_severity"_a = ILogger::Severity::kWARNING)
      .def_rw("min_severity", &Logger::minSeverity)
      .def(
          "log",
          [](Logger& self, ILogger::Severity severity, const std::string& msg) {
            self.log(severity, msg.c_str());
          },
          "severity"_a, "msg"_a);
  nb::class_<IErrorRecorder, PyErrorRecorder>(m, "IErrorRecorder").def(nb::init<>());
  nb::class_<IProfiler, PyProfiler>(m, "IProfiler").def(nb::init<>());
  nb::class_<IProgressMonitor, PyProgressMonitor>(m, "IProgressMonitor").def(nb::init<>());
  nb::class_<IOutputAllocator, PyOutputAllocator>(m, "IOutputAllocator").def(nb::init<>());
}

}  // namespace camshaft::python
