#include "onnxruntime/logger.h"

#include <utility>

namespace camshaft::ort {

namespace {

thread_local std::string lastError;

}  // namespace

std::string Logger::takeError() { return std::exchange(lastError, {}); }

void Logger::log(Severity severity, const char* message) noexcept {
  switch (severity) {
    case Severity::kINTERNAL_ERROR:
    case Severity::kERROR:
      // Whoever called learns of it by a status.
      lastError = message;
      return write(kOrtInfo, message);
    case Severity::kWARNING:
      return write(kOrtWarning, message);
    case Severity::kINFO:
    case Severity::kVERBOSE:
      return write(kOrtVerbose, message);
  }
}

void Logger::write(int severity, const std::string& message) const {
  if (!writes(severity)) return;
  if (OrtStatus* status =
          api_.Logger_LogMessage(log_, severity, message.c_str(), "camshaft", 0, "camshaft"))
    api_.ReleaseStatus(status);
}

}  // namespace camshaft::ort
