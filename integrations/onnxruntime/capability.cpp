#include "onnxruntime/capability.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "NvOnnxParser.h"
#include "onnxruntime/partition.h"
#include "support/error.h"

namespace camshaft::ort {

namespace {

// What the importer finds wrong is not for the log: those nodes stay where they are.
class Silence : public nvinfer1::ILogger {
 public:
  void log(Severity, const char*) noexcept override {}
};
Silence silence;

struct Answer {
  bool all = false;
  std::vector<bool> mayWork;  // for each node; all false where the whole model is refused
  std::vector<std::string> problems;
};

// Tells what the parser makes of a model of these nodes.
class Importer {
 public:
  Importer() : builder_(nvinfer1::createInferBuilder(silence)) {
    if (!builder_) fail(ErrorKind::kInternal, "libcamshaft.so is of another version");
  }

  bool knows(const onnx::Node& node) {
    if (!network_) {
      network_.reset(builder_->createNetworkV2(0));
      parser_.reset(nvonnxparser::createParser(*network_, silence));
    }
    if (!parser_->supportsOperator(std::string(node.opType).c_str())) return false;
    for (const onnx::Attribute& attribute : node.attributes)
      for (const onnx::Graph& body : attribute.graphs)
        for (const onnx::Node& inner : body.nodes)
          if (!knows(inner)) return false;
    return true;
  }

  Answer ask(const GraphReader& reader, const std::vector<size_t>& nodes) {
    const SubgraphModel model = reader.model(nodes, outputsOf(reader, nodes));
    const std::unique_ptr<nvinfer1::INetworkDefinition> network(builder_->createNetworkV2(0));
    const std::unique_ptr<nvonnxparser::IParser> parser(
        nvonnxparser::createParser(*network, silence));
    bool loaded = parser->loadModelProto(model.bytes.data(), model.bytes.size());
    for (const Weight& weight : model.weights)
      loaded = loaded && parser->loadInitializer(weight.name.c_str(), weight.data, weight.size);
    Answer answer{.mayWork = std::vector<bool>(nodes.size())};
    answer.all = loaded && parser->supportsModelV2(nullptr, 0);
    for (int64_t i = 0; i < parser->getNbSubgraphs(); ++i) {
      int64_t length = 0;
      const int64_t* positions = parser->getSubgraphNodes(i, length);
      for (int64_t k = 0; k < length; ++k) answer.mayWork[positions[k]] = true;
    }
    for (int i = 0; i < parser->getNbErrors(); ++i)
      answer.problems.emplace_back(parser->getError(i)->desc());
    return answer;
  }

 private:
  std::unique_ptr<nvinfer1::IBuilder> builder_;
  std::unique_ptr<nvinfer1::INetworkDefinition> network_;  // for knows()
  std::unique_ptr<nvonnxparser::IParser> parser_;
};

constexpr std::string_view kHeavyOperators[] = {
    "Attention",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "DeformConv",
    "DynamicQuantizeMatMul",
    "Einsum",
    "FusedConv",
    "FusedMatMul",
    "GRU",
    "Gemm",
    "GroupQueryAttention",
    "LSTM",
    "Loop",
    "MatMul",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "MatMulNBits",
    "MultiHeadAttention",
    "QGemm",
    "QLinearConv",
    "QLinearMatMul",
    "RNN",
    "Scan",
};

class Claims {
 public:
  Claims(const GraphReader& reader, const Options& options, Capability& capability)
      : reader_(reader), options_(options), capability_(capability) {
    for (const GraphReader::NodeFacts& facts : reader.nodes())
      nodes_.push_back({facts.reads, facts.writes});
  }

  // Takes what works of the nodes; those that do not are left out and the others tried again.
  void claim(std::vector<bool> wanted) {
    leaveUnknownRanks(wanted);
    for (const std::vector<size_t>& group :
         partition(nodes_, [&](size_t i) { return wanted[i]; })) {
      if (!isWorthwhile(group)) {
        capability_.refusals.push_back(str("a subgraph of ", group.size(), " nodes around '",
                                           reader_.nodes()[group.front()].written.name,
                                           "' is too small to gain"));
        continue;
      }
      const Answer answer = importer_.ask(reader_, group);
      if (answer.all) {
        capability_.subgraphs.push_back(group);
        continue;
      }
      std::ranges::copy(answer.problems, std::back_inserter(capability_.refusals));
      std::vector<bool> rest(nodes_.size());
      for (size_t i = 0; i < group.size(); ++i) rest[group[i]] = answer.mayWork[i];
      if (std::ranges::count(rest, true) < static_cast<ptrdiff_t>(group.size())) claim(rest);
    }
  }

 private:
  // An engine's inputs have a rank.
  void leaveUnknownRanks(std::vector<bool>& wanted) const {
    std::unordered_set<std::string_view> computed;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      wanted[i] = wanted[i] && std::ranges::all_of(nodes_[i].reads, [&](std::string_view name) {
                    const GraphReader::ValueFacts& facts = reader_.value(name);
                    return facts.type.shape || facts.isConstant || computed.contains(name);
                  });
      if (wanted[i]) computed.insert(nodes_[i].writes.begin(), nodes_[i].writes.end());
    }
  }

  // Handing tensors over and back costs more than a few light operators take.
  bool isWorthwhile(const std::vector<size_t>& group) const {
    return group.size() == nodes_.size() || static_cast<int>(group.size()) >= options_.minNodes ||
           std::ranges::any_of(group, [&](size_t i) {
             return std::ranges::count(kHeavyOperators, reader_.nodes()[i].written.opType) > 0;
           });
  }

  const GraphReader& reader_;
  const Options& options_;
  Capability& capability_;
  std::vector<PartitionNode> nodes_;
  Importer importer_;
};

}  // namespace

std::vector<std::string_view> outputsOf(const GraphReader& reader,
                                        const std::vector<size_t>& nodes) {
  std::unordered_set<std::string_view> read;
  for (const size_t i : nodes)
    read.insert(reader.nodes()[i].reads.begin(), reader.nodes()[i].reads.end());
  std::vector<std::string_view> outputs;
  for (const size_t i : nodes)
    for (const std::string_view name : reader.nodes()[i].writes)
      if (reader.value(name).isGraphOutput || !read.contains(name)) outputs.push_back(name);
  return outputs;
}

Capability capabilityOf(const GraphReader& reader, std::vector<bool> free, const Options& options) {
  Capability capability;
  for (size_t i = 0; i < free.size(); ++i) {
    const GraphReader::NodeFacts& facts = reader.nodes()[i];
    if (facts.obstacle.empty()) continue;
    free[i] = false;
    capability.refusals.push_back(str("node '", facts.written.name, "': ", facts.obstacle));
  }
  Claims(reader, options, capability).claim(std::move(free));
  return capability;
}

bool knowsOperators(const GraphReader& reader) {
  Importer importer;
  return std::ranges::all_of(reader.nodes(), [&](const GraphReader::NodeFacts& facts) {
    return facts.obstacle.empty() && importer.knows(facts.written);
  });
}

}  // namespace camshaft::ort
