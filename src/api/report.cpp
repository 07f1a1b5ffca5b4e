#include "api/report.h"

namespace camshaft::api {

using nvinfer1::ErrorCode;
using nvinfer1::ILogger;

ErrorCode errorCodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return ErrorCode::kINVALID_ARGUMENT;
    case ErrorKind::kInvalidModel:
      return ErrorCode::kINVALID_ARGUMENT;
    case ErrorKind::kUnsupported:
      return ErrorCode::kUNSUPPORTED_STATE;
    case ErrorKind::kInvalidEngine:
      return ErrorCode::kINVALID_ARGUMENT;
    case ErrorKind::kOutOfMemory:
      return ErrorCode::kFAILED_ALLOCATION;
    case ErrorKind::kDevice:
      return ErrorCode::kFAILED_EXECUTION;
    case ErrorKind::kIo:
      return ErrorCode::kFAILED_INITIALIZATION;
    case ErrorKind::kInternal:
      return ErrorCode::kINTERNAL_ERROR;
  }
  return ErrorCode::kUNSPECIFIED_ERROR;
}

void Reporter::error(ErrorCode code, const std::string& message) const noexcept {
  if (recorder()) recorder()->reportError(code, message.c_str());
  if (logger_)
    logger_->log(code == ErrorCode::kINTERNAL_ERROR ? ILogger::Severity::kINTERNAL_ERROR
                                                    : ILogger::Severity::kERROR,
                 message.c_str());
}

void Reporter::warning(const std::string& message) const noexcept {
  if (logger_) logger_->log(ILogger::Severity::kWARNING, message.c_str());
}

Log Reporter::log() const {
  if (!logger_) return {};
  return Log(
      [logger = logger_](Severity severity, std::string_view message) {
        logger->log(static_cast<ILogger::Severity>(severity), std::string(message).c_str());
      },
      Severity::kVerbose);
}

}  // namespace camshaft::api
