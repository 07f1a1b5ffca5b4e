#include "tuner/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/dispatch.h"
#include "ops/index.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/select.h"
#include "support/text.h"

namespace camshaft {
namespace {

bool isAmong(Op op, std::initializer_list<Op> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

double relativeOf(DataType type) {
  switch (type) {
    case DataType::kF64:
      return 1e-8;
    case DataType::kF32:
      return 5e-3;
    case DataType::kF16:
      return 2e-2;
    case DataType::kBF16:
      return 1e-1;
    default:
      return isFloat(type) ? 0.5 : 0;
  }
}

double relativeOf(ProductPrecision products) {
  switch (products) {
    case ProductPrecision::kF32:
      return 0;
    case ProductPrecision::kTf32:
      return 1e-2;
    case ProductPrecision::kF16:  // and a few sums
      return 2e-2;
    case ProductPrecision::kBf16:
      return 4e-2;
  }
  return 0;
}

bool isProduct(Op op) {
  return isAmong(op, {&ops::MatMul, &ops::Einsum, &ops::Conv, &ops::ConvTranspose, &ops::Attention,
                      &ops::LinearAttention, &ops::Recurrent, &ops::MatMulNBits, &ops::NormMatMul,
                      &ops::MomentMatMul});
}

// Whether a small change of what an expression reads is a small change of its result, everywhere.
bool isSmooth(ScalarOp op) {
  switch (op) {
    case ScalarOp::kInput:
    case ScalarOp::kConst:
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
    case ScalarOp::kRelu:
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kExp:
    case ScalarOp::kErf:
    case ScalarOp::kSin:
    case ScalarOp::kCos:
    case ScalarOp::kTanh:
    case ScalarOp::kAtan:
    case ScalarOp::kSigmoid:
    case ScalarOp::kSilu:
    case ScalarOp::kGelu:
    case ScalarOp::kGeluTanh:
    case ScalarOp::kHardSwish:
    case ScalarOp::kSoftplus:
      return true;
    default:
      return false;
  }
}

bool isSmooth(const Expr& expr) {
  return std::all_of(expr.code().begin(), expr.code().end(), [](const ScalarInstruction& each) {
    return isSmooth(each.op) || (each.op == ScalarOp::kCast && isFloat(each.type));
  });
}

bool isSmooth(const Node& node) {
  if (node.epilogue && !isSmooth(node.epilogue->expr)) return false;
  if (node.op == &ops::Pointwise) return isSmooth(node.as<PointwiseAttrs>().expr);
  if (node.op == &ops::Reduce) return node.as<ReduceAttrs>().kind <= ReduceKind::kMin;
  return !isAmong(node.op,
                  {&ops::PointwiseNorm, &ops::ArgReduce, &ops::TopK, &ops::Unique, &ops::Resize,
                   &ops::GridSample, &ops::RoiAlign, &ops::RoiMaxPool, &ops::DeformColumns,
                   &ops::DynamicQuantize, &ops::Determinant, &ops::Trees});
}

// Whether an expression quantises: its results are next to each other where rounding is a tie, as
// averages of integers often are.
bool quantises(const Node& node) {
  const auto rounds = [](const Expr& expr) {
    return std::any_of(expr.code().begin(), expr.code().end(), [](const ScalarInstruction& each) {
      return each.op == ScalarOp::kRound && isFloat(each.type);
    });
  };
  return (node.epilogue && rounds(node.epilogue->expr)) ||
         (node.op == &ops::Pointwise && rounds(node.as<PointwiseAttrs>().expr));
}

// Elements that differ, the worst of them, and how many there are.
struct Difference {
  int64_t off = 0, count = 0, worst = -1;
  double got = 0, wanted = 0, excess = 0;

  void add(int64_t index, double a, double b, double by) {
    ++off;
    if (worst >= 0 && !(by > excess)) return;
    worst = index, got = a, wanted = b, excess = by;
  }
};

// Where f16 ends, one kernel's infinity is another's largest number.
template <class T>
bool bothOverflow(double a, double b) {
  if constexpr (std::is_same_v<T, Half>)
    return std::fabs(a) > 60000 && std::fabs(b) > 60000 && std::signbit(a) == std::signbit(b);
  return false;
}

template <class T>
Difference floatDifference(const T* got, const T* wanted, int64_t count, double relative) {
  double squares = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(static_cast<Compute<T>>(wanted[i]));
    if (std::isfinite(value)) squares += value * value, ++finite;
  }
  constexpr double kNothing = 1e-6;  // what may be left of terms that cancel altogether
  const double typical = std::sqrt(squares / std::max<int64_t>(finite, 1)) + kNothing;
  Difference difference{.count = count};
  for (int64_t i = 0; i < count; ++i) {
    const double a = static_cast<double>(static_cast<Compute<T>>(got[i]));
    const double b = static_cast<double>(static_cast<Compute<T>>(wanted[i]));
    const double by = std::fabs(a - b) / (typical + std::fabs(b));
    if (by <= relative || a == b || (std::isnan(a) && std::isnan(b)) || bothOverflow<T>(a, b))
      continue;
    difference.add(i, a, b, std::isfinite(by) ? by : std::numeric_limits<double>::infinity());
  }
  return difference;
}

template <class T>
Difference integerDifference(const T* got, const T* wanted, int64_t count) {
  Difference difference{.count = count};
  for (int64_t i = 0; i < count; ++i) {
    const auto own = static_cast<Compute<T>>(got[i]), other = static_cast<Compute<T>>(wanted[i]);
    if (own == other) continue;
    const auto a = static_cast<double>(own), b = static_cast<double>(other);
    difference.add(i, a, b, std::fabs(a - b));
  }
  return difference;
}

Difference differenceOf(DataType type, std::span<const std::byte> got,
                        std::span<const std::byte> wanted, double relative) {
  if (isPacked(type) || type == DataType::kBool) {  // any byte may lie where nothing was written
    // The last byte of packed elements may be filled up with anything.
    const size_t compared = isPacked(type) && !got.empty() ? got.size() - 1 : got.size();
    return integerDifference(reinterpret_cast<const uint8_t*>(got.data()),
                             reinterpret_cast<const uint8_t*>(wanted.data()),
                             static_cast<int64_t>(compared));
  }
  return dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    const auto* a = reinterpret_cast<const T*>(got.data());
    const auto* b = reinterpret_cast<const T*>(wanted.data());
    const auto count = static_cast<int64_t>(got.size() / sizeof(T));
    if constexpr (std::is_integral_v<Compute<T>>)
      return integerDifference(a, b, count);
    else
      return floatDifference(a, b, count, relative);
  });
}

}  // namespace

Tolerance toleranceFor(const Node& node, ProductPrecision products) {
  Tolerance tolerance;
  const auto widen = [&](const Value* value) {
    if (value) tolerance.relative = std::max(tolerance.relative, relativeOf(value->dataType()));
  };
  // Attention reads keys and values of 8 bits as they are; others have the type of its queries.
  const auto isExact = [&](size_t i) { return node.op == &ops::Attention && (i == 1 || i == 2); };
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!isExact(i)) widen(node.inputs[i]);
  for (const Value* output : node.outputs) widen(output);
  if (isProduct(node.op)) tolerance.relative = std::max(tolerance.relative, relativeOf(products));
  const bool makesIntegers =
      std::any_of(node.outputs.begin(), node.outputs.end(),
                  [](const Value* each) { return !isFloat(each->dataType()); });
  // Integers made of numbers that were rounded differ by chance where rounding decides.
  if (tolerance.relative > 0 && (!isSmooth(node) || makesIntegers)) tolerance.share = 0.01;
  if (makesIntegers && quantises(node)) tolerance.share = 0.1;
  return tolerance;
}

std::string whyIncomparable(const Node& node) {
  if (node.op == &ops::Random) return "its results are random";
  if (node.op == &ops::Plugin) return "a plugin's results are its user's business";
  const bool overwrites = (node.op == &ops::ScatterElements &&
                           node.as<ScatterElementsAttrs>().reduction == ScatterReduction::kNone) ||
                          (node.op == &ops::ScatterND &&
                           node.as<ScatterNDAttrs>().reduction == ScatterReduction::kNone);
  if (overwrites) return "which of several updates of an element stays is not specified";
  if (node.op == &ops::NonMaxSuppression) return "rounding decides which boxes stay";
  if (isAmong(node.op, {&ops::NonZero, &ops::Unique}))
    return "what lies behind its results is not specified";
  if (isAmong(node.op, {&ops::MelWeights, &ops::NGrams}))
    return "its operands are no random numbers";
  return {};
}

std::string differenceBetween(const Node& node, const SymbolValue& opt, const TrialResults& got,
                              const TrialResults& wanted, const Tolerance& tolerance) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Value& output = *node.outputs[i];
    const Difference difference =
        differenceOf(output.dataType(), got[i], wanted[i], tolerance.relative);
    const auto allowed =
        tolerance.share == 0
            ? 0
            : std::max<int64_t>(1, std::llround(tolerance.share * difference.count));
    if (difference.off <= allowed) continue;
    Dims sizes;
    for (const Dim& dim : output.shape()) sizes.push_back(evaluate(dim, opt));
    return str(difference.off, " of ", difference.count, " elements of output ", i, " (",
               output.dataType(), "[", join(sizes, ", "), "]) are off, the worst is ",
               difference.got, " instead of ", difference.wanted);
  }
  return {};
}

double evaluationWork(const Node& node, const SymbolValue& opt) {
  const auto countOf = [&](const Value* value) {
    double count = value ? 1 : 0;
    for (const Dim& dim : value ? value->shape() : Shape())
      count *= static_cast<double>(evaluate(dim, opt));
    return count;
  };
  double elements = 0, most = 0;
  for (const Value* input : node.inputs) {
    elements += countOf(input);
    most = std::max(most, countOf(input));
  }
  double results = 0;
  for (const Value* output : node.outputs) results += countOf(output);
  const double steps = node.epilogue ? static_cast<double>(node.epilogue->expr.code().size()) : 1;
  const double plain = elements + results * steps;
  if (node.op == &ops::Pointwise)
    return elements + results * static_cast<double>(node.as<PointwiseAttrs>().expr.code().size());
  if (isAmong(node.op, {&ops::Conv, &ops::ConvTranspose, &ops::ConvInteger})) {
    const double filters = static_cast<double>(evaluate(node.inputs[1]->shape()[0], opt));
    const double pixels = std::max(results, countOf(node.inputs[0]));
    return plain + pixels * countOf(node.inputs[1]) / std::max(filters, 1.0);
  }
  // A, B and the product of [m, k] and [k, n] have m²·k²·n² elements together.
  if (isProduct(node.op) || node.op == &ops::MatMulInteger)
    return plain +
           std::sqrt(countOf(node.input(0)) * countOf(node.input(1)) *  // Einsum may have one
                     std::max(results, countOf(node.input(0))));
  const bool isSimple = isAmong(node.op, {&ops::Identity,
                                          &ops::Reduce,
                                          &ops::ArgReduce,
                                          &ops::CumSum,
                                          &ops::Softmax,
                                          &ops::LayerNorm,
                                          &ops::PointwiseNorm,
                                          &ops::GroupNorm,
                                          &ops::Transpose,
                                          &ops::Reshape,
                                          &ops::BitCast,
                                          &ops::Expand,
                                          &ops::Slice,
                                          &ops::Concat,
                                          &ops::Pad,
                                          &ops::Tile,
                                          &ops::Trilu,
                                          &ops::Gather,
                                          &ops::GatherElements,
                                          &ops::GatherND,
                                          &ops::OneHot,
                                          &ops::DynamicQuantize,
                                          &ops::ReverseSequence});
  return isSimple ? 4 * plain : 64 * (plain + results * std::sqrt(most));
}

}  // namespace camshaft
