// Concatenations of parts of one tensor become one move of its elements.
//
//   Concat(Slice(x) [s..], Slice(x) [..s])            →  Pad(x) {wrap}, which rolls x by s
//   Concat(Slice(x) [0, 2, ..], Slice(x) [1, 3, ..])  →  Reshape(Transpose(Reshape(x)))
//
// The second for any number of parts, along several dimensions (patches joined into channels),
// whenever together they are all of x. Integers beside known ones, as tuples of indices have them,
// are computed, so that one kernel makes them of what they come from:
//
//   Concat([0, 0], [0, 1], Expand(x))                 →  [0, 0, 0; 0, 1, 0] + [0, 0, 1] * x
#include <algorithm>
#include <optional>

#include "ir/rewrite.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/permutation.h"
#include "passes/strided_view.h"

namespace camshaft {

using Factor = StridedView::Factor;

// The slice of one dimension, by steps of 1, that computes the value.
static const SliceAttrs* sliceAlong(const Value* value, int64_t axis) {
  const Node* node = producerOf(value, &ops::Slice);
  if (!node) return nullptr;
  const auto& attrs = node->as<SliceAttrs>();
  return attrs.axes == std::vector<int64_t>{axis} && attrs.steps[0] == 1 ? &attrs : nullptr;
}

static bool makeRoll(Graph& graph, Node* concat) {
  const int64_t axis = concat->as<ConcatAttrs>().axis;
  if (concat->inputs.size() != 2) return false;
  const SliceAttrs *last = sliceAlong(concat->input(0), axis),
                   *first = sliceAlong(concat->input(1), axis);
  if (!last || !first) return false;
  Value* x = concat->input(0)->producer->input(0);
  const Dim shift = last->starts[0];
  if (concat->input(1)->producer->input(0) != x || !first->starts[0].isConstant(0) ||
      first->sizes[0] != shift || last->sizes[0] + shift != x->shape()[axis])
    return false;

  PadAttrs attrs;
  attrs.mode = PadMode::kWrap;
  attrs.begin.assign(x->shape().size(), 0);
  attrs.end = attrs.begin;
  // Rolling twice, along different dimensions, is rolling once.
  if (const PadAttrs* inner = rollOf(x->producer); inner && inner->begin[axis].isConstant(0)) {
    attrs = *inner;
    x = x->producer->input(0);
  }
  // Back by most of the size is forward by the rest, which leaves longer pieces whole.
  const Dim& size = concat->output()->shape()[axis];
  const bool forward = shift.isConstant() && size.isConstant() && 2 * shift.value() > size.value();
  attrs.begin[axis] = forward ? size - shift : Dim(0) - shift;
  attrs.end[axis] = Dim(0) - attrs.begin[axis];
  Node* roll = graph.add(&ops::Pad, concat->name, {x}, std::move(attrs), concat);
  replaceValue(graph, concat->output(), roll->output());
  return true;
}

static bool operator==(const Factor& a, const Factor& b) {
  return a.size == b.size && a.stride == b.stride;
}

// Every operand as a part of one source, alike but for where it begins.
static std::vector<StridedView> partsOf(const Node& concat) {
  for (const StridedView& first : viewsOf(concat.input(0))) {
    std::vector<StridedView> parts;
    for (Value* input : concat.inputs) {
      const std::vector<StridedView> views = viewsOf(input);
      const auto same = std::find_if(views.begin(), views.end(), [&](const StridedView& view) {
        return view.source == first.source && view.axes == first.axes && view.offset.isConstant();
      });
      if (same == views.end()) break;
      parts.push_back(*same);
    }
    if (parts.size() == concat.inputs.size()) return parts;
  }
  return {};
}

// Where the parts begin, as steps of a grid, the outermost first.
static std::optional<std::vector<Factor>> gridOf(const std::vector<StridedView>& parts) {
  const size_t count = parts.size();
  std::vector<Factor> grid;
  for (size_t inner = 1; inner < count;) {
    const int64_t step = parts[inner].offset.value();
    size_t size = 2;
    while (size * inner < count && parts[size * inner].offset.value() == int64_t(size) * step)
      ++size;
    grid.insert(grid.begin(), {static_cast<int64_t>(size), step});
    inner *= size;
    if (count % inner != 0) return std::nullopt;
  }
  for (size_t i = 0; i < count; ++i) {
    int64_t offset = 0;
    size_t rest = i;
    for (auto factor = grid.rbegin(); factor != grid.rend(); ++factor) {
      const auto size = static_cast<size_t>(factor->size.value());
      offset += static_cast<int64_t>(rest % size) * factor->stride.value();
      rest /= size;
    }
    if (parts[i].offset.value() != offset) return std::nullopt;
  }
  return grid;
}

// The factors as they follow one another in memory, outermost first; empty when they leave gaps.
static std::vector<size_t> memoryOrder(const std::vector<Factor>& factors, const Dim& count) {
  std::vector<size_t> order;
  Dim stride = 1;
  while (order.size() < factors.size()) {
    const auto next = std::find_if(factors.begin(), factors.end(),
                                   [&](const Factor& factor) { return factor.stride == stride; });
    if (next == factors.end()) return {};
    order.insert(order.begin(), static_cast<size_t>(next - factors.begin()));
    stride *= next->size;
  }
  return stride == count ? order : std::vector<size_t>{};
}

static bool makeTranspose(Graph& graph, Node* concat) {
  if (concat->inputs.size() < 2) return false;
  const std::vector<StridedView> parts = partsOf(*concat);
  if (parts.empty() || !parts[0].offset.isConstant(0)) return false;
  // Strides of nothing tell no order.
  if (numElements(concat->output()->shape()).isConstant(0)) return false;
  const auto grid = gridOf(parts);
  if (!grid) return false;
  std::vector<Factor> factors;  // of the result
  for (size_t axis = 0; axis < parts[0].axes.size(); ++axis) {
    if (static_cast<int64_t>(axis) == concat->as<ConcatAttrs>().axis)
      factors.insert(factors.end(), grid->begin(), grid->end());
    factors.insert(factors.end(), parts[0].axes[axis].begin(), parts[0].axes[axis].end());
  }
  Value* source = parts[0].source;
  const std::vector<size_t> stored = memoryOrder(factors, numElements(source->shape()));
  if (stored.empty()) return false;

  Shape split;
  for (size_t factor : stored) split.push_back(factors[factor].size);
  Value* value = addReshape(graph, concat->name, source, std::move(split), concat);
  const Permutation order = inverseOf(Permutation(stored.begin(), stored.end()));
  if (!isIdentity(order)) {
    TransposeAttrs attrs;
    attrs.order = order;
    value = graph.add(&ops::Transpose, concat->name, {value}, std::move(attrs), concat)->output();
  }
  replaceValue(graph, concat->output(),
               addReshape(graph, concat->name, value, concat->output()->shape(), concat));
  return true;
}

static bool isKnown(const Value* value) { return value->isConstant() && !value->isOpaque(); }

// The one operand that is not known, where it has one element along the dimension that is joined.
static std::optional<size_t> onlyUnknown(const Node& concat) {
  const auto isUnknown = [](const Value* value) { return !isKnown(value); };
  const auto first = std::ranges::find_if(concat.inputs, isUnknown);
  if (first == concat.inputs.end() || std::ranges::count_if(concat.inputs, isUnknown) != 1 ||
      !(*first)->shape()[concat.as<ConcatAttrs>().axis].isConstant(1))
    return std::nullopt;
  return static_cast<size_t>(first - concat.inputs.begin());
}

// A tensor of zeros, but for the element `hot`, if any.
static Value* addZeros(Graph& graph, const std::string& name, TensorType type,
                       std::optional<int64_t> hot = {}) {
  std::vector<std::byte> bytes(bytesOf(type.type, numElements(type.shape).value()));
  if (hot) writeElement(type.type, bytes.data(), *hot, 1);
  return graph.addConstant(name, std::move(type), ConstantData::own(std::move(bytes)));
}

static bool computeIntegers(Graph& graph, Node* concat) {
  constexpr int64_t kMostElements = 1 << 20;
  const DataType type = concat->output()->dataType();
  const Shape& shape = concat->output()->shape();
  const Dim count = numElements(shape);
  // Those of one dimension are shapes, which the host reads.
  if ((type != DataType::kI64 && type != DataType::kI32) || shape.size() < 2 ||
      !count.isConstant() || count.value() > kMostElements)
    return false;
  const std::optional<size_t> unknown = onlyUnknown(*concat);
  // Sizes that a run decides have to be those of the others, and a sum would repeat what is one.
  if (!unknown || !numElements(concat->input(*unknown)->shape()).isConstant()) return false;
  std::vector<Value*> known = concat->inputs;
  Value* x = known[*unknown];
  known[*unknown] = addZeros(graph, str(concat->name, ".zeros"), x->type);
  const int64_t axis = concat->as<ConcatAttrs>().axis;
  int64_t place = 0;
  for (size_t i = 0; i < *unknown; ++i) place += known[i]->shape()[axis].value();
  TensorType alongAxis{type, Shape(shape.size(), 1)};
  alongAxis.shape[axis] = shape[axis];
  if (const Node* expand = producerOf(x, &ops::Expand)) x = expand->input(0);

  Expr expr;
  const int others = expr.input(0, type), isX = expr.input(1, type), own = expr.input(2, type);
  expr.apply(ScalarOp::kAdd, others, expr.apply(ScalarOp::kMul, isX, own));
  const Node* rest = graph.add(&ops::Concat, str(concat->name, ".known"), std::move(known),
                               concat->as<ConcatAttrs>(), concat);  // folded in its turn
  Value* sum = addPointwise(
      graph, concat->name,
      {rest->output(), addZeros(graph, str(concat->name, ".place"), alongAxis, place), x},
      std::move(expr), concat);
  replaceValue(graph, concat->output(), sum);
  return true;
}

bool simplifyConcats(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList())  // erases this node and earlier ones only
    if (node->op == &ops::Concat && !node->epilogue)
      changed |=
          makeRoll(graph, node) || makeTranspose(graph, node) || computeIntegers(graph, node);
  return changed;
}

}  // namespace camshaft
