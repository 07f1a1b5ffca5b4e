// Gather, GatherElements, GatherND.
#include <algorithm>
#include <cstring>

#include "ops/contents.h"
#include "ops/index.h"
#include "ops/index_position.h"
#include "ops/move_elements.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferGather(const Node& node) {
  const int64_t axis = node.as<GatherAttrs>().axis;
  requireAxis(node, axis);
  requireIndices(node, 1);
  const TensorType& data = node.input(0)->type;
  const Shape& indices = node.input(1)->shape();
  TensorType result = data;
  result.shape.erase(result.shape.begin() + axis);
  result.shape.insert(result.shape.begin() + axis, indices.begin(), indices.end());
  return {result};
}

// What is not copied from anywhere.
void clear(const Evaluation& evaluation, bool hasZeros) {
  const auto& y = evaluation.outputs[0];
  if (hasZeros && y.bytes() > 0) std::memset(y.data, 0, y.bytes());
}

void evaluateGather(const Evaluation& evaluation) {
  const auto& data = evaluation.inputs[0];
  const auto& indices = evaluation.inputs[1];
  const auto& attrs = evaluation.node.as<GatherAttrs>();
  const AxisView view(data.dims, attrs.axis);
  const int64_t count = indices.count();
  clear(evaluation, attrs.zeroOutside);
  withElementCopy(data.type, data.data, evaluation.outputs[0].data, [&](auto copy) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = readInteger(indices.type, indices.data, i);
      const auto at = positionOf(evaluation.node, index, view.size, attrs.zeroOutside);
      for (int64_t o = 0; o < view.outer && at; ++o)
        for (int64_t k = 0; k < view.inner; ++k)
          copy((o * view.size + *at) * view.inner + k, (o * count + i) * view.inner + k);
    }
  });
}

Contents gatherContents(const Node& node) {
  const Contents data = knownContents(node.input(0)), indices = node.input(1)->contents;
  if (!data || !indices || node.input(0)->rank() != 1 || !contentCount(node.output()->type))
    return std::nullopt;
  const int64_t size = static_cast<int64_t>(data->size());
  const bool zeroOutside = node.as<GatherAttrs>().zeroOutside;
  std::vector<Dim> taken;
  for (const Dim& index : *indices) {
    if (!index.isConstant()) return std::nullopt;
    const auto at = positionOf(node, index.value(), size, zeroOutside);
    taken.push_back(at ? (*data)[static_cast<size_t>(*at)] : Dim(0));
  }
  return taken;
}

std::vector<TensorType> inferGatherElements(const Node& node) {
  const int64_t axis = node.as<GatherElementsAttrs>().axis;
  requireAxis(node, axis);
  requireIndices(node, 1);
  const TensorType& data = node.input(0)->type;
  requireRank(node, 1, "indices", data.rank());
  const Shape& indices = node.input(1)->shape();
  for (int64_t d = 0; d < data.rank(); ++d) {
    const Dim surplus = indices[d] - data.shape[d];
    if (d != axis && surplus.isConstant() && surplus.value() > 0)
      fail(ErrorKind::kInvalidModel, describe(node),
           " has more indices than elements in dimension ", d, ": ", toString(indices), " for ",
           data);
    if (d != axis)
      requireAtLeast(node, data.shape[d], str("elements in dimension ", d), indices[d]);
  }
  return {{data.type, indices}};
}

void evaluateGatherElements(const Evaluation& evaluation) {
  const auto& data = evaluation.inputs[0];
  const auto& indices = evaluation.inputs[1];
  const auto& attrs = evaluation.node.as<GatherElementsAttrs>();
  const size_t axis = attrs.axis;
  const Dims strides = stridesOf(data.dims);
  int64_t to = 0;
  clear(evaluation, attrs.zeroOutside);
  withElementCopy(data.type, data.data, evaluation.outputs[0].data, [&](auto copy) {
    forEachIndex(indices.dims, [&](const Dims& index) {
      const auto along = positionOf(evaluation.node, readInteger(indices.type, indices.data, to),
                                    data.dims[axis], attrs.zeroOutside);
      int64_t from = along.value_or(0) * strides[axis];
      for (size_t d = 0; d < index.size(); ++d)
        if (d != axis) from += positionOf(evaluation.node, index[d], data.dims[d]) * strides[d];
      if (along) copy(from, to);
      ++to;
    });
  });
}

std::vector<TensorType> inferGatherND(const Node& node) {
  const int64_t batch = node.as<GatherNDAttrs>().batchDims;
  const TensorType& data = node.input(0)->type;
  const TensorType& indices = node.input(1)->type;
  requireIndices(node, 1);
  if (batch < 0 || batch >= data.rank() || batch >= indices.rank())
    fail(ErrorKind::kInvalidModel, describe(node), " has ", batch, " batch dimensions for ", data,
         " and ", indices);
  for (int64_t d = 0; d < batch; ++d)
    requireEqual(node, indices.shape[d], str("indices in batch dimension ", d), data.shape[d],
                 "the data has");
  const int64_t length = tupleLength(node, data.rank() - batch);
  TensorType result{data.type, {indices.shape.begin(), indices.shape.end() - 1}};
  result.shape.insert(result.shape.end(), data.shape.begin() + batch + length, data.shape.end());
  return {result};
}

void evaluateGatherND(const Evaluation& evaluation) {
  const auto& data = evaluation.inputs[0];
  const auto& indices = evaluation.inputs[1];
  const auto& attrs = evaluation.node.as<GatherNDAttrs>();
  const int64_t batchDims = attrs.batchDims;
  const int64_t length = indices.dims.back(),
                tuples = countOf(std::span(indices.dims).first(indices.dims.size() - 1));
  const Dims strides = stridesOf(data.dims);
  const int64_t inner = countOf(std::span(data.dims).subspan(batchDims + length));
  const int64_t batches = countOf(std::span(data.dims).first(batchDims));
  const int64_t batchSize = countOf(std::span(data.dims).subspan(batchDims));
  if (!std::equal(data.dims.begin(), data.dims.begin() + batchDims, indices.dims.begin()))
    fail(ErrorKind::kInvalidArgument, describe(evaluation.node),
         " has data and indices of different batch sizes");
  clear(evaluation, attrs.zeroOutside);
  withElementCopy(data.type, data.data, evaluation.outputs[0].data, [&](auto copy) {
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t from = t / (tuples / batches) * batchSize;
      bool isInside = true;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t index = readInteger(indices.type, indices.data, t * length + i);
        const auto at =
            positionOf(evaluation.node, index, data.dims[batchDims + i], attrs.zeroOutside);
        isInside &= at.has_value();
        from += at.value_or(0) * strides[batchDims + i];
      }
      for (int64_t k = 0; k < inner && isInside; ++k) copy(from + k, t * inner + k);
    }
  });
}

}  // namespace

const OpInfo ops::Gather = {
    "Gather", 2, 2, 1, makeAttrsOf<GatherAttrs>, inferGather, evaluateGather, gatherContents};
const OpInfo ops::GatherElements = {
    "GatherElements",      2, 2, 1, makeAttrsOf<GatherElementsAttrs>, inferGatherElements,
    evaluateGatherElements};
const OpInfo ops::GatherND = {"GatherND",      2, 2, 1, makeAttrsOf<GatherNDAttrs>, inferGatherND,
                              evaluateGatherND};

}  // namespace camshaft
