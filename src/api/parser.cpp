// The ONNX parser: fills a network from a model, every problem at once.
#include <memory>
#include <string>
#include <vector>

#include "NvOnnxParser.h"
#include "api/network.h"
#include "api/report.h"
#include "onnx/import.h"
#include "onnx/wire/read_model.h"

namespace camshaft::api {
namespace {

using nvonnxparser::OnnxParserFlag;
using nvonnxparser::OnnxParserFlags;
using ParserErrorCode = nvonnxparser::ErrorCode;

ParserErrorCode parserCodeOf(const onnx::ImportProblem& problem) {
  const bool ofNode = problem.nodeIndex >= 0;
  switch (problem.kind) {
    case ErrorKind::kUnsupported:
      return ofNode ? ParserErrorCode::kUNSUPPORTED_NODE : ParserErrorCode::kUNSUPPORTED_GRAPH;
    case ErrorKind::kOutOfMemory:
      return ParserErrorCode::kMEM_ALLOC_FAILED;
    case ErrorKind::kInternal:
      return ParserErrorCode::kINTERNAL_ERROR;
    case ErrorKind::kIo:
      return ParserErrorCode::kMODEL_DESERIALIZE_FAILED;
    default:
      return ofNode ? ParserErrorCode::kINVALID_NODE : ParserErrorCode::kINVALID_GRAPH;
  }
}

class ParserError final : public nvonnxparser::IParserError {
 public:
  explicit ParserError(onnx::ImportProblem problem) : problem_(std::move(problem)) {}
  ~ParserError() override = default;
  ParserErrorCode code() const noexcept override { return parserCodeOf(problem_); }
  const char* desc() const noexcept override { return problem_.message.c_str(); }
  const char* file() const noexcept override { return ""; }
  int line() const noexcept override { return 0; }
  const char* func() const noexcept override { return ""; }
  int node() const noexcept override { return problem_.nodeIndex; }
  const char* nodeName() const noexcept override { return problem_.node.c_str(); }
  const char* nodeOperator() const noexcept override { return problem_.op.c_str(); }
  const char* const* localFunctionStack() const noexcept override { return nullptr; }
  int32_t localFunctionStackSize() const noexcept override { return 0; }

 private:
  onnx::ImportProblem problem_;
};

std::string folderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(path.substr(0, slash + 1));
}

class Parser : public nvonnxparser::IParser {
 public:
  Parser(Network& network, nvinfer1::ILogger* logger) : network_(network), reporter_(logger) {}

  bool parse(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return guarded(reporter_, false, [&] {
      if (!bytes) fail(ErrorKind::kInvalidArgument, "parse was given no bytes");
      // The network outlives the caller's bytes, so they are copied once.
      const auto* begin = static_cast<const std::byte*>(bytes);
      auto copy = std::make_shared<const std::vector<std::byte>>(begin, begin + size);
      network_.keepAlive(copy);
      return import([&] {
        return onnx::readModelBytes(*copy,
                                    modelPath ? std::optional(folderOf(modelPath)) : std::nullopt);
      });
    });
  }

  bool parseFromFile(const char* path, int) noexcept override {
    return guarded(reporter_, false, [&] {
      if (!path) fail(ErrorKind::kInvalidArgument, "parseFromFile was given no path");
      return import([&] { return onnx::readModelFile(path); });
    });
  }

  bool supportsOperator(const char* name) const noexcept override {
    return name && onnx::isKnownOperator("", name);
  }
  int getNbErrors() const noexcept override { return static_cast<int>(errors_.size()); }
  const nvonnxparser::IParserError* getError(int index) const noexcept override {
    return index >= 0 && index < getNbErrors() ? errors_[index].get() : nullptr;
  }
  void clearErrors() noexcept override { errors_.clear(); }

  void setFlags(OnnxParserFlags flags) noexcept override { flags_ = flags; }
  OnnxParserFlags getFlags() const noexcept override { return flags_; }
  void clearFlag(OnnxParserFlag flag) noexcept override {
    flags_ &= ~(1u << static_cast<uint32_t>(flag));
  }
  void setFlag(OnnxParserFlag flag) noexcept override {
    flags_ |= 1u << static_cast<uint32_t>(flag);
  }
  bool getFlag(OnnxParserFlag flag) const noexcept override {
    return (flags_ >> static_cast<uint32_t>(flag)) & 1;
  }

 private:
  template <class Read>
  bool import(Read&& read) {
    errors_.clear();
    if (!network_.graph().inputs.empty() || network_.graph().nodeCount() > 0)
      fail(ErrorKind::kInvalidArgument, "the network is not empty; parse into a new one");
    std::vector<onnx::ImportProblem> problems;
    Graph graph;
    try {
      const onnx::LoadedModel model = read();
      problems = onnx::importModel(model, graph);
    } catch (const Error& error) {
      problems.push_back({.kind = error.kind(), .message = error.message()});
    }
    for (onnx::ImportProblem& problem : problems) {
      reporter_.error(errorCodeOf(problem.kind), problem.message);
      errors_.push_back(std::make_unique<ParserError>(std::move(problem)));
    }
    if (!errors_.empty()) return false;
    network_.setGraph(std::move(graph));
    return true;
  }

  Network& network_;
  Reporter reporter_;
  OnnxParserFlags flags_ = 1u << static_cast<uint32_t>(OnnxParserFlag::kNATIVE_INSTANCENORM);
  std::vector<std::unique_ptr<ParserError>> errors_;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createNvOnnxParser_INTERNAL(void* network, void* logger,
                                                          int version) noexcept {
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return camshaft::api::createChecked<nvonnxparser::IParser>(
      typed, version, NV_ONNX_PARSER_VERSION, [&] {
        auto* definition = static_cast<nvinfer1::INetworkDefinition*>(network);
        return new camshaft::api::Parser(static_cast<camshaft::api::Network&>(*definition), typed);
      });
}

extern "C" CAMSHAFT_API int getNvOnnxParserVersion() noexcept { return NV_ONNX_PARSER_VERSION; }
