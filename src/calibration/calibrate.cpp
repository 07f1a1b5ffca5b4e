#include "calibration/calibrate.h"

#include <algorithm>

#include "ops/observe.h"

namespace camshaft {
namespace {

bool isObserved(const Value* value) {
  return isFloat(value->dataType()) && !value->isConstant() && bitsOf(value->dataType()) >= 16;
}

void observe(Graph& graph, const std::set<std::string, std::less<>>* only) {
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Observe) graph.erase(node);
  for (Value* value : graph.values()) {
    if (!isObserved(value) || (only && !only->contains(value->name))) continue;
    ObserveAttrs attrs;
    attrs.tensor = value->name;
    addObserve(graph, value, std::move(attrs));
  }
}

}  // namespace

// Batches are few, and a layer for each tensor is more to time than the engine itself has.
CompileOptions plainly(CompileOptions options) {
  options.allowF16 = options.allowBF16 = options.allowTf32 = options.allowI8 = false;
  options.ranges.clear();
  options.precisionRequests = PrecisionRequests::kIgnore;
  options.optimizationLevel = 0;
  options.profiles.resize(std::min<size_t>(options.profiles.size(), 1));
  options.observeUnfused = options.sideBySide = false;
  options.timeLayers = options.keepsChoices = options.failsOnUnknownTimes = false;
  options.timings = nullptr;
  options.selector = nullptr;
  options.progress = nullptr;
  options.dump = nullptr;
  options.log = {};
  return options;
}

ObservedNetwork::ObservedNetwork(Graph graph, CompileOptions options, TensorObserver observer,
                                 const std::set<std::string, std::less<>>* only) {
  options = plainly(std::move(options));
  observe(graph, only);
  runner_ = std::make_unique<PlanRunner>(compile(std::move(graph), options), options,
                                         std::move(observer));
}

TensorHistograms gatherHistograms(Graph graph, CompileOptions options, const NextBatch& next) {
  std::vector<const void*> batch(graph.inputs.size(), nullptr);
  TensorHistograms histograms;
  ObservedNetwork network(std::move(graph), std::move(options),
                          [&](const std::string& name, std::span<const int64_t>,
                              std::span<const float> values) { histograms[name].add(values); });
  int batches = 0;
  for (; next(batch); ++batches) network.run(batch);
  if (batches == 0)
    fail(ErrorKind::kInvalidArgument,
         "the calibrator gave no batch: its getBatch() returned false at once");
  return histograms;
}

}  // namespace camshaft
