#include "api/report.h"

#include <atomic>

#include "support/utf8.h"

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

void requireVersion(int32_t version, int32_t expected) {
  if (version != expected)
    fail(ErrorKind::kInvalidArgument, "the program was compiled for version ", version,
         " and the library is ", expected, "; compile it again with this library's headers");
}

void requireTensorRtVersion(int32_t version) {
  if (version / 10000 != NV_TENSORRT_MAJOR || version / 100 > NV_TENSORRT_VERSION / 100)
    fail(ErrorKind::kInvalidArgument, "the program was compiled for TensorRT version ", version,
         " and the library has the interface of ", NV_TENSORRT_VERSION,
         "; compile it with headers of TensorRT ", NV_TENSORRT_MAJOR, ".0 to ", NV_TENSORRT_MAJOR,
         ".", NV_TENSORRT_MINOR);
}

namespace {

std::atomic<ILogger*> lastLogger = nullptr;

}  // namespace

void rememberLogger(ILogger* logger) noexcept { lastLogger = logger; }

namespace {

// Names in messages are those of models, so they may be any bytes; without memory to tell, as it
// is.
template <class F>
void tell(const std::string& message, F&& call) noexcept {
  try {
    call(shown(message).c_str());
  } catch (const std::bad_alloc&) {
    call(message.c_str());
  }
}

}  // namespace

void Reporter::error(ErrorCode code, const std::string& message) const noexcept {
  tell(message, [&](const char* text) { report(code, text); });
}

void Reporter::report(ErrorCode code, const char* message) const noexcept {
  if (recorder()) recorder()->reportError(code, message);
  if (logger_)
    logger_->log(code == ErrorCode::kINTERNAL_ERROR ? ILogger::Severity::kINTERNAL_ERROR
                                                    : ILogger::Severity::kERROR,
                 message);
}

void Reporter::internalError(const char* what) const noexcept {
  try {
    error(ErrorCode::kINTERNAL_ERROR, str("internal error, please report it: ", what));
  } catch (const std::bad_alloc&) {
    report(ErrorCode::kINTERNAL_ERROR, what);
  }
}

void Reporter::warning(const std::string& message) const noexcept {
  tell(message, [&](const char* text) {
    if (logger_) logger_->log(ILogger::Severity::kWARNING, text);
  });
}

Log Reporter::log() const {
  if (!logger_) return {};
  return Log(
      [logger = logger_](Severity severity, std::string_view message) {
        logger->log(static_cast<ILogger::Severity>(severity), shown(message).c_str());
      },
      Severity::kVerbose);
}

}  // namespace camshaft::api

extern "C" CAMSHAFT_API nvinfer1::ILogger* getLogger() noexcept {
  return camshaft::api::lastLogger;
}
