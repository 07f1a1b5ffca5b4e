#include "passes/permuted_node.h"

#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/sample.h"
#include "ops/softmax.h"

namespace camshaft {

namespace {

// Position in the stored tensor of entries given per dimension of the tensor as read.
template <class T>
std::vector<T> stored(const std::vector<T>& perDimension, const Permutation& order) {
  return permuted(perDimension, inverseOf(order));
}

// `order` among the dimensions that are left once `axes` (of the tensor as read) are gone.
Permutation withoutAxes(const Permutation& order, const std::vector<int64_t>& axes) {
  Permutation kept;
  for (size_t i = 0; i < order.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      kept.push_back(order[i]);
  Permutation sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t& axis : kept)
    axis = std::lower_bound(sorted.begin(), sorted.end(), axis) - sorted.begin();
  return kept;
}

template <class A>
void mapAxis(A& attrs, const Permutation& order) {
  attrs.axis = order[attrs.axis];
}

// Dimensions of the input that become dimensions of the output, elements in order.
struct ReshapeGroup {
  size_t inBegin, inEnd, outBegin, outEnd;
};

// The finest such groups, or none when sizes can't be matched.
std::vector<ReshapeGroup> groupsOf(const Shape& in, const Shape& out) {
  std::vector<ReshapeGroup> groups;
  size_t i = 0, o = 0;
  while (i < in.size() || o < out.size()) {
    ReshapeGroup group{i, i, o, o};
    Dim left = 1, right = 1;
    do {
      // The shorter side takes one more: the smaller number, else the one that has taken less.
      const bool takesIn =
          i < in.size() && (o >= out.size() || (left.isConstant() && right.isConstant()
                                                    ? left.value() <= right.value()
                                                    : i - group.inBegin <= o - group.outBegin));
      if (takesIn)
        left *= in[i++];
      else if (o < out.size())
        right *= out[o++];
      else
        return {};
      if (i > group.inBegin && o > group.outBegin && left == right) break;
    } while (i < in.size() || o < out.size());
    if (left != right) return {};
    group.inEnd = i;
    group.outEnd = o;
    if (group.inBegin == group.inEnd || group.outBegin == group.outEnd) {  // ones at the end
      if (groups.empty()) return {};
      groups.back().inEnd = i;
      groups.back().outEnd = o;
    } else {
      groups.push_back(group);
    }
  }
  return groups;
}

// Groups of dimensions that stand together in the stored tensor too are reshaped there. Dimensions
// of size 1 stand wherever it suits.
std::optional<PermutedNode> permutedReshape(const Node& node, const Permutation& fullOrder) {
  Shape in;
  std::vector<int64_t> ones;
  for (int64_t i = 0; i < node.input(0)->rank(); ++i) {
    const Dim& size = node.input(0)->shape()[i];
    if (size.isConstant(1))
      ones.push_back(i);
    else
      in.push_back(size);
  }
  const Permutation order = withoutAxes(fullOrder, ones);
  const Shape& out = node.output()->shape();
  std::vector<ReshapeGroup> groups = groupsOf(in, out);
  if (groups.empty()) return std::nullopt;
  for (const ReshapeGroup& group : groups)
    for (size_t i = group.inBegin + 1; i < group.inEnd; ++i)
      if (order[i] != order[i - 1] + 1) return std::nullopt;

  std::sort(groups.begin(), groups.end(), [&](const ReshapeGroup& a, const ReshapeGroup& b) {
    return order[a.inBegin] < order[b.inBegin];
  });
  PermutedNode result{nullptr, fullOrder, Permutation(out.size())};
  auto attrs = std::make_unique<ReshapeAttrs>();
  for (const ReshapeGroup& group : groups)
    for (size_t o = group.outBegin; o < group.outEnd; ++o) {
      result.outputOrder[o] = static_cast<int64_t>(attrs->shape.size());
      attrs->shape.push_back(out[o]);
    }
  result.attrs = std::move(attrs);
  return result;
}

// Attributes on stored operands, for operators that keep the rank; false: not this operator.
bool mapAttrs(const Node& node, Attrs& attrs, const Permutation& order) {
  if (node.op == &ops::Pointwise || node.op == &ops::Identity) return true;
  if (node.op == &ops::Concat) return mapAxis(static_cast<ConcatAttrs&>(attrs), order), true;
  if (node.op == &ops::Softmax) return mapAxis(static_cast<SoftmaxAttrs&>(attrs), order), true;
  if (node.op == &ops::CumSum) return mapAxis(static_cast<CumSumAttrs&>(attrs), order), true;
  if (node.op == &ops::Slice) {
    for (int64_t& axis : static_cast<SliceAttrs&>(attrs).axes) axis = order[axis];
    return true;
  }
  if (node.op == &ops::Pad) {
    auto& pad = static_cast<PadAttrs&>(attrs);
    pad.begin = stored(pad.begin, order);
    pad.end = stored(pad.end, order);
    return true;
  }
  if (node.op == &ops::Tile) {
    auto& tile = static_cast<TileAttrs&>(attrs);
    tile.repeats = stored(tile.repeats, order);
    return true;
  }
  if (node.op == &ops::Expand) {
    auto& expand = static_cast<ExpandAttrs&>(attrs);
    expand.shape = stored(expand.shape, order);
    return true;
  }
  if (node.op == &ops::Resize) {
    auto& resize = static_cast<ResizeAttrs&>(attrs);
    resize.sizes = stored(resize.sizes, order);
    resize.scales = stored(resize.scales, order);
    return resize.roi.empty();
  }
  if (node.op == &ops::MatMul) {  // rows of a product with one matrix, in any order
    return node.input(1)->rank() == 2 && !node.as<MatMulAttrs>().transposeA && order.size() > 1 &&
           order.back() == static_cast<int64_t>(order.size()) - 1;
  }
  if (node.op == &ops::LayerNorm) {
    // The normalised dimensions must stay last, in their order, with all that scale and bias span.
    size_t fixed = order.size() - static_cast<size_t>(static_cast<LayerNormAttrs&>(attrs).axis);
    for (int i = 1; i < node.ownInputs(); ++i)
      if (node.hasInput(i)) fixed = std::max(fixed, static_cast<size_t>(node.input(i)->rank()));
    for (size_t i = order.size() - fixed; i < order.size(); ++i)
      if (order[i] != static_cast<int64_t>(i)) return false;
    return true;
  }
  return false;
}

template <class A>
std::optional<PermutedNode> permutedReduce(const Node& node, const Permutation& order,
                                           std::vector<int64_t> axes,
                                           void (*setAxes)(A&, std::vector<int64_t>)) {
  PermutedNode result{node.attrs->clone(), order, order};
  auto& attrs = static_cast<A&>(*result.attrs);
  if (!attrs.keepDims) result.outputOrder = withoutAxes(order, axes);
  for (int64_t& axis : axes) axis = order[axis];
  std::sort(axes.begin(), axes.end());
  setAxes(attrs, std::move(axes));
  return result;
}

}  // namespace

bool operandMoves(const Node& node, int index) {
  return index == 0 || node.op == &ops::Pointwise || node.op == &ops::Concat;
}

std::optional<PermutedNode> permutedNode(const Node& node, int index, const Permutation& order) {
  if (node.epilogue || node.outputs.size() != 1 || !operandMoves(node, index)) return std::nullopt;
  if (node.op == &ops::Reshape) return permutedReshape(node, order);
  if (node.op == &ops::Reduce)
    return permutedReduce<ReduceAttrs>(
        node, order, node.as<ReduceAttrs>().axes,
        [](ReduceAttrs& attrs, std::vector<int64_t> axes) { attrs.axes = std::move(axes); });
  if (node.op == &ops::ArgReduce)
    return permutedReduce<ArgReduceAttrs>(
        node, order, {node.as<ArgReduceAttrs>().axis},
        [](ArgReduceAttrs& attrs, std::vector<int64_t> axes) { attrs.axis = axes[0]; });
  const auto rank = static_cast<size_t>(node.output()->rank());
  if (rank < order.size()) return std::nullopt;  // it takes dimensions away in a way of its own
  const Permutation full = withLeadingDims(order, rank);
  std::unique_ptr<Attrs> attrs = node.attrs->clone();
  if (!mapAttrs(node, *attrs, full)) return std::nullopt;
  return PermutedNode{std::move(attrs), full, full};
}

}  // namespace camshaft
