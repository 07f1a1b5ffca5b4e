#include "plan/planner.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "backend/launch.h"
#include "ops/control_flow.h"
#include "ops/shape.h"
#include "plan/dim_program.h"
#include "plan/memory.h"
#include "support/error.h"

namespace camshaft {

bool isView(const Node& node) {
  return (node.op == &ops::Reshape || node.op == &ops::BitCast) && !node.epilogue;
}
bool needsKernel(const Node& node) {
  return !isView(node) && node.op != &ops::BindDims && !hasBodies(node);
}

const Value* storageOf(const Value* value) {
  while (value->producer && isView(*value->producer)) value = value->producer->input(0);
  return value;
}

namespace {

Dim byteSize(const TensorType& type) {
  const Dim count = numElements(type.shape);
  return isPacked(type.type) ? ceilDiv(count * bitsOf(type.type), 8)
                             : count * Dim(bitsOf(type.type) / 8);
}

}  // namespace

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

// Where a value lies. Without device memory there is one side, the device's.
enum class Side { kDevice, kHost };

class Planner {
 public:
  Planner(const Graph& graph, const ResolvedProfile& profile, std::vector<ChosenKernel> chosen,
          const std::vector<IoTensor>& inputs, bool hasDeviceMemory, WeightsBuilder& weights,
          BinariesBuilder& binaries, const BodyPlans& bodies)
      : graph_(graph),
        profile_(profile),
        chosen_(std::move(chosen)),
        inputs_(inputs),
        hasDeviceMemory_(hasDeviceMemory),
        weights_(weights),
        binaries_(binaries),
        bodies_(bodies) {}

  ProfilePlan plan() {
    orderSteps();
    if (hasDeviceMemory_) insertCopies();
    compileDims();
    placeStorage();
    for (Draft& draft : drafts_) plan_.steps.push_back(makeStep(draft));
    for (const auto& output : graph_.outputs) {
      plan_.outputs.push_back(describe(output.value->type));
      const int64_t bound = upperBound(byteSize(output.value->type));
      plan_.outputMaxBytes.push_back(bound == DimRange::kUnbounded ? -1 : bound);
    }
    for (const SizeCondition* condition : checkable())
      plan_.sizeChecks.push_back({condition->relation, dims_.refer(condition->a),
                                  dims_.refer(condition->b), condition->before, condition->between,
                                  condition->after});
    plan_.inputs = profile_.inputs;
    plan_.slotCount = dims_.slotCount();
    plan_.dimProgram = dims_.take();
    return std::move(plan_);
  }

 private:
  using Location = std::pair<const Value*, Side>;  // of a value that has storage
  using Key = std::pair<const void*, Side>;        // a location, or a draft's workspace

  struct Draft {
    const Node* node;                       // null: copies
    ChosenKernel* chosen = nullptr;         // null: copies, or is done by the runtime
    const PlannedBodies* bodies = nullptr;  // which it runs
    Side side = Side::kDevice;              // where it runs and its operands lie
    const Value* copied = nullptr;          // to `side`, from the other
    std::vector<int32_t> bindSlots;
    int32_t dimBegin = 0, dimEnd = 0;

    bool isRuntimeStep() const { return node && !chosen; }
    // Bodies on the device are led by the host.
    Side sideOf(size_t input) const {
      return bodies && !bodies->onHost && bodies->readsOnHost[input] ? Side::kHost : side;
    }
    Dim workspaceBytes() const {
      return chosen ? chosen->prepared.workspaceBytes : bodies ? Dim(bodies->arenaBytes) : Dim(0);
    }
    std::vector<Location> reads() const {
      std::vector<Location> all;
      if (copied) all.emplace_back(copied, side == Side::kHost ? Side::kDevice : Side::kHost);
      if (node)
        for (size_t i = 0; i < node->inputs.size(); ++i)
          if (node->inputs[i]) all.emplace_back(storageOf(node->inputs[i]), sideOf(i));
      return all;
    }
    std::vector<Location> writes() const {
      std::vector<Location> all;
      if (copied) all.emplace_back(copied, side);
      if (node)
        for (const Value* output : node->outputs) all.emplace_back(output, side);
      return all;
    }
  };

  void orderSteps() {
    size_t next = 0;
    for (const auto& node : graph_.nodes()) {
      if (isView(*node)) continue;
      Draft draft{node.get()};
      if (needsKernel(*node)) {
        CAMSHAFT_CHECK(next < chosen_.size() && chosen_[next].node == node.get(),
                       "kernels out of order at ", camshaft::describe(*node));
        draft.chosen = &chosen_[next++];
      }
      if (hasBodies(*node)) draft.bodies = &bodies_.at(node.get());
      const bool onHost = draft.chosen   ? draft.chosen->onHost
                          : draft.bodies ? hasDeviceMemory_ && draft.bodies->onHost
                                         : hasDeviceMemory_;
      draft.side = onHost ? Side::kHost : Side::kDevice;
      drafts_.push_back(std::move(draft));
    }
  }

  // Host steps and device steps work on their own side: a value is copied to the other one before
  // its first use there, and graph outputs end on the device. Inputs are copied before everything,
  // where no recording is cut in two by it.
  void insertCopies() {
    std::set<Location> available;
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      available.emplace(graph_.inputs[i], inputs_[i].isOnHost ? Side::kHost : Side::kDevice);
    std::vector<Draft> copiedInputs, ordered;
    const auto require = [&](const Location& location) {
      if (location.first->isConstant() || !available.insert(location).second) return;
      std::vector<Draft>& drafts = location.first->producer ? ordered : copiedInputs;
      drafts.push_back({.node = nullptr, .side = location.second, .copied = location.first});
    };
    for (Draft& draft : drafts_) {
      for (const Location& location : draft.reads()) require(location);
      for (const Location& location : draft.writes()) available.insert(location);
      ordered.push_back(std::move(draft));
    }
    for (const auto& output : graph_.outputs) require({storageOf(output.value), Side::kDevice});
    drafts_ = std::move(copiedInputs);
    std::move(ordered.begin(), ordered.end(), std::back_inserter(drafts_));
  }

  // Every dimension anybody will ask for, in the order steps need them.
  std::vector<Dim> dimsOf(const Draft& draft) const {
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

  std::vector<Dim> allDims() const {
    std::vector<Dim> all;
    for (const Draft& draft : drafts_)
      for (Dim& dim : dimsOf(draft)) all.push_back(std::move(dim));
    for (const auto& output : graph_.outputs)
      all.insert(all.end(), output.value->shape().begin(), output.value->shape().end());
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
    for (Draft& draft : drafts_) {
      if (!draft.isRuntimeStep()) continue;
      std::set<size_t> ready;
      for (const Dim& symbol : draft.node->op->defines(*draft.node->attrs)) {
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

  int64_t upperBound(const Dim& bytes) const {
    constexpr int64_t kLargestPlanned = int64_t{1} << 44;  // above, the bound says nothing
    const DimRange range = rangeOf(bytes, profile_.rangeOfSymbol(graph_));
    return range.max > kLargestPlanned ? DimRange::kUnbounded : std::max<int64_t>(range.max, 0);
  }

  void placeStorage() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      places_[{graph_.inputs[i], inputs_[i].isOnHost ? Side::kHost : Side::kDevice}] = {
          .place = Place::kInput, .index = static_cast<int32_t>(i)};
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      places_[{storageOf(graph_.outputs[i].value), Side::kDevice}] = {
          .place = Place::kOutput, .index = static_cast<int32_t>(i)};

    std::map<Key, int> lastUse;
    for (size_t i = 0; i < drafts_.size(); ++i)
      for (const Location& location : drafts_[i].reads()) lastUse[location] = static_cast<int>(i);

    for (size_t i = 0; i < drafts_.size(); ++i) {
      const int step = static_cast<int>(i);
      Draft& draft = drafts_[i];
      for (const Location& output : draft.writes()) {
        if (places_.contains(output)) continue;
        const int last = std::max(step, lastUse.contains(output) ? lastUse[output] : step);
        const int shared = inPlaceBuffer(draft, output.first, step, lastUse);
        if (shared >= 0) {
          buffersOf(draft.side)[shared].lastStep = last;
          bufferOf_[output] = shared;
        } else {
          addBuffer(output, byteSize(output.first->type), step, last);
        }
      }
      if (!draft.workspaceBytes().isConstant(0))
        addBuffer({&draft, draft.side}, draft.workspaceBytes(), step, step);
    }
    plan_.arenaBytes = placeBuffers(buffers_);
    plan_.hostArenaBytes = placeBuffers(hostBuffers_);
    for (const auto& [key, buffer] : bufferOf_) {
      const bool onHost = key.second == Side::kHost;
      places_[key] = {.place = onHost ? Place::kHostArena : Place::kArena,
                      .offset = buffersOf(key.second)[buffer].offset};
    }
  }

  // The arena buffer of an input that dies here and that the kernel may overwrite, or -1.
  int inPlaceBuffer(const Draft& draft, const Value* output, int step,
                    const std::map<Key, int>& lastUse) const {
    if (!draft.chosen || !draft.chosen->kernel->inPlace || output->index != 0) return -1;
    const std::vector<Value*>& inputs = draft.node->inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i] || !draft.chosen->kernel->inPlace(*draft.node, static_cast<int>(i))) continue;
      const Value* storage = storageOf(inputs[i]);
      const Key key{storage, draft.side};
      const auto buffer = bufferOf_.find(key);
      if (buffer == bufferOf_.end() || lastUse.at(key) != step) continue;
      if (std::count_if(inputs.begin(), inputs.end(),
                        [&](const Value* v) { return v && storageOf(v) == storage; }) != 1)
        continue;
      if (byteSize(inputs[i]->type) == byteSize(output->type)) return buffer->second;
    }
    return -1;
  }

  // Bounds of what the data decides are far from what is usual, and products of them even more:
  // large buffers of such sizes are made as they are needed.
  bool isWorthPlanning(const Dim& bytes, int64_t bound) const {
    constexpr int64_t kAlways = int64_t{256} << 20;
    if (bound == DimRange::kUnbounded) return false;
    if (bound <= kAlways) return true;
    std::set<std::string> symbols;
    collectSymbols(bytes, symbols);
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](const auto& name) { return profile_.ranges.contains(name); });
  }

  void addBuffer(const Key& key, const Dim& bytes, int first, int last) {
    const int64_t bound = upperBound(bytes);
    if (!isWorthPlanning(bytes, bound)) {
      const auto index = static_cast<int32_t>(plan_.dynamicBuffers.size());
      places_[key] = {.place = Place::kDynamic, .index = index};
      if (key.second == Side::kHost) plan_.hostDynamicBuffers.push_back(index);
      plan_.dynamicBuffers.push_back(dims_.refer(bytes));
      return;
    }
    std::vector<BufferLifetime>& buffers = buffersOf(key.second);
    bufferOf_[key] = static_cast<int>(buffers.size());
    buffers.push_back({.bytes = bound, .firstStep = first, .lastStep = last});
  }

  std::vector<BufferLifetime>& buffersOf(Side side) {
    return side == Side::kHost ? hostBuffers_ : buffers_;
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
    if (storage->isConstant())
      operand = {.place = Place::kWeights, .offset = weights_.add(storage->constant->bytes)};
    else
      operand = places_.at({storage, side});
    operand.tensor = describe(value->type);
    return operand;
  }

  Step makeStep(Draft& draft) {
    if (draft.copied) return makeCopy(draft);
    Step step;
    step.name = draft.node->name;
    for (const Value* output : draft.node->outputs)
      step.outputs.push_back(operandOf(output, draft.side));
    if (draft.isRuntimeStep()) {
      fillRuntimeStep(draft, step);
      return step;
    }
    Prepared& prepared = draft.chosen->prepared;
    step.kernel = prepared.runtimeKernel.empty() ? std::string(draft.chosen->kernel->name)
                                                 : prepared.runtimeKernel;
    step.params = std::move(prepared.params);
    if (draft.chosen->binary) step.binary = binaries_.add(*draft.chosen->binary);
    for (const StepInput& input : prepared.inputs) {
      if (input.nodeInput >= 0) {
        step.inputs.push_back(operandOf(draft.node->inputs[input.nodeInput], draft.side));
      } else {
        step.inputs.push_back({.place = Place::kWeights,
                               .offset = weights_.add(input.packed),
                               .tensor = describe(input.packedType)});
      }
    }
    for (const Dim& dim : prepared.dimArgs) step.dimArgs.push_back(dims_.refer(dim));
    step.workspace = workspaceOf(draft);
    step.info = std::move(draft.chosen->info);
    return step;
  }

  Operand workspaceOf(const Draft& draft) {
    if (draft.workspaceBytes().isConstant(0)) return {};
    Operand workspace = places_.at({&draft, draft.side});
    workspace.tensor = {.type = DataType::kU8, .dims = {dims_.refer(draft.workspaceBytes())}};
    return workspace;
  }

  void fillRuntimeStep(Draft& draft, Step& step) {
    const Node& node = *draft.node;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      step.inputs.push_back(operandOf(node.inputs[i], draft.sideOf(i)));
    step.kind = node.op == &ops::If     ? StepKind::kIf
                : node.op == &ops::Loop ? StepKind::kLoop
                                        : StepKind::kBindDims;
    if (node.op == &ops::Loop) step.carried = static_cast<int32_t>(node.as<LoopAttrs>().carried);
    if (draft.bodies) step.bodies = draft.bodies->plans;
    step.workspace = workspaceOf(draft);
    step.bindSlots = std::move(draft.bindSlots);
    for (const Dim& symbol : node.op->defines(*node.attrs)) {
      const DimRange range = rangeOf(symbol, profile_.rangeOfSymbol(graph_));
      step.bindMin.push_back(range.min);
      step.bindMax.push_back(range.max);
    }
    step.dimBegin = draft.dimBegin;
    step.dimEnd = draft.dimEnd;
    step.info.layerType = node.op->name;
    step.info.origins = node.origins.list();
  }

  Step makeCopy(const Draft& draft) {
    const bool toHost = draft.side == Side::kHost;
    Step step{.kind = StepKind::kCopy,
              .name = str(draft.copied->name, toHost ? " to host" : " to device")};
    step.inputs.push_back(operandOf(draft.copied, toHost ? Side::kDevice : Side::kHost));
    step.outputs.push_back(operandOf(draft.copied, draft.side));
    step.info.layerType = "Copy";
    return step;
  }

  const Graph& graph_;
  const ResolvedProfile& profile_;
  std::vector<ChosenKernel> chosen_;
  const std::vector<IoTensor>& inputs_;
  bool hasDeviceMemory_;
  WeightsBuilder& weights_;
  BinariesBuilder& binaries_;
  const BodyPlans& bodies_;
  DimProgramBuilder dims_;
  std::vector<Draft> drafts_;
  std::vector<BufferLifetime> buffers_, hostBuffers_;
  std::map<Key, int> bufferOf_;    // arena buffers, of the key's side
  std::map<Key, Operand> places_;  // the tensor is filled in per use
  ProfilePlan plan_;
};

}  // namespace

ProfilePlan planProfile(const Graph& graph, const ResolvedProfile& profile,
                        std::vector<ChosenKernel> chosen, const std::vector<IoTensor>& inputs,
                        bool hasDeviceMemory, WeightsBuilder& weights, BinariesBuilder& binaries,
                        const BodyPlans& bodies) {
  return Planner(graph, profile, std::move(chosen), inputs, hasDeviceMemory, weights, binaries,
                 bodies)
      .plan();
}

}  // namespace camshaft
