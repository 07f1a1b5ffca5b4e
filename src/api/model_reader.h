// What all readers of ONNX models share: the model, and the errors of their last call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "NvOnnxParser.h"
#include "api/parser_error.h"
#include "api/report.h"
#include "onnx/import.h"
#include "onnx/wire/read_model.h"

namespace camshaft::api {

class ModelReader {
 public:
  // `keepAlive` gets the memory that models read from bytes point into.
  ModelReader(nvinfer1::ILogger* logger, std::function<void(std::shared_ptr<const void>)> keepAlive)
      : reporter_(logger), keepAlive_(std::move(keepAlive)) {}

  const Reporter& reporter() const { return reporter_; }

  enum class Errors { kClear, kKeep };
  // body(), whose Error becomes one of this reader's errors.
  template <class F>
  bool attempt(F&& body, Errors errors = Errors::kClear) noexcept {
    return guarded(
        reporter_, false,
        [&] {
          if (errors == Errors::kClear) clearErrors();
          try {
            return body();
          } catch (const Error& error) {
            report({{.kind = error.kind(), .message = error.message()}});
            return false;
          }
        },
        OutOfMemory{"out of memory while reading the model"});
  }
  void report(std::vector<onnx::ImportProblem> problems);

  // The model, or nothing when its bytes are none, with the error noted. Those of fromCopy() need
  // not outlive the call.
  std::optional<onnx::LoadedModel> fromFile(const char* path);
  std::optional<onnx::LoadedModel> fromBytes(const void* bytes, size_t size, const char* modelPath);
  std::optional<onnx::LoadedModel> fromCopy(const void* bytes, size_t size, const char* modelPath);

  // A model in steps: first it, then what it leaves out.
  bool loadModel(const void* bytes, size_t size, const char* modelPath) noexcept;
  bool loadInitializer(const char* name, const void* data, size_t size) noexcept;
  const onnx::LoadedModel& loaded(const char* call) const;  // throws where there is none

  int errorCount() const { return static_cast<int>(errors_.size() - firstError_); }
  const nvonnxparser::IParserError* error(int index) const {
    return index >= 0 && index < errorCount() ? errors_[firstError_ + index].get() : nullptr;
  }
  void clearErrors() { firstError_ = errors_.size(); }

 private:
  std::optional<onnx::LoadedModel> read(const std::function<onnx::LoadedModel()>& readModel);
  void warnOfNewer(const onnx::Model& model) const;
  onnx::Tensor& initializer(std::string_view name);

  Reporter reporter_;
  std::function<void(std::shared_ptr<const void>)> keepAlive_;
  std::vector<std::unique_ptr<ParserError>> errors_;  // all there were: callers may hold them still
  size_t firstError_ = 0;                             // of those that count
  std::optional<onnx::LoadedModel> loaded_;
};

}  // namespace camshaft::api
