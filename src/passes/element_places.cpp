#include "passes/element_places.h"

#include <algorithm>
#include <ranges>

#include "ops/move.h"

namespace camshaft {

namespace {

using Axis = std::vector<int64_t>;

ElementPlaces wholeOf(const Value* constant) {
  ElementPlaces places{constant, 0, {}};
  int64_t stride = 1;
  for (const Dim& size : constant->shape() | std::views::reverse) {
    Axis axis(size.value());
    for (size_t i = 0; i < axis.size(); ++i) axis[i] = static_cast<int64_t>(i) * stride;
    places.axes.insert(places.axes.begin(), std::move(axis));
    stride *= size.value();
  }
  return places;
}

Axis joined(const Axis& outer, const Axis& inner) {
  Axis axis;
  axis.reserve(outer.size() * inner.size());
  for (const int64_t o : outer)
    for (const int64_t i : inner) axis.push_back(o + i);
  return axis;
}

// Takes the outer `count` parts off an axis, which keeps the inner ones; nothing where the parts
// differ.
std::optional<Axis> takeOuter(Axis& axis, size_t count) {
  const size_t size = axis.size() / count;
  Axis outer(count);
  for (size_t part = 0; part < count; ++part) {
    outer[part] = axis[part * size];
    for (size_t i = 0; i < size; ++i)
      if (axis[part * size + i] != outer[part] + axis[i]) return std::nullopt;
  }
  axis.resize(size);
  return outer;
}

bool reshape(ElementPlaces& places, const Shape& shape) {
  std::vector<Axis> axes;
  Axis rest{0};  // of the source's dimensions, what the result's have not taken yet
  auto next = places.axes.begin();
  for (const Dim& dim : shape) {
    const auto size = static_cast<size_t>(dim.value());
    while (rest.size() % size != 0) {
      if (next == places.axes.end()) return false;
      rest = joined(rest, *next++);
    }
    auto outer = takeOuter(rest, size);
    if (!outer) return false;
    axes.push_back(std::move(*outer));
  }
  places.axes = std::move(axes);
  return true;
}

bool slice(ElementPlaces& places, const SliceAttrs& attrs) {
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    if (!attrs.starts[i].isConstant()) return false;
    Axis& axis = places.axes[attrs.axes[i]];
    Axis chosen;
    for (int64_t j = 0; j < attrs.sizes[i].value(); ++j)
      chosen.push_back(axis[attrs.starts[i].value() + j * attrs.steps[i]]);
    const int64_t start = chosen.front();
    for (int64_t& place : chosen) place -= start;
    places.first += start;
    axis = std::move(chosen);
  }
  return true;
}

void transpose(ElementPlaces& places, const std::vector<int64_t>& order) {
  std::vector<Axis> axes;
  for (const int64_t from : order) axes.push_back(places.axes[from]);
  places.axes = std::move(axes);
}

bool hasElements(const Shape& shape) {
  return isStatic(shape) &&
         std::ranges::none_of(shape, [](const Dim& dim) { return dim.isConstant(0); });
}

}  // namespace

bool isMove(const Node* node) {
  return node && !node->epilogue &&
         (node->op == &ops::Reshape || node->op == &ops::Transpose || node->op == &ops::Slice ||
          node->op == &ops::Expand);
}

bool spread(ElementPlaces& places, const Shape& shape) {
  if (!hasElements(shape) || places.axes.size() > shape.size()) return false;
  places.axes.insert(places.axes.begin(), shape.size() - places.axes.size(), Axis{0});
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<size_t>(shape[i].value());
    if (places.axes[i].size() == 1) places.axes[i].resize(size, 0);
    if (places.axes[i].size() != size) return false;
  }
  return true;
}

bool applyMove(ElementPlaces& places, const Node& node) {
  const Shape& shape = node.output()->shape();
  if (!hasElements(shape)) return false;
  if (node.op == &ops::Reshape) return reshape(places, shape);
  if (node.op == &ops::Slice) return slice(places, node.as<SliceAttrs>());
  if (node.op == &ops::Expand) return spread(places, shape);
  transpose(places, node.as<TransposeAttrs>().order);
  return true;
}

std::optional<ElementPlaces> placesOf(const Value* value) {
  std::vector<const Node*> moves;  // the last one first
  for (; isMove(value->producer); value = value->producer->input(0))
    moves.push_back(value->producer);
  if (!value->isConstant() || !hasElements(value->shape())) return std::nullopt;
  ElementPlaces places = wholeOf(value);
  for (const Node* node : moves | std::views::reverse)
    if (!applyMove(places, *node)) return std::nullopt;
  return places;
}

}  // namespace camshaft
