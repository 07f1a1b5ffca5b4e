// Camshaft's messages in ONNX Runtime's log.
#pragma once

#include <string>

#include "NvInferRuntimeTypes.h"
#include "onnxruntime/ort_api.h"

namespace camshaft::ort {

class Logger : public nvinfer1::ILogger {
 public:
  // Messages less severe than the log wants are not even sent there.
  Logger(const OrtApi& api, const OrtLogger* log) : api_(api), log_(log) {
    if (log) level_ = api.get(api.Logger_GetLoggingSeverityLevel, log);
  }

  void log(Severity severity, const char* message) noexcept override;
  void write(int severity, const std::string& message) const;
  bool writes(int severity) const { return log_ && severity >= level_; }

  // The last error of this thread since the last call; "" when there was none.
  static std::string takeError();

 private:
  const OrtApi& api_;
  const OrtLogger* log_;
  int level_ = kOrtError;
};

}  // namespace camshaft::ort
