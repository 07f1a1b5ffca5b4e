// Transpose, Reshape, Expand, Concat and Tile; what cuts and pads is in move_slice.cpp.
#include "ops/move.h"

#include <algorithm>
#include <cstring>

#include "ops/contents.h"
#include "ops/move_elements.h"
#include "ops/rules.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferTranspose(const Node& node) {
  const auto& order = node.as<TransposeAttrs>().order;
  const TensorType& x = node.input(0)->type;
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = sorted.size() == x.shape.size();
  for (size_t i = 0; i < sorted.size(); ++i)
    isPermutation = isPermutation && sorted[i] == static_cast<int64_t>(i);
  if (!isPermutation)
    fail(ErrorKind::kInvalidModel, describe(node), " has order [", join(order, ", "),
         "] which is no permutation of the dimensions of ", x);
  TensorType result{x.type, {}};
  for (int64_t axis : order) result.shape.push_back(x.shape[axis]);
  return {result};
}

void evaluateTranspose(const Evaluation& evaluation) {
  const auto& x = evaluation.inputs[0];
  const auto& y = evaluation.outputs[0];
  const Dims strides = stridesOf(x.dims);
  StridedView from;
  for (int64_t axis : evaluation.node.as<TransposeAttrs>().order)
    from.strides.push_back(strides[axis]);
  moveElements(x.type, y.dims, x.data, from, y.data, {0, stridesOf(y.dims)});
}

void copyAll(const Evaluation& evaluation) {
  const size_t bytes = evaluation.outputs[0].bytes();
  if (bytes != evaluation.inputs[0].bytes())
    fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " cannot give ",
         evaluation.inputs[0].count(), " elements a shape of ", evaluation.outputs[0].count());
  if (bytes > 0) std::memcpy(evaluation.outputs[0].data, evaluation.inputs[0].data, bytes);
}

std::vector<TensorType> inferReshape(const Node& node) {
  const TensorType& x = node.input(0)->type;
  const Shape& shape = node.as<ReshapeAttrs>().shape;
  if (!mayBeEqual(numElements(x.shape), numElements(shape)))
    fail(ErrorKind::kInvalidModel, describe(node), " cannot reshape ", x, " to ", shape);
  requireEqual(node, numElements(x.shape), "elements", numElements(shape), "its new shape has");
  return {{x.type, shape}};
}

Contents reshapeContents(const Node& node) {
  const Contents contents = node.input(0)->contents;
  const auto count = contentCount(node.output()->type);
  return contents && count == static_cast<int64_t>(contents->size()) ? contents : std::nullopt;
}

std::vector<TensorType> inferBitCast(const Node& node) {
  const DataType from = node.input(0)->dataType(), to = node.as<BitCastAttrs>().to;
  if (bitsOf(from) != bitsOf(to) || to == DataType::kBool)
    fail(ErrorKind::kInvalidModel, describe(node), " cannot read the bits of ", from, " as ", to);
  return {{to, node.input(0)->shape()}};
}

std::vector<TensorType> inferExpand(const Node& node) {
  const Shape& shape = node.as<ExpandAttrs>().shape;
  requireBroadcastsTo(node, 0, "an input", shape);
  return {{node.input(0)->dataType(), shape}};
}

void evaluateExpand(const Evaluation& evaluation) {
  const auto& x = evaluation.inputs[0];
  const auto& y = evaluation.outputs[0];
  // A symbolic size may turn out to be another than the one it broadcasts to.
  for (size_t i = 1; i <= x.dims.size(); ++i)
    if (x.dims[x.dims.size() - i] != 1 && x.dims[x.dims.size() - i] != y.dims[y.dims.size() - i])
      fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " cannot broadcast [",
           join(x.dims, ", "), "] to [", join(y.dims, ", "), "]");
  moveElements(x.type, y.dims, x.data, {0, broadcastStrides(x.dims, y.dims)}, y.data,
               {0, stridesOf(y.dims)});
}

Contents expandContents(const Node& node) {
  const Contents contents = node.input(0)->contents;
  const auto count = contentCount(node.output()->type);
  if (!contents || !count) return std::nullopt;
  return contents->size() == 1 ? std::vector<Dim>(*count, contents->front()) : contents;
}

// By halves: sums of run-time sizes take as long to make as they are.
Dim sumOf(std::span<const Dim> sizes) {
  if (sizes.size() == 1) return sizes[0];
  const size_t half = sizes.size() / 2;
  return sumOf(sizes.first(half)) + sumOf(sizes.subspan(half));
}

std::vector<TensorType> inferConcat(const Node& node) {
  const int64_t axis = node.as<ConcatAttrs>().axis;
  requireAxis(node, axis);
  TensorType result = node.input(0)->type;
  std::vector<Dim> sizes{result.shape[axis]};
  for (int i = 1; i < node.ownInputs(); ++i) {
    if (!node.inputs[i]) fail(ErrorKind::kInvalidModel, describe(node), " lacks its input ", i);
    requireSameType(node, i, 0);
    requireRank(node, i, str("input ", i), result.rank());
    const Shape& other = node.inputs[i]->shape();
    for (int64_t d = 0; d < result.rank(); ++d) {
      if (d == axis) {
        sizes.push_back(other[d]);
        continue;
      }
      requireEqual(node, other[d], str("elements in dimension ", d, " of input ", i),
                   result.shape[d], "the others have");
      result.shape[d] = moreKnown(result.shape[d], other[d]);
    }
  }
  result.shape[axis] = sumOf(sizes);
  return {result};
}

void evaluateConcat(const Evaluation& evaluation) {
  const int64_t axis = evaluation.node.as<ConcatAttrs>().axis;
  const auto& y = evaluation.outputs[0];
  StridedView to{0, stridesOf(y.dims)};
  for (const auto& x : evaluation.inputs) {
    Dims expected = y.dims;
    expected[axis] = x.dims[axis];
    if (x.dims != expected)
      fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " joins [", join(x.dims, ", "),
           "] into [", join(y.dims, ", "), "]");
    moveElements(x.type, x.dims, x.data, {0, stridesOf(x.dims)}, y.data, to);
    to.first += x.dims[axis] * to.strides[axis];
  }
}

Contents concatContents(const Node& node) {
  if (!contentCount(node.output()->type)) return std::nullopt;
  std::vector<Dim> all;
  for (const Value* input : node.inputs) {
    const Contents part = knownContents(input);
    if (!part) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

std::vector<TensorType> inferTile(const Node& node) {
  const auto& repeats = node.as<TileAttrs>().repeats;
  TensorType result = node.input(0)->type;
  if (repeats.size() != result.shape.size())
    fail(ErrorKind::kInvalidModel, describe(node), " has ", repeats.size(), " repeats for ",
         result);
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i].isConstant() && repeats[i].value() < 0)
      fail(ErrorKind::kInvalidModel, describe(node), " repeats dimension ", i,
           " a negative number of times");
    requireAtLeast(node, repeats[i], str("repeats of dimension ", i), 0);
    result.shape[i] *= repeats[i];
  }
  return {result};
}

void evaluateTile(const Evaluation& evaluation) {
  const auto& x = evaluation.inputs[0];
  const auto& y = evaluation.outputs[0];
  const Dims xStrides = stridesOf(x.dims), yStrides = stridesOf(y.dims);
  withElementCopy(x.type, x.data, y.data, [&](auto copy) {
    forEachIndex(y.dims, [&](const Dims& index) {
      int64_t from = 0;
      for (size_t d = 0; d < index.size(); ++d) from += index[d] % x.dims[d] * xStrides[d];
      copy(from, offsetOf(index, yStrides));
    });
  });
}

Contents tileContents(const Node& node) {
  const Contents contents = node.input(0)->contents;
  const auto count = contentCount(node.output()->type);
  if (!contents || !count) return std::nullopt;
  std::vector<Dim> all;
  for (int64_t i = 0; i < *count; ++i) all.push_back((*contents)[i % contents->size()]);
  return all;
}

}  // namespace

const OpInfo ops::Transpose = {
    "Transpose",    1, 1, 1, makeAttrsOf<TransposeAttrs>, inferTranspose, evaluateTranspose,
    reshapeContents};
const OpInfo ops::Reshape = {
    "Reshape", 1, 1, 1, makeAttrsOf<ReshapeAttrs>, inferReshape, copyAll, reshapeContents};
const OpInfo ops::BitCast = {"BitCast", 1, 1, 1, makeAttrsOf<BitCastAttrs>, inferBitCast, copyAll};
const OpInfo ops::Expand = {
    "Expand", 1, 1, 1, makeAttrsOf<ExpandAttrs>, inferExpand, evaluateExpand, expandContents};
const OpInfo ops::Concat = {
    "Concat", 1, -1, 1, makeAttrsOf<ConcatAttrs>, inferConcat, evaluateConcat, concatContents};
const OpInfo ops::Tile = {"Tile",       1,           1, 1, makeAttrsOf<TileAttrs>, inferTile,
                          evaluateTile, tileContents};

}  // namespace camshaft
