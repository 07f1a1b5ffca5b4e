// OneHot, TopK and ReverseSequence: positions become elements, or elements positions.
#include <algorithm>
#include <numeric>

#include "ops/index.h"
#include "ops/index_position.h"
#include "ops/move_elements.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferOneHot(const Node& node) {
  const auto& attrs = node.as<OneHotAttrs>();
  const TensorType& indices = node.input(0)->type;
  requireShape(node, 1, "[off, on] values", {2});
  if (attrs.axis < 0 || attrs.axis > indices.rank())
    fail(ErrorKind::kInvalidModel, describe(node), " has axis ", attrs.axis,
         " outside of a result of rank ", indices.rank() + 1);
  if (attrs.depth.isConstant() && attrs.depth.value() < 0)
    fail(ErrorKind::kInvalidModel, describe(node), " has a negative depth, ", attrs.depth);
  requireAtLeast(node, attrs.depth, "as its depth", 0);
  TensorType result{node.input(1)->dataType(), indices.shape};
  result.shape.insert(result.shape.begin() + attrs.axis, attrs.depth);
  return {result};
}

void evaluateOneHot(const Evaluation& evaluation) {
  const auto& indices = evaluation.inputs[0];
  const auto& y = evaluation.outputs[0];
  const AxisView view(y.dims, evaluation.node.as<OneHotAttrs>().axis);
  withElementCopy(y.type, evaluation.inputs[1].data, y.data, [&](auto copy) {
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) {
        int64_t hot = readInteger(indices.type, indices.data, o * view.inner + i);
        if (hot < 0) hot += view.size;  // still outside: no element is on
        for (int64_t d = 0; d < view.size; ++d)
          copy(d == hot ? 1 : 0, (o * view.size + d) * view.inner + i);
      }
    }
  });
}

std::vector<TensorType> inferTopK(const Node& node) {
  const auto& attrs = node.as<TopKAttrs>();
  requireAxis(node, attrs.axis);
  TensorType values = node.input(0)->type;
  const Dim surplus = attrs.k - values.shape[attrs.axis];
  if ((surplus.isConstant() && surplus.value() > 0) ||
      (attrs.k.isConstant() && attrs.k.value() < 0))
    fail(ErrorKind::kInvalidModel, describe(node), " takes ", attrs.k, " elements of dimension ",
         attrs.axis, " of ", values);
  requireAtLeast(node, values.shape[attrs.axis], str("elements along dimension ", attrs.axis),
                 attrs.k);
  values.shape[attrs.axis] = attrs.k;
  return {values, {DataType::kI64, values.shape}};
}

void evaluateTopK(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<TopKAttrs>();
  const auto& x = evaluation.inputs[0];
  const auto& values = evaluation.outputs[0];
  const AxisView from(x.dims, attrs.axis), to(values.dims, attrs.axis);
  if (to.size > from.size)
    fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " takes ", to.size,
         " elements of ", from.size);
  std::vector<int64_t> order(from.size);
  dispatch(x.type, [&](auto tag) {
    using T = decltype(tag);
    using V = Compute<T>;
    // NaN counts as larger than every number, so that the order is total.
    const auto less = [](V a, V b) { return b != b ? a == a : a < b; };
    for (int64_t o = 0; o < from.outer; ++o) {
      for (int64_t i = 0; i < from.inner; ++i) {
        const auto at = [&](int64_t k) {
          return static_cast<V>(x.as<T>()[(o * from.size + k) * from.inner + i]);
        };
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          return attrs.largest ? less(at(b), at(a)) : less(at(a), at(b));
        });
        for (int64_t k = 0; k < to.size; ++k) {
          const int64_t target = (o * to.size + k) * to.inner + i;
          values.as<T>()[target] = x.as<T>()[(o * from.size + order[k]) * from.inner + i];
          evaluation.outputs[1].as<int64_t>()[target] = order[k];
        }
      }
    }
  });
}

std::vector<TensorType> inferReverseSequence(const Node& node) {
  const auto& attrs = node.as<ReverseSequenceAttrs>();
  requireAxis(node, attrs.batchAxis);
  requireAxis(node, attrs.timeAxis);
  requireIndices(node, 1);
  if (attrs.batchAxis == attrs.timeAxis)
    fail(ErrorKind::kInvalidModel, describe(node), " has dimension ", attrs.timeAxis,
         " for both batch and time");
  const TensorType& x = node.input(0)->type;
  requireShape(node, 1, "lengths", {x.shape[attrs.batchAxis]});
  return {x};
}

void evaluateReverseSequence(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<ReverseSequenceAttrs>();
  const auto& x = evaluation.inputs[0];
  const auto& lengths = evaluation.inputs[1];
  const Dims strides = stridesOf(x.dims);
  const int64_t time = x.dims[attrs.timeAxis];
  if (lengths.count() != x.dims[attrs.batchAxis])
    fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " has ", lengths.count(),
         " lengths for a batch of ", x.dims[attrs.batchAxis]);
  withElementCopy(x.type, x.data, evaluation.outputs[0].data, [&](auto copy) {
    forEachIndex(x.dims, [&](const Dims& index) {
      const int64_t length = readInteger(lengths.type, lengths.data, index[attrs.batchAxis]);
      if (length < 0 || length > time)
        fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " reverses ", length, " of ",
             time, " steps");
      const int64_t step = index[attrs.timeAxis];
      const int64_t to = offsetOf(index, strides);
      const int64_t source = step < length ? length - 1 - step : step;
      copy(to + (source - step) * strides[attrs.timeAxis], to);
    });
  });
}

}  // namespace

const OpInfo ops::OneHot = {"OneHot",      2, 2, 1, makeAttrsOf<OneHotAttrs>, inferOneHot,
                            evaluateOneHot};
const OpInfo ops::TopK = {"TopK", 1, 1, 2, makeAttrsOf<TopKAttrs>, inferTopK, evaluateTopK};
const OpInfo ops::ReverseSequence = {
    "ReverseSequence",      2, 2, 1, makeAttrsOf<ReverseSequenceAttrs>, inferReverseSequence,
    evaluateReverseSequence};

}  // namespace camshaft
