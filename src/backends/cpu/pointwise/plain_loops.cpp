#include "backends/cpu/pointwise/plain_loops-inl.h"
#include "support/half.h"

namespace camshaft::cpu::pointwise {

namespace {

template <class Narrow>
void widenLoop(const TileArgs& args) {
  const Narrow* a = static_cast<const Narrow*>(args.a.data);
  float* out = static_cast<float*>(args.out);
  if (args.a.step == 0)
    std::fill(out, out + args.count, static_cast<float>(*a));
  else
    convertToFloat(a, out, static_cast<size_t>(args.count));
}

template <class Narrow>
struct NarrowTo {
  static Narrow apply(float a) { return Narrow(a); }
};
template <class Narrow>
struct LimitTo {
  static float apply(float a) { return static_cast<float>(Narrow(a)); }
};

template <class Narrow>
void narrowLoop(const TileArgs& args) {
  const float* a = static_cast<const float*>(args.a.data);
  if (args.a.step == 0)
    unaryLoop<NarrowTo<Narrow>, float, Narrow>(args);
  else
    convertFromFloat(a, static_cast<Narrow*>(args.out), static_cast<size_t>(args.count));
}

template <class Narrow>
TileFunction narrowFloatLoop(Opcode op) {
  switch (op) {
    case Opcode::kWiden:
      return widenLoop<Narrow>;
    case Opcode::kNarrow:
      return narrowLoop<Narrow>;
    case Opcode::kLimit:
      return unaryLoop<LimitTo<Narrow>, float, float>;
    default:
      return nullptr;
  }
}

}  // namespace

TileFunction plainLoop(const Instruction& instruction) {
  const bool readsOther = instruction.op == Opcode::kConvert || instruction.op == Opcode::kWiden;
  const DataType type = readsOther ? instruction.from : instruction.type;
  switch (type) {
    case DataType::kF16:
      return narrowFloatLoop<Half>(instruction.op);
    case DataType::kBF16:
      return narrowFloatLoop<BFloat16>(instruction.op);
    case DataType::kF8E4M3:
      return narrowFloatLoop<Float8E4M3>(instruction.op);
    case DataType::kF8E5M2:
      return narrowFloatLoop<Float8E5M2>(instruction.op);
    case DataType::kF8E4M3Fnuz:
      return narrowFloatLoop<Float8E4M3Fnuz>(instruction.op);
    case DataType::kF8E5M2Fnuz:
      return narrowFloatLoop<Float8E5M2Fnuz>(instruction.op);
    case DataType::kF8E8M0:
      return narrowFloatLoop<Float8E8M0>(instruction.op);
    default:
      break;
  }
  if (TileFunction function = floatLoop(instruction, type)) return function;
  if (TileFunction function = signedLoop(instruction, type)) return function;
  return unsignedLoop(instruction, type);
}

}  // namespace camshaft::cpu::pointwise
