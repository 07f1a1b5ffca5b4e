// ScatterElements and ScatterND: a copy of the data with elements replaced or combined.
#include <cstring>

#include "ir/scalar_math.h"
#include "ops/index.h"
#include "ops/index_position.h"
#include "ops/move_elements.h"

namespace camshaft {

namespace {

template <class V>
V combine(ScatterReduction reduction, V old, V update) {
  switch (reduction) {
    case ScatterReduction::kNone:
      return update;
    case ScatterReduction::kAdd:
      return scalar::sum(old, update);
    case ScatterReduction::kMul:
      return scalar::product(old, update);
    case ScatterReduction::kMin:
      return scalar::minimum(old, update);
    case ScatterReduction::kMax:
      return scalar::maximum(old, update);
  }
  return update;
}

// Calls f(put), where put(to, from) combines element `from` of the `count` updates into the output.
template <class F>
void withUpdates(const Evaluation& evaluation, ScatterReduction reduction, int64_t count, F&& f) {
  const auto& data = evaluation.inputs[0];
  const auto& updates = evaluation.inputs[2];
  const auto& y = evaluation.outputs[0];
  if (updates.count() != count)
    fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " has ", updates.count(),
         " updates for ", count, " elements");
  if (y.bytes() > 0) std::memcpy(y.data, data.data, y.bytes());
  dispatch(data.type, [&](auto tag) {
    using T = decltype(tag);
    using V = std::conditional_t<std::is_same_v<T, Bool>, uint8_t, Compute<T>>;
    const auto wide = [](T element) { return static_cast<V>(static_cast<Compute<T>>(element)); };
    f([&](int64_t to, int64_t from) {
      T& element = y.as<T>()[to];
      element = static_cast<T>(combine(reduction, wide(element), wide(updates.as<T>()[from])));
    });
  });
}

std::vector<TensorType> inferScatterElements(const Node& node) {
  const int64_t axis = node.as<ScatterElementsAttrs>().axis;
  requireAxis(node, axis);
  requireIndices(node, 1);
  requireSameType(node, 2, 0);
  requireRank(node, 1, "indices", node.input(0)->rank());
  requireShape(node, 2, "updates", node.input(1)->shape());
  for (int64_t d = 0; d < node.input(0)->rank(); ++d)
    if (d != axis)
      requireAtLeast(node, node.input(0)->shape()[d], str("elements in dimension ", d),
                     node.input(1)->shape()[d]);
  return {node.input(0)->type};
}

void evaluateScatterElements(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<ScatterElementsAttrs>();
  const auto& indices = evaluation.inputs[1];
  const Dims& dims = evaluation.inputs[0].dims;
  const Dims strides = stridesOf(dims);
  withUpdates(evaluation, attrs.reduction, indices.count(), [&](auto put) {
    int64_t from = 0;
    forEachIndex(indices.dims, [&](const Dims& index) {
      int64_t to = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        const bool isAxis = static_cast<int64_t>(d) == attrs.axis;
        const int64_t at = isAxis ? readInteger(indices.type, indices.data, from) : index[d];
        to += positionOf(evaluation.node, at, dims[d]) * strides[d];
      }
      put(to, from++);
    });
  });
}

std::vector<TensorType> inferScatterND(const Node& node) {
  const TensorType& data = node.input(0)->type;
  const Shape& indices = node.input(1)->shape();
  requireIndices(node, 1);
  requireSameType(node, 2, 0);
  const int64_t length = tupleLength(node, data.rank());
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.shape.begin() + length, data.shape.end());
  requireShape(node, 2, "updates", updates);
  return {data};
}

void evaluateScatterND(const Evaluation& evaluation) {
  const auto& indices = evaluation.inputs[1];
  const Dims& dims = evaluation.inputs[0].dims;
  const Dims strides = stridesOf(dims);
  const int64_t length = indices.dims.back(),
                tuples = countOf(std::span(indices.dims).first(indices.dims.size() - 1));
  const int64_t inner = countOf(std::span(dims).subspan(length));
  const auto& attrs = evaluation.node.as<ScatterNDAttrs>();
  withUpdates(evaluation, attrs.reduction, tuples * inner, [&](auto put) {
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t to = 0;
      bool isInside = true;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t index = readInteger(indices.type, indices.data, t * length + i);
        const auto at = positionOf(evaluation.node, index, dims[i], attrs.skipsOutside);
        isInside &= at.has_value();
        to += at.value_or(0) * strides[i];
      }
      for (int64_t k = 0; k < inner && isInside; ++k) put(to + k, t * inner + k);
    }
  });
}

}  // namespace

const OpInfo ops::ScatterElements = {
    "ScatterElements",      3, 3, 1, makeAttrsOf<ScatterElementsAttrs>, inferScatterElements,
    evaluateScatterElements};
const OpInfo ops::ScatterND = {
    "ScatterND", 3, 3, 1, makeAttrsOf<ScatterNDAttrs>, inferScatterND, evaluateScatterND};

}  // namespace camshaft
