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

template <class T>
constexpr bool kIsLogic = std::is_same_v<Compute<T>, bool>;
template <class T>
constexpr bool kIsNarrow = !std::is_same_v<T, Compute<T>> && !kIsLogic<T>;
// Conversions to integers of a few bits keep the low bits of what a wide one would hold.
template <class T>
using Converted =
    std::conditional_t<kIsNarrow<T> && std::is_integral_v<Compute<T>>, int64_t, Compute<T>>;

// A result as the element type stores it: narrow types round or wrap after every instruction.
template <class T, class V>
Compute<T> rounded(V value) {
  if constexpr (kIsLogic<T>)
    return value != V(0);
  else if constexpr (kIsNarrow<T>)
    return static_cast<Compute<T>>(T(static_cast<Converted<T>>(value)));
  else
    return static_cast<T>(value);
}

template <class T>
constexpr bool accepts(ScalarDomain domain) {
  constexpr bool isReal = std::is_floating_point_v<Compute<T>>;
  switch (domain) {
    case ScalarDomain::kFloat:
      return isReal;
    case ScalarDomain::kInteger:
      return !isReal && !kIsLogic<T>;
    case ScalarDomain::kLogic:
      return kIsLogic<T>;
    default:
      return true;
  }
}

template <ScalarOp op, class T>
void applyTyped(const void* left, const void* right, void* result, int64_t count) {
  using Definition = scalar::Definition<op>;
  if constexpr (accepts<T>(Definition::kDomain)) {
    // Arithmetic on bool is that of small integers, then asked whether it is not zero.
    using V = std::conditional_t<kIsLogic<T>, uint8_t, Compute<T>>;
    using Result = std::conditional_t<Definition::kDomain == ScalarDomain::kCompare, bool, T>;
    const auto* a = static_cast<const Compute<T>*>(left);
    const auto* b = static_cast<const Compute<T>*>(right);
    auto* to = static_cast<Compute<Result>*>(result);
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
  dispatchElement(type, [&](auto tag) {
    using T = decltype(tag);
    switch (op) {
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) \
  case ScalarOp::k##Name:                                         \
    return applyTyped<ScalarOp::k##Name, T>(a, b, result, count);
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
      default:
        CAMSHAFT_CHECK(false, "instruction '", infoOf(op).name, "' is no operation");
    }
  });
}

void applyCast(DataType from, const void* a, DataType to, void* result, int64_t count) {
  dispatchElement(from, [&](auto fromTag) {
    dispatchElement(to, [&](auto toTag) {
      using To = decltype(toTag);
      const auto* values = static_cast<const Compute<decltype(fromTag)>*>(a);
      for (int64_t i = 0; i < count; ++i)
        static_cast<Compute<To>*>(result)[i] =
            rounded<To>(scalar::convert<Converted<To>>(values[i]));
    });
  });
}

void fill(const ScalarInstruction& constant, void* result, int64_t count) {
  dispatchElement(constant.type, [&](auto tag) {
    using T = decltype(tag);
    const auto value = isFloat(constant.type)
                           ? rounded<T>(scalar::convert<Converted<T>>(constant.real))
                           : rounded<T>(scalar::convert<Converted<T>>(constant.integer));
    std::fill_n(static_cast<Compute<T>*>(result), count, value);
  });
}

void select(DataType type, const void* condition, const void* a, const void* b, void* result,
            int64_t count) {
  dispatchElement(type, [&](auto tag) {
    using V = Compute<decltype(tag)>;
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
    dispatchElement(input_.type, [&](auto tag) {
      using T = decltype(tag);
      for (int64_t i = 0; i < count; ++i) static_cast<Compute<T>*>(to)[i] = element<T>(offsets[i]);
    });
  }

 private:
  template <class T>
  Compute<T> element(int64_t at) const {
    if constexpr (kIsNarrow<T> && sizeof(T) == 1)
      if (isPacked(input_.type))
        return static_cast<Compute<T>>(
            T::fromBits(getPacked(input_.data, at, bitsOf(input_.type))));
    return static_cast<Compute<T>>(input_.as<T>()[at]);
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
  dispatchElement(output.type, [&](auto tag) {
    using T = decltype(tag);
    const auto* values = static_cast<const Compute<T>*>(from);
    if constexpr (kIsNarrow<T> && sizeof(T) == 1)
      if (isPacked(output.type)) {
        for (int64_t i = 0; i < count; ++i)
          setPacked(output.data, first + i, bitsOf(output.type), T(values[i]).bits);
        return;
      }
    for (int64_t i = 0; i < count; ++i) output.as<T>()[first + i] = T(values[i]);
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
        case ScalarOp::kInput:
          readers.at(in.a).load(first, count, result);
          break;
        case ScalarOp::kConst:
          fill(in, result, count);
          break;
        case ScalarOp::kCast:
          applyCast(code[in.a].type, at(in.a), in.type, result, count);
          break;
        case ScalarOp::kWhere:
          select(in.type, at(in.a), at(in.b), at(in.c), result, count);
          break;
        default:
          applyOperation(in.op, code[in.a].type, at(in.a), at(std::max(in.b, 0)), result, count);
      }
    }
    store(registers.back().bytes, output, first, count);
  }
}

}  // namespace camshaft
