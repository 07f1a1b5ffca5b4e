// The ONNX parser: fills a network from a model, every problem at once.
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/model_reader.h"
#include "api/network.h"
#include "api/plugins/model.h"
#include "api/report.h"
#include "onnx/subgraphs.h"

namespace camshaft::api {
namespace {

using nvonnxparser::OnnxParserFlag;
using nvonnxparser::OnnxParserFlags;

// No bit for a number that is no flag.
constexpr uint32_t bitOf(OnnxParserFlag flag) {
  const auto bit = static_cast<uint32_t>(flag);
  const bool isKnown = bit < static_cast<uint32_t>(nvonnxparser::EnumMax<OnnxParserFlag>()) ||
                       flag == OnnxParserFlag::kCAMSHAFT_FIXED_CACHES;
  return isKnown ? 1u << bit : 0;
}

class Parser : public nvonnxparser::IParser {
 public:
  Parser(Network& network, nvinfer1::ILogger* logger)
      : network_(network.link()),
        // The network outlives the caller's bytes.
        reader_(logger, [this](std::shared_ptr<const void> memory) {
          this->network().keepAlive(std::move(memory));
        }) {}

  bool parse(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return reader_.attempt([&] {
      const auto model = reader_.fromCopy(bytes, size, modelPath);
      return model && import(*model);
    });
  }

  bool parseFromFile(const char* path, int) noexcept override {
    return reader_.attempt([&] {
      const auto model = reader_.fromFile(path);
      return model && import(*model);
    });
  }

  bool parseWithWeightDescriptors(const void* bytes, size_t size) noexcept override {
    return parse(bytes, size, nullptr);
  }

  bool supportsModel(const void* bytes, size_t size, SubGraphCollection_t& collection,
                     const char* modelPath) noexcept override {
    const bool supported = supportsModelV2(bytes, size, modelPath);
    return reader_.attempt(
        [&] {
          collection.clear();
          for (const onnx::Subgraph& subgraph : subgraphs_)
            collection.emplace_back(
                std::vector<size_t>(subgraph.nodes.begin(), subgraph.nodes.end()),
                subgraph.supported);
          return supported;
        },
        ModelReader::Errors::kKeep);
  }

  bool supportsModelV2(const void* bytes, size_t size, const char* modelPath) noexcept override {
    return reader_.attempt([&] {
      subgraphs_.clear();
      const auto read = bytes ? reader_.fromBytes(bytes, size, modelPath) : std::nullopt;
      if (bytes && !read) return false;
      const onnx::LoadedModel& model = read ? *read : reader_.loaded("supportsModelV2 of no bytes");
      Graph graph;
      const ModelPlugins plugins = this->plugins();
      std::vector<int> untried;
      std::vector<onnx::ImportProblem> problems =
          onnx::importModel(model, graph, {.untried = &untried, .plugins = &plugins});
      subgraphs_ = onnx::subgraphsOf(model, problems, untried);
      reader_.report(std::move(problems));
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
    return reader_.loadModel(bytes, size, modelPath);
  }
  bool loadInitializer(const char* name, const void* data, size_t size) noexcept override {
    return reader_.loadInitializer(name, data, size);
  }
  bool parseModelProto() noexcept override {
    return reader_.attempt([&] { return import(reader_.loaded("parseModelProto")); });
  }

  const nvinfer1::ITensor* getLayerOutputTensor(const char* name, int64_t index) noexcept override {
    return guarded<const nvinfer1::ITensor*>(reader_.reporter(), nullptr, [&]() -> const Tensor* {
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
    return guarded(reader_.reporter(), false, [&] {
      return name && (onnx::isKnownOperator("", name) ||
                      onnx::isKnownOperator("com.microsoft", name) || plugins().hasCreatorOf(name));
    });
  }
  const char* const* getUsedVCPluginLibraries(int64_t& count) const noexcept override {
    count = 0;
    return nullptr;
  }
  int getNbErrors() const noexcept override { return reader_.errorCount(); }
  const nvonnxparser::IParserError* getError(int index) const noexcept override {
    return reader_.error(index);
  }
  void clearErrors() noexcept override { reader_.clearErrors(); }

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
  bool import(const onnx::LoadedModel& model) {
    if (!network().isEmpty())
      fail(ErrorKind::kInvalidArgument, "the network is not empty; parse into a new one");
    Graph graph;
    onnx::NodeOutputs nodeOutputs;
    const ModelPlugins plugins = this->plugins();
    reader_.report(
        onnx::importModel(model, graph,
                          {.nodeOutputs = &nodeOutputs,
                           .keepCopies = true,
                           .fixedCaches = getFlag(OnnxParserFlag::kCAMSHAFT_FIXED_CACHES),
                           .plugins = &plugins}));
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
  ModelReader reader_;
  OnnxParserFlags flags_ = bitOf(OnnxParserFlag::kNATIVE_INSTANCENORM);
  std::vector<onnx::Subgraph> subgraphs_;
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

extern "C" CAMSHAFT_API int getNvOnnxParserVersion() noexcept { return NV_ONNX_PARSER_VERSION; }
