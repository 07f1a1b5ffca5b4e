#include "compiler/bodies.h"

#include <algorithm>
#include <utility>

#include "backends/backends.h"
#include "compiler/optimize.h"
#include "compiler/phase.h"
#include "ir/rewrite.h"
#include "ops/control_flow.h"
#include "ops/symbols.h"

namespace camshaft {
namespace {

// Whether the values of a graph, those in bodies too, are a few integers each. A kernel of a device
// gains nothing on them, and the host is where they are wanted.
bool isShapeArithmetic(const Graph& graph);

bool isFewIntegers(const Value* value) {
  constexpr int64_t kFew = 64;
  if (!value || value->isConstant()) return true;
  const Dim count = numElements(value->shape());
  return (isInteger(value->dataType()) || value->dataType() == DataType::kBool) &&
         count.isConstant() && count.value() <= kFew;
}

bool isShapeArithmetic(const Node& node) {
  return std::ranges::all_of(node.inputs, isFewIntegers) &&
         std::ranges::all_of(node.outputs, isFewIntegers) &&
         std::ranges::all_of(bodiesOf(node),
                             [](const Graph* body) { return isShapeArithmetic(*body); });
}

bool isShapeArithmetic(const Graph& graph) {
  return std::ranges::all_of(graph.inputs, isFewIntegers) &&
         std::ranges::all_of(graph.nodes(), [](const auto& node) {
           return isShapeArithmetic(std::as_const(*node));
         });
}

bool isForDevice(const CompileOptions& options) {
  return buildBackends(options.device).front()->hasDeviceMemory;
}

// For the bodies of a node, on the device around it or on the host. What goes in and out of a body
// keeps its type, whatever is asked of single nodes.
CompileOptions optionsInside(const Node& node, CompileOptions options) {
  const bool staysOnHost = isForDevice(options) && isShapeArithmetic(node);
  if (staysOnHost) options.device = "cpu";
  if (!isForDevice(options)) {
    options.computeCapability = 0;
    options.allowF16 = options.allowBF16 = false;
  }
  options.precisionRequests = PrecisionRequests::kIgnore;
  options.ranges.clear();  // by names of the graph around
  options.progress = nullptr;
  options.dump = nullptr;
  return options;
}

ChooseOptions chooseInside(const CompileOptions& options, ChooseOptions choose) {
  choose.progress = nullptr;
  if (isForDevice(options) || !choose.hasDeviceMemory()) return choose;
  choose.backends = buildBackends(options.device);
  choose.target = choose.backends.front()->target(0);
  choose.deviceTrials = nullptr;
  return choose;
}

// A body runs only where its loop's condition holds.
void assumeCondition(Graph& body) {
  Value* condition = body.inputs[1];
  if (!body.hasUses(condition) || !numElements(condition->shape()).isConstant(1)) return;
  const uint8_t holds[] = {1};
  body.replaceUses(condition, body.addConstant(str(condition->name, ".holds"), condition->type,
                                               ConstantData::of(std::span<const uint8_t>(holds))));
}

// A loop's body that never ends the loop need not say so in every iteration.
void dropConstantCondition(Graph& body) {
  Value* condition = body.outputs[0].value;
  double number = 0;
  if (!isScalarConstant(skipThrough(condition, &ops::Identity), &number) || number == 0) return;
  body.setOutputs(std::vector<Graph::Output>(body.outputs.begin() + 1, body.outputs.end()));
  if (condition->producer) body.eraseIfDead(condition->producer);
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

// Which inputs a body on a device takes on the host: those whose values decide sizes, or the course
// of bodies in it. Iterations are counted there; carried values are left on the device by the
// iteration before.
void placeInputs(const Node& node, const Graph& body, const BodyPlans& inner,
                 std::vector<IoTensor>& inputs) {
  for (const auto& [user, planned] : inner)
    for (size_t i = 0; i < user->inputs.size(); ++i) {
      if (!user->inputs[i] || !(planned.onHost || planned.readsOnHost[i])) continue;
      const auto input = std::ranges::find(body.inputs, storageOf(user->inputs[i]));
      if (input != body.inputs.end()) inputs[input - body.inputs.begin()].isOnHost = true;
    }
  if (node.op != &ops::Loop) return;
  for (size_t i = 0; i < 2; ++i) inputs[i].isOnHost = true;
  for (int64_t c = 0; c < node.as<LoopAttrs>().carried; ++c) inputs[2 + c].isOnHost = false;
}

Plan planBody(const Node& node, Graph body, const ResolvedProfile& profile,
              const CompileOptions& options, const ChooseOptions& choose, WeightsBuilder& weights) {
  Plan plan;
  plan.networkName = node.name;
  plan.device = options.device;
  plan.hasDeviceMemory = choose.hasDeviceMemory();
  plan.builtFor = choose.target.name;
  plan.profilingVerbosity = options.profilingVerbosity;
  if (node.op == &ops::Loop) dropConstantCondition(body);
  std::vector<ChosenKernel> chosen = chooseKernels(body, profile, choose, weights);
  const BodyPlans inner = planBodies(body, profile, options, choose, weights, plan.bodies);
  plan.inputs = describeInputs(body, plan.hasDeviceMemory);
  plan.outputs = describeOutputs(body);
  if (plan.hasDeviceMemory) placeInputs(node, body, inner, plan.inputs);
  BinariesBuilder binaries;
  plan.profiles.push_back(planProfile(body, profile, std::move(chosen), plan.inputs,
                                      plan.hasDeviceMemory, weights, binaries, inner));
  plan.binaries = binaries.take();
  return plan;
}

}  // namespace

void optimizeBodies(Graph& graph, const CompileOptions& outside) {
  for (Node* node : graph.nodeList()) {
    if (!hasBodies(*node)) continue;
    const CompileOptions options = optionsInside(*node, outside);
    size_t index = 0;
    for (BodyPtr* slot : bodiesOf(*node)) {
      Graph body = (*slot)->clone();
      substituteKnownSizes(*node, index++, body);
      if (node->op == &ops::Loop) assumeCondition(body);
      optimize(body, options, *buildBackends(options.device).front());
      optimizeBodies(body, options);
      separateOutputs(body);
      verify(body, str("separate outputs of ", describe(*node)));
      *slot = std::make_shared<const Graph>(std::move(body));
    }
  }
}

BodyPlans planBodies(const Graph& graph, const ResolvedProfile& profile,
                     const CompileOptions& outside, const ChooseOptions& chooseOutside,
                     WeightsBuilder& weights, std::vector<std::shared_ptr<Plan>>& plans,
                     const PhaseNames& phaseNames) {
  BodyPlans all;
  std::vector<const Node*> nodes;
  for (const Node* node : graph.nodeList())
    if (hasBodies(*node)) nodes.push_back(node);
  if (nodes.empty()) return all;
  Phase phase(outside.progress, phaseNames.name, phaseNames.parent, static_cast<int>(nodes.size()));
  for (const Node* node : nodes) {
    const CompileOptions options = optionsInside(*node, outside);
    const ChooseOptions choose = chooseInside(options, chooseOutside);
    if (chooseOutside.hasDeviceMemory() && !choose.hasDeviceMemory())
      options.log.verbose(describe(*node), " runs on the host: it only computes sizes");
    PlannedBodies& planned = all[node];
    planned.onHost = !choose.hasDeviceMemory();
    planned.readsOnHost.assign(node->op == &ops::Loop ? 2 : 1, true);
    const std::vector<const Graph*> bodies = bodiesOf(*node);
    for (size_t b = 0; b < bodies.size(); ++b) {
      Plan plan = planBody(*node, bodies[b]->clone(), profileInside(*node, b, graph, profile),
                           options, choose, weights);
      if (!planned.onHost)
        planned.arenaBytes = std::max(planned.arenaBytes, plan.profiles[0].arenaBytes);
      for (size_t i = node->op == &ops::Loop ? 2 : 0; i < plan.inputs.size(); ++i)
        planned.readsOnHost.push_back(plan.inputs[i].isOnHost);
      planned.plans.push_back(static_cast<int32_t>(plans.size()));
      plans.push_back(std::make_shared<Plan>(std::move(plan)));
    }
    phase.completeStep();
  }
  return all;
}

}  // namespace camshaft
