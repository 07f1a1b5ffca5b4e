#include "runtime/context.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "runtime/overlaps.h"
#include "support/error.h"

namespace camshaft {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

int64_t readIndex(const TensorArg& tensor, int64_t i) {
  return tensor.type == DataType::kI32 ? tensor.as<int32_t>()[i] : tensor.as<int64_t>()[i];
}

// Larger than any tensor that fits in memory, and far from overflowing in bytes.
constexpr int64_t kMostElements = int64_t{1} << 46;

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0) return kUnknown;
  if (b == -1) return -a;  // a is never kUnknown, the only number whose negative overflows
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// Bytes of a tensor; -1 when a size is not known or they are more than fit anywhere.
int64_t bytesAt(DataType type, std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  return count > kMostElements ? -1 : static_cast<int64_t>(bytesOf(type, count));
}

bool hasNegativeSize(const TensorArg& arg) {
  const auto shape = arg.shape();
  return std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; });
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

}  // namespace

Context::Context(std::shared_ptr<const LoadedEngine> engine, int threads, ArenaOwner arenaOwner)
    : Context(std::move(engine), std::make_unique<ThreadPool>(threads), nullptr, arenaOwner) {}

Context::Context(std::shared_ptr<const LoadedEngine> engine, ThreadPool& threads,
                 ArenaOwner arenaOwner)
    : Context(std::move(engine), nullptr, &threads, arenaOwner) {}

Context::Context(std::shared_ptr<const LoadedEngine> engine, std::unique_ptr<ThreadPool> own,
                 ThreadPool* threads, ArenaOwner arenaOwner)
    : engine_(std::move(engine)),
      device_(engine_->device()),
      ownThreads_(std::move(own)),
      threads_(ownThreads_ ? ownThreads_.get() : threads),
      arenaOwner_(arenaOwner),
      arena_(device_),
      hostArena_(device_, DeviceBuffer::Side::kHost) {
  inputs_.resize(engine_->plan().inputs.size());
  outputs_.resize(engine_->plan().outputs.size());
  placed_.resize(engine_->plan().outputs.size());
  outputBytes_.resize(engine_->plan().outputs.size());
  setProfile(0);
}

void Context::setInputShape(int input, std::span<const int64_t> dims) {
  const IoTensor& io = engine_->plan().inputs[input];
  const InputRange& range = plan().inputs[input];
  if (dims.size() != range.max.size())
    fail(ErrorKind::kInvalidArgument, "input '", io.name, "' has ", range.max.size(),
         " dimensions, not ", dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < range.min[i] || dims[i] > range.max[i])
      fail(ErrorKind::kInvalidArgument, "dimension ", i, " of input '", io.name, "' is ", dims[i],
           " and profile ", profile_, " allows ", range.min[i], " to ", range.max[i]);
  if (inputShapes_[input] && std::equal(dims.begin(), dims.end(), inputShapes_[input]->begin(),
                                        inputShapes_[input]->end()))
    return;
  std::optional<std::vector<int64_t>> before(std::in_place, dims.begin(), dims.end());
  std::swap(inputShapes_[input], before);
  sizesCurrent_ = false;
  try {
    resolveSizes();
  } catch (...) {  // as if it had not been asked
    std::swap(inputShapes_[input], before);
    resolveSizes();
    throw;
  }
}

bool Context::allShapesSet() const {
  return std::all_of(inputShapes_.begin(), inputShapes_.end(),
                     [](const auto& shape) { return shape.has_value(); });
}

std::vector<int64_t> Context::inputShape(int input) const {
  if (inputShapes_[input]) return *inputShapes_[input];
  std::vector<int64_t> dims;
  for (const DimRef& dim : engine_->plan().inputs[input].tensor.dims)
    dims.push_back(dim.isConstant() ? dim.constant : -1);
  return dims;
}

std::vector<int64_t> Context::outputShape(int output) const {
  std::vector<int64_t> dims;
  for (const DimRef& dim : plan().outputs[output].dims) dims.push_back(sizeOf(dim));
  return dims;
}

int64_t Context::outputBytesAhead(int output) const {
  return bindsSizes_ ? -1 : bytesAhead_[output];
}

int64_t Context::sizeOf(const DimRef& dim) const {
  const int64_t value = valueOf(dim);
  return value == kUnknown ? -1 : value;
}

int64_t Context::valueOf(const DimRef& dim) const {
  if (dim.isConstant()) return dim.constant;
  return dim.slot < static_cast<int32_t>(slots_.size()) ? slots_[dim.slot] : kUnknown;
}

void Context::runProgram(int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; ++i) {
    const DimInstruction& instruction = plan().dimProgram[i];
    const int64_t a = instruction.a < 0 ? 0 : slots_[instruction.a];
    const int64_t b = instruction.b < 0 ? 0 : slots_[instruction.b];
    slots_[instruction.target] =
        a == kUnknown || b == kUnknown ? kUnknown : apply(instruction, a, b);
  }
}

// Fills the slots from the input shapes and every step's sizes that follow from them. Two inputs
// may share a slot (one named dimension): they must agree.
void Context::resolveSizes() {
  if (sizesCurrent_) return;
  slots_.assign(plan().slotCount, kUnknown);
  const std::vector<IoTensor>& inputs = engine_->plan().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputShapes_[i]) continue;
    for (size_t d = 0; d < inputs[i].tensor.dims.size(); ++d) {
      const int32_t slot = inputs[i].tensor.dims[d].slot;
      if (slot >= 0 && slots_[slot] == kUnknown) slots_[slot] = (*inputShapes_[i])[d];
    }
  }
  runProgram(0, plan().firstPhaseEnd);
  bytesAhead_.resize(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i)
    bytesAhead_[i] = bytesAt(plan().outputs[i].type, outputShape(static_cast<int>(i)));
  for (size_t i = 0; i < plan().steps.size(); ++i) resolveStep(i);
  sizesCurrent_ = true;
  sizesChecked_ = false;
}

// What could not be decided while building, as soon as the sizes are known. Inputs are set one by
// one and agree only when the run begins, so this cannot be asked before.
void Context::checkSizes() const {
  for (const SizeCheck& check : plan().sizeChecks) {
    const int64_t a = valueOf(check.a), b = valueOf(check.b);
    if (a == kUnknown || b == kUnknown || holds(check.relation, a, b)) continue;
    fail(ErrorKind::kInvalidArgument, check.before, a, check.between, b, check.after,
         " at these input shapes or values");
  }
}

// Planned memory was checked against the file for fixed sizes; run-time sizes are checked here, so
// that no engine, however made, leads a kernel out of its memory.
void Context::resolveOperand(const Step& step, const Operand& operand, TensorArg& arg) const {
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
       bytes > static_cast<int64_t>(engine_->plan().weights.size()) - operand.offset);
  if (isTooLarge || isOutside)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name,
         "' would need more memory than was planned for profile ", profile_,
         "; the input shapes are outside it or the engine is damaged");
}

void Context::resolveStep(size_t index) {
  const Step& step = plan().steps[index];
  ResolvedStep& resolved = resolved_[index];
  resolved.checked = resolved.settled = false;
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

void Context::checkReady() {
  const Plan& whole = engine_->plan();
  for (size_t i = 0; i < whole.inputs.size(); ++i) {
    const IoTensor& io = whole.inputs[i];
    if (!inputShapes_[i])
      fail(ErrorKind::kInvalidArgument, "the shape of input '", io.name,
           "' is not set; call setInputShape first");
    for (size_t d = 0; d < io.tensor.dims.size(); ++d) {
      const int32_t slot = io.tensor.dims[d].slot;
      if (slot >= 0 && slots_[slot] != (*inputShapes_[i])[d])
        fail(ErrorKind::kInvalidArgument, "dimension ", d, " of input '", io.name, "' is ",
             (*inputShapes_[i])[d], ", but dimension '", io.dimNames[d], "' is ", slots_[slot],
             " in another input; they must be equal");
    }
    const bool isEmpty =
        std::find(inputShapes_[i]->begin(), inputShapes_[i]->end(), 0) != inputShapes_[i]->end();
    if (!inputs_[i] && !isEmpty)
      fail(ErrorKind::kInvalidArgument, "input '", io.name,
           "' has no address; call setTensorAddress first");
  }
  if (!sizesChecked_) checkSizes();
  sizesChecked_ = true;
  if (device_) checkAddresses();
}

// A device that is led to memory it cannot reach, or where vectors do not fit, fails for good: so
// addresses are looked at before their first use.
void Context::checkAddresses() {
  constexpr uintptr_t kAlignment = 16;
  const Plan& whole = engine_->plan();
  checkedAddresses_.resize(inputs_.size() + outputs_.size());
  for (size_t i = 0; i < checkedAddresses_.size(); ++i) {
    const bool isInput = i < inputs_.size();
    const size_t index = isInput ? i : i - inputs_.size();
    const void* address = isInput ? inputs_[index] : outputs_[index];
    if (!address || address == checkedAddresses_[i] || (isInput && whole.inputs[index].isOnHost))
      continue;
    const std::string& name = isInput ? whole.inputs[index].name : whole.outputs[index].name;
    if (reinterpret_cast<uintptr_t>(address) % kAlignment != 0)
      fail(ErrorKind::kInvalidArgument, "the address of '", name, "' is not a multiple of ",
           kAlignment, "; device memory as CUDA allocates it is");
    if (!device_->canReach(address))
      fail(ErrorKind::kInvalidArgument, "the address of '", name,
           "' is in host memory that the GPU cannot reach; copy it to the device first");
    checkedAddresses_[i] = address;
  }
}

void Context::bindDims(const Step& step, const ResolvedStep& resolved) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < step.bindSlots.size(); ++i)
    values.push_back(readIndex(resolved.inputs[0], static_cast<int64_t>(i)));
  bindSizes(step, values);
}

// Sizes that are what they were in the run before change nothing.
void Context::bindSizes(const Step& step, std::span<const int64_t> values) {
  bool changed = !resolved_[&step - plan().steps.data()].settled;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t least = step.bindMin[i], most = step.bindMax[i];
    if (values[i] < least || values[i] > most)
      fail(ErrorKind::kInvalidArgument, "'", step.name, "': element ", i, " is ", values[i],
           " and profile ", profile_, " was planned for ", least, " to ",
           most == std::numeric_limits<int64_t>::max() ? "any size" : str(most));
    changed |= slots_[step.bindSlots[i]] != values[i];
  }
  if (!changed) return;
  for (size_t i = 0; i < values.size(); ++i) slots_[step.bindSlots[i]] = values[i];
  settleSizesAfter(step);
}

// The sizes a step has bound decide those of the steps after it; what these will bind is not known
// again until they run.
void Context::settleSizesAfter(const Step& step) {
  const size_t index = static_cast<size_t>(&step - plan().steps.data());
  resolved_[index].settled = false;
  for (size_t i = static_cast<size_t>(step.dimEnd); i < plan().dimProgram.size(); ++i)
    slots_[plan().dimProgram[i].target] = kUnknown;
  for (size_t i = index + 1; i < plan().steps.size(); ++i) {
    resolved_[i].settled = false;
    for (int32_t slot : plan().steps[i].bindSlots) slots_[slot] = kUnknown;
  }
  runProgram(step.dimBegin, step.dimEnd);
  checkSizes();
  for (size_t i = index + 1; i < plan().steps.size(); ++i) resolveStep(i);
  resolved_[index].settled = true;
}

void* Context::outputMemory(int output, int64_t bytes, std::span<const int64_t> dims) {
  if (allocator_)
    if (void* memory = allocator_(output, outputs_[output], bytes, dims)) return memory;
  if (!outputs_[output] && bytes > 0)
    fail(ErrorKind::kInvalidArgument, "output '", engine_->plan().outputs[output].name,
         "' has no address; call setTensorAddress or setOutputAllocator first");
  return outputs_[output];
}

void* Context::addressOf(const Operand& operand, bool onHost) {
  switch (operand.place) {
    case Place::kNone:
      return nullptr;
    case Place::kArena:
      return arenaData_ + operand.offset;
    case Place::kHostArena:
      return hostArena_.data() + operand.offset;
    // Weights and inputs are read only by contract; kernels see one pointer type.
    case Place::kWeights:
      return const_cast<std::byte*>(onHost ? engine_->plan().weights.data()
                                           : engine_->deviceWeights()) +
             operand.offset;
    case Place::kInput:
      return const_cast<void*>(inputs_[operand.index]);
    case Place::kOutput:
      return placed_[operand.index];
    case Place::kDynamic:
      return dynamic_[operand.index].data();
  }
  return nullptr;
}

// "output 0 ('y')": where the operand stands in its step, and what callers call it.
std::string Context::nameOf(const Step& step, const Operand& operand) const {
  const bool isInput = std::less_equal<>()(step.inputs.data(), &operand) &&
                       std::less<>()(&operand, step.inputs.data() + step.inputs.size());
  const auto index = &operand - (isInput ? step.inputs : step.outputs).data();
  const Plan& whole = engine_->plan();
  const std::string name = operand.place == Place::kInput    ? whole.inputs[operand.index].name
                           : operand.place == Place::kOutput ? whole.outputs[operand.index].name
                                                             : "";
  return str(isInput ? "input " : "output ", index, name.empty() ? "" : str(" ('", name, "')"));
}

void Context::failForSize(const Step& step, const Operand& operand, const TensorArg& arg) const {
  std::vector<std::string> sizes;
  for (int64_t dim : arg.shape()) sizes.push_back(dim == kUnknown ? "?" : str(dim));
  fail(ErrorKind::kInvalidArgument, "layer '", step.name, "': ", nameOf(step, operand),
       " would be of shape [", join(sizes, ", "),
       "] at these input shapes or values, and no size can be negative");
}

// Callers have made room for what an output's shape says beforehand, or for the most it can be. Of
// what a step decides itself, the shape says only how the run before was.
void Context::requireOutputHolds(const Step& step, int output, int64_t bytes) const {
  int64_t known = bytesAhead_[output];
  if (known < 0 && step.bindSlots.empty())
    known = bytesAt(plan().outputs[output].type, outputShape(output));
  if (known < 0) known = outputMaxBytes(output);
  if (known >= 0 && bytes > known)
    fail(ErrorKind::kInvalidEngine, "layer '", step.name, "' writes ", bytes, " bytes to output '",
         engine_->plan().outputs[output].name, "', which has ", known, "; the engine is damaged");
}

// Callers, and loops that run this as their body, believe the shapes of the outputs.
void Context::requireOutputsWritten() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const int64_t expected = bytesAt(plan().outputs[i].type, outputShape(static_cast<int>(i)));
    if (outputBytes_[i] != expected)
      fail(ErrorKind::kInvalidEngine, "the engine is damaged: output '",
           engine_->plan().outputs[i].name, "' was given ", outputBytes_[i],
           " bytes and its shape has ", expected, "; build it again");
  }
}

// Memory whose size the run decides is made before any address is taken: making it moves it.
void Context::makeRoom(const Step& step, const ResolvedStep& resolved) {
  const auto reserve = [&](const Operand& operand, int64_t bytes) {
    if (operand.place == Place::kDynamic) enlarge(dynamic_[operand.index], bytes);
  };
  // Bodies say themselves how much room their results take.
  const size_t outputs = runsBodies(step) ? 0 : step.outputs.size();
  for (size_t i = 0; i < outputs; ++i) {
    const Operand& operand = step.outputs[i];
    const TensorArg& arg = resolved.outputs[i];
    if (hasNegativeSize(arg)) failForSize(step, operand, arg);
    const auto bytes = static_cast<int64_t>(bytesOf(arg.type, arg.count()));
    reserve(operand, bytes);
    if (operand.place != Place::kOutput) continue;
    if (!resolved.checked) requireOutputHolds(step, operand.index, bytes);
    placed_[operand.index] = outputMemory(operand.index, bytes, arg.shape());
    outputBytes_[operand.index] = bytes;
  }
  reserve(step.workspace, resolved.workspaceBytes);
}

// Operands in memory that the caller or this run made are no larger than that. Inputs agree with
// each other only when the run begins, so this cannot be known before.
void Context::requireRoom(const Step& step, const Operand& operand, const TensorArg& arg) const {
  const auto bytes = static_cast<int64_t>(bytesOf(arg.type, arg.count()));
  int64_t room = bytes;
  if (operand.place == Place::kInput)
    room = bytesAt(engine_->plan().inputs[operand.index].tensor.type, *inputShapes_[operand.index]);
  if (operand.place == Place::kOutput) room = outputBytes_[operand.index];
  if (operand.place == Place::kDynamic) room = dynamic_[operand.index].size();
  if (bytes > room)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name, "': ", nameOf(step, operand), " takes ",
         bytes, " bytes from a tensor of ", room,
         "; the input shapes or values do not suit the network, or the engine is damaged");
}

LaunchArgs Context::placeOperands(size_t index) {
  const Step& step = plan().steps[index];
  ResolvedStep& resolved = resolved_[index];
  for (int64_t number : resolved.dims)
    if (number < -kMostElements || number > kMostElements)  // kUnknown too
      fail(ErrorKind::kInvalidArgument, "layer '", step.name,
           "' has a size out of range at these input shapes or values");
  const bool onHost = !device_ || isHostStep(engine_->plan(), step);
  makeRoom(step, resolved);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (hasNegativeSize(resolved.inputs[i])) failForSize(step, step.inputs[i], resolved.inputs[i]);
    requireRoom(step, step.inputs[i], resolved.inputs[i]);
    const bool readOnHost = !device_ || readsOnHost(engine_->plan(), step, i);
    resolved.inputs[i].data = addressOf(step.inputs[i], readOnHost);
  }
  for (size_t i = 0; i < step.outputs.size(); ++i)
    resolved.outputs[i].data = addressOf(step.outputs[i], onHost);
  LaunchArgs args{.inputs = resolved.inputs,
                  .outputs = resolved.outputs,
                  .dims = resolved.dims,
                  .threads = threads_};
  if (step.workspace.place == Place::kNone) return args;
  if (resolved.workspaceBytes < 0)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name,
         "' has a workspace of negative size at these input shapes or values");
  args.workspace = static_cast<std::byte*>(addressOf(step.workspace, onHost));
  args.workspaceBytes = resolved.workspaceBytes;
  return args;
}

void Context::checkLaunch(const Step& step, const LoadedEngine::LoadedStep& loaded,
                          const LaunchArgs& args) const {
  std::vector<int64_t> bytes;
  appendBytes(args.inputs, bytes);
  appendBytes(args.outputs, bytes);
  bytes.push_back(args.workspaceBytes);
  requireApart(step, bytes);
  if (!loaded.kernel->fits || loaded.kernel->fits(loaded.state.get(), args)) return;
  std::string shapes;
  for (const TensorArg& input : args.inputs)
    shapes += str(shapes.empty() ? "" : ", ", input.type, "[", join(input.shape(), ", "), "]");
  fail(ErrorKind::kInvalidArgument, "layer '", step.name,
       "' cannot run on tensors of these types and sizes (", shapes,
       "): the input shapes do not suit the network, or the engine is damaged");
}

void Context::forgetRunSizes() {
  if (!bindsSizes_) return;
  sizesCurrent_ = false;
  resolveSizes();
}

}  // namespace camshaft
