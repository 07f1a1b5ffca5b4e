#include "runtime/operand_memory.h"

#include <algorithm>

#include "support/error.h"

namespace camshaft {

OperandMemory::OperandMemory(const LoadedEngine& engine, Sizes& sizes, ArenaOwner arenaOwner)
    : engine_(engine),
      sizes_(sizes),
      device_(engine.device()),
      inputs_(engine.plan().inputs.size()),
      outputs_(engine.plan().outputs.size()),
      callersMemory_{std::vector<MemoryRange>(inputs_.size()),
                     std::vector<MemoryRange>(outputs_.size())},
      arenaOwner_(arenaOwner),
      arena_(device_),
      hostArena_(device_, DeviceBuffer::Side::kHost),
      scratch_(device_),
      placed_(outputs_.size()),
      outputBytes_(outputs_.size()) {}

void OperandMemory::setProfile(const ProfilePlan& profile) {
  std::vector<DeviceBuffer> dynamic = dynamicBuffersOf(profile);
  if (arenaOwner_ == ArenaOwner::kPerProfile && arena_.size() > profile.arenaBytes) arena_.reset();
  reserveArenas(profile);
  dynamic_ = std::move(dynamic);
  apartAt_ = kNever;
}

std::vector<DeviceBuffer> OperandMemory::dynamicBuffersOf(const ProfilePlan& profile) const {
  std::vector<DeviceBuffer> dynamic;
  for (size_t i = 0; i < profile.dynamicBuffers.size(); ++i)
    dynamic.emplace_back(temporaryDevice_ ? temporaryDevice_ : device_);
  for (int32_t index : profile.hostDynamicBuffers)
    dynamic[index] = DeviceBuffer(device_, DeviceBuffer::Side::kHost);
  return dynamic;
}

void OperandMemory::reserveArenas(const ProfilePlan& profile) {
  if (arenaOwner_ != ArenaOwner::kCaller) {
    int64_t bytes = profile.arenaBytes;
    if (arenaOwner_ == ArenaOwner::kContext)
      for (const ProfilePlan& any : engine_.plan().profiles)
        bytes = std::max(bytes, any.arenaBytes);
    arenaData_ = nullptr;
    arena_.reserve(bytes);
    arenaData_ = arena_.data();
  }
  hostArena_.reserve(profile.hostArenaBytes);
  if (device_) scratch_.reserve(engine_.deviceWeights()->placement().scratchBytes(engine_.plan()));
}

void OperandMemory::setTemporaryDevice(Device* device) {
  temporaryDevice_ = device_ ? device : nullptr;
  dynamic_ = dynamicBuffersOf(sizes_.plan());
}

// What is queued may still use the memory.
void OperandMemory::endRun(void* stream) noexcept {
  if (!temporaryDevice_ || dynamic_.empty()) return;
  try {
    if (!device_->isRecording(stream)) device_->synchronize(stream);
  } catch (...) {  // the next call reports it
  }
  for (DeviceBuffer& buffer : dynamic_) buffer.reset();
}

void OperandMemory::setArena(void* memory, int64_t bytes) {
  if (arenaOwner_ != ArenaOwner::kCaller)
    fail(ErrorKind::kInvalidArgument,
         "this context allocated its own memory; create it with user-managed memory to set it");
  const int64_t needed = sizes_.plan().arenaBytes;
  if (bytes < needed)
    fail(ErrorKind::kInvalidArgument, "the device memory given has ", bytes, " bytes and profile ",
         sizes_.profile(), " needs ", needed);
  arenaData_ = static_cast<std::byte*>(memory);
  callersBytes_ = bytes;
}

void OperandMemory::checkAddresses() {
  const Plan& plan = engine_.plan();
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (!inputs_[i] && sizes_.inputBytes(static_cast<int>(i)) != 0)
      fail(ErrorKind::kInvalidArgument, "input '", plan.inputs[i].name,
           "' has no address; call setTensorAddress first");
  if (sizes_.plan().arenaBytes > 0 && !arenaData_)
    fail(ErrorKind::kInvalidArgument,
         "the context has no device memory; give it some with setDeviceMemoryV2 first");
  if (arenaOwner_ == ArenaOwner::kCaller && callersBytes_ < sizes_.plan().arenaBytes)
    fail(ErrorKind::kInvalidArgument, "the context was given ", callersBytes_,
         " bytes of device memory and profile ", sizes_.profile(), " needs ",
         sizes_.plan().arenaBytes, "; give it more with setDeviceMemoryV2");
  if (device_) checkReach();
  if (!areTrusted_) checkApart();
}

// A device that is led to memory it cannot reach, or where vectors do not fit, fails for good: so
// addresses are looked at before their first use.
void OperandMemory::checkReach() {
  const Plan& plan = engine_.plan();
  constexpr uintptr_t kAlignment = 16;
  checkedAddresses_.resize(inputs_.size() + outputs_.size());
  for (size_t i = 0; i < checkedAddresses_.size(); ++i) {
    const bool isInput = i < inputs_.size();
    const size_t index = isInput ? i : i - inputs_.size();
    const void* address = isInput ? inputs_[index] : outputs_[index];
    if (!address || address == checkedAddresses_[i] || (isInput && plan.inputs[index].isOnHost))
      continue;
    const std::string& name = isInput ? plan.inputs[index].name : plan.outputs[index].name;
    if (reinterpret_cast<uintptr_t>(address) % kAlignment != 0)
      fail(ErrorKind::kInvalidArgument, "the address of '", name, "' is not a multiple of ",
           kAlignment, "; device memory as CUDA allocates it is");
    if (!device_->canReach(address))
      fail(ErrorKind::kInvalidArgument, "the address of '", name,
           "' is in host memory that the GPU cannot reach; copy it to the device first");
    checkedAddresses_[i] = address;
  }
}

// Looks only where an address or a size is another than when it last did.
void OperandMemory::checkApart() {
  const bool areSame = apartAt_ == sizes_.revision() &&
                       (!wereMoved_ || (apartInputs_ == inputs_ && apartOutputs_ == outputs_));
  wereMoved_ = false;
  if (!areSame) findApart();
}

void OperandMemory::findApart() {
  apartAt_ = kNever;
  bool areAllKnown = true;
  for (size_t i = 0; i < inputs_.size(); ++i)
    callersMemory_.inputs[i] = MemoryRange::of(inputs_[i], sizes_.inputBytes(static_cast<int>(i)));
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const int64_t bytes = allocator_ ? -1 : sizes_.outputBytesAhead(static_cast<int>(i));
    callersMemory_.outputs[i] = MemoryRange::of(outputs_[i], std::max<int64_t>(bytes, 0));
    areAllKnown &= bytes >= 0;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) requireApart(engine_.plan(), callersMemory_, i);
  if (!areAllKnown) return;
  apartAt_ = sizes_.revision();
  apartInputs_ = inputs_;
  apartOutputs_ = outputs_;
}

void OperandMemory::beginRun(void* stream) {
  stream_ = stream;
  placed_ = outputs_;
  std::fill(outputBytes_.begin(), outputBytes_.end(), 0);
}

LaunchArgs OperandMemory::place(size_t index) {
  const Step& step = sizes_.plan().steps[index];
  ResolvedStep& resolved = sizes_.step(index);
  if (!resolved.isChecked) sizes_.requireKnown(index);
  makeRoom(step, resolved);
  int64_t scratchUsed = 0;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    requireRoom(step, step.inputs[i], resolved.inputs[i]);
    const bool readOnHost = !device_ || readsOnHost(engine_.plan(), step, i);
    const bool isOnDevice = step.inputs[i].place == Place::kWeights && !readOnHost;
    resolved.inputs[i].data =
        isOnDevice ? weightsOn(step.inputs[i], scratchUsed) : addressOf(step.inputs[i]);
  }
  for (size_t i = 0; i < step.outputs.size(); ++i)
    resolved.outputs[i].data = addressOf(step.outputs[i]);
  return {.inputs = resolved.inputs,
          .outputs = resolved.outputs,
          .dims = resolved.dims,
          .workspace = static_cast<std::byte*>(addressOf(step.workspace)),
          .workspaceBytes = resolved.workspaceBytes};
}

// Memory whose size the run decides is made before any address is taken: making it moves it.
void OperandMemory::makeRoom(const Step& step, const ResolvedStep& resolved) {
  const auto reserve = [&](const Operand& operand, int64_t bytes) {
    if (operand.place == Place::kDynamic) enlarge(dynamic_[operand.index], bytes);
  };
  // Bodies say themselves how much room their results take.
  const size_t outputs = runsBodies(step) ? 0 : step.outputs.size();
  for (size_t i = 0; i < outputs; ++i) {
    const Operand& operand = step.outputs[i];
    const TensorArg& arg = resolved.outputs[i];
    const auto bytes = static_cast<int64_t>(bytesOf(arg.type, arg.count()));
    reserve(operand, bytes);
    if (operand.place != Place::kOutput) continue;
    if (!resolved.isChecked) requireOutputHolds(step, operand.index, bytes);
    placed_[operand.index] = outputMemory(operand.index, bytes, arg.shape());
    outputBytes_[operand.index] = bytes;
  }
  reserve(step.workspace, resolved.workspaceBytes);
}

// Queued work may still use the memory that is given back.
void OperandMemory::enlarge(DeviceBuffer& buffer, int64_t bytes) {
  if (device_ && buffer.data() && bytes > buffer.size() && !device_->isRecording(stream_))
    device_->synchronize(stream_);
  buffer.reserve(std::max<int64_t>(bytes, 1));
}

void* OperandMemory::outputMemory(int output, int64_t bytes, std::span<const int64_t> dims) {
  void* memory = allocator_ ? allocator_(output, outputs_[output], bytes, dims) : nullptr;
  if (!memory) memory = outputs_[output];
  if (!memory && bytes > 0)
    fail(ErrorKind::kInvalidArgument, "output '", engine_.plan().outputs[output].name,
         "' has no address; call setTensorAddress or setOutputAllocator first");
  if (apartAt_ == kNever && !areTrusted_) {  // the run places outputs
    callersMemory_.outputs[output] = MemoryRange::of(memory, bytes);
    requireApart(engine_.plan(), callersMemory_, static_cast<size_t>(output));
  }
  return memory;
}

void OperandMemory::requireOutputHolds(const Step& step, int output, int64_t bytes) const {
  const int64_t room = sizes_.outputRoom(output, step);
  if (room >= 0 && bytes > room)
    fail(ErrorKind::kInvalidEngine, "layer '", step.name, "' writes ", bytes, " bytes to output '",
         engine_.plan().outputs[output].name, "', which has ", room, "; the engine is damaged");
}

// Operands in memory that the caller or this run made are no larger than that. Inputs agree with
// each other only when the run begins, so this cannot be known before.
void OperandMemory::requireRoom(const Step& step, const Operand& operand,
                                const TensorArg& arg) const {
  const auto bytes = static_cast<int64_t>(bytesOf(arg.type, arg.count()));
  int64_t room = bytes;
  if (operand.place == Place::kInput) room = sizes_.inputBytes(operand.index);
  if (operand.place == Place::kOutput) room = outputBytes_[operand.index];
  if (operand.place == Place::kDynamic) room = dynamic_[operand.index].size();
  if (bytes > room)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name,
         "': ", nameOf(engine_.plan(), step, operand), " takes ", bytes, " bytes from a tensor of ",
         room, "; the input shapes or values do not suit the network, or the engine is damaged");
}

void* OperandMemory::addressOf(const Operand& operand) const {
  switch (operand.place) {
    case Place::kNone:
      return nullptr;
    case Place::kArena:
      return arenaData_ + operand.offset;
    case Place::kHostArena:
      return hostArena_.data() + operand.offset;
    // Weights and inputs are read only by contract; kernels see one pointer type.
    case Place::kWeights:
      return const_cast<std::byte*>(engine_.plan().weights.data()) + operand.offset;
    case Place::kInput:
      return const_cast<void*>(inputs_[operand.index]);
    case Place::kOutput:
      return placed_[operand.index];
    case Place::kDynamic:
      return dynamic_[operand.index].data();
  }
  return nullptr;
}

// Streamed ones take the place of the last step's, which is ahead in the stream.
std::byte* OperandMemory::weightsOn(const Operand& operand, int64_t& scratchUsed) {
  constexpr int64_t kAlignment = 256;
  const DeviceWeights& weights = *engine_.deviceWeights();
  if (const std::byte* resident = weights.at(operand.offset))
    return const_cast<std::byte*>(resident);
  const std::span<const std::byte> block = weights.streamedAt(operand.offset);
  const auto bytes = static_cast<int64_t>(block.size());
  std::byte* copy = scratch_.data() + scratchUsed;
  scratchUsed += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes > 0) device_->copy(copy, block.data(), bytes, stream_);
  return copy;
}

void* OperandMemory::placeResult(const Step& step, size_t output, int64_t bytes) {
  const Operand& operand = step.outputs[output];
  if (operand.place == Place::kDynamic) enlarge(dynamic_[operand.index], bytes);
  if (operand.place == Place::kOutput) {
    requireOutputHolds(step, operand.index, bytes);
    placed_[operand.index] = outputMemory(operand.index, bytes, {});
    outputBytes_[operand.index] = bytes;
  }
  const ProfilePlan& plan = sizes_.plan();
  const bool isInArena = operand.place == Place::kArena || operand.place == Place::kHostArena;
  const int64_t arena = operand.place == Place::kArena ? plan.arenaBytes : plan.hostArenaBytes;
  if (isInArena && bytes > arena - operand.offset)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name, "' gives ", bytes, " bytes as output ",
         output, ", more than was planned for profile ", sizes_.profile());
  return addressOf(operand);
}

void OperandMemory::noteResult(size_t step, size_t output) {
  const TensorArg& result = sizes_.step(step).outputs[output];
  outputBytes_[sizes_.plan().steps[step].outputs[output].index] =
      static_cast<int64_t>(bytesOf(result.type, result.count()));
}

// Callers, and loops that run this as their body, believe the shapes of the outputs.
void OperandMemory::requireOutputsWritten() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const int64_t expected = sizes_.outputBytes(static_cast<int>(i));
    if (outputBytes_[i] != expected)
      fail(ErrorKind::kInvalidEngine, "the engine is damaged: output '",
           engine_.plan().outputs[i].name, "' was given ", outputBytes_[i],
           " bytes and its shape has ", expected, "; build it again");
  }
}

TouchedMemory OperandMemory::touchedBy(size_t step) {
  const auto ranges = [&](std::span<const TensorArg> operands) {
    std::vector<MemoryRange> touched;
    for (const TensorArg& operand : operands)
      if (operand.data)
        touched.push_back(MemoryRange::of(
            operand.data, static_cast<int64_t>(bytesOf(operand.type, operand.count()))));
    return touched;
  };
  const LaunchArgs args = place(step);
  TouchedMemory touched{ranges(args.inputs), ranges(args.outputs)};
  touched.written.push_back(MemoryRange::of(args.workspace, args.workspaceBytes));
  return touched;
}

void OperandMemory::addAddresses(RecordingKey& key) const {
  const auto add = [&](const void* address) { key.push_back(reinterpret_cast<int64_t>(address)); };
  for (size_t i = 0; i < inputs_.size(); ++i)  // those on the host are for steps between recordings
    if (!engine_.plan().inputs[i].isOnHost) add(inputs_[i]);
  for (const void* address : outputs_) add(address);
  for (const DeviceBuffer& buffer : dynamic_) add(buffer.data());
  add(arenaData_);
}

}  // namespace camshaft
