// The Plan: how a network runs. Plain data; the engine file is its serialised form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/data_type.h"
#include "support/size_relation.h"

namespace camshaft {

// Run-time sizes live in numbered slots. The program fills slots in order from earlier ones; the
// first slots are the dimensions of the inputs, then those read from tensors by bind steps.
enum class DimOp : uint8_t {
  kConstant,
  kAdd,
  kMultiply,
  kFloorDivide,
  kMin,
  kMax,
  kBroadcast,  // b where a is 1, else a
};
struct DimInstruction {
  DimOp op;
  int32_t target;          // slot written
  int32_t a = -1, b = -1;  // slots read
  int64_t constant = 0;    // kConstant
  friend bool operator==(const DimInstruction&, const DimInstruction&) = default;
};

// A size in a tensor description or a kernel argument: a number, or the slot that holds it.
struct DimRef {
  int64_t constant = 0;
  int32_t slot = -1;
  bool isConstant() const { return slot < 0; }
  friend bool operator==(const DimRef&, const DimRef&) = default;
};

// What must hold once both sizes are known, before any step works on them; else the run ends with
// the sentence: before, a, between, b, after.
struct SizeCheck {
  SizeRelation relation = SizeRelation::kEqual;
  DimRef a, b;
  std::string before, between, after;
  friend bool operator==(const SizeCheck&, const SizeCheck&) = default;
};

struct TensorDesc {
  DataType type = DataType::kF32;
  std::vector<DimRef> dims;
  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
};

enum class Place : uint8_t {
  kNone,       // an optional operand left out
  kArena,      // offset into the context's arena, on the plan's device
  kWeights,    // offset into the engine's weights
  kInput,      // user's buffer of input `index`
  kOutput,     // user's buffer of output `index`
  kDynamic,    // buffer `index`, allocated when its size, which has no bound, becomes known
  kHostArena,  // offset into the context's host arena: what host steps of a device's plan work on
};

struct Operand {
  Place place = Place::kNone;
  int64_t offset = 0;  // bytes; kArena, kWeights
  int32_t index = -1;  // kInput, kOutput, kDynamic
  TensorDesc tensor;
  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class StepKind : uint8_t {
  kKernel,
  kBindDims,  // reads operand 0's elements into bindSlots, then runs the program from dimBegin to dimEnd
  kCopy,  // input 0 to output 0, between the device and the host
  // Steps that run bodies. Then they know the sizes of their outputs: those that have a bind slot
  // go there, and the program runs from dimBegin to dimEnd. Bodies on a device have their arena in
  // the step's workspace.
  kIf,  // input 0 chooses bodies[0] or bodies[1]; the others are the inputs of both, in order
  // Trip count, condition, carried values, captures; bodies[0] over and over. A body that gives no
  // condition first leaves that as it is.
  kLoop,
  kObserve,  // input 0 goes to the observer of the run, if there is one
};

// What the inspector shows of a step; running does not look at it.
struct StepInfo {
  std::string layerType;             // IR operator
  std::vector<std::string> origins;  // ir/origins.h
  std::string why;                   // how the kernel was chosen
  struct Alternative {
    std::string kernel;
    double milliseconds = -1;  // negative: not timed
    std::string note;          // why it was refused or dropped
  };
  std::vector<Alternative> alternatives;
  double milliseconds = -1;
  std::vector<std::string> inputs, outputs;  // names of the operands; "": packed for the kernel
  std::vector<std::pair<std::string, std::string>> attributes;  // of the operator, as text
};

// What a kObserve step shows, by its name in the network.
struct ObservedTensor {
  std::string name;
  bool isUnfused = false;  // nobody named it: it is stored anyway
};

struct Step {
  StepKind kind = StepKind::kKernel;
  std::string name;    // layer name shown to users
  std::string kernel;  // "cpu/gemm_f32": backend and kernel
  std::vector<std::byte> params;
  int32_t binary = -1;  // its device code, an index into Plan::binaries
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<DimRef> dimArgs;  // run-time numbers the kernel asked for
  Operand workspace;            // kArena or kDynamic bytes, or kNone
  std::vector<int32_t> bindSlots;
  std::vector<int64_t> bindMin, bindMax;  // what each may be: memory was planned for it
  int32_t dimBegin = 0, dimEnd = 0;
  std::vector<int32_t> bodies;  // indices into Plan::bodies; kIf, kLoop
  int32_t carried = 0;          // how many values go from one iteration to the next; kLoop
  ObservedTensor observed;      // kObserve
  StepInfo info;
};

// How the caller's memory of an input or output is to be read, where the tensor of the plan has the
// shape of that memory: for the API alone.
struct IoFormat {
  uint8_t code = 0;       // its TensorFormat; 0: as the tensor is
  int64_t channels = -1;  // without those that only fill vectors; -1: all that are stored
  friend bool operator==(const IoFormat&, const IoFormat&) = default;
};

struct IoTensor {
  std::string name;
  TensorDesc tensor;
  bool isInput = true;
  bool isShapeTensor =
      false;              // its values decide shapes, so it must be set before shapes are asked
  bool isOnHost = false;  // its address is in host memory though the plan's device has its own
  std::vector<std::string> dimNames;
  IoFormat format = {};
  std::vector<int32_t> valueSlots = {};  // of a shape tensor's elements, read before any step runs
  int32_t aliasedInput = -1;             // of an output that is this input, updated in place
  friend bool operator==(const IoTensor&, const IoTensor&) = default;
};

// Bounds of one input dimension by dimension.
struct InputRange {
  std::vector<int64_t> min, opt, max;
  friend bool operator==(const InputRange&, const InputRange&) = default;
};

// What a caller promises of the inputs of one profile.
struct ShapeProfile {
  std::map<std::string, InputRange> inputs;       // by input name; missing: sensible bounds
  std::map<std::string, InputRange> shapeValues;  // elements of shape tensors
};

// One optimisation profile: its own steps and arena, sharing the weights.
struct ProfilePlan {
  std::vector<InputRange> inputs;       // parallel to Plan::inputs
  std::vector<InputRange> inputValues;  // of those with value slots; parallel too, or empty
  int32_t slotCount = 0;
  std::vector<DimInstruction>
      dimProgram;  // [0, firstPhaseEnd) runs as soon as input shapes are set
  int32_t firstPhaseEnd = 0;
  std::vector<SizeCheck> sizeChecks;
  std::vector<Step> steps;
  std::vector<TensorDesc> outputs;      // parallel to Plan::outputs, slots of this profile
  std::vector<int64_t> outputMaxBytes;  // of each, under the profile; -1: there is no bound
  // Elements of those that hold sizes; empty: only a run knows them. Parallel too, or empty.
  std::vector<std::vector<DimRef>> outputValues;
  // Unbounded buffers: size in bytes; those on the host where the plan's device has its own memory.
  std::vector<DimRef> dynamicBuffers;
  std::vector<int32_t> hostDynamicBuffers;
  int64_t arenaBytes = 0;
  int64_t hostArenaBytes = 0;
  bool runsBranches = false;  // steps that do not need one another run side by side on the device
};

// A shared library of plugins that the engine brings with it.
struct PluginLibrary {
  std::string name;  // of its file
  std::vector<std::byte> bytes;
};

// What weights are to the layer that reads them.
enum class WeightsUse : uint8_t { kKernel, kBias, kShift, kScale, kConstant };

// A constant of the network as it came to the compiler.
struct SourceWeights {
  std::string name;   // the model's, or the caller's
  std::string layer;  // with `use` the other way to name it
  WeightsUse use = WeightsUse::kConstant;
  TensorDesc tensor;  // of fixed size
  bool isRefittable = false;
  bool isOpaque = false;  // the build decided nothing by its elements
  // `owner` keeps them alive. Null: an engine was stripped of them.
  std::span<const std::byte> bytes = {};
  std::shared_ptr<const void> owner = nullptr;
  bool isMissing() const { return bytes.data() == nullptr; }
};

// What became of a node that needs a kernel.
struct KernelDecision {
  std::string node;
  std::string kernel;  // empty: its epilogue was made a node of its own, and both are asked again
  int64_t config = 0;
  uint64_t sourceHash = 0;  // of the device code that it was compiled from; 0: it has none
};

// What a plugin said while the plan was made, by what it was asked.
struct PluginRecord {
  std::string label;
  std::map<std::string, std::string> answers;
};

// How a plan was made, so that the same plan can be made from other weights: refitting an engine is
// building it again with every decision taken.
struct RefitRecord {
  std::string graph;  // text; constants that stand beside it are the sources
  std::vector<SourceWeights> sources;
  std::vector<KernelDecision> decisions;  // in the order they were taken
  std::vector<PluginRecord> plugins;      // objects beside the text
  std::span<std::byte> weights;           // the plan's, where a refit writes them
  bool isStripped = false;                // they are still to come
  // What decides besides (compiler/compile.h).
  std::vector<ShapeProfile> profiles;
  std::vector<std::string> disabledPasses;
  int64_t workspaceLimit = 0;
  int32_t computeCapability = 0, optimizationLevel = 0, threads = 1;
  uint8_t precisionRequests = 0, gpus = 0;
  bool observeUnfused = false;
  bool allowTf32 = true, allowF16 = false, allowBF16 = false;
};

struct Plan {
  std::string networkName;
  std::string device;            // "cpu", "cuda"
  bool hasDeviceMemory = false;  // which the host's kernels cannot reach
  std::string builtFor;          // the machine the kernels were chosen on, in words
  std::vector<IoTensor> inputs;
  std::vector<IoTensor> outputs;
  std::vector<ProfilePlan> profiles;
  // 64-byte-aligned blob; `weightsOwner` keeps it alive (a vector or a mapped engine file).
  std::span<const std::byte> weights;
  std::shared_ptr<const void> weightsOwner;
  std::vector<std::vector<std::byte>> binaries;  // device code, each distinct one once
  int32_t profilingVerbosity = 0;
  // What steps of these profiles run. Each has one profile, is for this device or for the host, and
  // its weights are the ones here.
  std::vector<std::shared_ptr<Plan>> bodies;
  std::vector<PluginLibrary> pluginLibraries;
  std::shared_ptr<RefitRecord> refit;  // null: the weights are as they are
  bool streamsWeights = false;         // its device need not hold all weights at once
};

// Whether a refit must set its weights before it can run.
inline bool lacksWeights(const Plan& plan) { return plan.refit && plan.refit->isStripped; }

// Weights are shared with the bodies.
inline void setWeights(Plan& plan, std::span<const std::byte> weights,
                       const std::shared_ptr<const void>& owner) {
  plan.weights = weights;
  plan.weightsOwner = owner;
  for (const std::shared_ptr<Plan>& body : plan.bodies) setWeights(*body, weights, owner);
}

inline bool runsBodies(const Step& step) {
  return step.kind == StepKind::kIf || step.kind == StepKind::kLoop;
}

// Whether a step of such a plan runs on the host: kernels of another backend, bodies that are
// planned for it, and what the runtime does itself.
inline bool isHostStep(const Plan& plan, const Step& step) {
  if (runsBodies(step)) return !plan.bodies[step.bodies[0]]->hasDeviceMemory;
  if (step.kind == StepKind::kCopy || step.kind == StepKind::kObserve) return false;
  if (step.kind != StepKind::kKernel) return true;
  return !step.kernel.starts_with(plan.device + "/");
}

// How many inputs of a step with bodies decide its course: the host reads them.
inline size_t courseInputs(const Step& step) { return step.kind == StepKind::kLoop ? 2 : 1; }

// Whether a step of such a plan finds an input on the host. One that runs bodies on the device does
// so with what decides its course, and with what the bodies want to have there.
inline bool readsOnHost(const Plan& plan, const Step& step, size_t input) {
  if (!runsBodies(step) || isHostStep(plan, step)) return isHostStep(plan, step);
  if (input < courseInputs(step)) return true;
  const std::vector<IoTensor>& first = plan.bodies[step.bodies[0]]->inputs;
  const size_t index = step.kind == StepKind::kLoop ? input : input - 1;
  return index < first.size() ? first[index].isOnHost
                              : plan.bodies[step.bodies[1]]->inputs[index - first.size()].isOnHost;
}

inline bool isHostOperand(const Plan& plan, const ProfilePlan& profile, const Operand& operand) {
  if (operand.place == Place::kHostArena) return true;
  if (operand.place == Place::kInput) return plan.inputs[operand.index].isOnHost;
  if (operand.place == Place::kDynamic)
    for (int32_t index : profile.hostDynamicBuffers)
      if (index == operand.index) return true;
  return false;
}

}  // namespace camshaft
