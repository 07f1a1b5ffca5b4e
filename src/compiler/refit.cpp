#include "compiler/refit.h"

#include <algorithm>
#include <unordered_map>

#include "backends/backends.h"
#include "compiler/plugin_record.h"
#include "ops/control_flow.h"
#include "ops/conv.h"
#include "ops/ops.h"
#include "ops/plugin.h"
#include "ops/pointwise.h"
#include "support/cpu_info.h"
#include "support/error.h"

namespace camshaft {
namespace {

// Single numbers are part of what is computed: an epsilon, a slope, the factors of a GELU. What
// decides sizes and positions is too, and zero points, by which kernels are chosen.
bool isWeights(const Value& constant) {
  const DataType type = constant.dataType();
  if (!constant.constant->given) return false;
  if (isFloat(type)) return constant.rank() >= 1;
  return isInteger(type) && bitsOf(type) <= 8 && constant.rank() >= 2;
}

// How a layer reads the constant.
void findLayer(const Value& constant, const RefitRequest& request, SourceWeights& source) {
  const auto layer = request.constantLayers.find(constant.name);
  source.layer = layer == request.constantLayers.end() ? constant.name : layer->second;
  for (const Node* user : constant.users) {
    const bool convolves = user->op == &ops::Conv || user->op == &ops::ConvTranspose;
    const bool isKernel = convolves && user->input(1) == &constant;
    const bool isBias = convolves && user->input(2) == &constant;
    const bool scales = user->op == &ops::Pointwise;  // as scale layers do
    const bool isShift = scales && constant.name.ends_with(".shift");
    const bool isScale = scales && constant.name.ends_with(".scale");
    if (!isKernel && !isBias && !isShift && !isScale) continue;
    source.layer = user->name;
    source.use = isKernel  ? WeightsUse::kKernel
                 : isBias  ? WeightsUse::kBias
                 : isShift ? WeightsUse::kShift
                           : WeightsUse::kScale;
    return;
  }
}

SourceWeights describe(const Graph& graph, const Value& constant, const RefitRequest& request) {
  using Weights = RefitRequest::Weights;
  SourceWeights source;
  if (request.nameOf) source.name = request.nameOf(constant);
  if (source.name.empty()) source.name = constant.name;
  findLayer(constant, request, source);
  source.tensor.type = constant.dataType();
  for (const Dim& dim : constant.shape()) source.tensor.dims.push_back({dim.value()});
  const bool isWanted = request.weights == Weights::kMarked
                            ? request.marked.contains(source.name)
                            : isWeights(constant) || source.use != WeightsUse::kConstant;
  source.isRefittable = isWanted && graph.hasUses(&constant);
  source.isOpaque = source.isRefittable && request.weights != Weights::kIdentical;
  source.bytes = constant.constant->bytes;
  source.owner = constant.constant;
  return source;
}

// The constants of a network that stand beside its text, each distinct one once.
class SourceCollector {
 public:
  explicit SourceCollector(const RefitRequest& request) : request_(request) {}

  void add(const Graph& graph) {
    for (const Value* value : graph.values())  // by name
      if (value->isConstant() && !value->constant->bytes.empty()) add(graph, *value);
    for (const auto& node : graph.nodes()) {
      if (node->op == &ops::Plugin) addPlugin(node->as<PluginAttrs>().plugin);
      for (const Graph* body : bodiesOf(std::as_const(*node)))
        if (body) add(*body);
    }
  }

  std::optional<size_t> numberOf(const Value& constant) const {
    const auto it = numbers_.find(&constant);
    return it == numbers_.end() ? std::nullopt : std::optional(it->second);
  }

  size_t numberOf(const void* plugin) const { return pluginNumbers_.at(plugin); }

  std::vector<SourceWeights> sources;
  std::vector<std::shared_ptr<const PluginOp>> plugins;

 private:
  static constexpr size_t kPrinted = 64;  // bytes that are text in the graph

  void add(const Graph& graph, const Value& constant) {
    SourceWeights source = describe(graph, constant, request_);
    const auto known = byName_.find(source.name);
    if (known != byName_.end() && isSame(sources[known->second], source)) {
      numbers_[&constant] = known->second;
      sources[known->second].isRefittable |= source.isRefittable;
      sources[known->second].isOpaque |= source.isOpaque;
      return;
    }
    // One name, two tensors: nobody could say which is meant.
    if (known != byName_.end())
      sources[known->second].isRefittable = sources[known->second].isOpaque = source.isRefittable =
          source.isOpaque = false;
    if (!source.isRefittable && source.bytes.size() <= kPrinted) return;
    byName_.try_emplace(source.name, sources.size());
    numbers_[&constant] = sources.size();
    sources.push_back(std::move(source));
  }

  void addPlugin(const std::shared_ptr<const PluginOp>& plugin) {
    if (pluginNumbers_.try_emplace(plugin.get(), plugins.size()).second) plugins.push_back(plugin);
  }

  // Bodies have copies of the constants around them, which share the bytes.
  static bool isSame(const SourceWeights& a, const SourceWeights& b) {
    return a.tensor == b.tensor && a.bytes.data() == b.bytes.data();
  }

  const RefitRequest& request_;
  std::unordered_map<std::string, size_t> byName_;
  std::unordered_map<const Value*, size_t> numbers_;
  std::unordered_map<const void*, size_t> pluginNumbers_;
};

Graph graphOf(const RefitRecord& record, std::span<const ObjectPtr> plugins) {
  std::vector<ConstantPtr> constants;
  for (const SourceWeights& source : record.sources) {
    auto data = std::make_shared<ConstantData>();
    data->bytes = source.bytes;
    data->owner = source.owner;
    data->isOpaque = source.isOpaque;
    constants.push_back(std::move(data));
  }
  return parseGraph(record.graph, findOp, {constants, plugins});
}

std::vector<ObjectPtr> recordedPlugins(const RefitRecord& record,
                                       const PluginParamsByHash& params) {
  std::vector<ObjectPtr> plugins;
  for (const PluginRecord& plugin : record.plugins)
    plugins.push_back(recordedPlugin(plugin, params));
  return plugins;
}

// The settings of a build that its record keeps, in one list: visit(the record's, the options').
// Enumerations, which files keep as numbers, come with their last value.
template <class Record, class Options, class Visit>
void visitSettings(Record& record, Options& options, Visit&& visit) {
  visit(record.profiles, options.profiles);
  visit(record.disabledPasses, options.disabledPasses);
  visit(record.workspaceLimit, options.workspaceLimit);
  visit(record.computeCapability, options.computeCapability);
  visit(record.optimizationLevel, options.optimizationLevel);
  visit(record.threads, options.threads);
  visit(record.precisionRequests, options.precisionRequests, PrecisionRequests::kObey);
  visit(record.allowTf32, options.allowTf32);
  visit(record.allowF16, options.allowF16);
  visit(record.allowBF16, options.allowBF16);
  visit(record.gpus, options.gpus, GpuRange::kAmpereAndLater);
  visit(record.observeUnfused, options.observeUnfused);
}

// Of types that hold the same in different ways.
template <class To, class From>
void assign(To& to, const From& from) {
  if constexpr (std::is_same_v<To, From>)
    to = from;
  else
    to = To(from.begin(), from.end());
}

void noteSettings(const CompileOptions& options, RefitRecord& record) {
  visitSettings(record, options, [](auto& kept, const auto& value, auto... last) {
    if constexpr (sizeof...(last) > 0)
      kept = static_cast<uint8_t>(value);
    else
      assign(kept, value);
  });
}

CompileOptions settingsOf(const RefitRecord& record, const Plan& plan) {
  CompileOptions options;
  options.device = plan.device;
  options.profilingVerbosity = plan.profilingVerbosity;
  visitSettings(record, options, [](const auto& kept, auto& value, auto... last) {
    if constexpr (sizeof...(last) > 0)
      value = std::min({static_cast<std::decay_t<decltype(value)>>(kept), last...});
    else
      assign(value, kept);
  });
  return options;
}

// What they compute; the plan at hand keeps its own way to do that.
bool haveSameProblem(const Step& a, const Step& b, std::string_view device) {
  if (a.params == b.params) return true;
  return std::ranges::any_of(buildBackends(device), [&](const BuildBackend* backend) {
    return backend->problemOf && std::ranges::equal(backend->problemOf(a.kernel, a.params),
                                                    backend->problemOf(b.kernel, b.params));
  });
}

// Everything but the device code, which is that of the same source, and what the inspector shows.
bool isSame(const Step& a, const Step& b, std::string_view device) {
  return a.kind == b.kind && a.name == b.name && a.kernel == b.kernel &&
         haveSameProblem(a, b, device) && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.dimArgs == b.dimArgs && a.workspace == b.workspace && a.bindSlots == b.bindSlots &&
         a.bindMin == b.bindMin && a.bindMax == b.bindMax && a.dimBegin == b.dimBegin &&
         a.dimEnd == b.dimEnd && a.bodies == b.bodies && a.carried == b.carried;
}

// What would be another plan, in words; empty when they differ in nothing that counts.
std::string differenceOf(const Plan& was, const Plan& is);

std::string differenceOf(const ProfilePlan& was, const ProfilePlan& is, std::string_view device) {
  for (size_t i = 0; i < std::min(was.steps.size(), is.steps.size()); ++i)
    if (!isSame(was.steps[i], is.steps[i], device)) return str("layer '", was.steps[i].name, "'");
  const bool same = was.steps.size() == is.steps.size() && was.inputs == is.inputs &&
                    was.slotCount == is.slotCount && was.dimProgram == is.dimProgram &&
                    was.firstPhaseEnd == is.firstPhaseEnd && was.sizeChecks == is.sizeChecks &&
                    was.outputs == is.outputs && was.outputMaxBytes == is.outputMaxBytes &&
                    was.dynamicBuffers == is.dynamicBuffers &&
                    was.hostDynamicBuffers == is.hostDynamicBuffers &&
                    was.arenaBytes == is.arenaBytes && was.hostArenaBytes == is.hostArenaBytes;
  return same ? "" : "its sizes";
}

// What a network asks of its border besides is not the compiler's.
bool areSame(const std::vector<IoTensor>& was, std::vector<IoTensor> is) {
  for (size_t i = 0; i < std::min(was.size(), is.size()); ++i) {
    is[i].format = was[i].format;
    is[i].isShapeTensor = was[i].isShapeTensor;
    is[i].aliasedInput = was[i].aliasedInput;
  }
  return was == is;
}

std::string differenceOf(const Plan& was, const Plan& is) {
  if (!areSame(was.inputs, is.inputs) || !areSame(was.outputs, is.outputs) ||
      was.device != is.device || was.profiles.size() != is.profiles.size() ||
      was.bodies.size() != is.bodies.size())
    return "its inputs and outputs";
  for (size_t i = 0; i < was.profiles.size(); ++i)
    if (std::string what = differenceOf(was.profiles[i], is.profiles[i], was.device); !what.empty())
      return what;
  for (size_t i = 0; i < was.bodies.size(); ++i)
    if (std::string what = differenceOf(*was.bodies[i], *is.bodies[i]); !what.empty()) return what;
  return was.weights.size() == is.weights.size() ? "" : "the sizes of its weights";
}

// Weights that the build looked at and that are others now.
std::string lookedAt(const RefitRecord& was, const RefitRecord& is) {
  std::string names;
  for (size_t i = 0; i < std::min(was.sources.size(), is.sources.size()); ++i)
    if (!is.sources[i].isOpaque && !was.sources[i].isMissing() &&
        !std::ranges::equal(was.sources[i].bytes, is.sources[i].bytes))
      names += str(names.empty() ? "" : ", ", "'", is.sources[i].name, "'");
  return names;
}

[[noreturn]] void refuse(const Plan& plan, const RefitRecord& record, std::string_view why) {
  const std::string names = lookedAt(*plan.refit, record);
  fail(ErrorKind::kUnsupported,
       "the engine cannot be refitted with these weights, which change more than weights: ", why,
       names.empty() ? "" : str(" (it was built for the values of ", names, ")"),
       "; build it again from the new model");
}

}  // namespace

std::vector<SourceWeights> sourceWeights(const Graph& graph, const RefitRequest& request) {
  SourceCollector collector(request);
  collector.add(graph);
  return std::move(collector.sources);
}

Plan compileRefittable(const Graph& graph, CompileOptions options, const RefitRequest& request) {
  auto record = std::make_shared<RefitRecord>();
  SourceCollector collector(request);
  collector.add(graph);
  const ConstantNumber numberOf = [&](const Value& constant) {
    return collector.numberOf(constant);
  };
  record->graph =
      toText(graph, numberOf, [&](const void* plugin) { return collector.numberOf(plugin); });
  record->sources = std::move(collector.sources);
  record->plugins.resize(collector.plugins.size());
  std::vector<ObjectPtr> plugins;
  for (size_t i = 0; i < collector.plugins.size(); ++i)
    plugins.push_back(recordingPlugin(collector.plugins[i], record->plugins[i]));
  if (options.threads == 0) options.threads = usableCores();
  noteSettings(options, *record);
  DecisionTape tape;
  options.tape = &tape;
  // From the text, as refits will build it.
  Plan plan = compile(graphOf(*record, plugins), options);
  record->decisions = std::move(tape.decisions);
  plan.refit = std::move(record);
  return plan;
}

std::map<std::string, ConstantPtr> fixedConstants(const RefitRecord& record) {
  RefitRecord whole = record;
  std::set<std::string_view> refittable;
  for (SourceWeights& source : whole.sources) {
    if (source.isRefittable) refittable.insert(source.name);
    if (!source.isMissing()) continue;
    int64_t count = 1;
    for (const DimRef& dim : source.tensor.dims) count *= dim.constant;
    const auto zeros =
        std::make_shared<const std::vector<std::byte>>(bytesOf(source.tensor.type, count));
    source.bytes = *zeros;
    source.owner = zeros;
  }
  const Graph graph = graphOf(whole, recordedPlugins(record, {}));
  std::map<std::string, ConstantPtr> fixed;
  for (const Value* value : graph.values())
    if (value->isConstant() && !refittable.contains(value->name))
      fixed.emplace(value->name, value->constant);
  return fixed;
}

RemadeWeights remakeWeights(const Plan& plan, const RefitRecord& record) {
  CompileOptions options = settingsOf(record, plan);
  DecisionTape tape{.decisions = record.decisions, .isReplayed = true};
  options.tape = &tape;
  Plan again;
  try {
    again = compile(graphOf(record, recordedPlugins(record, pluginParamsOf(plan))), options);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kOutOfMemory) throw;
    refuse(plan, record, error.message());
  }
  if (tape.next != tape.decisions.size()) refuse(plan, record, "layers fall away");
  if (const std::string what = differenceOf(plan, again); !what.empty())
    refuse(plan, record, str(what, " would be another"));
  return {again.weights, again.weightsOwner};
}

}  // namespace camshaft
