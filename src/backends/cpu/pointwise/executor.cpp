#include "backends/cpu/pointwise/executor.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/pointwise/loops.h"
#include "support/error.h"

namespace camshaft::cpu::pointwise {

namespace {

// Of one element, in additions or so.
double costOf(Opcode op) {
  switch (op) {
    case Opcode::kDiv:
    case Opcode::kSqrt:
    case Opcode::kReciprocal:
    case Opcode::kRsqrt:
      return 3;
    case Opcode::kExp:
    case Opcode::kLog:
    case Opcode::kTanh:
    case Opcode::kErf:
    case Opcode::kSigmoid:
    case Opcode::kSoftplus:
    case Opcode::kSilu:
    case Opcode::kGelu:
    case Opcode::kGeluTanh:
      return 8;
    case Opcode::kPow:
    case Opcode::kMod:
    case Opcode::kFmod:
    case Opcode::kFloorDiv:
      return 20;
    default:
      return op >= Opcode::kSin && op <= Opcode::kAtanh ? 20 : 1;
  }
}

template <class T>
void fillSplat(std::byte* to, const void* value) {
  T element;
  std::memcpy(&element, value, sizeof(T));
  std::fill_n(reinterpret_cast<T*>(to), kSplatBytes / sizeof(T), element);
}

void splatTo(std::byte* to, const void* value, size_t width) {
  switch (width) {
    case 1:
      return fillSplat<uint8_t>(to, value);
    case 2:
      return fillSplat<uint16_t>(to, value);
    case 4:
      return fillSplat<uint32_t>(to, value);
    default:
      return fillSplat<uint64_t>(to, value);
  }
}

}  // namespace

TileFunction tileFunction(const Instruction& instruction) {
  if (TileFunction function = vectorLoop(instruction)) return function;
  return plainLoop(instruction);
}

Executor::Executor(Program program) : program_(std::move(program)) {
  size_t width = 4;
  for (DataType type : program_.inputs) width = std::max(width, bytesOf(type, 1));
  for (const Instruction& instruction : program_.code) {
    const TileFunction function = tileFunction(instruction);
    if (!function)
      fail(ErrorKind::kInvalidEngine,
           "the engine holds a pointwise operation that elements of type ", instruction.type,
           " do not have");
    width = std::max({width, bytesOf(instruction.type, 1), bytesOf(instruction.from, 1)});
    steps_.push_back({function, instruction});
    cost_ += costOf(instruction.op);
  }
  const int64_t splats = static_cast<int64_t>(program_.constants.size() + program_.inputs.size());
  const int64_t tiles =
      std::max<int64_t>(1, static_cast<int64_t>(program_.inputs.size()) + program_.slots);
  const int64_t room =
      (kScratchBytes - splats * kSplatBytes) / (tiles * static_cast<int64_t>(width));
  tile_ = std::min(kMaxTile, room / 64 * 64);
  slotBytes_ = tile_ * static_cast<int64_t>(width);
}

// The scratch holds constants, splats of inputs, gathered inputs and slots, in this order.
void Executor::begin(Scratch& scratch) const {
  std::byte* to = scratch.bytes;
  for (const Constant& constant : program_.constants) {
    splatTo(to, &constant.bits, bytesOf(constant.type, 1));
    to += kSplatBytes;
  }
}

TileOperand Executor::splat(Scratch& scratch, int input, const void* data) const {
  std::byte* to = scratch.bytes + (program_.constants.size() + input) * kSplatBytes;
  splatTo(to, data, bytesOf(program_.inputs[input], 1));
  return {to, 0};
}

std::byte* Executor::gathered(Scratch& scratch, int input) const {
  return scratch.bytes + (program_.constants.size() + program_.inputs.size()) * kSplatBytes +
         input * slotBytes_;
}

void Executor::run(Scratch& scratch, const TileOperand* inputs, void* out, int64_t count) const {
  std::byte* slots = gathered(scratch, inputCount());
  const auto operand = [&](const Source& source) -> TileOperand {
    switch (source.where) {
      case Where::kInput:
        return inputs[source.index];
      case Where::kConstant:
        return {scratch.bytes + source.index * kSplatBytes, 0};
      case Where::kSlot:
        return {slots + source.index * slotBytes_, 1};
      case Where::kNone:
        break;
    }
    return {};
  };
  for (const Step& step : steps_) {
    const Instruction& in = step.instruction;
    void* target = in.target < 0 ? out : slots + in.target * slotBytes_;
    step.function({operand(in.a), operand(in.b), operand(in.c), target, count});
  }
}

}  // namespace camshaft::cpu::pointwise
