// Slice, Pad and Trilu: operators that keep a part, or put something around.
#include <algorithm>
#include <cstring>

#include "ops/contents.h"
#include "ops/move.h"
#include "ops/move_elements.h"
#include "ops/rules.h"

namespace camshaft {

namespace {

// Checked where all is known, in inference and again when run.
void requireInside(const Node& node, int64_t axis, int64_t start, int64_t size, int64_t step,
                   int64_t extent) {
  int64_t last = 0;
  const bool overflows =
      __builtin_mul_overflow(size - 1, step, &last) || __builtin_add_overflow(start, last, &last);
  const bool isOutside = start < 0 || start >= extent || overflows || last < 0 || last >= extent;
  if (size < 0 || (size > 0 && isOutside))
    fail(ErrorKind::kInvalidModel, describe(node), " takes ", size, " elements from ", start,
         " by ", step, " along dimension ", axis, ", which has ", extent);
}

// The same where only the run knows the sizes. An empty slice may begin one step outside.
void requireInside(const Node& node, int64_t axis, const Dim& start, const Dim& size, int64_t step,
                   const Dim& extent) {
  const Dim last = start + (size - 1) * step;
  const std::string where = str("elements along dimension ", axis, " of its input");
  requireAtLeast(node, size, str("elements to take along dimension ", axis), 0);
  requireAtLeast(node, step > 0 ? start : last, str("as its first element along dimension ", axis),
                 0);
  requireAtLeast(node, extent, where, (step > 0 ? last : start) + 1);
}

std::vector<TensorType> inferSlice(const Node& node) {
  const auto& attrs = node.as<SliceAttrs>();
  TensorType result = node.input(0)->type;
  const size_t count = attrs.axes.size();
  if (attrs.starts.size() != count || attrs.sizes.size() != count || attrs.steps.size() != count)
    fail(ErrorKind::kInvalidModel, describe(node),
         " needs as many starts, sizes and steps as axes");
  std::vector<bool> seen(result.shape.size());
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = attrs.axes[i];
    requireAxis(node, axis);
    if (seen[axis])
      fail(ErrorKind::kInvalidModel, describe(node), " slices dimension ", axis, " twice");
    seen[axis] = true;
    if (attrs.steps[i] == 0) fail(ErrorKind::kInvalidModel, describe(node), " has a step of 0");
    const Dim& extent = result.shape[axis];
    if (attrs.starts[i].isConstant() && attrs.sizes[i].isConstant() && extent.isConstant())
      requireInside(node, axis, attrs.starts[i].value(), attrs.sizes[i].value(), attrs.steps[i],
                    extent.value());
    else
      requireInside(node, axis, attrs.starts[i], attrs.sizes[i], attrs.steps[i], extent);
    result.shape[axis] = attrs.sizes[i];
  }
  return {result};
}

void evaluateSlice(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<SliceAttrs>();
  const auto& x = evaluation.inputs[0];
  const auto& y = evaluation.outputs[0];
  StridedView from{0, stridesOf(x.dims)};
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    const int64_t axis = attrs.axes[i], start = evaluation.resolve(attrs.starts[i]);
    requireInside(evaluation.node, axis, start, y.dims[axis], attrs.steps[i], x.dims[axis]);
    from.first += start * from.strides[axis];
    from.strides[axis] *= attrs.steps[i];
  }
  moveElements(x.type, y.dims, x.data, from, y.data, {0, stridesOf(y.dims)});
}

Contents sliceContents(const Node& node) {
  const auto& attrs = node.as<SliceAttrs>();
  const Contents contents = node.input(0)->contents;
  const auto count = contentCount(node.output()->type);
  if (!contents || !count) return std::nullopt;
  if (attrs.axes.empty()) return contents;
  if (!attrs.starts[0].isConstant()) return std::nullopt;
  std::vector<Dim> taken;
  for (int64_t i = 0; i < *count; ++i)
    taken.push_back(contents->at(attrs.starts[0].value() + i * attrs.steps[0]));
  return taken;
}

std::vector<TensorType> inferPad(const Node& node) {
  const auto& attrs = node.as<PadAttrs>();
  TensorType result = node.input(0)->type;
  if (attrs.begin.size() != result.shape.size() || attrs.end.size() != result.shape.size())
    fail(ErrorKind::kInvalidModel, describe(node), " has ", attrs.begin.size(), " and ",
         attrs.end.size(), " pads for ", result);
  if (node.hasInput(1)) {
    requireSameType(node, 1, 0);
    requireEqual(node, numElements(node.input(1)->shape()), "values to pad with", 1, "it needs");
  }
  for (size_t i = 0; i < result.shape.size(); ++i) {
    const bool copies = attrs.mode != PadMode::kConstant &&
                        !(attrs.begin[i].isConstant(0) && attrs.end[i].isConstant(0));
    if (copies)
      requireAtLeast(node, result.shape[i], str("elements in dimension ", i, " to copy"), 1);
    result.shape[i] += attrs.begin[i] + attrs.end[i];
    if (result.shape[i].isConstant() && result.shape[i].value() < 0)
      fail(ErrorKind::kInvalidModel, describe(node), " crops more of dimension ", i,
           " than there is");
  }
  return {result};
}

int64_t wrapped(int64_t i, int64_t size) { return (i % size + size) % size; }

// The position along a dimension that padding at `i` copies, or -1 for the padding value.
int64_t sourceOf(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kEdge:
      return std::clamp<int64_t>(i, 0, size - 1);
    case PadMode::kWrap:
      return wrapped(i, size);
    case PadMode::kReflect: {
      if (size == 1) return 0;
      const int64_t period = 2 * (size - 1), at = wrapped(i, period);
      return std::min(at, period - at);
    }
  }
  return -1;
}

void evaluatePad(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<PadAttrs>();
  const auto& x = evaluation.inputs[0];
  const auto& y = evaluation.outputs[0];
  const bool hasValue = evaluation.inputs.size() > 1 && evaluation.inputs[1].present();
  const std::byte zero[8] = {};
  const void* value = hasValue ? evaluation.inputs[1].data : zero;
  if (attrs.mode != PadMode::kConstant && x.count() == 0 && y.count() > 0)
    fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " has no elements to pad with");

  std::vector<Dims> sources(y.dims.size());  // per dimension, by output position
  for (size_t d = 0; d < y.dims.size(); ++d) {
    const int64_t begin = evaluation.resolve(attrs.begin[d]);
    for (int64_t i = 0; i < y.dims[d]; ++i)
      sources[d].push_back(sourceOf(attrs.mode, i - begin, x.dims[d]));
  }
  const Dims xStrides = stridesOf(x.dims), yStrides = stridesOf(y.dims);
  withElementCopy(x.type, value, y.data, [&](auto copyValue) {
    withElementCopy(x.type, x.data, y.data, [&](auto copy) {
      forEachIndex(y.dims, [&](const Dims& index) {
        int64_t from = 0;
        bool isPadding = false;
        for (size_t d = 0; d < index.size(); ++d) {
          const int64_t source = sources[d][index[d]];
          isPadding = isPadding || source < 0;
          from += source * xStrides[d];
        }
        const int64_t to = offsetOf(index, yStrides);
        if (isPadding)
          copyValue(0, to);
        else
          copy(from, to);
      });
    });
  });
}

std::vector<TensorType> inferTrilu(const Node& node) {
  if (node.input(0)->rank() < 2)
    fail(ErrorKind::kInvalidModel, describe(node), " needs matrices and got ", node.input(0)->type);
  return {node.input(0)->type};
}

void evaluateTrilu(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<TriluAttrs>();
  const auto& x = evaluation.inputs[0];
  const auto& y = evaluation.outputs[0];
  const int64_t diagonal = evaluation.resolve(attrs.diagonal);
  const Dims strides = stridesOf(x.dims);
  const size_t row = x.dims.size() - 2;
  if (y.bytes() > 0) std::memset(y.data, 0, y.bytes());
  withElementCopy(x.type, x.data, y.data, [&](auto copy) {
    forEachIndex(x.dims, [&](const Dims& index) {
      const int64_t distance = index[row + 1] - index[row];
      if (attrs.upper ? distance < diagonal : distance > diagonal) return;
      const int64_t at = offsetOf(index, strides);
      copy(at, at);
    });
  });
}

}  // namespace

const OpInfo ops::Slice = {
    "Slice", 1, 1, 1, makeAttrsOf<SliceAttrs>, inferSlice, evaluateSlice, sliceContents};
const OpInfo ops::Pad = {"Pad", 1, 2, 1, makeAttrsOf<PadAttrs>, inferPad, evaluatePad};
const OpInfo ops::Trilu = {"Trilu", 1, 1, 1, makeAttrsOf<TriluAttrs>, inferTrilu, evaluateTrilu};

}  // namespace camshaft
