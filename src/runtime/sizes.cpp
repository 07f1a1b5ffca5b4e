#include "runtime/sizes.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "engine/validate.h"
#include "support/error.h"

namespace camshaft {
namespace {

static_assert(kMostDims <= kMaxRank, "engines that are read may have tensors of that rank");

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

// Larger than any tensor that fits in memory, and far from overflowing in bytes.
constexpr int64_t kMostElements = int64_t{1} << 46;

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0) return kUnknown;
  if (b == -1) return -a;  // a is never kUnknown, the only number whose negative overflows
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t apply(const DimInstruction& instruction, int64_t a, int64_t b) {
  int64_t result;
  switch (instruction.op) {
    case DimOp::kConstant:
      return instruction.constant;
    case DimOp::kAdd:
      return __builtin_add_overflow(a, b, &result) ? kUnknown : result;
    case DimOp::kMultiply:
      return __builtin_mul_overflow(a, b, &result) ? kUnknown : result;
    case DimOp::kFloorDivide:
      return floorDivide(a, b);
    case DimOp::kMin:
      return std::min(a, b);
    case DimOp::kMax:
      return std::max(a, b);
    case DimOp::kBroadcast:
      return a == 1 ? b : a;
  }
  return kUnknown;
}

// Bytes of a tensor whose dimension i is size(i); -1 when one is not known or they are more than
// fit anywhere.
template <class F>
int64_t bytesAt(DataType type, size_t rank, F size) {
  int64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = size(i);
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  }
  return count > kMostElements ? -1 : static_cast<int64_t>(bytesOf(type, count));
}

}  // namespace

Sizes::Sizes(const Plan& plan, int profile) : plan_(&plan), profile_(profile) {
  inputShapes_.resize(plan.inputs.size());
  inputValues_.resize(plan.inputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    std::vector<int64_t> dims = inputShape(static_cast<int>(i));
    if (std::find(dims.begin(), dims.end(), -1) == dims.end()) inputShapes_[i] = std::move(dims);
  }
}

void Sizes::setInputShape(int input, std::span<const int64_t> dims) {
  const IoTensor& io = plan_->inputs[input];
  const InputRange& range = plan().inputs[input];
  if (dims.size() != range.max.size())
    fail(ErrorKind::kInvalidArgument, "input '", io.name, "' has ", range.max.size(),
         " dimensions, not ", dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < range.min[i] || dims[i] > range.max[i])
      fail(ErrorKind::kInvalidArgument, "dimension ", i, " of input '", io.name, "' is ", dims[i],
           " and profile ", profile_, " allows ", range.min[i], " to ", range.max[i]);
  setOrKeep(inputShapes_[input], dims);
}

void Sizes::setInputValues(int input, std::span<const int64_t> values) {
  const InputRange& range = plan().inputValues[input];
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < range.min[i] || values[i] > range.max[i])
      fail(ErrorKind::kInvalidArgument, "shape input '", plan_->inputs[input].name, "': element ",
           i, " is ", values[i], " and profile ", profile_, " allows ", range.min[i], " to ",
           range.max[i] == std::numeric_limits<int64_t>::max() ? "any size" : str(range.max[i]));
  setOrKeep(inputValues_[input], values);
}

void Sizes::setOrKeep(std::optional<std::vector<int64_t>>& known, std::span<const int64_t> now) {
  if (known && std::equal(now.begin(), now.end(), known->begin(), known->end())) return;
  std::optional<std::vector<int64_t>> before(std::in_place, now.begin(), now.end());
  std::swap(known, before);
  areCurrent_ = false;
  try {
    resolve();
  } catch (...) {  // as if it had not been asked
    std::swap(known, before);
    areCurrent_ = false;
    resolve();
    throw;
  }
}

bool Sizes::allInputsSet() const {
  return std::all_of(inputShapes_.begin(), inputShapes_.end(),
                     [](const auto& shape) { return shape.has_value(); });
}

std::vector<int64_t> Sizes::inputShape(int input) const {
  if (inputShapes_[input]) return *inputShapes_[input];
  std::vector<int64_t> dims;
  for (const DimRef& dim : plan_->inputs[input].tensor.dims)
    dims.push_back(dim.isConstant() ? dim.constant : -1);
  return dims;
}

std::vector<int64_t> Sizes::outputShape(int output) const {
  std::vector<int64_t> dims;
  for (const DimRef& dim : plan().outputs[output].dims) dims.push_back(sizeOf(dim));
  return dims;
}

int64_t Sizes::sizeOf(const DimRef& dim) const {
  const int64_t value = valueOf(dim);
  return value == kUnknown ? -1 : value;
}

int64_t Sizes::valueOf(const DimRef& dim) const {
  if (dim.isConstant()) return dim.constant;
  return dim.slot < static_cast<int32_t>(slots_.size()) ? slots_[dim.slot] : kUnknown;
}

int64_t Sizes::inputBytes(int input) const {
  const auto& shape = inputShapes_[input];
  if (!shape) return -1;
  return bytesAt(plan_->inputs[input].tensor.type, shape->size(),
                 [&](size_t i) { return (*shape)[i]; });
}

int64_t Sizes::outputBytes(int output) const {
  const TensorDesc& tensor = plan().outputs[output];
  return bytesAt(tensor.type, tensor.dims.size(), [&](size_t i) { return sizeOf(tensor.dims[i]); });
}

// Of what a step decides itself, the shape says only how the run before was.
int64_t Sizes::outputRoom(int output, const Step& writer) const {
  int64_t known = bytesAhead_[output];
  if (known < 0 && writer.bindSlots.empty()) known = outputBytes(output);
  return known < 0 ? plan().outputMaxBytes[output] : known;
}

void Sizes::runProgram(int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; ++i) {
    const DimInstruction& instruction = plan().dimProgram[i];
    const int64_t a = instruction.a < 0 ? 0 : slots_[instruction.a];
    const int64_t b = instruction.b < 0 ? 0 : slots_[instruction.b];
    slots_[instruction.target] =
        a == kUnknown || b == kUnknown ? kUnknown : apply(instruction, a, b);
  }
}

// Two inputs may share a slot (one named dimension): they must agree, which checkInputs() asks.
void Sizes::resolve() {
  if (areCurrent_) return;
  slots_.assign(plan().slotCount, kUnknown);
  const std::vector<IoTensor>& inputs = plan_->inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputShapes_[i]) continue;
    for (size_t d = 0; d < inputs[i].tensor.dims.size(); ++d) {
      const int32_t slot = inputs[i].tensor.dims[d].slot;
      if (slot >= 0 && slots_[slot] == kUnknown) slots_[slot] = (*inputShapes_[i])[d];
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t v = 0; v < inputs[i].valueSlots.size() && inputValues_[i]; ++v)
      slots_[inputs[i].valueSlots[v]] = (*inputValues_[i])[v];
  runProgram(0, plan().firstPhaseEnd);
  bytesAhead_.resize(plan().outputs.size());
  for (size_t i = 0; i < bytesAhead_.size(); ++i) bytesAhead_[i] = outputBytes(static_cast<int>(i));
  const std::vector<Step>& steps = plan().steps;
  bindsSizes_ =
      std::ranges::any_of(steps, [](const Step& step) { return !step.bindSlots.empty(); });
  steps_.resize(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) resolveStep(i);
  areCurrent_ = true;
  areChecked_ = false;
  ++revision_;
}

void Sizes::resolveStep(size_t index) {
  const Step& step = plan().steps[index];
  ResolvedStep& resolved = steps_[index];
  resolved.isChecked = resolved.isSettled = false;
  resolved.inputs.resize(step.inputs.size());
  resolved.outputs.resize(step.outputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i)
    resolveOperand(step, step.inputs[i], resolved.inputs[i]);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    resolveOperand(step, step.outputs[i], resolved.outputs[i]);
  resolved.dims.resize(step.dimArgs.size());
  for (size_t i = 0; i < step.dimArgs.size(); ++i) resolved.dims[i] = valueOf(step.dimArgs[i]);
  if (step.workspace.place == Place::kNone) return;
  TensorArg workspace;
  resolveOperand(step, step.workspace, workspace);
  resolved.workspaceBytes = workspace.dims[0];
}

// Planned memory was checked against the file for fixed sizes; run-time sizes are checked here, so
// that no engine, however made, leads a kernel out of its memory.
void Sizes::resolveOperand(const Step& step, const Operand& operand, TensorArg& arg) const {
  arg.type = operand.tensor.type;
  arg.rank = static_cast<int32_t>(operand.tensor.dims.size());
  int64_t volume = 1;  // with empty dimensions taken as 1, so that no stride overflows either
  bool isEmpty = false, isKnown = true, overflows = false;
  for (int i = 0; i < arg.rank; ++i) {
    arg.dims[i] = valueOf(operand.tensor.dims[i]);
    isKnown &= arg.dims[i] >= 0;  // or refused when the step runs
    isEmpty |= arg.dims[i] == 0;
    overflows |= __builtin_mul_overflow(volume, std::max<int64_t>(arg.dims[i], 1), &volume);
  }
  if (!isKnown) return;
  const bool isTooLarge = overflows || volume > kMostElements;
  const int64_t bytes = isEmpty || isTooLarge ? 0 : static_cast<int64_t>(bytesOf(arg.type, volume));
  const bool isOutside =
      (operand.place == Place::kArena && bytes > plan().arenaBytes - operand.offset) ||
      (operand.place == Place::kHostArena && bytes > plan().hostArenaBytes - operand.offset) ||
      (operand.place == Place::kWeights &&
       bytes > static_cast<int64_t>(plan_->weights.size()) - operand.offset);
  if (isTooLarge || isOutside)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name,
         "' would need more memory than was planned for profile ", profile_,
         "; the input shapes are outside it or the engine is damaged");
}

void Sizes::checkInputs() {
  for (size_t i = 0; i < inputShapes_.size(); ++i) {
    const IoTensor& io = plan_->inputs[i];
    if (!inputShapes_[i])
      fail(ErrorKind::kInvalidArgument, "the shape of input '", io.name,
           "' is not set; call setInputShape first");
    if (!io.valueSlots.empty() && !inputValues_[i])
      fail(ErrorKind::kInvalidArgument, "shape input '", io.name,
           "' has no address, in host memory, to read its values from; call setTensorAddress "
           "first");
    for (size_t d = 0; d < io.tensor.dims.size(); ++d) {
      const int32_t slot = io.tensor.dims[d].slot;
      if (slot >= 0 && slots_[slot] != (*inputShapes_[i])[d])
        fail(ErrorKind::kInvalidArgument, "dimension ", d, " of input '", io.name, "' is ",
             (*inputShapes_[i])[d], ", but dimension '", io.dimNames[d], "' is ", slots_[slot],
             " in another input; they must be equal");
    }
  }
  if (!areChecked_) checkSizes();
  areChecked_ = true;
}

// What could not be decided while building, as soon as the sizes are known. Inputs are set one by
// one and agree only when the run begins, so this cannot be asked before.
void Sizes::checkSizes() const {
  for (const SizeCheck& check : plan().sizeChecks) {
    const int64_t a = valueOf(check.a), b = valueOf(check.b);
    if (a == kUnknown || b == kUnknown || holds(check.relation, a, b)) continue;
    fail(ErrorKind::kInvalidArgument, check.before, a, check.between, b, check.after,
         " at these input shapes or values");
  }
}

// Sizes that are what they were in the run before change nothing.
void Sizes::bind(const Step& step, std::span<const int64_t> values) {
  const auto index = static_cast<size_t>(&step - plan().steps.data());
  bool changed = !steps_[index].isSettled;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t least = step.bindMin[i], most = step.bindMax[i];
    if (values[i] != least && least == most)  // an assertion, or a size that a profile fixes
      fail(ErrorKind::kInvalidArgument, "'", step.name, "': element ", i, " is ", values[i],
           " and must be ", least, " in profile ", profile_);
    if (values[i] < least || values[i] > most)
      fail(ErrorKind::kInvalidArgument, "'", step.name, "': element ", i, " is ", values[i],
           " and profile ", profile_, " was planned for ", least, " to ",
           most == std::numeric_limits<int64_t>::max() ? "any size" : str(most));
    changed |= slots_[step.bindSlots[i]] != values[i];
  }
  if (!changed) return;
  for (size_t i = 0; i < values.size(); ++i) slots_[step.bindSlots[i]] = values[i];
  settleAfter(index);
}

// The sizes a step has bound decide those of the steps after it; what these will bind is not known
// again until they run.
void Sizes::settleAfter(size_t index) {
  const std::vector<Step>& steps = plan().steps;
  steps_[index].isSettled = false;
  for (size_t i = static_cast<size_t>(steps[index].dimEnd); i < plan().dimProgram.size(); ++i)
    slots_[plan().dimProgram[i].target] = kUnknown;
  for (size_t i = index + 1; i < steps.size(); ++i) {
    steps_[i].isSettled = false;
    for (int32_t slot : steps[i].bindSlots) slots_[slot] = kUnknown;
  }
  runProgram(steps[index].dimBegin, steps[index].dimEnd);
  checkSizes();
  for (size_t i = index + 1; i < steps.size(); ++i) resolveStep(i);
  steps_[index].isSettled = true;
}

void Sizes::forgetBound() {
  if (!bindsSizes_) return;
  areCurrent_ = false;
  resolve();
}

void Sizes::requireKnown(size_t index) const {
  const Step& step = plan().steps[index];
  const ResolvedStep& resolved = steps_[index];
  for (int64_t number : resolved.dims)
    if (number < -kMostElements || number > kMostElements)  // kUnknown too
      fail(ErrorKind::kInvalidArgument, "layer '", step.name,
           "' has a size out of range at these input shapes or values");
  const size_t outputs = runsBodies(step) ? 0 : step.outputs.size();  // bodies decide theirs
  for (size_t i = 0; i < outputs; ++i) requireSizes(step, step.outputs[i], resolved.outputs[i]);
  for (size_t i = 0; i < step.inputs.size(); ++i)
    requireSizes(step, step.inputs[i], resolved.inputs[i]);
  if (resolved.workspaceBytes < 0)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name,
         "' has a workspace of negative size at these input shapes or values");
}

void Sizes::requireSizes(const Step& step, const Operand& operand, const TensorArg& arg) const {
  if (std::ranges::none_of(arg.shape(), [](int64_t dim) { return dim < 0; })) return;
  std::vector<std::string> sizes;
  for (int64_t dim : arg.shape()) sizes.push_back(dim == kUnknown ? "?" : str(dim));
  fail(ErrorKind::kInvalidArgument, "layer '", step.name, "': ", nameOf(*plan_, step, operand),
       " would be of shape [", join(sizes, ", "),
       "] at these input shapes or values, and no size can be negative");
}

std::string nameOf(const Plan& plan, const Step& step, const Operand& operand) {
  const bool isInput = std::less_equal<>()(step.inputs.data(), &operand) &&
                       std::less<>()(&operand, step.inputs.data() + step.inputs.size());
  const auto index = &operand - (isInput ? step.inputs : step.outputs).data();
  const std::string name = operand.place == Place::kInput    ? plan.inputs[operand.index].name
                           : operand.place == Place::kOutput ? plan.outputs[operand.index].name
                                                             : "";
  return str(isInput ? "input " : "output ", index, name.empty() ? "" : str(" ('", name, "')"));
}

}  // namespace camshaft
