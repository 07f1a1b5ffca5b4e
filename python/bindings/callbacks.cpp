// What the user implements to be told: loggers, recorders, profilers, monitors.
#include "callbacks.h"

#include <cstdio>

namespace camshaft::python {

using namespace nvinfer1;

namespace {

constexpr size_t kMaxDescLength = IErrorRecorder::kMAX_DESC_LENGTH;

// Each for both kinds of logger, that of camshaft and that of camshaft.compat.
template <class Base>
struct PyLogger : Base {
  NB_TRAMPOLINE(Base);
  ~PyLogger() override { forgetLogger(*this); }
  void log(ILogger::Severity severity, const char* message) noexcept override {
    fromPython(0, [&] {
      nb_trampoline.base().attr("log")(severity, textOf(message));
      return 0;
    });
  }
};

// Prints to stderr by itself, so that C++ threads need no GIL for it.
template <class Base>
class Logger : public Base {
 public:
  using Severity = ILogger::Severity;
  explicit Logger(Severity minSeverity) : minSeverity(minSeverity) {}
  ~Logger() override { forgetLogger(*this); }
  void log(Severity severity, const char* message) noexcept override {
    static constexpr const char* kTags[] = {"F", "E", "W", "I", "V"};
    if (severity <= minSeverity)
      std::fprintf(stderr, "[TRT] [%s] %s\n", kTags[static_cast<int>(severity)], message);
  }
  Severity minSeverity;
};

struct PyErrorRecorder : OfPython<IErrorRecorder> {
  NB_TRAMPOLINE(OfPython<IErrorRecorder>);
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
  NB_TRAMPOLINE(IProfiler);
  void reportLayerTime(const char* layer, float ms) noexcept override {
    fromPython(
        0, [&] { return nb_trampoline.base().attr("report_layer_time")(textOf(layer), ms), 0; });
  }
};

struct PyProgressMonitor : OfPython<IProgressMonitor> {
  NB_TRAMPOLINE(OfPython<IProgressMonitor>);
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

// Prints what it is told, as TensorRT's does.
struct Profiler : IProfiler {
  void reportLayerTime(const char* layer, float ms) noexcept override {
    std::printf("%s: %gms\n", layer, static_cast<double>(ms));
  }
};

template <class Base>
void bindLogger(nb::module_& m, const char* name) {
  nb::class_<Logger<Base>, Base> logger(m, name);
  bindLifetime(logger, "def __enter__(self) -> Logger");
  logger
      .def(nb::init<ILogger::Severity>(),
           nb::arg("min_severity").sig("...") = ILogger::Severity::kWARNING)
      .def_rw("min_severity", &Logger<Base>::minSeverity)
      .def(
          "log",
          [](Logger<Base>& self, ILogger::Severity severity, const std::string& msg) {
            self.log(severity, msg.c_str());
          },
          "severity"_a, "msg"_a);
}

}  // namespace

void bindCallbacks(nb::module_& m) {
  nb::class_<InterfaceInfo>(m, "InterfaceInfo")
      .def_prop_ro("kind", [](const InterfaceInfo& self) { return textOf(self.kind); })
      .def_ro("major", &InterfaceInfo::major)
      .def_ro("minor", &InterfaceInfo::minor);
  nb::class_<IVersionedInterface>(m, "IVersionedInterface")
      .def_prop_ro("api_language", &IVersionedInterface::getAPILanguage)
      .def_prop_ro("interface_info", &IVersionedInterface::getInterfaceInfo);
  nb::class_<ILogger, PyLogger<ILogger>> logger(m, "ILogger");
  nb::enum_<ILogger::Severity>(logger, "Severity", nb::is_arithmetic())
      .value("INTERNAL_ERROR", ILogger::Severity::kINTERNAL_ERROR)
      .value("ERROR", ILogger::Severity::kERROR)
      .value("WARNING", ILogger::Severity::kWARNING)
      .value("INFO", ILogger::Severity::kINFO)
      .value("VERBOSE", ILogger::Severity::kVERBOSE)
      .export_values();
  logger.def(nb::init<>())
      .def("log", toDefine("log"), nb::sig("def log(self, severity: Severity, msg: str) -> None"));
  bindLogger<ILogger>(m, "Logger");
  nb::class_<ReturningLogger, ILogger, PyLogger<ReturningLogger>>(m, "_ReturningILogger")
      .def(nb::init<>());
  bindLogger<ReturningLogger>(m, "_ReturningLogger");
  nb::class_<IErrorRecorder, IVersionedInterface, PyErrorRecorder>(m, "IErrorRecorder")
      .def(nb::init<>())
      .def_ro_static("MAX_DESC_LENGTH", &kMaxDescLength)
      .def("num_errors", toDefine("num_errors"), nb::sig("def num_errors(self) -> int"))
      .def("get_error_code", toDefine("get_error_code"),
           nb::sig("def get_error_code(self, index: int) -> ErrorCodeTRT"))
      .def("get_error_desc", toDefine("get_error_desc"),
           nb::sig("def get_error_desc(self, index: int) -> str"))
      .def("has_overflowed", toDefine("has_overflowed"),
           nb::sig("def has_overflowed(self) -> bool"))
      .def("clear", toDefine("clear"), nb::sig("def clear(self) -> None"))
      .def("report_error", toDefine("report_error"),
           nb::sig("def report_error(self, error_code: ErrorCodeTRT, description: str) -> bool"));
  nb::class_<IProfiler, PyProfiler>(m, "IProfiler")
      .def(nb::init<>())
      .def("report_layer_time", toDefine("report_layer_time"),
           nb::sig("def report_layer_time(self, layer_name: str, ms: float) -> None"));
  nb::class_<Profiler, IProfiler>(m, "Profiler")
      .def(nb::init<>())
      .def("report_layer_time", &Profiler::reportLayerTime, "layer_name"_a, "ms"_a);
  nb::class_<IProgressMonitor, IVersionedInterface, PyProgressMonitor>(m, "IProgressMonitor")
      .def(nb::init<>())
      .def("phase_start", toDefine("phase_start"),
           nb::sig("def phase_start(self, phase_name: str, parent_phase: str | None, "
                   "num_steps: int) -> None"))
      .def("step_complete", toDefine("step_complete"),
           nb::sig("def step_complete(self, phase_name: str, step: int) -> bool"))
      .def("phase_finish", toDefine("phase_finish"),
           nb::sig("def phase_finish(self, phase_name: str) -> None"));
  bindAllocators(m);
  bindCalibrators(m);
}

}  // namespace camshaft::python
