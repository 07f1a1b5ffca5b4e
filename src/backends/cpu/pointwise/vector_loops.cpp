#include "backends/cpu/pointwise/loops.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise/vector_loops.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/bf16-inl.h"
#include "backends/cpu/simd/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::pointwise::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // vmath, loadFirst, ...

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;
using U8 = hn::Rebind<uint8_t, F32>;  // one byte for each lane of F32

HWY_INLINE VF32 load(F32 d, const TileOperand& from, size_t i) {
  return hn::LoadU(d, static_cast<const float*>(from.data) + i * from.step);
}
HWY_INLINE VF32 load(F32 d, const TileOperand& from, size_t i, size_t n) {
  return loadFirst(d, static_cast<const float*>(from.data) + i * from.step, n);
}

template <class F>
void unaryLoop(const TileArgs& args) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), count = args.count;
  float* out = static_cast<float*>(args.out);
  size_t i = 0;
  for (constexpr size_t kAtOnce = 4; i + kAtOnce * lanes <= count; i += kAtOnce * lanes) {
    VF32 v[kAtOnce];
#pragma GCC unroll 4
    for (size_t j = 0; j < kAtOnce; ++j) v[j] = load(d, args.a, i + j * lanes);
#pragma GCC unroll 4
    for (size_t j = 0; j < kAtOnce; ++j) v[j] = F::apply(d, v[j]);
#pragma GCC unroll 4
    for (size_t j = 0; j < kAtOnce; ++j) hn::StoreU(v[j], d, out + i + j * lanes);
  }
  for (; i + lanes <= count; i += lanes) hn::StoreU(F::apply(d, load(d, args.a, i)), d, out + i);
  if (i < count) storeFirst(F::apply(d, load(d, args.a, i, count - i)), d, out + i, count - i);
}

template <class F>
void binaryLoop(const TileArgs& args) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), count = args.count;
  float* out = static_cast<float*>(args.out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(F::apply(d, load(d, args.a, i), load(d, args.b, i)), d, out + i);
  if (i == count) return;
  const size_t n = count - i;
  storeFirst(F::apply(d, load(d, args.a, i, n), load(d, args.b, i, n)), d, out + i, n);
}

// Comparisons give one byte, 0 or 1, per element.
template <class F>
void compareLoop(const TileArgs& args) {
  const F32 d;
  const U8 bytes;
  const hn::RebindToSigned<F32> integers;
  const size_t lanes = hn::Lanes(d), count = args.count;
  const auto one = hn::Set(integers, 1);
  uint8_t* out = static_cast<uint8_t*>(args.out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto mask = hn::RebindMask(integers, F::apply(d, load(d, args.a, i), load(d, args.b, i)));
    hn::StoreU(hn::DemoteTo(bytes, hn::IfThenElseZero(mask, one)), bytes, out + i);
  }
  if (i == count) return;
  const size_t n = count - i;
  const auto mask =
      hn::RebindMask(integers, F::apply(d, load(d, args.a, i, n), load(d, args.b, i, n)));
  storeFirst(hn::DemoteTo(bytes, hn::IfThenElseZero(mask, one)), bytes, out + i, n);
}

void whereLoop(const TileArgs& args) {
  const F32 d;
  const U8 bytes;
  const hn::RebindToSigned<F32> integers;
  const size_t lanes = hn::Lanes(d), count = args.count;
  const uint8_t* condition = static_cast<const uint8_t*>(args.a.data);
  float* out = static_cast<float*>(args.out);
  const auto zero = hn::Zero(integers);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto chosen = hn::PromoteTo(integers, hn::LoadU(bytes, condition + i * args.a.step));
    const auto mask = hn::RebindMask(d, hn::Ne(chosen, zero));
    hn::StoreU(hn::IfThenElse(mask, load(d, args.b, i), load(d, args.c, i)), d, out + i);
  }
  if (i == count) return;
  const size_t n = count - i;
  const auto chosen = hn::PromoteTo(integers, loadFirst(bytes, condition + i * args.a.step, n));
  const auto mask = hn::RebindMask(d, hn::Ne(chosen, zero));
  storeFirst(hn::IfThenElse(mask, load(d, args.b, i, n), load(d, args.c, i, n)), d, out + i, n);
}

// To 8-bit integers, saturating; NaN becomes 0.
template <class Byte>
void convertLoop(const TileArgs& args) {
  const F32 d;
  const hn::Rebind<Byte, F32> bytes;
  const hn::RebindToSigned<F32> integers;
  const size_t lanes = hn::Lanes(d), count = args.count;
  const VF32 low = hn::Set(d, std::numeric_limits<Byte>::min());
  const VF32 high = hn::Set(d, std::numeric_limits<Byte>::max());
  Byte* out = static_cast<Byte*>(args.out);
  for (size_t i = 0; i < count; i += lanes) {
    const size_t n = count - i < lanes ? count - i : lanes;
    const VF32 a = n == lanes ? load(d, args.a, i) : load(d, args.a, i, n);
    const VF32 number = hn::IfThenZeroElse(hn::IsNaN(a), a);
    const VF32 inside = hn::Min(hn::Max(number, low), high);
    const auto narrow = hn::DemoteTo(bytes, hn::ConvertTo(integers, inside));
    if (n == lanes)
      hn::StoreU(narrow, bytes, out + i);
    else
      storeFirst(narrow, bytes, out + i, n);
  }
}

template <class From>
HWY_INLINE VF32 converted(F32 d, hn::Vec<hn::Rebind<From, F32>> v) {
  const hn::RebindToSigned<F32> integers;
  if constexpr (sizeof(From) == 4) {
    return hn::ConvertTo(d, v);
  } else {
    return hn::ConvertTo(d, hn::PromoteTo(integers, v));
  }
}

// From 8-bit integers and i32.
template <class From>
void integerLoop(const TileArgs& args) {
  const F32 d;
  const hn::Rebind<From, F32> narrow;
  const size_t lanes = hn::Lanes(d), count = args.count;
  const From* from = static_cast<const From*>(args.a.data);
  float* out = static_cast<float*>(args.out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(converted<From>(d, hn::LoadU(narrow, from + i * args.a.step)), d, out + i);
  if (i == count) return;
  const size_t n = count - i;
  storeFirst(converted<From>(d, loadFirst(narrow, from + i * args.a.step, n)), d, out + i, n);
}

// Between f32 and bf16.
template <bool kByUnit, class From, class To>
void bf16Loop(const TileArgs& args) {
  const From* from = static_cast<const From*>(args.a.data);
  To* out = static_cast<To*>(args.out);
  if (args.a.step == 1) return convertRow<kByUnit>(from, args.count, out);
  const F32 d;
  const size_t lanes = hn::Lanes(d), count = args.count;
  const VF32 value = loadF32(d, from);  // for all
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) storeF32(value, d, out + i);
  if (i < count) storeFirstF32(value, d, out + i, count - i);
}

TileFunction widening(DataType type) {
  return type == DataType::kBF16 ? bf16Loop<false, BFloat16, float> : nullptr;
}

TileFunction narrowing(DataType type) {
  if (type != DataType::kBF16) return nullptr;
  return mayNarrowByUnit() ? bf16Loop<true, float, BFloat16> : bf16Loop<false, float, BFloat16>;
}

TileFunction conversionFrom(DataType type) {
  if (type == DataType::kU8) return integerLoop<uint8_t>;
  if (type == DataType::kI8) return integerLoop<int8_t>;
  return type == DataType::kI32 ? integerLoop<int32_t> : nullptr;
}

TileFunction conversionTo(DataType type) {
  if (type == DataType::kU8) return convertLoop<uint8_t>;
  return type == DataType::kI8 ? convertLoop<int8_t> : nullptr;
}

// log(1 + e) for e in [0, 1], exact in the last places also for small e.
HWY_INLINE VF32 log1p(F32 d, VF32 e) {
  const VF32 one = hn::Set(d, 1.0f);
  const VF32 u = hn::Add(e, one);
  const VF32 rounded = hn::Sub(u, one);  // e as u has it
  const VF32 y = hn::Mul(vmath::log(d, u), hn::Div(e, rounded));
  return hn::IfThenElse(hn::Eq(rounded, hn::Zero(d)), e, y);
}

HWY_INLINE VF32 clamp01(F32 d, VF32 x) {
  const VF32 zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::Lt(x, zero), zero, hn::IfThenElse(hn::Gt(x, one), one, x));
}

HWY_INLINE VF32 sign(F32 d, VF32 x) {
  const VF32 zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one),
                 hn::IfThenElseZero(hn::Lt(x, zero), one));
}

HWY_INLINE VF32 geluTanhInner(F32 d, VF32 x) {
  const VF32 cubic = hn::Mul(hn::Mul(x, x), hn::Set(d, 0.044715f));
  return hn::Mul(hn::Set(d, 0.7978845608f), hn::MulAdd(cubic, x, x));
}

HWY_INLINE VF32 halfTimesOnePlus(F32 d, VF32 x, VF32 y) {
  return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), hn::Add(hn::Set(d, 1.0f), y));
}

// UNARY(opcode, vector expression of d and a), and so on.
#define CAMSHAFT_VECTOR_OPS(UNARY, BINARY, COMPARE)                                       \
  UNARY(Neg, hn::Neg(a))                                                                  \
  UNARY(Abs, hn::Abs(a))                                                                  \
  UNARY(Sign, sign(d, a))                                                                 \
  UNARY(Relu, hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Zero(d), a))                     \
  UNARY(Floor, hn::Floor(a))                                                              \
  UNARY(Ceil, hn::Ceil(a))                                                                \
  UNARY(Round, hn::Round(a))                                                              \
  UNARY(Trunc, hn::Trunc(a))                                                              \
  UNARY(Sqrt, hn::Sqrt(a))                                                                \
  UNARY(Rsqrt, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(a)))                                    \
  UNARY(Reciprocal, hn::Div(hn::Set(d, 1.0f), a))                                         \
  UNARY(Exp, vmath::exp(d, a))                                                            \
  UNARY(Log, vmath::log(d, a))                                                            \
  UNARY(Tanh, vmath::tanh(d, a))                                                          \
  UNARY(Erf, vmath::erf(d, a))                                                            \
  UNARY(Sigmoid, vmath::sigmoid(d, a))                                                    \
  UNARY(Softplus, hn::Add(hn::IfThenZeroElse(hn::Lt(a, hn::Zero(d)), a),                  \
                          log1p(d, vmath::exp(d, hn::Neg(hn::Abs(a))))))                  \
  UNARY(Silu, vmath::silu(d, a))                                                          \
  UNARY(Gelu, halfTimesOnePlus(d, a, vmath::erf(d, hn::Mul(a, hn::Set(d, 0.70710678f))))) \
  UNARY(GeluTanh, halfTimesOnePlus(d, a, vmath::tanh(d, geluTanhInner(d, a))))            \
  UNARY(HardSwish,                                                                        \
        hn::Mul(a, clamp01(d, hn::MulAdd(a, hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f))))) \
  BINARY(Add, hn::Add(a, b))                                                              \
  BINARY(Sub, hn::Sub(a, b))                                                              \
  BINARY(Mul, hn::Mul(a, b))                                                              \
  BINARY(Div, hn::Div(a, b))                                                              \
  BINARY(FloorDiv, hn::Floor(hn::Div(a, b)))                                              \
  BINARY(Min, hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(a, b)), a, b))                   \
  BINARY(Max, hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Gt(a, b)), a, b))                   \
  COMPARE(Equal, hn::Eq(a, b))                                                            \
  COMPARE(NotEqual, hn::Not(hn::Eq(a, b))) /* Ne is false of NaN with AVX-512 */          \
  COMPARE(Less, hn::Lt(a, b))                                                             \
  COMPARE(LessEqual, hn::Le(a, b))                                                        \
  COMPARE(Greater, hn::Gt(a, b))                                                          \
  COMPARE(GreaterEqual, hn::Ge(a, b))

#define CAMSHAFT_UNARY(Name, expression)                                                \
  struct Name##Vector {                                                                 \
    static HWY_INLINE VF32 apply([[maybe_unused]] F32 d, VF32 a) { return expression; } \
  };
#define CAMSHAFT_BINARY(Name, expression)                                                       \
  struct Name##Vector {                                                                         \
    static HWY_INLINE VF32 apply([[maybe_unused]] F32 d, VF32 a, VF32 b) { return expression; } \
  };
#define CAMSHAFT_COMPARE(Name, expression)                                          \
  struct Name##Vector {                                                             \
    static HWY_INLINE hn::Mask<F32> apply([[maybe_unused]] F32 d, VF32 a, VF32 b) { \
      return expression;                                                            \
    }                                                                               \
  };
CAMSHAFT_VECTOR_OPS(CAMSHAFT_UNARY, CAMSHAFT_BINARY, CAMSHAFT_COMPARE)
#undef CAMSHAFT_UNARY
#undef CAMSHAFT_BINARY
#undef CAMSHAFT_COMPARE

#define CAMSHAFT_UNARY(Name, expression) \
  case Opcode::k##Name:                  \
    return unaryLoop<Name##Vector>;
#define CAMSHAFT_BINARY(Name, expression) \
  case Opcode::k##Name:                   \
    return binaryLoop<Name##Vector>;
#define CAMSHAFT_COMPARE(Name, expression) \
  case Opcode::k##Name:                    \
    return compareLoop<Name##Vector>;
TileFunction loopOf(Opcode op) {
  switch (op) {
    case Opcode::kWhere:
      return whereLoop;
      CAMSHAFT_VECTOR_OPS(CAMSHAFT_UNARY, CAMSHAFT_BINARY, CAMSHAFT_COMPARE)
    default:
      return nullptr;
  }
}
#undef CAMSHAFT_UNARY
#undef CAMSHAFT_BINARY
#undef CAMSHAFT_COMPARE
#undef CAMSHAFT_VECTOR_OPS

}  // namespace camshaft::cpu::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::pointwise {

HWY_EXPORT(loopOf);
HWY_EXPORT(conversionTo);
HWY_EXPORT(conversionFrom);
HWY_EXPORT(widening);
HWY_EXPORT(narrowing);

TileFunction vectorLoop(const Instruction& instruction) {
  if (instruction.op == Opcode::kConvert && instruction.from == DataType::kF32)
    return HWY_DYNAMIC_DISPATCH(conversionTo)(instruction.type);
  if (instruction.op == Opcode::kConvert && instruction.type == DataType::kF32)
    return HWY_DYNAMIC_DISPATCH(conversionFrom)(instruction.from);
  if (instruction.op == Opcode::kWiden) return HWY_DYNAMIC_DISPATCH(widening)(instruction.from);
  if (instruction.op == Opcode::kNarrow) return HWY_DYNAMIC_DISPATCH(narrowing)(instruction.type);
  if (instruction.type != DataType::kF32) return nullptr;
  return HWY_DYNAMIC_DISPATCH(loopOf)(instruction.op);
}

}  // namespace camshaft::cpu::pointwise
#endif  // HWY_ONCE
