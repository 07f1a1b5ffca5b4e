// NonZero and Unique.
#include "ops/select.h"

#include <algorithm>
#include <numeric>

#include "ir/dispatch.h"
#include "ops/move.h"
#include "ops/rules.h"
#include "ops/shape.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferNonZero(const Node& node) {
  const TensorType& x = node.input(0)->type;
  return {{DataType::kI64, {numElements(x.shape), x.rank()}}, {DataType::kI64, {1}}};
}

void evaluateNonZero(const Evaluation& evaluation) {
  const auto& x = evaluation.inputs[0];
  int64_t* to = evaluation.outputs[0].as<int64_t>();
  int64_t count = 0;
  dispatch(x.type, [&](auto tag) {
    using T = decltype(tag);
    const T* from = x.as<T>();
    forEachIndex(x.dims, [&](const Dims& index) {
      if (static_cast<Compute<T>>(*from++) == Compute<T>(0)) return;
      to = std::copy(index.begin(), index.end(), to);
      ++count;
    });
  });
  *evaluation.outputs[1].as<int64_t>() = count;
}

std::vector<TensorType> inferUnique(const Node& node) {
  const auto& attrs = node.as<UniqueAttrs>();
  requireAxis(node, attrs.axis);
  const TensorType vector{DataType::kI64, {node.input(0)->shape()[attrs.axis]}};
  return {vector, vector, vector, {DataType::kI64, {1}}};
}

// Slices along the axis, compared element by element; NaN equals NaN and is larger than numbers.
template <class T>
class Slices {
 public:
  Slices(const ConstTensorView& x, const AxisView& view) : x_(x.as<T>()), view_(view) {}

  // Negative, zero or positive, as the order of two slices.
  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < view_.outer; ++o) {
      for (int64_t i = 0; i < view_.inner; ++i) {
        const V left = at(o, a, i), right = at(o, b, i);
        if (less(left, right)) return -1;
        if (less(right, left)) return 1;
      }
    }
    return 0;
  }

 private:
  using V = Compute<T>;
  static bool less(V a, V b) { return b != b ? a == a : a < b; }
  V at(int64_t outer, int64_t slice, int64_t inner) const {
    return static_cast<V>(x_[(outer * view_.size + slice) * view_.inner + inner]);
  }
  const T* x_;
  const AxisView& view_;
};

// Where each run of equal slices begins in the order that sorts them.
struct Groups {
  std::vector<int64_t> order, begins;
  int64_t count() const { return static_cast<int64_t>(begins.size()) - 1; }
  int64_t first(int64_t group) const { return order[begins[group]]; }
};

template <class T>
Groups groupEqual(const Slices<T>& slices, int64_t size) {
  Groups groups;
  groups.order.resize(size);
  std::iota(groups.order.begin(), groups.order.end(), 0);
  std::stable_sort(groups.order.begin(), groups.order.end(),
                   [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
  for (int64_t i = 0; i < size; ++i)
    if (i == 0 || slices.compare(groups.order[i - 1], groups.order[i]) != 0)
      groups.begins.push_back(i);
  groups.begins.push_back(size);
  return groups;
}

void evaluateUnique(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<UniqueAttrs>();
  const auto& x = evaluation.inputs[0];
  const AxisView view(x.dims, attrs.axis);
  const Groups groups = dispatch(
      x.type, [&](auto tag) { return groupEqual(Slices<decltype(tag)>(x, view), view.size); });
  std::vector<int64_t> wanted(groups.count());  // groups in the order of the results
  std::iota(wanted.begin(), wanted.end(), 0);
  if (!attrs.sorted)
    std::sort(wanted.begin(), wanted.end(),
              [&](int64_t a, int64_t b) { return groups.first(a) < groups.first(b); });
  int64_t* firsts = evaluation.outputs[0].as<int64_t>();
  int64_t* inverse = evaluation.outputs[1].as<int64_t>();
  int64_t* counts = evaluation.outputs[2].as<int64_t>();
  for (int64_t i = 0; i < groups.count(); ++i) {
    const int64_t begin = groups.begins[wanted[i]], end = groups.begins[wanted[i] + 1];
    firsts[i] = groups.order[begin];
    counts[i] = end - begin;
    for (int64_t k = begin; k < end; ++k) inverse[groups.order[k]] = i;
  }
  *evaluation.outputs[3].as<int64_t>() = groups.count();
}

}  // namespace

const OpInfo ops::NonZero = {"NonZero",      1, 1, 2, makeAttrsOf<NoAttrs>, inferNonZero,
                             evaluateNonZero};
const OpInfo ops::Unique = {"Unique",      1, 1, 4, makeAttrsOf<UniqueAttrs>, inferUnique,
                            evaluateUnique};

int64_t resultElements(const Node& node, size_t index, int64_t elements, int64_t count) {
  if (index + 1 == node.outputs.size()) return elements;
  if (node.op == &ops::NonZero) return count * node.input(0)->rank();
  if (node.op == &ops::NonMaxSuppression) return count * 3;
  return node.op == &ops::Unique && index != 1 ? count : elements;
}

Value* takeResults(Graph& graph, Value* output, const Dim& size, Node* before) {
  SliceAttrs attrs;
  attrs.axes = {0};
  attrs.starts = {0};
  attrs.sizes = {size};
  attrs.steps = {1};
  return graph.add(&ops::Slice, output->producer->name, {output}, std::move(attrs), before)
      ->output();
}

}  // namespace camshaft
