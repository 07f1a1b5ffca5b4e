// IParserError: one problem of a model.
#pragma once

#include <string>
#include <vector>

#include "NvOnnxParser.h"
#include "onnx/import.h"

namespace camshaft::api {

class ParserError final : public nvonnxparser::IParserError {
 public:
  using Code = nvonnxparser::ErrorCode;

  explicit ParserError(const onnx::ImportProblem& problem)
      : ParserError(codeOf(problem), problem) {}
  ParserError(Code code, onnx::ImportProblem problem) : code_(code), problem_(std::move(problem)) {
    for (const std::string& function : problem_.functions) stack_.push_back(function.c_str());
  }
  ~ParserError() override = default;

  Code code() const noexcept override { return code_; }
  const char* desc() const noexcept override { return problem_.message.c_str(); }
  const char* file() const noexcept override { return ""; }
  int line() const noexcept override { return 0; }
  const char* func() const noexcept override { return ""; }
  int node() const noexcept override { return problem_.nodeIndex; }
  const char* nodeName() const noexcept override { return problem_.node.c_str(); }
  const char* nodeOperator() const noexcept override { return problem_.op.c_str(); }
  const char* const* localFunctionStack() const noexcept override {
    return stack_.empty() ? nullptr : stack_.data();
  }
  int32_t localFunctionStackSize() const noexcept override {
    return static_cast<int32_t>(stack_.size());
  }

 private:
  static Code codeOf(const onnx::ImportProblem& problem) {
    const bool ofNode = problem.nodeIndex >= 0;
    switch (problem.kind) {
      case ErrorKind::kUnsupported:
        return ofNode ? Code::kUNSUPPORTED_NODE : Code::kUNSUPPORTED_GRAPH;
      case ErrorKind::kInvalidArgument:
        return Code::kINVALID_VALUE;
      case ErrorKind::kOutOfMemory:
        return Code::kMEM_ALLOC_FAILED;
      case ErrorKind::kInternal:
        return Code::kINTERNAL_ERROR;
      case ErrorKind::kIo:
        return Code::kMODEL_DESERIALIZE_FAILED;
      default:
        return ofNode ? Code::kINVALID_NODE : Code::kINVALID_GRAPH;
    }
  }

  Code code_;
  onnx::ImportProblem problem_;
  std::vector<const char*> stack_;
};

}  // namespace camshaft::api
