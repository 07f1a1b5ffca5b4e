#include "passes/strided_view.h"

#include <algorithm>

#include "ops/move.h"
#include "ops/ops.h"

namespace camshaft {

namespace {

using Factor = StridedView::Factor;

std::optional<Dim> quotient(const Dim& a, const Dim& b) {
  if (a == b) return Dim(1);
  if (b.isConstant(0)) return std::nullopt;
  const Dim result = floorDiv(a, b);
  return result * b == a ? std::optional(result) : std::nullopt;
}

std::optional<Dim> commonStride(const std::vector<Factor>& axis) {
  if (axis.empty()) return std::nullopt;
  for (size_t i = 0; i + 1 < axis.size(); ++i)
    if (axis[i].stride != axis[i + 1].size * axis[i + 1].stride) return std::nullopt;
  return axis.back().stride;
}

StridedView wholeOf(Value* source) {
  StridedView view{source, 0, {}};
  Dim stride = 1;
  for (auto size = source->shape().rbegin(); size != source->shape().rend(); ++size) {
    view.axes.emplace(view.axes.begin());
    if (!size->isConstant(1)) view.axes.front().push_back({*size, stride});
    stride *= *size;
  }
  return view;
}

// Takes factors that make up `size` off the end.
std::optional<std::vector<Factor>> takeLast(std::vector<Factor>& factors, Dim size) {
  std::vector<Factor> axis;
  while (!size.isConstant(1)) {
    if (factors.empty()) return std::nullopt;
    Factor& last = factors.back();
    if (const auto rest = quotient(size, last.size)) {
      axis.insert(axis.begin(), last);
      factors.pop_back();
      size = *rest;
    } else if (const auto outer = quotient(last.size, size)) {
      axis.insert(axis.begin(), {size, last.stride});
      last = {*outer, last.stride * size};
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  return axis;
}

bool reshape(StridedView& view, const Shape& shape) {
  std::vector<Factor> factors;
  for (const auto& axis : view.axes) factors.insert(factors.end(), axis.begin(), axis.end());
  view.axes.assign(shape.size(), {});
  for (size_t i = shape.size(); i-- > 0;) {
    auto axis = takeLast(factors, shape[i]);
    if (!axis) return false;
    view.axes[i] = std::move(*axis);
  }
  return factors.empty();
}

bool slice(StridedView& view, const SliceAttrs& attrs) {
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    auto& axis = view.axes[static_cast<size_t>(attrs.axes[i])];
    if (axis.empty()) continue;
    const auto stride = commonStride(axis);
    if (!stride || attrs.steps[i] < 1) return false;
    view.offset += attrs.starts[i] * *stride;
    axis.clear();
    if (!attrs.sizes[i].isConstant(1)) axis.push_back({attrs.sizes[i], *stride * attrs.steps[i]});
  }
  return true;
}

bool isMove(const Node* node) {
  return node && !node->epilogue &&
         (node->op == &ops::Reshape || node->op == &ops::Transpose || node->op == &ops::Slice);
}

bool apply(StridedView& view, const Node& move) {
  if (move.op == &ops::Reshape) return reshape(view, move.output()->shape());
  if (move.op == &ops::Slice) return slice(view, move.as<SliceAttrs>());
  auto axes = view.axes;
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i] = view.axes[static_cast<size_t>(move.as<TransposeAttrs>().order[i])];
  view.axes = std::move(axes);
  return true;
}

}  // namespace

std::optional<Dim> StridedView::strideOf(size_t axis) const { return commonStride(axes[axis]); }

std::vector<StridedView> viewsOf(Value* value) {
  std::vector<const Node*> moves;  // the last one first
  for (Value* source = value; isMove(source->producer); source = source->producer->input(0))
    moves.push_back(source->producer);
  std::vector<StridedView> views;
  for (size_t first = moves.size(); first > 0; --first) {
    StridedView view = wholeOf(moves[first - 1]->input(0));
    size_t i = first;
    while (i > 0 && apply(view, *moves[i - 1])) --i;
    if (i == 0) views.push_back(std::move(view));
  }
  views.push_back(wholeOf(value));
  return views;
}

std::optional<AxisExchange> exchangeOf(const StridedView& view) {
  std::vector<Factor> factors;  // as few as the order of elements allows
  for (const auto& axis : view.axes)
    for (const Factor& factor : axis) {
      const bool goesOn = !factors.empty() && factors.back().stride == factor.size * factor.stride;
      if (goesOn)
        factors.back() = {factors.back().size * factor.size, factor.stride};
      else
        factors.push_back(factor);
    }
  const size_t count = factors.size();
  if (count < 3 || count > 4 || !view.offset.isConstant(0)) return std::nullopt;
  const Factor &outer = factors[count - 3], &inner = factors[count - 2], &run = factors[count - 1];
  for (const Factor* factor : {&outer, &inner, &run})
    if (!factor->size.isConstant() || factor->size.value() < 1) return std::nullopt;
  const bool exchanges = run.stride.isConstant(1) && outer.stride == run.size &&
                         inner.stride == outer.size * run.size &&
                         (count == 3 || factors[0].stride == inner.size * inner.stride);
  if (!exchanges) return std::nullopt;
  return AxisExchange{outer.size.value(), inner.size.value(), run.size.value()};
}

}  // namespace camshaft
