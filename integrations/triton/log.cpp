#include "log.h"

#include <utility>

namespace triton_backend {
namespace {

thread_local std::string firstError;

class CamshaftLog : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR && firstError.empty()) firstError = message;
    const TRITONSERVER_LogLevel level = severity == Severity::kINTERNAL_ERROR
                                            ? TRITONSERVER_LOG_ERROR
                                        : severity == Severity::kWARNING ? TRITONSERVER_LOG_WARN
                                                                         : TRITONSERVER_LOG_VERBOSE;
    triton_backend::log(level, message);
  }
};

}  // namespace

nvinfer1::ILogger& camshaftLog() {
  static CamshaftLog log;
  return log;
}

std::string takeCamshaftError() { return std::exchange(firstError, {}); }

void log(TRITONSERVER_LogLevel level, const std::string& message) {
  if (!TRITONSERVER_LogIsEnabled(level)) return;
  if (TRITONSERVER_Error* error = TRITONSERVER_LogMessage(level, "camshaft", 0, message.c_str()))
    TRITONSERVER_ErrorDelete(error);
}

}  // namespace triton_backend
