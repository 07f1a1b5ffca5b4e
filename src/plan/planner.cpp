#include "plan/planner.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "backend/launch.h"
#include "ir/attrs_text.h"
#include "ops/control_flow.h"
#include "ops/observe.h"
#include "ops/shape.h"
#include "plan/dim_program.h"
#include "plan/step_drafts.h"
#include "plan/storage.h"
#include "support/error.h"
#include "support/mapped_pages.h"

namespace camshaft {

bool isView(const Node& node) {
  return (node.op == &ops::Reshape || node.op == &ops::BitCast) && !node.epilogue;
}
bool needsKernel(const Node& node) {
  return !isView(node) && node.op != &ops::BindDims && node.op != &ops::Observe && !hasBodies(node);
}

const Value* storageOf(const Value* value) {
  while (value->producer && isView(*value->producer)) value = value->producer->input(0);
  return value;
}

void separateOutputs(Graph& graph) {
  std::set<const Value*> claimed;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto& [name, value] = graph.outputs[i];
    const Value* storage = storageOf(value);
    if (storage->producer && claimed.insert(storage).second) continue;
    Node* copy = graph.add(&ops::Identity, str(name, ".copy"), {value}, NoAttrs{});
    graph.setOutput(i, copy->output());
    claimed.insert(copy->output());
  }
}

namespace {

std::vector<Dim> definedBy(const Node& node) {
  return node.op->defines ? node.op->defines(*node.attrs) : std::vector<Dim>();
}

// What an output that holds sizes will hold.
Shape sizesIn(const Value& value) {
  const bool isIndex = value.dataType() == DataType::kI64 || value.dataType() == DataType::kI32;
  return isIndex && value.rank() <= 1 && value.contents ? *value.contents : Shape();
}

// Which opaque constant it is; empty for others. Profiles share the constants of their graph.
std::string sourceOf(const Value& constant) {
  return constant.isOpaque() ? str(reinterpret_cast<uintptr_t>(constant.constant.get())) : "";
}

std::string runtimeKernelOf(const ChosenKernel& chosen) {
  const std::string& named = chosen.prepared.runtimeKernel;
  return named.empty() ? std::string(chosen.kernel->name) : named;
}

// What blocks that a kernel packed of opaque constants are made of, and how.
std::string packingOf(const ChosenKernel& chosen) {
  std::string sources;
  for (const Value* input : chosen.node->inputs)
    if (input && input->isOpaque()) sources += sourceOf(*input) + " ";
  if (sources.empty()) return "";
  const std::vector<std::byte>& params = chosen.prepared.params;
  return str(sources, runtimeKernelOf(chosen), " ",
             std::string_view(reinterpret_cast<const char*>(params.data()), params.size()));
}

class Planner {
 public:
  Planner(const Graph& graph, const ResolvedProfile& profile, std::vector<ChosenKernel> chosen,
          const std::vector<IoTensor>& inputs, bool hasDeviceMemory, WeightsBuilder& weights,
          BinariesBuilder& binaries, const BodyPlans& bodies)
      : graph_(graph),
        profile_(profile),
        chosen_(std::move(chosen)),
        inputs_(inputs),
        drafts_(draftSteps(graph, chosen_, inputs, hasDeviceMemory, bodies)),
        weights_(weights),
        binaries_(binaries) {}

  ProfilePlan plan() {
    compileDims();
    places_ = placeStorage(graph_, profile_, inputs_, drafts_, dims_, plan_);
    for (StepDraft& draft : drafts_) plan_.steps.push_back(makeStep(draft));
    makeNamesUnique();
    for (const auto& output : graph_.outputs) {
      plan_.outputs.push_back(describe(output.value->type));
      const int64_t bound = upperBound(byteSize(output.value->type), graph_, profile_);
      plan_.outputMaxBytes.push_back(bound == DimRange::kUnbounded ? -1 : bound);
      std::vector<DimRef>& values = plan_.outputValues.emplace_back();
      for (const Dim& dim : sizesIn(*output.value)) values.push_back(dims_.refer(dim));
    }
    for (const SizeCondition* condition : checkable())
      plan_.sizeChecks.push_back({condition->relation, dims_.refer(condition->a),
                                  dims_.refer(condition->b), condition->before, condition->between,
                                  condition->after});
    plan_.inputs = profile_.inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) plan_.inputValues.push_back(valuesOf(i));
    plan_.slotCount = dims_.slotCount();
    plan_.dimProgram = dims_.take();
    return std::move(plan_);
  }

 private:
  // Every dimension anybody will ask for, in the order steps need them.
  std::vector<Dim> dimsOf(const StepDraft& draft) const {
    std::vector<Dim> dims;
    const auto addShape = [&](const Value* value) {
      if (value) dims.insert(dims.end(), value->shape().begin(), value->shape().end());
    };
    if (draft.node)
      for (const Value* value : draft.node->inputs) addShape(value);
    for (const auto& [value, side] : draft.writes()) {
      addShape(value);
      dims.push_back(byteSize(value->type));
    }
    if (draft.chosen) {
      const Prepared& prepared = draft.chosen->prepared;
      dims.insert(dims.end(), prepared.dimArgs.begin(), prepared.dimArgs.end());
      dims.push_back(prepared.workspaceBytes);
    }
    return dims;
  }

  // Conditions on sizes that this plan knows at some time: what is asked of a dead node's is not.
  std::vector<const SizeCondition*> checkable() const {
    std::set<std::string> known;
    for (const Value* input : graph_.inputs)
      for (const Dim& dim : input->shape()) collectSymbols(dim, known);
    for (const auto& node : graph_.nodes()) known.merge(symbolsDefined(*node));
    std::vector<const SizeCondition*> found;
    for (const auto& [text, condition] : graph_.conditions) {
      std::set<std::string> symbols;
      collectSymbols(condition.a, symbols);
      collectSymbols(condition.b, symbols);
      if (std::ranges::all_of(symbols, [&](const auto& name) { return known.contains(name); }) &&
          !alwaysHolds(condition, profile_.rangeOfSymbol(graph_)))
        found.push_back(&condition);
    }
    return found;
  }

  InputRange valuesOf(size_t input) const {
    InputRange range;
    if (inputs_[input].valueSlots.empty()) return range;
    for (const Dim& symbol : *graph_.inputs[input]->contents) {
      const DimRange bounds = rangeOf(symbol, profile_.rangeOfSymbol(graph_));
      range.min.push_back(bounds.min);
      range.max.push_back(bounds.max);
      range.opt.push_back(evaluate(symbol, profile_.optValue(graph_)));
    }
    return range;
  }

  std::vector<Dim> allDims() const {
    std::vector<Dim> all;
    for (const StepDraft& draft : drafts_)
      for (Dim& dim : dimsOf(draft)) all.push_back(std::move(dim));
    for (const auto& output : graph_.outputs) {
      all.insert(all.end(), output.value->shape().begin(), output.value->shape().end());
      const Shape values = sizesIn(*output.value);
      all.insert(all.end(), values.begin(), values.end());
    }
    for (const SizeCondition* condition : checkable()) {
      all.push_back(condition->a);
      all.push_back(condition->b);
    }
    std::erase_if(all, [](const Dim& dim) { return dim.isConstant(); });
    return all;
  }

  void compileDims() {
    for (const Value* input : graph_.inputs)
      for (const Dim& dim : input->shape())
        if (!dim.isConstant()) dims_.defineSymbol(dim.symbolName());
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i].valueSlots.empty())
        for (const Dim& symbol : *graph_.inputs[i]->contents)
          dims_.defineSymbol(symbol.symbolName());
    const std::vector<Dim> all = allDims();
    // Each waits for the symbols that steps will define.
    std::vector<size_t> missing(all.size());
    std::unordered_map<std::string, std::vector<size_t>> waiting;
    for (size_t i = 0; i < all.size(); ++i) {
      std::set<std::string> symbols;
      collectSymbols(all[i], symbols);
      for (const std::string& name : symbols) {
        if (dims_.isDefined(name)) continue;
        waiting[name].push_back(i);
        ++missing[i];
      }
    }
    for (size_t i = 0; i < all.size(); ++i)
      if (missing[i] == 0) dims_.refer(all[i]);
    plan_.firstPhaseEnd = dims_.size();
    for (StepDraft& draft : drafts_) {
      if (!draft.isRuntimeStep()) continue;
      std::set<size_t> ready;
      for (const Dim& symbol : definedBy(*draft.node)) {
        const std::string& name = symbol.symbolName();
        draft.bindSlots.push_back(dims_.defineSymbol(name));
        if (const auto dims = waiting.extract(name))
          for (const size_t i : dims.mapped())
            if (--missing[i] == 0) ready.insert(i);
      }
      draft.dimBegin = dims_.size();
      for (const size_t i : ready) dims_.refer(all[i]);
      draft.dimEnd = dims_.size();
    }
    CAMSHAFT_CHECK(waiting.empty(), "dimension ", waiting.begin()->first, " is never bound");
  }

  TensorDesc describe(const TensorType& type) {
    if (type.rank() > kMaxRank)
      fail(ErrorKind::kUnsupported, "a tensor of type ", type, " has more than ", kMaxRank,
           " dimensions");
    TensorDesc desc{.type = type.type};
    for (const Dim& dim : type.shape) desc.dims.push_back(dims_.refer(dim));
    return desc;
  }

  Operand operandOf(const Value* value, Side side) {
    if (!value) return {};
    const Value* storage = storageOf(value);
    Operand operand;
    if (storage->isConstant()) {
      operand = {.place = Place::kWeights,
                 .offset = weights_.add(storage->constant->bytes, sourceOf(*storage))};
      letGoOfMapped(storage->constant->bytes);
    } else {
      operand = places_.at({storage, side});
    }
    operand.tensor = describe(value->type);
    return operand;
  }

  Step makeStep(StepDraft& draft) {
    if (draft.copied) return makeCopy(draft);
    Step step;
    step.name = draft.node->name;
    for (const Value* output : draft.node->outputs)
      step.outputs.push_back(operandOf(output, draft.side));
    if (draft.isRuntimeStep()) {
      fillRuntimeStep(draft, step);
      describe(draft, step.info);
      return step;
    }
    Prepared& prepared = draft.chosen->prepared;
    step.kernel = runtimeKernelOf(*draft.chosen);
    step.params = std::move(prepared.params);
    if (draft.chosen->binary) step.binary = binaries_.add(*draft.chosen->binary);
    for (size_t i = 0; i < prepared.inputs.size(); ++i) {
      const StepInput& input = prepared.inputs[i];
      if (input.nodeInput >= 0)
        step.inputs.push_back(operandOf(draft.node->inputs[input.nodeInput], draft.side));
      else
        step.inputs.push_back({.place = Place::kWeights,
                               .offset = draft.chosen->packedAt.at(i),
                               .tensor = describe(input.packedType)});
    }
    for (const Dim& dim : prepared.dimArgs) step.dimArgs.push_back(dims_.refer(dim));
    step.workspace = workspaceOf(draft);
    step.info = std::move(draft.chosen->info);
    describe(draft, step.info);
    return step;
  }

  // What the inspector tells of a step's node.
  static void describe(const StepDraft& draft, StepInfo& info) {
    const Node& node = *draft.node;
    const auto nameOf = [](const Value* value) { return value ? value->name : std::string(); };
    if (draft.chosen)
      for (const StepInput& input : draft.chosen->prepared.inputs)
        info.inputs.push_back(input.nodeInput >= 0 ? nameOf(node.inputs[input.nodeInput]) : "");
    else
      for (const Value* input : node.inputs) info.inputs.push_back(nameOf(input));
    for (const Value* output : node.outputs) info.outputs.push_back(nameOf(output));
    constexpr size_t kLongest = 400;  // tables of numbers tell nothing
    if (!hasBodies(node)) info.attributes = textsOf(*node.attrs);
    std::erase_if(info.attributes,
                  [&](const auto& attribute) { return attribute.second.size() > kLongest; });
    if (node.epilogue) info.attributes.emplace_back("epilogue", toString(node.epilogue->expr));
    describeConstants(node, info);
  }

  // What kernels pack they pack in shapes of their own; here are those of the network, null for
  // inputs that only the run knows, and which of what an epilogue reads is constant.
  static void describeConstants(const Node& node, StepInfo& info) {
    std::vector<std::string> shapes, constants;
    const size_t own = node.epilogue ? node.epilogue->firstInput : node.inputs.size();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value* input = node.inputs[i];
      const bool isConstant = input && input->isConstant();
      if (i >= own)
        constants.emplace_back(isConstant ? "true" : "false");
      else
        shapes.push_back(isConstant ? str("[", join(input->type.shape, ","), "]") : "null");
    }
    if (std::any_of(shapes.begin(), shapes.end(), [](const auto& text) { return text != "null"; }))
      info.attributes.emplace_back("constant_shapes", str("[", join(shapes, ","), "]"));
    if (!constants.empty())
      info.attributes.emplace_back("epilogue_constants", str("[", join(constants, ","), "]"));
  }

  // Profilers and inspectors know a layer by its name, which nodes of one origin share.
  void makeNamesUnique() {
    std::unordered_map<std::string, int> repeats;
    std::set<std::string> taken;
    for (const Step& step : plan_.steps) taken.insert(step.name);
    std::set<std::string> seen;
    for (Step& step : plan_.steps) {
      if (seen.insert(step.name).second) continue;
      std::string unique;
      do unique = str(step.name, "_", ++repeats[step.name]);
      while (!taken.insert(unique).second);
      step.name = std::move(unique);
    }
  }

  Operand workspaceOf(const StepDraft& draft) {
    if (draft.workspaceBytes().isConstant(0)) return {};
    Operand workspace = places_.at({&draft, draft.side});
    workspace.tensor = {.type = DataType::kU8, .dims = {dims_.refer(draft.workspaceBytes())}};
    return workspace;
  }

  void fillRuntimeStep(StepDraft& draft, Step& step) {
    const Node& node = *draft.node;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      step.inputs.push_back(operandOf(node.inputs[i], draft.sideOf(i)));
    step.kind = node.op == &ops::If        ? StepKind::kIf
                : node.op == &ops::Loop    ? StepKind::kLoop
                : node.op == &ops::Observe ? StepKind::kObserve
                                           : StepKind::kBindDims;
    if (node.op == &ops::Observe) {
      const auto& attrs = node.as<ObserveAttrs>();
      step.observed = {attrs.tensor, attrs.isUnfused};
    }
    if (node.op == &ops::Loop) step.carried = static_cast<int32_t>(node.as<LoopAttrs>().carried);
    if (draft.bodies) step.bodies = draft.bodies->plans;
    step.workspace = workspaceOf(draft);
    step.bindSlots = std::move(draft.bindSlots);
    for (const Dim& symbol : definedBy(node)) {
      const DimRange range = rangeOf(symbol, profile_.rangeOfSymbol(graph_));
      step.bindMin.push_back(range.min);
      step.bindMax.push_back(range.max);
    }
    step.dimBegin = draft.dimBegin;
    step.dimEnd = draft.dimEnd;
    step.info.layerType = node.op->name;
    step.info.origins = node.origins.list();
  }

  Step makeCopy(const StepDraft& draft) {
    const bool toHost = draft.side == Side::kHost;
    Step step{.kind = StepKind::kCopy,
              .name = str(draft.copied->name, toHost ? " to host" : " to device")};
    step.inputs.push_back(operandOf(draft.copied, toHost ? Side::kDevice : Side::kHost));
    step.outputs.push_back(operandOf(draft.copied, draft.side));
    step.info.layerType = "Copy";
    step.info.inputs = step.info.outputs = {draft.copied->name};
    return step;
  }

  const Graph& graph_;
  const ResolvedProfile& profile_;
  std::vector<ChosenKernel> chosen_;
  const std::vector<IoTensor>& inputs_;
  std::vector<StepDraft> drafts_;
  WeightsBuilder& weights_;
  BinariesBuilder& binaries_;
  DimProgramBuilder dims_;
  Storage places_;
  ProfilePlan plan_;
};

}  // namespace

void storePacked(ChosenKernel& chosen, WeightsBuilder& weights) {
  const std::string packing = packingOf(chosen);
  packNow(chosen.prepared);
  for (StepInput& input : chosen.prepared.inputs) {
    // Of one step, each has its own block: other weights may tell them apart.
    const std::string source = packing.empty() ? "" : str(packing, " ", chosen.packedAt.size());
    chosen.packedAt.push_back(
        input.nodeInput >= 0 ? -1 : weights.add(std::exchange(input.packed, {}), source));
  }
}

ProfilePlan planProfile(const Graph& graph, const ResolvedProfile& profile,
                        std::vector<ChosenKernel> chosen, const std::vector<IoTensor>& inputs,
                        bool hasDeviceMemory, WeightsBuilder& weights, BinariesBuilder& binaries,
                        const BodyPlans& bodies) {
  return Planner(graph, profile, std::move(chosen), inputs, hasDeviceMemory, weights, binaries,
                 bodies)
      .plan();
}

}  // namespace camshaft
