#include "backends/cuda/runtime/libraries/cudnn_plan.h"

#include <algorithm>
#include <iterator>

#include "backends/cuda/libraries/problems.h"
#include "backends/cuda/runtime/libraries/cudnn.h"
#include "backends/cuda/runtime/libraries/cudnn_lane.h"
#include "backends/cuda/runtime/libraries/library_queue.h"
#include "backends/cuda/runtime/private_context.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

// An attribute that is a list of descriptors, `most` of them.
std::vector<Descriptor> getDescriptors(const Descriptor& owner, cudnnBackendAttributeName_t name,
                                       cudnnBackendDescriptorType_t type, int64_t most) {
  std::vector<Descriptor> list;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < most; ++i) raw.push_back(list.emplace_back(type).raw());
  const int64_t count = owner.get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, raw.data());
  while (list.size() > static_cast<size_t>(count)) list.pop_back();
  return list;
}

bool hasNote(const Descriptor& engine, cudnnBackendNumericalNote_t wanted) {
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const int64_t count = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                   CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  return std::find(notes, notes + count, wanted) != notes + count;
}

bool hasNote(const Descriptor& engine, cudnnBackendBehaviorNote_t wanted) {
  cudnnBackendBehaviorNote_t notes[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
  const int64_t count = engine.get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                   CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, notes);
  return std::find(notes, notes + count, wanted) != notes + count;
}

bool isAllowed(const Descriptor& engine, const EngineRules& rules) {
  if (hasNote(engine, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;
  if (hasNote(engine, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return false;
  if (hasNote(engine, CUDNN_NUMERICAL_NOTE_FFT)) return false;
  if (!rules.allowDownConversion && hasNote(engine, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS))
    return false;
  if (!rules.allowTensorCores && hasNote(engine, CUDNN_NUMERICAL_NOTE_TENSOR_CORE)) return false;
  return !hasNote(engine, CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER) &&
         !hasNote(engine, CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER);
}

EngineChoice choiceOf(const Descriptor& configuration, const Descriptor& engine) {
  EngineChoice choice;
  choice.isCompiledLate = hasNote(engine, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
  engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &choice.engine);
  for (const Descriptor& knob :
       getDescriptors(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                      CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    auto& [type, value] = choice.knobs.emplace_back();
    knob.get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
    knob.get(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
  }
  return choice;
}

Descriptor engineConfiguration(const LoweredGraph& graph, const PlanTarget& target,
                               const EngineChoice& choice) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph.get());
  engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, choice.engine);
  if (target.device) engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *target.device);
  engine.finalize("choosing an engine");
  std::vector<Descriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const auto& [type, value] : choice.knobs) {
    Descriptor& knob = knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, type);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, value);
    knob.finalize("choosing an engine");
    raw.push_back(knob.raw());
  }
  Descriptor configuration(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  configuration.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  if (!raw.empty()) {
    configuration.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                      static_cast<int64_t>(raw.size()), raw.data());
  }
  configuration.finalize("choosing an engine");
  return configuration;
}

int64_t workspaceOf(const Descriptor& plan) {
  int64_t bytes = 0;
  plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &bytes);
  return bytes;
}

bool needsNoCompiler(const EngineChoice& choice) { return !choice.isCompiledLate; }

// The operands' addresses as cuDNN takes them.
Descriptor packOf(std::span<const Binding> bindings, void* workspace) {
  std::vector<int64_t> ids;
  std::vector<void*> addresses;
  for (const Binding& binding : bindings) {
    ids.push_back(binding.id);
    addresses.push_back(binding.address);
  }
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           static_cast<int64_t>(addresses.size()), addresses.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  pack.finalize("binding operands");
  return pack;
}

std::vector<EngineChoice> readyFirst(std::vector<EngineChoice> choices) {
  std::stable_partition(choices.begin(), choices.end(), needsNoCompiler);
  return choices;
}

}  // namespace

std::string toString(const EngineChoice& choice) {
  std::string text = str("cudnn engine ", choice.engine);
  for (const auto& [type, value] : choice.knobs)
    text += str(" ", static_cast<int>(type), "=", value);
  return text;
}

std::vector<EngineChoice> suggestEngines(const OperationGraph& graph, const PlanTarget& target,
                                         const EngineRules& rules, size_t enough) {
  const LoweredGraph lowered(graph, target.handle);
  std::vector<EngineChoice> choices;
  for (const cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    if (choices.size() >= enough) break;
    Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, lowered.get());
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    if (target.device) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.device);
    if (heuristics.tryFinalize() != CUDNN_STATUS_SUCCESS)
      continue;  // this mode knows no such graph
    const int64_t count =
        heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
    for (const Descriptor& configuration :
         getDescriptors(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                        CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count)) {
      const std::vector<Descriptor> engines = getDescriptors(
          configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
      if (engines.empty() || !isAllowed(engines[0], rules)) continue;
      EngineChoice choice = choiceOf(configuration, engines[0]);
      if (std::find(choices.begin(), choices.end(), choice) == choices.end())
        choices.push_back(std::move(choice));
    }
  }
  return choices;
}

std::vector<EngineChoice> suggestEngines(const OperationGraph& graph, const EngineRules& rules,
                                         size_t enough) {
  const CudnnHandleLease lease;
  return suggestEngines(graph, {lease.get()}, rules, enough);
}

std::vector<EngineChoice> worthTiming(const std::vector<EngineChoice>& suggestions,
                                      size_t mostLate) {
  std::vector<EngineChoice> worth;
  std::copy_if(suggestions.begin(), suggestions.end(), std::back_inserter(worth), needsNoCompiler);
  if (worth.empty()) {
    const size_t count = std::min(mostLate, suggestions.size());
    worth.assign(suggestions.begin(), suggestions.begin() + static_cast<std::ptrdiff_t>(count));
  } else if (suggestions[0].isCompiledLate) {
    const auto place = std::min<std::ptrdiff_t>(std::ssize(worth), kUsualPlans - 1);
    worth.insert(worth.begin() + place, suggestions[0]);
  }
  return worth;
}

CudnnPlan::CudnnPlan(const OperationGraph& graph, const PlanTarget& target,
                     const EngineChoice& choice)
    : plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  const LoweredGraph lowered(graph, target.handle);
  const Descriptor configuration = engineConfiguration(lowered, target, choice);
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (target.handle) plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, target.handle);
  if (target.device) plan_.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.device);
  plan_.finalize("building a plan");
  workspaceBytes_ = workspaceOf(plan_);
}

CudnnPlan::CudnnPlan(std::string_view json, cudnnHandle_t handle)
    : plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
            static_cast<int64_t>(json.size()), json.data());
  plan_.finalize("loading a plan");
  workspaceBytes_ = workspaceOf(plan_);
}

std::string CudnnPlan::json() const {
  const int64_t size =
      plan_.get(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, nullptr);
  std::string text(static_cast<size_t>(size), '\0');
  plan_.get(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, size, text.data());
  return text;
}

// A plan gives back what it holds in the context it was made in.
CudnnPlan::~CudnnPlan() {
  if (!inPrivateContext_) return;
  try {
    const PrivateContext::Visit visit(PrivateContext::ofCurrentDevice());
    inPrivateContext_.reset();
  } catch (const Error&) {
    // The device is gone, and all that was on it. NOLINTNEXTLINE(bugprone-unused-return-value)
    (void)inPrivateContext_.release();
  }
}

const CudnnPlan& CudnnPlan::inPrivateContext() const {
  if (!inPrivateContext_) {
    const std::string text = json();
    const CudnnHandleLease lease;
    inPrivateContext_ = std::make_unique<const CudnnPlan>(text, lease.get());
  }
  return *inPrivateContext_;
}

bool CudnnPlan::fill(CUgraph graph, cudnnHandle_t handle, std::span<const Binding> bindings,
                     void* workspace) const {
  const Descriptor pack = packOf(bindings, workspace);
  const std::lock_guard lock(mutex_);
  return cudnn().populateGraph(handle, plan_.raw(), pack.raw(), graph) == CUDNN_STATUS_SUCCESS;
}

void CudnnPlan::execute(cudnnHandle_t handle, std::span<const Binding> bindings,
                        void* workspace) const {
  const Descriptor pack = packOf(bindings, workspace);
  const std::lock_guard lock(mutex_);
  cudnn().check(cudnn().execute(handle, plan_.raw(), pack.raw()), "running a plan");
}

std::shared_ptr<const CudnnPlan> tryBuild(const OperationGraph& graph, const EngineChoice& choice,
                                          int64_t workspaceLimit) {
  const CudnnHandleLease lease;
  try {
    auto plan = std::make_shared<const CudnnPlan>(graph, PlanTarget{lease.get()}, choice);
    return plan->workspaceBytes() <= workspaceLimit ? plan : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

std::shared_ptr<const CudnnPlan> planAnew(const OperationGraph& graph, const EngineRules& rules,
                                          int64_t workspaceBytes, std::string_view what) {
  constexpr size_t kUsuallyEnough = 3;  // to ask for all takes much longer
  for (const size_t enough : {kUsuallyEnough, kAllSuggestions}) {
    for (const EngineChoice& choice : readyFirst(suggestEngines(graph, rules, enough))) {
      if (auto plan = tryBuild(graph, choice, workspaceBytes)) return plan;
    }
  }
  fail(ErrorKind::kUnsupported, "cuDNN has no plan for ", what, " on this device within ",
       workspaceBytes, " bytes of workspace: build the engine again on it");
}

void runPlan(const CudnnPlan& plan, const OperationGraph& graph, std::span<const Binding> operands,
             void* stream, void* workspace, int64_t workspaceBytes) {
  for (const Binding& operand : operands) {
    if (reinterpret_cast<uintptr_t>(operand.address) % kTensorAlignment != 0) {
      fail(ErrorKind::kInvalidArgument, "cuDNN reads tensors at multiples of ", kTensorAlignment,
           " bytes: bind such addresses, as cudaMalloc gives them");
    }
  }
  CAMSHAFT_CHECK(plan.workspaceBytes() <= workspaceBytes, "the plan needs ", plan.workspaceBytes(),
                 " bytes");
  std::vector<Binding> bindings(operands.begin(), operands.end());
  for (const GraphTensor& tensor : graph.tensors) {
    // By value: cuDNN reads the number from the host when it is launched.
    if (tensor.role == GraphTensor::Role::kScalar)
      bindings.push_back({tensor.id, const_cast<float*>(&tensor.real)});
  }
  const auto fill = [&](CUgraph into) {
    const CudnnHandleLease lease;
    return plan.fill(into, lease.get(), bindings, workspace);
  };
  if (addLibraryNodes(stream, fill)) return;
  const CudnnPlan* here = &plan;
  const auto prepare = [&] {
    here = &plan.inPrivateContext();
    CudnnLane::keepOneReady();
  };
  queueLibrary(stream, prepare, [&](void* on) {
    const CudnnLane lane(static_cast<CUstream>(on));
    here->execute(lane.handle(), bindings, workspace);
    lane.join();
  });
}

}  // namespace camshaft::cuda
