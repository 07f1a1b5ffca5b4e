#include "compiler/bodies.h"

#include <algorithm>

#include "backends/backends.h"
#include "compiler/optimize.h"
#include "ops/control_flow.h"
#include "ops/symbols.h"

namespace camshaft {
namespace {

// Bodies run on the host, and in the types that they have: what goes in and out of them is fixed.
CompileOptions optionsInside(CompileOptions options) {
  if (options.device == "cuda") options.device = "cpu";
  options.computeCapability = 0;
  options.allowF16 = options.allowBF16 = false;
  options.precisionRequests = PrecisionRequests::kIgnore;
  options.progress = nullptr;
  options.dump = nullptr;
  return options;
}

// Sizes that are numbers outside, and stay what they are, are numbers inside.
void substituteKnownSizes(const Node& node, size_t index, Graph& body) {
  std::map<std::string, Dim> outer = outerDims(node, index);
  std::erase_if(outer, [](const auto& entry) { return !entry.second.isConstant(); });
  if (outer.empty()) return;
  for (const auto& [name, size] : outer) body.symbols.erase(name);
  substituteSymbols(body, [&](const std::string& name) {
    const auto it = outer.find(name);
    return it == outer.end() ? Dim::symbol(name) : it->second;
  });
}

// What the profile of the graph around it says of a body's inputs.
ResolvedProfile profileInside(const Node& node, size_t index, const Graph& graph,
                              const ResolvedProfile& profile) {
  ResolvedProfile inside;
  const Graph& body = *bodiesOf(node)[index];
  for (const auto& [name, dim] : outerDims(node, index)) {
    const DimRange range = rangeOf(dim, profile.rangeOfSymbol(graph));
    const int64_t least = std::max<int64_t>(range.min, 0), most = std::max(range.max, least);
    inside.ranges[name] = {least, most};
    inside.opt[name] = std::clamp(evaluate(dim, profile.optValue(graph)), least, most);
  }
  for (const Value* input : body.inputs) {
    InputRange& range = inside.inputs.emplace_back();
    for (const Dim& dim : input->shape()) {
      const DimRange bounds = rangeOf(dim, inside.rangeOfSymbol(body));
      range.min.push_back(bounds.min);
      range.max.push_back(bounds.max);
      range.opt.push_back(evaluate(dim, inside.optValue(body)));
    }
  }
  return inside;
}

Plan planBody(Graph body, const std::string& name, const ResolvedProfile& profile,
              const CompileOptions& options, const ChooseOptions& choose, WeightsBuilder& weights) {
  Plan plan;
  plan.networkName = name;
  plan.device = options.device;
  plan.builtFor = choose.deviceKey;
  plan.profilingVerbosity = options.profilingVerbosity;
  plan.inputs = describeInputs(body, false);
  plan.outputs = describeOutputs(body);
  std::vector<ChosenKernel> chosen = chooseKernels(body, profile, choose);
  const BodyIndices bodies = planBodies(body, profile, options, choose, weights, plan.bodies);
  BinariesBuilder noBinaries;
  plan.profiles.push_back(planProfile(body, profile, std::move(chosen), plan.inputs, false, weights,
                                      noBinaries, bodies));
  return plan;
}

}  // namespace

void optimizeBodies(Graph& graph, const CompileOptions& outside) {
  const CompileOptions options = optionsInside(outside);
  for (Node* node : graph.nodeList()) {
    size_t index = 0;
    for (BodyPtr* slot : bodiesOf(*node)) {
      Graph body = (*slot)->clone();
      substituteKnownSizes(*node, index++, body);
      optimize(body, options, *buildBackends(options.device).front());
      optimizeBodies(body, options);
      separateOutputs(body);
      verify(body, str("separate outputs of ", describe(*node)));
      *slot = std::make_shared<const Graph>(std::move(body));
    }
  }
}

BodyIndices planBodies(const Graph& graph, const ResolvedProfile& profile,
                       const CompileOptions& outside, const ChooseOptions& chooseOutside,
                       WeightsBuilder& weights, std::vector<std::shared_ptr<Plan>>& plans) {
  BodyIndices indices;
  const CompileOptions options = optionsInside(outside);
  ChooseOptions choose = chooseOutside;
  choose.backends = buildBackends(options.device);
  choose.canMeasure = true;
  choose.hasDeviceMemory = false;
  choose.deviceKey = runtimeBackends().front()->describeDevice();
  choose.progress = nullptr;
  for (const Node* node : graph.nodeList()) {
    const std::vector<const Graph*> bodies = bodiesOf(*node);
    if (chooseOutside.hasDeviceMemory && !bodies.empty())
      options.log.info(describe(*node),
                       " runs on the host, with copies: its course is decided as it runs");
    for (size_t b = 0; b < bodies.size(); ++b) {
      const ResolvedProfile inside = profileInside(*node, b, graph, profile);
      indices[node].push_back(static_cast<int32_t>(plans.size()));
      plans.push_back(std::make_shared<Plan>(
          planBody(bodies[b]->clone(), node->name, inside, options, choose, weights)));
    }
  }
  return indices;
}

}  // namespace camshaft
