#include "onnxruntime/provider.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "CamshaftFiles.h"
#include "onnxruntime/capability.h"
#include "onnxruntime/subgraph_runner.h"
#include "support/error.h"

namespace camshaft::ort {

namespace {

// A compiled subgraph, as ONNX Runtime calls it.
struct ComputeInfo : OrtNodeComputeInfo {
  template <class... Args>
  explicit ComputeInfo(const OrtApi& api, Args&&... args)
      : OrtNodeComputeInfo{}, api(api), runner(api, std::forward<Args>(args)...) {
    ort_version_supported = kApiVersion;
    CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) {
      *state = self;
      return static_cast<OrtStatus*>(nullptr);
    };
    Compute = [](OrtNodeComputeInfo*, void* state, OrtKernelContext* context) {
      auto* self = static_cast<ComputeInfo*>(static_cast<OrtNodeComputeInfo*>(state));
      return self->api.guarded([&] { self->runner.run(context); });
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }

  const OrtApi& api;
  SubgraphRunner runner;
};

std::vector<std::string> namesOf(const OrtApi& api, const std::vector<const OrtValueInfo*>& infos) {
  std::vector<std::string> names;
  for (const OrtValueInfo* info : infos)
    names.emplace_back(info ? api.get(api.GetValueInfoName, info) : "");
  return names;
}

// Whether an engine can be built when the session is made, so that ONNX Runtime need not keep the
// weights: all sizes are known, or those of inputs have a profile.
bool knowsSizes(const std::vector<ModelInput>& inputs, const Options& options) {
  return std::ranges::all_of(inputs, [&](const ModelInput& input) {
    return options.hasProfile(input.name) || std::ranges::count(input.shape, -1) == 0;
  });
}

}  // namespace

Provider::Provider(const OrtApi& api, const OrtLogger* log, Options options)
    : OrtEp{},
      api_(api),
      logger_(api, log),
      options_(std::move(options)),
      builder_(options_, logger_) {
  ort_version_supported = kApiVersion;
  GetName = [](const OrtEp*) { return kProviderName; };
  GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    auto* provider = static_cast<Provider*>(self);
    return provider->api_.guarded([&] { provider->findCapability(graph, info); });
  };
  Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fusedNodes, size_t count,
               OrtNodeComputeInfo** infos, OrtNode**) {
    auto* provider = static_cast<Provider*>(self);
    return provider->api_.guarded([&] {
      for (size_t i = 0; i < count; ++i) provider->compile(graphs[i], fusedNodes[i], infos[i]);
    });
  };
  ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
    for (size_t i = 0; i < count; ++i) delete static_cast<ComputeInfo*>(infos[i]);
  };
}

bool Provider::isFree(const OrtNode* node) const {
  const char* name = api_.get(api_.Node_GetEpName, node);
  return !name || std::string_view(name).empty() || std::string_view(name) == kProviderName;
}

void Provider::findCapability(const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
  const auto nodes = api_.list(api_.Graph_GetNumNodes, api_.Graph_GetNodes, graph);
  const GraphReader reader(api_, graph, nodes);
  // ONNX Runtime asks for bodies first.
  if (api_.get(api_.Graph_GetParentNode, graph) && knowsOperators(reader)) return;
  std::vector<bool> free;
  for (const OrtNode* node : nodes) free.push_back(isFree(node));
  const Capability capability = capabilityOf(reader, free, options_);
  size_t taken = 0;
  for (const std::vector<size_t>& subgraph : capability.subgraphs) {
    std::vector<const OrtNode*> members;
    for (const size_t i : subgraph) members.push_back(reader.nodes()[i].node);
    const SubgraphModel model = reader.model(subgraph, outputsOf(reader, subgraph));
    const OrtNodeFusionOptions fusion{kApiVersion, knowsSizes(model.inputs, options_)};
    api_.check(
        api_.EpGraphSupportInfo_AddNodesToFuse(info, members.data(), members.size(), &fusion));
    taken += members.size();
  }
  logger_.write(kOrtInfo, str("Camshaft takes ", taken, " of ", nodes.size(), " nodes in ",
                              capability.subgraphs.size(), " subgraphs"));
  for (const std::string& refusal : capability.refusals)
    logger_.write(kOrtInfo, str("Camshaft leaves a node: ", refusal));
}

void Provider::compile(const OrtGraph* graph, const OrtNode* fusedNode, OrtNodeComputeInfo*& made) {
  const auto nodes = api_.list(api_.Graph_GetNumNodes, api_.Graph_GetNodes, graph);
  const GraphReader reader(api_, graph, nodes);
  std::vector<size_t> all(nodes.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const std::vector<std::string> inputs =
      namesOf(api_, api_.list(api_.Node_GetNumInputs, api_.Node_GetInputs, fusedNode));
  std::vector<std::string> outputs =
      namesOf(api_, api_.list(api_.Node_GetNumOutputs, api_.Node_GetOutputs, fusedNode));
  if (!options_.dumpSubgraphs.empty()) dump(reader, all, outputs);
  SubgraphModel model =
      reader.model(all, std::vector<std::string_view>(outputs.begin(), outputs.end()));
  made = new ComputeInfo(api_, builder_, logger_, options_, std::move(model), inputs,
                         std::move(outputs));
}

void Provider::dump(const GraphReader& reader, const std::vector<size_t>& nodes,
                    const std::vector<std::string>& outputs) {
  std::filesystem::create_directories(options_.dumpSubgraphs);
  const std::string path = str(options_.dumpSubgraphs, "/subgraph_", dumped_++, ".onnx");
  const SubgraphModel model =
      reader.model(nodes, std::vector<std::string_view>(outputs.begin(), outputs.end()),
                   GraphReader::Weights::kInModel);
  if (!writeFile(path.c_str(), model.bytes.data(), model.bytes.size(), logger_))
    fail(ErrorKind::kIo, Logger::takeError());
}

}  // namespace camshaft::ort
