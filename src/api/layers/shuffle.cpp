#include "api/layers/shuffle.h"

#include <algorithm>
#include <numeric>

#include "api/convert.h"
#include "api/tensor.h"
#include "ops/contents.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::api {

using nvinfer1::Permutation;

namespace {

Value* transposed(Emission& at, Value* x, const std::optional<Permutation>& order) {
  if (!order) return x;
  std::vector<int64_t> axes(order->order, order->order + x->rank());
  std::vector<int64_t> sorted = axes, all(axes.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    at.invalid("was given [", join(axes, ", "), "], which is no order of ", axes.size(),
               " dimensions");
  return at.transpose(x, std::move(axes));
}

// Sizes with 0 and -1 replaced. What -1 stands for is the elements over the other sizes; sizes on
// both sides cancel first, so that no symbol is divided by itself.
Shape resolved(const Emission& at, const Shape& from, Shape shape, bool zeroCopies) {
  Shape rest = from;
  Dim divisor = 1;
  Dim* unknown = nullptr;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].isConstant(-1)) {
      if (unknown) at.invalid("has two reshape dimensions of -1");
      unknown = &shape[i];
      continue;
    }
    if (shape[i].isConstant(0) && zeroCopies) {
      if (i >= from.size())
        at.invalid("copies dimension ", i, " of a tensor of rank ", from.size());
      shape[i] = from[i];
    }
    if (shape[i].isConstant() && shape[i].value() < 0)
      at.invalid("has a reshape dimension of ", shape[i]);
    const auto same = std::find(rest.begin(), rest.end(), shape[i]);
    if (same != rest.end())
      rest.erase(same);
    else
      divisor *= shape[i];
  }
  if (unknown) {
    if (divisor.isConstant(0)) at.invalid("has both a 0 and a -1 among its reshape dimensions");
    *unknown = floorDiv(numElements(rest), divisor);
  }
  return shape;
}

Value* reshaped(Emission& at, Value* x, const std::optional<Shape>& wanted, bool zeroCopies) {
  if (!at.has(1)) return wanted ? at.reshape(x, resolved(at, x->shape(), *wanted, zeroCopies)) : x;
  if (const Contents known = knownContents(at.input(1)))
    return at.reshape(x, resolved(at, x->shape(), *known, zeroCopies));
  ReshapeDimsAttrs attrs;
  attrs.input = x->shape();
  attrs.allowZero = !zeroCopies;
  Value* dims = at.add(&ops::ReshapeDims, {at.input(1)}, std::move(attrs));
  return at.reshape(x, contentsOf(at.graph, dims, at.who(), at.before));
}

constexpr Permutation kIdentity{{0, 1, 2, 3, 4, 5, 6, 7}};

std::vector<int64_t> givenAxes(Emission& at, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis : at.constants(1, "axes")) axes.push_back(axisIn(at, axis, rank));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) at.invalid("has an axis twice");
  return axes;
}

}  // namespace

std::vector<Value*> ShuffleParams::emit(Emission& at) const {
  Value* x = transposed(at, at.input(0), first);
  return {transposed(at, reshaped(at, x, reshape, zeroIsPlaceholder), second)};
}

void ShuffleParams::read(const Node& node) {
  if (node.op == &ops::Transpose) {
    first = kIdentity;
    const auto& order = node.as<TransposeAttrs>().order;
    std::copy(order.begin(), order.end(), first->order);
  } else {
    reshape = node.as<ReshapeAttrs>().shape;
    zeroIsPlaceholder = false;
  }
}

const Permutation& ShuffleLayer::getFirstTranspose() const noexcept {
  return params_.first ? *params_.first : kIdentity;
}
const Permutation& ShuffleLayer::getSecondTranspose() const noexcept {
  return params_.second ? *params_.second : kIdentity;
}

void ShuffleLayer::setReshapeDimensions(const nvinfer1::Dims& dims) noexcept {
  change([&](Params& params) { params.reshape = makeShape(fromPublic(dims)); }, 1);
}

// Of a layer that does not reshape: the dimensions the reshape would see.
nvinfer1::Dims ShuffleLayer::getReshapeDimensions() const noexcept {
  return guarded(reporter(), invalidDims(), [&] {
    if (inputs.size() > 1 && inputs[1]) return invalidDims();
    return params_.reshape ? publicDims(*params_.reshape) : inputs[0]->getDimensions();
  });
}

std::vector<Value*> SqueezeParams::emit(Emission& at) const {
  Value* x = at.input(0);
  Shape shape = x->shape();
  const std::vector<int64_t> axes = givenAxes(at, x->rank());
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (shape[*axis].isConstant() && !shape[*axis].isConstant(1))
      at.invalid("squeezes dimension ", *axis, ", which has size ", shape[*axis]);
    shape.erase(shape.begin() + *axis);
  }
  return {at.reshape(x, std::move(shape))};
}

std::vector<Value*> UnsqueezeParams::emit(Emission& at) const {
  Value* x = at.input(0);
  Shape shape = x->shape();
  const int64_t added = static_cast<int64_t>(at.constants(1, "axes").size());
  for (int64_t axis : givenAxes(at, x->rank() + added)) shape.insert(shape.begin() + axis, Dim(1));
  return {at.reshape(x, std::move(shape))};
}

}  // namespace camshaft::api
