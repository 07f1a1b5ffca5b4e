// The ONNX parser: fills a network from a model, every problem at once.
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/network.h"
#include "api/parser_error.h"
#include "api/plugins/model.h"
#include "api/report.h"
#include "onnx/subgraphs.h"
#include "onnx/wire/element_type.h"
#include "onnx/wire/read_model.h"
#include "onnx/wire/tensor.h"

namespace camshaft::api {
namespace {

using nvonnxparser::OnnxParserFlag;
using nvonnxparser::OnnxParserFlags;

std::optional<std::filesystem::path> pathOf(const char* modelPath) {
  if (!modelPath) return std::nullopt;
  return modelPath;
}

std::span<const std::byte> viewOf(const void* bytes, size_t size) {
  if (!bytes) fail(ErrorKind::kInvalidArgument, "the parser was given no bytes");
  return {static_cast<const std::byte*>(bytes), size};
}

// No bit for a number that is no flag.
constexpr uint32_t bitOf(OnnxParserFlag flag) {
  const auto bit = static_cast<uint32_t>(flag);
  return bit < static_cast<uint32_t>(nvonnxparser::EnumMax<OnnxParserFlag>()) ? 1u << bit : 0;
}

class Parser : public nvonnxparser::IParser {
 public:
  Parser(Network& network, nvinfer1::ILogger* logger)
      : network_(network.link()), reporter_(logger) {}

  bool parse(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return attempt([&] {
      const auto model = readCopy(bytes, size, modelPath);
      return model && import(*model);
    });
  }

  bool parseFromFile(const char* path, int) noexcept override {
    return attempt([&] {
      if (!path) fail(ErrorKind::kInvalidArgument, "parseFromFile was given no path");
      const auto model = read([&] { return onnx::readModelFile(path); });
      return model && import(*model);
    });
  }

  bool parseWithWeightDescriptors(const void* bytes, size_t size) noexcept override {
    return parse(bytes, size, nullptr);
  }

  bool supportsModel(const void* bytes, size_t size, SubGraphCollection_t& collection,
                     const char* modelPath) noexcept override {
    const bool supported = supportsModelV2(bytes, size, modelPath);
    return attempt(
        [&] {
          collection.clear();
          for (const onnx::Subgraph& subgraph : subgraphs_)
            collection.emplace_back(
                std::vector<size_t>(subgraph.nodes.begin(), subgraph.nodes.end()),
                subgraph.supported);
          return supported;
        },
        Errors::kKeep);
  }

  bool supportsModelV2(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return attempt([&] {
      subgraphs_.clear();
      const auto model =
          read([&] { return onnx::readModelBytes(viewOf(bytes, size), pathOf(modelPath)); });
      if (!model) return false;
      Graph graph;
      const ModelPlugins plugins = this->plugins();
      std::vector<onnx::ImportProblem> problems =
          onnx::importModel(*model, graph, {.plugins = &plugins});
      subgraphs_ = onnx::subgraphsOf(*model, problems);
      report(std::move(problems));
      return getNbErrors() == 0;
    });
  }
  int64_t getNbSubgraphs() noexcept override { return static_cast<int64_t>(subgraphs_.size()); }
  bool isSubgraphSupported(int64_t index) noexcept override {
    const onnx::Subgraph* subgraph = subgraphAt(index);
    return subgraph && subgraph->supported;
  }
  int64_t* getSubgraphNodes(int64_t index, int64_t& length) noexcept override {
    onnx::Subgraph* subgraph = subgraphAt(index);
    length = subgraph ? static_cast<int64_t>(subgraph->nodes.size()) : 0;
    return subgraph ? subgraph->nodes.data() : nullptr;
  }

  bool loadModelProto(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return attempt([&] {
      loaded_ = readCopy(bytes, size, modelPath);
      return loaded_.has_value();
    });
  }
  bool loadInitializer(const char* name, const void* data, size_t size) noexcept override {
    return attempt([&] {
      if (!loaded_) fail(ErrorKind::kInvalidArgument, "loadInitializer needs loadModelProto first");
      const std::string_view wanted = name ? name : "";
      onnx::Tensor& tensor = initializer(wanted);
      const std::string what = str("initializer '", wanted, "'");
      const uint64_t needed =
          bytesOf(onnx::dataTypeOf(tensor.dataType, what), onnx::elementCount(tensor.dims, what));
      if (!data || size != needed)
        fail(ErrorKind::kInvalidArgument, what, " needs ", needed, " bytes and is given ",
             data ? size : 0);
      tensor.external.reset();
      tensor.raw = viewOf(data, size);
      return true;
    });
  }
  bool parseModelProto() noexcept override {
    return attempt([&] {
      if (!loaded_) fail(ErrorKind::kInvalidArgument, "parseModelProto needs loadModelProto first");
      return import(*loaded_);
    });
  }

  const nvinfer1::ITensor* getLayerOutputTensor(const char* name, int64_t index) noexcept override {
    return guarded<const nvinfer1::ITensor*>(reporter_, nullptr, [&]() -> const Tensor* {
      network();
      const auto found = layerOutputs_.find(name ? name : "");
      if (found == layerOutputs_.end() || index < 0 ||
          index >= static_cast<int64_t>(found->second.size()))
        return nullptr;
      const Tensor* tensor = found->second[index];
      return tensor && tensor->value() ? tensor : nullptr;
    });
  }

  bool supportsOperator(const char* name) const noexcept override {
    return guarded(reporter_, false, [&] {
      return name && (onnx::isKnownOperator("", name) ||
                      onnx::isKnownOperator("com.microsoft", name) || plugins().hasCreatorOf(name));
    });
  }
  const char* const* getUsedVCPluginLibraries(int64_t& count) const noexcept override {
    count = 0;
    return nullptr;
  }
  int getNbErrors() const noexcept override {
    return static_cast<int>(errors_.size() - firstError_);
  }
  const nvonnxparser::IParserError* getError(int index) const noexcept override {
    return index >= 0 && index < getNbErrors() ? errors_[firstError_ + index].get() : nullptr;
  }
  void clearErrors() noexcept override { firstError_ = errors_.size(); }

  void setFlags(OnnxParserFlags flags) noexcept override { flags_ = flags; }
  OnnxParserFlags getFlags() const noexcept override { return flags_; }
  void clearFlag(OnnxParserFlag flag) noexcept override { flags_ &= ~bitOf(flag); }
  void setFlag(OnnxParserFlag flag) noexcept override { flags_ |= bitOf(flag); }
  bool getFlag(OnnxParserFlag flag) const noexcept override { return (flags_ & bitOf(flag)) != 0; }
  // A model is read the same for every config.
  bool setBuilderConfig(const nvinfer1::IBuilderConfig* const config) noexcept override {
    return config != nullptr;
  }

 private:
  enum class Errors { kClear, kKeep };

  // body(), whose Error becomes one of this parser's errors.
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

  void report(std::vector<onnx::ImportProblem> problems) {
    for (onnx::ImportProblem& problem : problems) {
      reporter_.error(errorCodeOf(problem.kind), problem.message);
      errors_.push_back(std::make_unique<ParserError>(std::move(problem)));
    }
  }

  // The model, or nothing when its bytes are none.
  template <class Read>
  std::optional<onnx::LoadedModel> read(Read&& readModel) {
    try {
      onnx::LoadedModel model = readModel();
      warnOfNewer(model.model);
      return model;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInvalidModel) throw;
      reporter_.error(errorCodeOf(error.kind()), error.message());
      errors_.push_back(std::make_unique<ParserError>(
          ParserError::Code::kMODEL_DESERIALIZE_FAILED,
          onnx::ImportProblem{.kind = error.kind(), .message = error.message()}));
      return std::nullopt;
    }
  }

  // The network outlives the caller's bytes, so they are copied once.
  std::optional<onnx::LoadedModel> readCopy(const void* bytes, size_t size, const char* modelPath) {
    const std::span<const std::byte> given = viewOf(bytes, size);
    auto copy = std::make_shared<const std::vector<std::byte>>(given.begin(), given.end());
    network().keepAlive(copy);
    return read([&] { return onnx::readModelBytes(*copy, pathOf(modelPath)); });
  }

  void warnOfNewer(const onnx::Model& model) const {
    if (model.irVersion > onnx::kNewestIrVersion)
      reporter_.warning(str("the model is of IR version ", model.irVersion, " and ",
                            onnx::kNewestIrVersion, " is the newest known: it is read as that"));
    for (const onnx::OpsetImport& import : model.opsetImports)
      if ((import.domain.empty() || import.domain == "ai.onnx") &&
          import.version > onnx::kNewestOpset)
        reporter_.warning(str("the model is of opset ", import.version, " and ", onnx::kNewestOpset,
                              " is the newest known: its operators are read as of that"));
  }

  bool import(const onnx::LoadedModel& model) {
    if (!network().isEmpty())
      fail(ErrorKind::kInvalidArgument, "the network is not empty; parse into a new one");
    Graph graph;
    onnx::NodeOutputs nodeOutputs;
    const ModelPlugins plugins = this->plugins();
    report(onnx::importModel(model, graph, {.nodeOutputs = &nodeOutputs, .plugins = &plugins}));
    if (getNbErrors() > 0) return false;
    network().setGraph(std::move(graph));
    for (const auto& [name, values] : nodeOutputs)
      for (Value* value : values)
        layerOutputs_[name].push_back(value ? network().tensorOf(value) : nullptr);
    return true;
  }

  ModelPlugins plugins() const {
    return {network().plugins(), getFlag(OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE)};
  }

  onnx::Tensor& initializer(std::string_view name) {
    for (onnx::Tensor& tensor : loaded_->model.graph.initializers)
      if (tensor.name == name) return tensor;
    fail(ErrorKind::kInvalidArgument, "the model has no initializer '", name, "'");
  }

  onnx::Subgraph* subgraphAt(int64_t index) {
    return index >= 0 && index < getNbSubgraphs() ? &subgraphs_[index] : nullptr;
  }

  Network& network() const {
    Network* network = network_.get();
    if (!network)
      fail(ErrorKind::kInvalidArgument, "the network that the parser was made for has ended");
    return *network;
  }

  Link<Network> network_;
  Reporter reporter_;
  OnnxParserFlags flags_ = bitOf(OnnxParserFlag::kNATIVE_INSTANCENORM);
  std::vector<std::unique_ptr<ParserError>> errors_;  // all there were: callers may hold them still
  size_t firstError_ = 0;                             // of those that count
  std::vector<onnx::Subgraph> subgraphs_;
  std::optional<onnx::LoadedModel> loaded_;
  std::unordered_map<std::string, std::vector<Tensor*>> layerOutputs_;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createNvOnnxParser_INTERNAL(void* network, void* logger,
                                                          int version) noexcept {
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return camshaft::api::createChecked<nvonnxparser::IParser>(
      typed, version, NV_ONNX_PARSER_VERSION, [&] {
        if (!network)
          camshaft::fail(camshaft::ErrorKind::kInvalidArgument, "the parser was given no network");
        auto* definition = static_cast<nvinfer1::INetworkDefinition*>(network);
        return new camshaft::api::Parser(static_cast<camshaft::api::Network&>(*definition), typed);
      });
}

extern "C" CAMSHAFT_API void* createNvOnnxParserRefitter_INTERNAL(void* /*refitter*/, void* logger,
                                                                  int32_t version) noexcept {
  using namespace camshaft::api;
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return createChecked<nvonnxparser::IParserRefitter>(typed, version, NV_ONNX_PARSER_VERSION, [&] {
    return refused<nvonnxparser::IParserRefitter*>(
        Reporter(typed), "engines cannot be refitted yet; build again from the new model", nullptr);
  });
}

extern "C" CAMSHAFT_API int getNvOnnxParserVersion() noexcept { return NV_ONNX_PARSER_VERSION; }
