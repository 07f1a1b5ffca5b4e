#include "accuracy/trials.h"

#include <algorithm>
#include <charconv>

#include "calibration/calibrate.h"
#include "calibration/plan_runner.h"
#include "ops/ops.h"
#include "passes/precision_rules.h"

namespace camshaft {
namespace {

// Nodes know by their origins which of the network's they do the work of: here that is their place.
std::string originOf(int node) { return str(node); }
int nodeOf(const std::string& origin) {
  int node = -1;
  std::from_chars(origin.data(), origin.data() + origin.size(), node);
  return node;
}

bool multipliesBytes(const Step& step) {
  return step.info.layerType == ops::ConvInteger.name ||
         step.info.layerType == ops::MatMulInteger.name;
}

std::string describeStep(const Step& step) {
  std::string text = step.kernel;
  for (const Operand& operand : step.inputs) text += str(" ", toString(operand.tensor.type));
  return text + ";";
}

}  // namespace

PrecisionTrials::PrecisionTrials(Graph graph, CompileOptions options, std::vector<DataType> types,
                                 const Samples& samples)
    : graph_(std::move(graph)),
      options_(std::move(options)),
      types_(std::move(types)),
      samples_(samples),
      storesTensors16_(lowPrecisionOf(options_.device).tensors16) {
  for (const Graph::Output& output : graph_.outputs) outputs_.push_back(output.name);
  int index = 0;
  for (Node* node : graph_.nodeList()) node->origins = Origins{originOf(index++)};
  groups_ = joined(groupsOf(graph_), namesakes(graph_));
  options_.precisionRequests = PrecisionRequests::kPrefer;
  options_.progress = nullptr;
  options_.dump = nullptr;
  options_.tape = nullptr;
  options_.observeUnfused = false;
  options_.timeLayers = isTimed();
  options_.log = {};
  settle();
  joinFused();
}

void PrecisionTrials::settle() {
  groupOf_.assign(graph_.nodeCount(), -1);
  isProduct_.assign(graph_.nodeCount(), false);
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const int node : groups_[i].nodes)
      groupOf_[static_cast<size_t>(node)] = static_cast<int>(i);
    for (const int node : groups_[i].products) isProduct_[static_cast<size_t>(node)] = true;
  }
}

int PrecisionTrials::ownerOf(const Step& step) const {
  return step.info.origins.empty() ? -1 : nodeOf(step.info.origins.front());
}

// Products that passes made one of have one precision: those that no step is in the first place for
// go with the first step that does their work besides its own.
void PrecisionTrials::joinFused() {
  const Plan plan = plain(Mix(groups_.size(), 0));
  std::set<int> owners;
  for (const Step& step : plan.profiles[0].steps) owners.insert(ownerOf(step));
  std::vector<std::set<int>> together;
  for (const Step& step : plan.profiles[0].steps) {
    const int owner = ownerOf(step);
    if (owner < 0 || !isProduct_[static_cast<size_t>(owner)]) continue;
    for (const std::string& origin : step.info.origins)
      if (const int node = nodeOf(origin);
          node >= 0 && isProduct_[static_cast<size_t>(node)] && owners.insert(node).second)
        together.push_back({owner, node});
  }
  groups_ = joined(groups_, together);
  settle();
}

std::vector<std::string> PrecisionTrials::names(const std::vector<int>& nodes) const {
  const std::vector<Node*> all = graph_.nodeList();
  std::vector<std::string> names;
  for (const int node : nodes) names.push_back(all[static_cast<size_t>(node)]->name);
  return names;
}

std::string PrecisionTrials::operatorOf(int node) const {
  return std::string((*std::next(graph_.nodes().begin(), node))->op->name);
}

// Products say which type they want; what is around them is asked only where it would have 16 bits
// otherwise. A wish for 16 bits keeps products from bytes, and is left out where there are none:
// the passes then know best which numbers do not fit.
std::optional<DataType> PrecisionTrials::requestOf(int group, bool isProduct, int level,
                                                   Bytes bytes) const {
  const bool has16 = options_.allowF16 || options_.allowBF16;
  const DataType narrow = options_.allowF16 ? DataType::kF16 : DataType::kBF16;
  const bool staysF32 = isProduct || (has16 && storesTensors16_);
  if (level == 0) return staysF32 ? std::optional(DataType::kF32) : std::nullopt;
  const DataType type = types_[static_cast<size_t>(level - 1)];
  if (type == DataType::kI8) {
    if (isProduct) return bytes == Bytes::kAlways ? std::optional(type) : std::nullopt;
    const bool fits16 = !beyond16_.contains(group);
    return has16 && storesTensors16_ && !fits16 ? std::optional(DataType::kF32) : std::nullopt;
  }
  if (type != narrow) return type;
  if (isProduct && options_.allowI8) return type;
  return std::nullopt;
}

Graph PrecisionTrials::withRequests(const Mix& mix, Bytes bytes) const {
  Graph graph = graph_.clone();
  size_t index = 0;
  for (Node* node : graph.nodeList()) {
    const int group = groupOf_[index];
    if (!node->precision.compute)
      node->precision.compute =
          requestOf(group, isProduct_[index], mix[static_cast<size_t>(group)], bytes);
    ++index;
  }
  return graph;
}

std::map<std::string, DataType> PrecisionTrials::requests(const Mix& mix) const {
  std::map<std::string, DataType> requests;
  const Graph graph = withRequests(mix, Bytes::kAlways);
  for (const auto& node : graph.nodes())
    if (node->precision.compute && !node->name.empty())
      requests[node->name] = *node->precision.compute;
  return requests;
}

PrecisionTrials::Timed PrecisionTrials::built(const Mix& mix, Bytes bytes) const {
  Timed timed{.mix = mix,
              .groups = std::vector<double>(groups_.size(), 0),
              .how = std::vector<std::string>(groups_.size()),
              .plan = compile(withRequests(mix, bytes), options_)};
  std::vector<bool> isBytes(groups_.size(), false);
  for (const Step& step : timed.plan.profiles[0].steps) {
    const double milliseconds = isTimed() ? std::max(step.info.milliseconds, 0.0) : 0;
    timed.milliseconds += milliseconds;
    const int owner = ownerOf(step);
    if (owner < 0) continue;
    const auto group = static_cast<size_t>(groupOf_[static_cast<size_t>(owner)]);
    timed.groups[group] += milliseconds;
    timed.how[group] += describeStep(step);
    if (multipliesBytes(step)) isBytes[group] = true;
  }
  for (size_t i = 0; i < mix.size(); ++i)
    if (mix[i] > 0 && types_[static_cast<size_t>(mix[i] - 1)] == DataType::kI8 && !isBytes[i])
      timed.mix[i] = 0;
  return timed;
}

PrecisionTrials::Timed PrecisionTrials::timed(const Mix& mix, const Mix& otherwise) const {
  Timed first = built(mix, Bytes::kWhereFaster);
  if (first.mix == mix) return first;
  Mix settled = mix;
  for (size_t i = 0; i < mix.size(); ++i)
    if (first.mix[i] != mix[i]) settled[i] = otherwise[i];
  return built(settled, Bytes::kAlways);
}

Plan PrecisionTrials::plain(const Mix& mix) const {
  CompileOptions options = options_;
  options.optimizationLevel = 0;
  options.timeLayers = false;
  return compile(withRequests(mix, Bytes::kAlways), options);
}

Plan PrecisionTrials::reference() const { return compile(graph_.clone(), plainly(options_)); }

std::vector<RunOutputs> PrecisionTrials::run(Plan plan, std::span<const int> samples) const {
  PlanRunner runner(std::move(plan), options_);
  std::vector<RunOutputs> outputs;
  for (const int sample : samples) {
    runner.run(samples_, sample);
    outputs.push_back(runner.outputs());
  }
  return outputs;
}

}  // namespace camshaft
