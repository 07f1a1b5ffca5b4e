// Scalar expressions on host tensors, a block of elements at a time so that types are looked up
// once per block and instruction.
#include <algorithm>
#include <cstddef>

#include "ir/dispatch.h"
#include "ir/scalar_math.h"
#include "ops/pointwise.h"
#include "ops/walk.h"

namespace camshaft {

namespace scalar {
namespace {

template <ScalarOp op>
struct Definition;
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression)   \
  template <>                                                       \
  struct Definition<ScalarOp::k##Name> {                            \
    static constexpr ScalarDomain kDomain = ScalarDomain::domain;   \
    template <class T>                                              \
    static auto apply([[maybe_unused]] T a, [[maybe_unused]] T b) { \
      return expression;                                            \
    }                                                               \
  };
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP

}  // namespace
}  // namespace scalar

namespace {

constexpr int64_t kBlock = 256;

// Calls f(T{}) with the type whose Compute<T> a register of this element type holds.
template <class F>
decltype(auto) dispatchRegister(DataType type, F&& f) {
  switch (type) {
    case DataType::kI4: return f(int8_t{});
    case DataType::kU4: return f(uint8_t{});
    case DataType::kF4E2M1: return f(Float4E2M1{});
    default: return dispatch(type, f);
  }
}

template <class T>
using Register = std::conditional_t<std::is_same_v<T, Float4E2M1>, float, Compute<T>>;

// A result as the element type stores it: narrow floats round after every instruction.
template <class T, class V>
Register<T> rounded(V value) {
  if constexpr (std::is_same_v<T, bool>)
    return value != V(0);
  else if constexpr (std::is_same_v<T, Register<T>>)
    return static_cast<T>(value);
  else
    return static_cast<float>(T(static_cast<float>(value)));
}

template <class T>
constexpr bool accepts(ScalarDomain domain) {
  constexpr bool isReal = std::is_floating_point_v<Register<T>>;
  constexpr bool isLogic = std::is_same_v<T, bool>;
  switch (domain) {
    case ScalarDomain::kFloat: return isReal;
    case ScalarDomain::kInteger: return !isReal && !isLogic;
    case ScalarDomain::kLogic: return isLogic;
    default: return true;
  }
}

template <ScalarOp op, class T>
void applyTyped(const void* left, const void* right, void* result, int64_t count) {
  using Definition = scalar::Definition<op>;
  if constexpr (accepts<T>(Definition::kDomain)) {
    // Arithmetic on bool is that of small integers, then asked whether it is not zero.
    using V = std::conditional_t<std::is_same_v<T, bool>, uint8_t, Register<T>>;
    using Result = std::conditional_t<Definition::kDomain == ScalarDomain::kCompare, bool, T>;
    const auto* a = static_cast<const Register<T>*>(left);
    const auto* b = static_cast<const Register<T>*>(right);
    auto* to = static_cast<Register<Result>*>(result);
    for (int64_t i = 0; i < count; ++i)
      to[i] = rounded<Result>(
          Definition::template apply<V>(static_cast<V>(a[i]), static_cast<V>(b[i])));
  } else {
    fail(ErrorKind::kUnsupported, "scalar operation '", infoOf(op).name,
         "' is not defined for these elements");
  }
}

void applyOperation(ScalarOp op, DataType type, const void* a, const void* b, void* result,
                    int64_t count) {
  dispatchRegister(type, [&](auto tag) {
    using T = decltype(tag);
    switch (op) {
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) \
  case ScalarOp::k##Name:                                         \
    return applyTyped<ScalarOp::k##Name, T>(a, b, result, count);
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
      default: CAMSHAFT_CHECK(false, "instruction '", infoOf(op).name, "' is no operation");
    }
  });
}

template <class To, class From>
void castTyped(const From* from, Register<To>* to, DataType toType, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = rounded<To>(scalar::convert<Register<To>>(from[i]));
  if constexpr (std::is_integral_v<To>) {
    // Registers of 4-bit integers are 8 bits wide: floats saturate further, integers keep low bits.
    const auto narrow = [&](int low, int high) {
      for (int64_t i = 0; i < count; ++i) {
        const int bits = static_cast<int>(to[i]) & 15;
        to[i] = static_cast<To>(std::is_floating_point_v<From> ? std::clamp<int>(to[i], low, high)
                                : low < 0                      ? (bits ^ 8) - 8
                                                               : bits);
      }
    };
    if (toType == DataType::kI4) narrow(-8, 7);
    if (toType == DataType::kU4) narrow(0, 15);
  }
}

void applyCast(DataType from, const void* a, DataType to, void* result, int64_t count) {
  dispatchRegister(from, [&](auto fromTag) {
    dispatchRegister(to, [&](auto toTag) {
      using From = Register<decltype(fromTag)>;
      using To = decltype(toTag);
      castTyped<To>(static_cast<const From*>(a), static_cast<Register<To>*>(result), to, count);
    });
  });
}

void fill(const ScalarInstruction& constant, void* result, int64_t count) {
  dispatchRegister(constant.type, [&](auto tag) {
    using T = decltype(tag);
    const auto value = isFloat(constant.type)
                           ? rounded<T>(scalar::convert<Register<T>>(constant.real))
                           : rounded<T>(scalar::convert<Register<T>>(constant.integer));
    std::fill_n(static_cast<Register<T>*>(result), count, value);
  });
}

void select(DataType type, const void* condition, const void* a, const void* b, void* result,
            int64_t count) {
  dispatchRegister(type, [&](auto tag) {
    using V = Register<decltype(tag)>;
    const bool* chosen = static_cast<const bool*>(condition);
    for (int64_t i = 0; i < count; ++i)
      static_cast<V*>(result)[i] = static_cast<const V*>(chosen[i] ? a : b)[i];
  });
}

// One input as the output sees it.
class InputReader {
 public:
  InputReader(const ConstTensorView& input, const Dims& outputDims)
      : input_(input),
        dims_(outputDims),
        strides_(broadcastStrides(input.dims, outputDims)),
        isDense_(input.dims == outputDims) {}

  // Sizes that were taken to be equal may turn out otherwise.
  static void check(const Dims& from, const Dims& to) {
    bool fits = from.size() <= to.size();
    for (size_t i = 1; fits && i <= from.size(); ++i)
      fits = from[from.size() - i] == 1 || from[from.size() - i] == to[to.size() - i];
    if (!fits)
      fail(ErrorKind::kInvalidArgument, "a tensor of shape [", join(from, ", "),
           "] does not broadcast to [", join(to, ", "), "]");
  }

  void load(int64_t first, int64_t count, void* to) const {
    int64_t offsets[kBlock];
    findOffsets(first, count, offsets);
    dispatchRegister(input_.type, [&](auto tag) {
      using T = decltype(tag);
      for (int64_t i = 0; i < count; ++i) static_cast<Register<T>*>(to)[i] = element<T>(offsets[i]);
    });
  }

 private:
  template <class T>
  Register<T> element(int64_t at) const {
    if constexpr (std::is_same_v<T, Float4E2M1>) return getFloat4(input_.data, at);
    if constexpr (std::is_same_v<T, int8_t>)
      if (input_.type == DataType::kI4) return static_cast<int8_t>(getInt4(input_.data, at));
    if constexpr (std::is_same_v<T, uint8_t>)
      if (input_.type == DataType::kU4) return static_cast<uint8_t>(getUInt4(input_.data, at));
    return static_cast<Register<T>>(input_.as<T>()[at]);
  }
  void findOffsets(int64_t first, int64_t count, int64_t* offsets) const {
    if (isDense_) {
      for (int64_t i = 0; i < count; ++i) offsets[i] = first + i;
      return;
    }
    Dims index(dims_.size());
    int64_t rest = first;
    for (size_t axis = dims_.size(); axis-- > 0; rest /= dims_[axis])
      index[axis] = rest % dims_[axis];
    int64_t offset = offsetOf(index, strides_);
    for (int64_t i = 0; i < count; ++i) {
      offsets[i] = offset;
      for (size_t axis = dims_.size(); axis-- > 0;) {
        offset += strides_[axis];
        if (++index[axis] < dims_[axis]) break;
        offset -= strides_[axis] * dims_[axis];
        index[axis] = 0;
      }
    }
  }

  const ConstTensorView& input_;
  const Dims& dims_;
  const Dims strides_;
  const bool isDense_;
};

void store(const void* from, const TensorView& output, int64_t first, int64_t count) {
  dispatchRegister(output.type, [&](auto tag) {
    using T = decltype(tag);
    const auto* values = static_cast<const Register<T>*>(from);
    for (int64_t i = 0; i < count; ++i) {
      if (!isPacked(output.type))
        output.as<T>()[first + i] = T(values[i]);
      else if constexpr (std::is_same_v<T, Float4E2M1>)
        setNibble(output.data, first + i, T(values[i]).bits);
      else
        setNibble(output.data, first + i, static_cast<uint8_t>(values[i]));
    }
  });
}

}  // namespace

void evaluateExpr(const Expr& expr, std::span<const ConstTensorView> inputs,
                  const TensorView& output) {
  const auto& code = expr.code();
  struct alignas(8) RegisterBlock {
    std::byte bytes[kBlock * 8];
  };
  std::vector<RegisterBlock> registers(code.size());
  std::vector<InputReader> readers;
  for (const auto& input : inputs) {
    InputReader::check(input.dims, output.dims);
    readers.emplace_back(input, output.dims);
  }
  const auto at = [&](int i) -> void* { return registers[i].bytes; };

  const int64_t total = output.count();
  for (int64_t first = 0; first < total; first += kBlock) {
    const int64_t count = std::min(kBlock, total - first);
    for (size_t i = 0; i < code.size(); ++i) {
      const ScalarInstruction& in = code[i];
      void* result = at(static_cast<int>(i));
      switch (in.op) {
        case ScalarOp::kInput: readers.at(in.a).load(first, count, result); break;
        case ScalarOp::kConst: fill(in, result, count); break;
        case ScalarOp::kCast: applyCast(code[in.a].type, at(in.a), in.type, result, count); break;
        case ScalarOp::kWhere: select(in.type, at(in.a), at(in.b), at(in.c), result, count); break;
        default:
          applyOperation(in.op, code[in.a].type, at(in.a), at(std::max(in.b, 0)), result, count);
      }
    }
    store(registers.back().bytes, output, first, count);
  }
}

}  // namespace camshaft
