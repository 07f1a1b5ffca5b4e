// Loops over elements of type T, made from ir/scalar_ops.def. Included by the plain_loops_*.cpp,
// which share the types among them so that no file takes long to compile.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "backends/cpu/pointwise/loops.h"
#include "ir/scalar_math.h"
#include "support/boolean.h"

namespace camshaft::cpu::pointwise {

enum class Domain { kAny, kFloat, kInteger, kLogic, kCompare };

template <class T>
constexpr bool isIn(Domain domain) {
  switch (domain) {
    case Domain::kFloat:
      return std::is_floating_point_v<T>;
    case Domain::kInteger:
      return std::is_integral_v<T> && !std::is_same_v<T, bool>;
    case Domain::kLogic:
      return std::is_same_v<T, bool>;
    case Domain::kAny:
    case Domain::kCompare:
      return true;
  }
}

// How elements lie in memory.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, Bool, T>;

// out[i] = F::apply(a[i], ...). The loop without steps is the one compilers vectorise.
template <class F, class A, class R>
void unaryLoop(const TileArgs& args) {
  const auto* a = static_cast<const Stored<A>*>(args.a.data);
  auto* out = static_cast<Stored<R>*>(args.out);
  const auto result = [](Stored<A> x) { return Stored<R>(F::apply(static_cast<A>(x))); };
  if (args.a.step == 0) {
    std::fill(out, out + args.count, result(*a));
  } else {
    for (int64_t i = 0; i < args.count; ++i) out[i] = result(a[i]);
  }
}

template <class F, class T, class R>
void binaryLoop(const TileArgs& args) {
  const auto* a = static_cast<const Stored<T>*>(args.a.data);
  const auto* b = static_cast<const Stored<T>*>(args.b.data);
  auto* out = static_cast<Stored<R>*>(args.out);
  const auto result = [](Stored<T> x, Stored<T> y) {
    return Stored<R>(F::apply(static_cast<T>(x), static_cast<T>(y)));
  };
  const int64_t stepA = args.a.step, stepB = args.b.step;
  if (stepA == 1 && stepB == 1) {
    for (int64_t i = 0; i < args.count; ++i) out[i] = result(a[i], b[i]);
  } else {
    for (int64_t i = 0; i < args.count; ++i) out[i] = result(a[i * stepA], b[i * stepB]);
  }
}

template <class T>
void whereLoop(const TileArgs& args) {
  const auto* condition = static_cast<const Bool*>(args.a.data);
  const auto* yes = static_cast<const Stored<T>*>(args.b.data);
  const auto* no = static_cast<const Stored<T>*>(args.c.data);
  auto* out = static_cast<Stored<T>*>(args.out);
  for (int64_t i = 0; i < args.count; ++i)
    out[i] = condition[i * args.a.step] ? yes[i * args.b.step] : no[i * args.c.step];
}

struct CopyOf {
  template <class T>
  static T apply(T a) {
    return a;
  }
};
template <class To>
struct ConvertTo {
  template <class From>
  static To apply(From a) {
    // Without branches, so that it vectorises, where 32 bits hold every result.
    if constexpr (std::is_floating_point_v<From> && isIn<To>(Domain::kInteger) && sizeof(To) < 4) {
      constexpr From kLow = std::numeric_limits<To>::min(), kHigh = std::numeric_limits<To>::max();
      const From number = a == a ? a : From(0);
      const From above = number < kLow ? kLow : number;
      return static_cast<To>(static_cast<int32_t>(above > kHigh ? kHigh : above));
    } else {
      return scalar::convert<To>(a);
    }
  }
};

// One struct per operation, with the definition's a and b. Arithmetic on bool is that of small
// integers, then asked whether it is not zero.
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression)                             \
  template <class Element>                                                                    \
  struct Name##Of {                                                                           \
    static constexpr bool kExists = isIn<Element>(Domain::domain);                            \
    using Result = std::conditional_t<Domain::domain == Domain::kCompare, bool, Element>;     \
    using T = std::conditional_t<std::is_same_v<Element, bool>, uint8_t, Element>;            \
    static Result apply([[maybe_unused]] Element left, [[maybe_unused]] Element right = {}) { \
      using namespace scalar;                                                                 \
      [[maybe_unused]] const T a = static_cast<T>(left), b = static_cast<T>(right);           \
      return static_cast<Result>(expression);                                                 \
    }                                                                                         \
  };
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP

template <template <class> class F, class T, int arity>
TileFunction loopFor() {
  if constexpr (!F<T>::kExists)
    return nullptr;
  else if constexpr (arity == 1)
    return unaryLoop<F<T>, T, typename F<T>::Result>;
  else
    return binaryLoop<F<T>, T, typename F<T>::Result>;
}

template <class From>
TileFunction conversionFrom(DataType to) {
  switch (to) {
    case DataType::kF32:
      return unaryLoop<ConvertTo<float>, From, float>;
    case DataType::kF64:
      return unaryLoop<ConvertTo<double>, From, double>;
    case DataType::kI8:
      return unaryLoop<ConvertTo<int8_t>, From, int8_t>;
    case DataType::kI16:
      return unaryLoop<ConvertTo<int16_t>, From, int16_t>;
    case DataType::kI32:
      return unaryLoop<ConvertTo<int32_t>, From, int32_t>;
    case DataType::kI64:
      return unaryLoop<ConvertTo<int64_t>, From, int64_t>;
    case DataType::kU8:
      return unaryLoop<ConvertTo<uint8_t>, From, uint8_t>;
    case DataType::kU16:
      return unaryLoop<ConvertTo<uint16_t>, From, uint16_t>;
    case DataType::kU32:
      return unaryLoop<ConvertTo<uint32_t>, From, uint32_t>;
    case DataType::kU64:
      return unaryLoop<ConvertTo<uint64_t>, From, uint64_t>;
    case DataType::kBool:
      return unaryLoop<ConvertTo<bool>, From, bool>;
    default:
      return nullptr;
  }
}

template <class T>
TileFunction plainLoopOf(const Instruction& instruction) {
  switch (instruction.op) {
    case Opcode::kCopy:
      return unaryLoop<CopyOf, T, T>;
    case Opcode::kWhere:
      return whereLoop<T>;
    case Opcode::kConvert:
      return conversionFrom<T>(instruction.type);
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) \
  case Opcode::k##Name:                                           \
    return loopFor<Name##Of, T, arity>();
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
    default:
      return nullptr;
  }
}

// By the type an instruction reads.
TileFunction floatLoop(const Instruction& instruction, DataType type);
TileFunction signedLoop(const Instruction& instruction, DataType type);
TileFunction unsignedLoop(const Instruction& instruction, DataType type);

}  // namespace camshaft::cpu::pointwise
