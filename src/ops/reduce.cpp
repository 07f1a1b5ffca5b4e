#include "ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/dispatch.h"
#include "ops/contents.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

bool contains(const std::vector<int64_t>& axes, int64_t axis) {
  return std::ranges::count(axes, axis) > 0;
}

Shape reducedShape(const Shape& shape, const std::vector<int64_t>& axes, bool keepDims) {
  Shape reduced;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!contains(axes, i))
      reduced.push_back(shape[i]);
    else if (keepDims)
      reduced.push_back(1);
  }
  return reduced;
}

std::vector<TensorType> inferReduce(const Node& node) {
  const auto& attrs = node.as<ReduceAttrs>();
  const TensorType& x = node.inputs[0]->type;
  for (int64_t axis : attrs.axes) requireAxis(node, axis);
  if (x.type == DataType::kBool && attrs.kind != ReduceKind::kMax && attrs.kind != ReduceKind::kMin)
    fail(ErrorKind::kInvalidModel, describe(node),
         " reduces bool elements, which only have a max and a min");
  return {{x.type, reducedShape(x.shape, attrs.axes, attrs.keepDims)}};
}

// What a reduction accumulates in: doubles for floats, 64-bit integers otherwise.
template <class T>
using Accumulator =
    std::conditional_t<std::is_integral_v<Compute<T>>,
                       std::conditional_t<std::is_signed_v<Compute<T>>, int64_t, uint64_t>, double>;

// Sums and products of integers wrap around.
template <class A>
A wrapAdd(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class A>
A wrapMul(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

// The result over no elements, before finish(): max and min have their type's extremes.
template <class T>
Accumulator<T> identityOf(ReduceKind kind) {
  using A = Accumulator<T>;
  switch (kind) {
    case ReduceKind::kProd:
      return 1;
    case ReduceKind::kMax:
      if constexpr (std::is_integral_v<Compute<T>>)
        return std::numeric_limits<Compute<T>>::lowest();
      else
        return -std::numeric_limits<A>::infinity();
    case ReduceKind::kMin:
      if constexpr (std::is_integral_v<Compute<T>>)
        return std::numeric_limits<Compute<T>>::max();
      else
        return std::numeric_limits<A>::infinity();
    default:
      return 0;
  }
}

// `largest` is the maximum of the elements when the kind is kLogSumExp. NaN wins max and min.
template <class A>
A accumulate(ReduceKind kind, A sum, A x, double largest) {
  switch (kind) {
    case ReduceKind::kMax:
      return x > sum || x != x ? x : sum;
    case ReduceKind::kMin:
      return x < sum || x != x ? x : sum;
    case ReduceKind::kProd:
      return wrapMul(sum, x);
    case ReduceKind::kL1:
      return wrapAdd(sum, x < A(0) ? A(0) - x : x);
    case ReduceKind::kL2:
    case ReduceKind::kSumSquare:
      return wrapAdd(sum, wrapMul(x, x));
    case ReduceKind::kLogSumExp:
      return sum + std::exp(static_cast<double>(x) - largest);
    default:
      return wrapAdd(sum, x);
  }
}

template <class A>
A finish(ReduceKind kind, A sum, int64_t count, double largest) {
  switch (kind) {
    case ReduceKind::kMean:
      if constexpr (std::is_integral_v<A>)
        return count == 0 ? 0 : sum / static_cast<A>(count);
      else
        return sum / count;
    case ReduceKind::kL2:
      return static_cast<A>(std::sqrt(static_cast<double>(sum)));
    case ReduceKind::kLogSum:
      return static_cast<A>(std::log(static_cast<double>(sum)));
    case ReduceKind::kLogSumExp:
      return static_cast<A>(std::log(static_cast<double>(sum)) + largest);
    default:
      return sum;
  }
}

template <class T, class A>
std::vector<A> reduceAll(const ConstTensorView& x, ReduceKind kind, const Dims& outStrides,
                         int64_t outCount, const std::vector<double>& largest) {
  std::vector<A> sums(outCount, static_cast<A>(identityOf<T>(kind)));
  const T* element = x.as<T>();
  forEachIndex(x.dims, [&](const Dims& index) {
    const int64_t to = offsetOf(index, outStrides);
    const A value = static_cast<A>(static_cast<Compute<T>>(*element++));
    sums[to] = accumulate<A>(kind, sums[to], value, largest.empty() ? 0 : largest[to]);
  });
  return sums;
}

template <class T>
void reduce(const Evaluation& evaluation, const ReduceAttrs& attrs) {
  const ConstTensorView& x = evaluation.inputs[0];
  const TensorView& y = evaluation.outputs[0];
  Dims kept = x.dims;
  for (int64_t axis : attrs.axes) kept[axis] = 1;
  const Dims outStrides = broadcastStrides(kept, x.dims);
  const int64_t outCount = y.count();
  const int64_t perResult = outCount == 0 ? 0 : x.count() / outCount;

  std::vector<double> largest;  // keeps the exponentials of log-sum-exp finite
  if (attrs.kind == ReduceKind::kLogSumExp) {
    largest = reduceAll<T, double>(x, ReduceKind::kMax, outStrides, outCount, {});
    for (double& value : largest)
      if (!std::isfinite(value)) value = 0;
  }
  // Exponentials are no integers, even when the elements are.
  auto run = [&]<class A>(A) {
    const std::vector<A> sums = reduceAll<T, A>(x, attrs.kind, outStrides, outCount, largest);
    for (int64_t i = 0; i < outCount; ++i) {
      const A result = finish<A>(attrs.kind, sums[i], perResult, largest.empty() ? 0 : largest[i]);
      y.as<T>()[i] = static_cast<T>(static_cast<Compute<T>>(result));
    }
  };
  if (attrs.kind == ReduceKind::kLogSumExp)
    run(double{});
  else
    run(Accumulator<T>{});
}

void evaluateReduce(const Evaluation& evaluation) {
  dispatch(evaluation.inputs[0].type,
           [&](auto tag) { reduce<decltype(tag)>(evaluation, evaluation.node.as<ReduceAttrs>()); });
}

std::vector<TensorType> inferArgReduce(const Node& node) {
  const auto& attrs = node.as<ArgReduceAttrs>();
  const Shape& shape = node.inputs[0]->shape();
  requireAxis(node, attrs.axis);
  const Shape result = reducedShape(shape, {attrs.axis}, attrs.keepDims);
  const Dim count = numElements(result);
  if (shape[attrs.axis].isConstant(0) && count.isConstant() && count.value() > 0)
    fail(ErrorKind::kInvalidModel, describe(node), " looks for an element along dimension ",
         attrs.axis, " of ", toString(shape), ", which is empty");
  requireAtLeast(node, shape[attrs.axis], str("elements along dimension ", attrs.axis),
                 min(count, 1));
  return {{DataType::kI64, result}};
}

void evaluateArgReduce(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<ArgReduceAttrs>();
  const ConstTensorView& x = evaluation.inputs[0];
  const AxisView view(x.dims, attrs.axis);
  int64_t* result = evaluation.outputs[0].as<int64_t>();
  dispatch(x.type, [&](auto tag) {
    using T = decltype(tag);
    forEachRow(view, [&](int64_t first, int64_t step) {
      auto valueAt = [&](int64_t i) {
        return static_cast<Compute<T>>(x.as<T>()[first + i * step]);
      };
      int64_t best = 0;
      for (int64_t i = 1; i < view.size; ++i) {
        const bool isBetter =
            attrs.largest ? valueAt(i) > valueAt(best) : valueAt(i) < valueAt(best);
        if (isBetter || (attrs.selectLast && valueAt(i) == valueAt(best))) best = i;
      }
      *result++ = best;
    });
  });
}

std::vector<TensorType> inferCumSum(const Node& node) {
  requireAxis(node, node.as<CumSumAttrs>().axis);
  return {node.inputs[0]->type};
}

template <class Wide>
std::vector<Wide> cumulate(const std::vector<Wide>& x, const AxisView& view,
                           const CumSumAttrs& attrs) {
  std::vector<Wide> y(x.size());
  forEachRow(view, [&](int64_t first, int64_t step) {
    Wide total = attrs.product ? 1 : 0;
    for (int64_t i = 0; i < view.size; ++i) {
      const int64_t at = first + (attrs.reverse ? view.size - 1 - i : i) * step;
      if (attrs.exclusive) y[at] = total;
      total = attrs.product ? total * x[at] : total + x[at];
      if (!attrs.exclusive) y[at] = total;
    }
  });
  return y;
}

void evaluateCumSum(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<CumSumAttrs>();
  const ConstTensorView& x = evaluation.inputs[0];
  const AxisView view(x.dims, attrs.axis);
  if (isFloat(x.type))
    writeReals(evaluation.outputs[0], cumulate(readReals(x), view, attrs));
  else
    writeIntegers(evaluation.outputs[0], cumulate(readIntegers(x), view, attrs));
}

// Of a whole vector of sizes: the smaller of two, how many in all.
Contents reduceContents(const Node& node) {
  const auto& attrs = node.as<ReduceAttrs>();
  const Contents sizes = knownContents(node.input(0));
  const bool isPlain = attrs.kind <= ReduceKind::kProd;  // one size alone is the result
  if (!sizes || sizes->empty() || !isPlain || node.input(0)->rank() != 1 || attrs.axes.size() != 1)
    return std::nullopt;
  Dim result = sizes->front();
  for (size_t i = 1; i < sizes->size(); ++i) {
    const Dim& next = (*sizes)[i];
    switch (attrs.kind) {
      case ReduceKind::kSum:
        result += next;
        break;
      case ReduceKind::kProd:
        result *= next;
        break;
      case ReduceKind::kMin:
        result = min(result, next);
        break;
      case ReduceKind::kMax:
        result = max(result, next);
        break;
      default:
        return std::nullopt;
    }
  }
  return Contents({result});
}

}  // namespace

const OpInfo ops::Reduce = {
    "Reduce", 1, 1, 1, makeAttrsOf<ReduceAttrs>, inferReduce, evaluateReduce, reduceContents};
const OpInfo ops::ArgReduce = {
    "ArgReduce", 1, 1, 1, makeAttrsOf<ArgReduceAttrs>, inferArgReduce, evaluateArgReduce};
const OpInfo ops::CumSum = {"CumSum",      1, 1, 1, makeAttrsOf<CumSumAttrs>, inferCumSum,
                            evaluateCumSum};

}  // namespace camshaft
