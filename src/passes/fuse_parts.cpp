// Tensors that are joined from computed parts of others, as rotated queries and keys are, become
// one node, and with them what else is cut out of the same tensors.
//
//   %a = Slice(%x) first half, %b = Slice(%x) second half
//   %c = Pointwise(%a, %cos, %b, %sin), %d = Pointwise(%a, %sin, %b, %cos)
//   %y = Concat(%c, %d)
//   →
//   %y = PointwiseParts(%x, %cos, %sin)
//
// and so does %y = Pointwise(%x, %cos, Concat(-%b, %a), %sin), as exporters of transformers write.
// What a Pointwise alone makes of such a tensor is part of the node, as bytes for a cache are.
// Each would be a small kernel of its own otherwise, and a step of one token is little else. So
// would positions, masks and indices that are computed of the inputs alone: they become one node
// too.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "ir/rewrite.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/strided_view.h"

namespace camshaft {

namespace {

using Values = std::set<const Value*>;

// An operand of a part, as PointwiseParts reads it.
struct Operand {
  Value* source;
  Dim place;
  std::vector<Dim> strides;
};

struct Part {
  std::vector<Dim> begin, size;
  Expr expr;
  std::vector<Operand> operands;
};

// A value that can be computed by parts.
struct Parted {
  Value* value;
  std::vector<Part> parts;
};

// Of a value that broadcasts to `size`, from `begin` on: the farthest tensor whose elements it has
// in strides, neighbours side by side.
std::optional<Operand> operandOf(Value* value, const Shape& size, const std::vector<Dim>& begin) {
  const size_t rank = static_cast<size_t>(value->rank()), skipped = size.size() - rank;
  for (const StridedView& view : viewsOf(value)) {
    Operand operand{view.source, view.offset, std::vector<Dim>(size.size(), Dim(0))};
    bool fits = true;
    for (size_t axis = 0; axis < rank && fits; ++axis) {
      const Dim& own = value->shape()[axis];
      if (own.isConstant(1)) continue;
      const std::optional<Dim> stride = view.strideOf(axis);
      const bool isLast = axis + 1 == rank;
      fits = stride && (!isLast || stride->isConstant(1));
      if (!fits) break;
      operand.strides[skipped + axis] = *stride;
      operand.place += begin[skipped + axis] * *stride;
    }
    if (fits) return operand;
  }
  return std::nullopt;
}

// Whether each dimension of a value is 1 or what it broadcasts to: no size may turn out to be 1.
bool broadcastsPlainly(const Value* value, const Shape& to) {
  const size_t rank = static_cast<size_t>(value->rank());
  if (rank > to.size()) return false;
  for (size_t i = 0; i < rank; ++i) {
    const Dim& own = value->shape()[i];
    if (!own.isConstant(1) && own != to[to.size() - rank + i]) return false;
  }
  return true;
}

BoundExpr unchanged(Value* value) {
  BoundExpr bound;
  bound.expr.input(0, value->dataType());
  bound.inputs = {value};
  return bound;
}

// What is computed for `joined` alone, or the value as it is, also where it is rotated: as where
// only some elements are, which a node of their own computes.
BoundExpr computationOf(const Graph& graph, Value* value, const Node* joined,
                        const Values& rotated) {
  const Node* pointwise = producerOf(value, &ops::Pointwise);
  if (!pointwise || soleUser(graph, value) != joined || rotated.contains(value))
    return unchanged(value);
  return boundExpr(*pointwise);
}

// `outer`, whose input `index` is the part's own value.
std::optional<Part> partOf(const BoundExpr& inner, const BoundExpr& outer, int index,
                           const Shape& size, const std::vector<Dim>& begin, const Shape& whole) {
  Part part{begin, size, {}, {}};
  const auto innerCount = static_cast<int>(inner.inputs.size());
  std::vector<int> innerInputs, outerInputs;
  const auto add = [&](Value* value, const std::vector<Dim>& from) {
    std::optional<Operand> operand = operandOf(value, size, from);
    if (operand) part.operands.push_back(std::move(*operand));
    return operand.has_value();
  };
  const std::vector<Dim> zero(size.size(), Dim(0));
  for (int i = 0; i < innerCount; ++i) {
    if (!broadcastsPlainly(inner.inputs[i], size) || !add(inner.inputs[i], zero))
      return std::nullopt;
    innerInputs.push_back(i);
  }
  int next = innerCount;
  for (int i = 0; i < static_cast<int>(outer.inputs.size()); ++i) {
    outerInputs.push_back(i == index ? -1 : next++);
    if (i == index) continue;
    if (!broadcastsPlainly(outer.inputs[i], whole) || !add(outer.inputs[i], begin))
      return std::nullopt;
  }
  part.expr = outer.expr.composed(index, inner.expr, innerInputs, outerInputs);
  return part;
}

// Parts of a Concat, and of what a Pointwise makes of one.
std::optional<Parted> partedBy(const Graph& graph, Node* root, const Values& rotated) {
  const bool isJoin = root->op == &ops::Concat;
  if ((!isJoin && root->op != &ops::Pointwise) || root->epilogue) return std::nullopt;
  Value* value = root->output();
  BoundExpr outer = isJoin ? unchanged(value) : boundExpr(*root);
  const Node* join = isJoin ? root : nullptr;
  int index = 0;
  for (size_t i = 0; i < outer.inputs.size() && !join; ++i) {
    const Node* candidate = producerOf(outer.inputs[i], &ops::Concat);
    if (!candidate || soleUser(graph, outer.inputs[i]) != root) continue;
    if (outer.inputs[i]->shape() != value->shape()) return std::nullopt;
    join = candidate;
    index = static_cast<int>(i);
  }
  if (!join || std::ranges::count(outer.inputs, join->output()) > 1) return std::nullopt;
  const auto axis = static_cast<size_t>(join->as<ConcatAttrs>().axis);
  std::vector<Dim> begin(value->shape().size(), Dim(0));
  Parted parted{value, {}};
  for (Value* piece : join->inputs) {
    std::optional<Part> part = partOf(computationOf(graph, piece, join, rotated), outer, index,
                                      piece->shape(), begin, value->shape());
    if (!part) return std::nullopt;
    parted.parts.push_back(std::move(*part));
    begin[axis] += piece->shape()[axis];
  }
  return parted;
}

// The same in the order of a Transpose that alone reads it, as keys go into caches: neighbours stay
// side by side.
Parted inOrderOfReader(const Graph& graph, Parted parted) {
  const Node* reader = soleUser(graph, parted.value);
  if (!reader || reader->op != &ops::Transpose || reader->epilogue) return parted;
  const std::vector<int64_t>& order = reader->as<TransposeAttrs>().order;
  if (order.back() + 1 != std::ssize(order)) return parted;
  const auto reorder = [&](std::vector<Dim>& dims) {
    std::vector<Dim> reordered;
    for (const int64_t axis : order) reordered.push_back(dims[static_cast<size_t>(axis)]);
    dims = std::move(reordered);
  };
  for (Part& part : parted.parts) {
    reorder(part.begin);
    reorder(part.size);
    for (Operand& operand : part.operands) reorder(operand.strides);
  }
  parted.value = reader->output();
  return parted;
}

// The same in a shape that has dimensions of 1 elsewhere; nothing for another one.
std::optional<Parted> reshaped(Parted parted, Value* to) {
  const Shape &from = parted.value->shape(), &shape = to->shape();
  std::vector<size_t> axes;  // of `from`, but for dimensions of 1
  for (size_t i = 0; i < from.size(); ++i)
    if (!from[i].isConstant(1)) axes.push_back(i);
  std::vector<std::optional<size_t>> sources;
  size_t next = 0;
  for (const Dim& dim : shape) {
    const bool isOne = dim.isConstant(1);
    if (!isOne && (next == axes.size() || from[axes[next]] != dim)) return std::nullopt;
    sources.push_back(isOne ? std::nullopt : std::optional(axes[next++]));
  }
  if (axes.empty() || next != axes.size() || shape.back().isConstant(1) ||
      from.back().isConstant(1))
    return std::nullopt;
  const auto place = [&](std::vector<Dim>& dims, int64_t one) {
    std::vector<Dim> placed;
    for (const auto& source : sources) placed.push_back(source ? dims[*source] : Dim(one));
    dims = std::move(placed);
  };
  for (Part& part : parted.parts) {
    place(part.begin, 0);
    place(part.size, 1);
    for (Operand& operand : part.operands) place(operand.strides, 0);
  }
  parted.value = to;
  return parted;
}

// What a Pointwise makes of it; nothing where it cannot be computed by parts.
std::optional<Parted> computed(const Parted& parted, const Node* reader) {
  const BoundExpr outer = boundExpr(*reader);
  const Shape& whole = reader->output()->shape();
  const auto own = std::ranges::find(outer.inputs, parted.value);
  if (whole != parted.value->shape() || std::ranges::count(outer.inputs, parted.value) != 1)
    return std::nullopt;
  Parted result{reader->output(), parted.parts};
  for (Part& part : result.parts) {
    std::vector<int> innerInputs(part.operands.size()), outerInputs;
    std::iota(innerInputs.begin(), innerInputs.end(), 0);
    for (Value* value : outer.inputs) {
      outerInputs.push_back(value == parted.value ? -1 : static_cast<int>(part.operands.size()));
      if (value == parted.value) continue;
      if (!broadcastsPlainly(value, whole)) return std::nullopt;
      std::optional<Operand> operand = operandOf(value, part.size, part.begin);
      if (!operand) return std::nullopt;
      part.operands.push_back(std::move(*operand));
    }
    part.expr = outer.expr.composed(static_cast<int>(own - outer.inputs.begin()), part.expr,
                                    innerInputs, outerInputs);
  }
  return result;
}

// The same with the work on it that nodes do which alone read it, perhaps in another shape.
Parted withWorkBehind(const Graph& graph, Parted parted) {
  const Node* reader = soleUser(graph, parted.value);
  std::optional<Parted> before = parted;
  if (reader && reader->op == &ops::Reshape && !reader->epilogue) {
    before = reshaped(parted, reader->output());
    reader = soleUser(graph, reader->output());
  }
  if (!before || !reader || reader->op != &ops::Pointwise || reader->epilogue) return parted;
  std::optional<Parted> after = computed(*before, reader);
  return after ? withWorkBehind(graph, std::move(*after)) : parted;
}

Values sourcesOf(const Parted& parted) {
  Values sources;
  for (const Part& part : parted.parts)
    for (const Operand& operand : part.operands) sources.insert(operand.source);
  return sources;
}

// Worth it where several computed parts are cut out of one tensor, as a rotation has them.
bool isRotation(const Parted& parted) {
  const size_t count = parted.parts.size();
  if (count < 2 || count > 3) return false;
  std::map<const Value*, std::set<std::string>> places;
  for (const Part& part : parted.parts)
    for (const Operand& operand : part.operands)
      places[operand.source].insert(toString(operand.place));
  const bool isCut =
      std::ranges::any_of(places, [](const auto& each) { return each.second.size() > 1; });
  const bool isComputed = std::ranges::any_of(
      parted.parts, [](const Part& part) { return part.expr.inputCount() > 1; });
  return isCut && isComputed;
}

// The last of the reshapes and transposes that alone read a slice, or the slice.
Node* endOfMoves(const Graph& graph, Node* slice) {
  Node* last = slice;
  while (Node* reader = soleUser(graph, last->output())) {
    if (reader->epilogue || (reader->op != &ops::Reshape && reader->op != &ops::Transpose)) break;
    last = reader;
  }
  return last;
}

// What is computed together, at the place of the last of them.
struct Group {
  std::vector<Parted> members;
  Values sources;
  size_t parts = 0;
  Node* at = nullptr;
};

class PartsFusion {
 public:
  explicit PartsFusion(Graph& graph) : graph_(graph) {}

  bool run() {
    order_ = orderOf(graph_);
    for (Node* node : graph_.nodeList()) {
      std::optional<Parted> parted = partedBy(graph_, node, rotated_);
      if (!parted || !isRotation(*parted) || rotated_.contains(parted->value)) continue;
      Parted rotated = inOrderOfReader(graph_, std::move(*parted));
      Parted whole = withWorkBehind(graph_, rotated);
      const bool isTaken = rotated_.contains(whole.value);  // as work behind another one
      addToGroups(isTaken ? std::move(rotated) : std::move(whole));
    }
    for (Group& group : groups_) addSlices(group);
    addIndices();
    replaceGroups();
    return !groups_.empty();
  }

 private:
  static bool sharesSource(const Group& group, const Values& sources) {
    return std::ranges::any_of(sources, [&](const Value* v) { return group.sources.contains(v); });
  }

  // Whether all that reads the value comes after the node.
  bool isReadAfter(const Value* value, const Node* node) const {
    return std::ranges::all_of(value->users,
                               [&](const Node* user) { return order_.at(user) > order_.at(node); });
  }

  static auto isMember(const Group& group) {
    return [&group](const Value* value) {
      return std::ranges::count(group.members, value, &Parted::value) > 0;
    };
  }

  bool fits(const Group& group, const Parted& parted, const Node* at) const {
    using Attrs = PointwisePartsAttrs;
    return group.members.size() < Attrs::kMostOutputs &&
           group.parts + parted.parts.size() <= Attrs::kMostParts &&
           std::ranges::none_of(sourcesOf(parted), isMember(group)) &&
           isReadAfter(parted.value, at) &&
           std::ranges::all_of(
               group.members, [&](const Parted& member) { return isReadAfter(member.value, at); });
  }

  static void add(Group& group, Parted parted, Node* at) {
    group.sources.merge(sourcesOf(parted));
    group.parts += parted.parts.size();
    group.members.push_back(std::move(parted));
    group.at = at;
  }

  void addToGroups(Parted parted) {
    Node* own = parted.value->producer;
    rotated_.insert(parted.value);
    if (!groups_.empty() && sharesSource(groups_.back(), sourcesOf(parted))) {
      // Behind all that any of them reads.
      Node* at = order_.at(own) > order_.at(groups_.back().at) ? own : groups_.back().at;
      if (fits(groups_.back(), parted, at)) return add(groups_.back(), std::move(parted), at);
    }
    add(groups_.emplace_back(), std::move(parted), own);
  }

  // What else is cut out of the group's tensors and not only read by it.
  void addSlices(Group& group) {
    for (Node* node : graph_.nodeList()) {
      if (node->op != &ops::Slice || node->epilogue || order_.at(node) > order_.at(group.at))
        continue;
      if (isInGroups(node->output())) continue;
      Node* end = endOfMoves(graph_, node);
      Value* value = end->output();
      if (graph_.isOutput(value)) continue;
      const std::vector<Dim> zero(value->shape().size(), Dim(0));
      std::optional<Part> part =
          partOf(unchanged(value), unchanged(value), 0, value->shape(), zero, value->shape());
      if (!part || part->operands[0].source == value) continue;
      const Parted slice{value, {std::move(*part)}};
      for (Parted parted : {withWorkBehind(graph_, slice), slice}) {
        if (graph_.isOutput(parted.value) || !isThereFor(group, parted) ||
            !sharesSource(group, sourcesOf(parted)) || !fits(group, parted, group.at))
          continue;
        add(group, std::move(parted), group.at);
        break;
      }
    }
  }

  // Whether all that it reads is computed before the group is, and not by any other one, which may
  // come later.
  bool isThereFor(const Group& group, const Parted& parted) const {
    return std::ranges::all_of(sourcesOf(parted), [&](const Value* source) {
      return (!source->producer || order_.at(source->producer) < order_.at(group.at)) &&
             std::ranges::none_of(groups_, [&](const Group& g) { return isMember(g)(source); });
    });
  }

  // Small tensors of integers or truths, of inputs and constants.
  static std::optional<Parted> indicesOf(const Node* node) {
    constexpr int64_t kFewElements = 1 << 16;
    if (node->op != &ops::Pointwise || node->epilogue || node->inputs.empty()) return std::nullopt;
    Value* value = node->output();
    const Dim count = numElements(value->shape());
    if (!isIndex(value) || !count.isConstant() || count.value() > kFewElements) return std::nullopt;
    const std::vector<Dim> zero(value->shape().size(), Dim(0));
    std::optional<Part> part =
        partOf(boundExpr(*node), unchanged(value), 0, value->shape(), zero, value->shape());
    if (!part || std::ranges::any_of(part->operands, [](const Operand& operand) {
          return operand.source->producer != nullptr;
        }))
      return std::nullopt;
    return Parted{value, {std::move(*part)}};
  }

  // At the place of the first: all that they read is there from the beginning.
  void addIndices() {
    std::vector<Group> found;
    for (Node* node : graph_.nodeList()) {
      std::optional<Parted> parted = indicesOf(node);
      if (!parted) continue;
      if (found.empty() || found.back().members.size() == PointwisePartsAttrs::kMostOutputs)
        found.emplace_back();
      Node* at = found.back().at ? found.back().at : node;
      add(found.back(), std::move(*parted), at);
    }
    for (Group& group : found)
      if (group.members.size() > 1) groups_.push_back(std::move(group));
  }

  // Whether groups replace the value, or what reads it a few nodes on.
  bool isInGroups(const Value* value, int distance = 4) const {
    for (const Group& group : groups_)
      for (const Parted& member : group.members)
        if (member.value == value) return true;
    static constexpr Op kBetween[] = {&ops::Pointwise, &ops::Concat, &ops::Slice, &ops::Reshape,
                                      &ops::Transpose};
    return distance > 0 && std::ranges::any_of(value->users, [&](const Node* user) {
             return std::ranges::count(kBetween, user->op) > 0 &&
                    isInGroups(user->output(), distance - 1);
           });
  }

  // A group may read what another one replaces, so none goes before all are there.
  void replaceGroups() {
    std::vector<Node*> fused;
    for (const Group& group : groups_) fused.push_back(addFused(group));
    for (size_t g = 0; g < groups_.size(); ++g)
      for (size_t i = 0; i < groups_[g].members.size(); ++i)
        replaceValue(graph_, groups_[g].members[i].value, fused[g]->output(static_cast<int>(i)));
  }

  Node* addFused(const Group& group) {
    PointwisePartsAttrs attrs;
    std::vector<Value*> inputs;
    for (const Parted& member : group.members) {
      const auto output = static_cast<int64_t>(attrs.shapes.size());
      attrs.shapes.push_back(member.value->shape());
      for (const Part& part : member.parts) {
        PointwisePartsAttrs::Part& to = attrs.parts.emplace_back();
        to.output = output;
        to.begin = part.begin;
        to.size = part.size;
        to.expr = part.expr;
        for (const Operand& operand : part.operands) {
          auto place = std::ranges::find(inputs, operand.source);
          if (place == inputs.end()) place = inputs.insert(inputs.end(), operand.source);
          to.inputs.push_back(place - inputs.begin());
          to.places.push_back(operand.place);
          to.places.insert(to.places.end(), operand.strides.begin(), operand.strides.end());
        }
      }
    }
    const auto outputs = static_cast<int>(attrs.shapes.size());
    return graph_.add(&ops::PointwiseParts, group.members[0].value->producer->name,
                      std::move(inputs), std::move(attrs), group.at, outputs);
  }

  Graph& graph_;
  NodeOrder order_;
  Values rotated_;  // by the groups
  std::vector<Group> groups_;
};

}  // namespace

bool fuseParts(Graph& graph, const PassOptions& options) {
  return options.fusion.pointwiseParts && PartsFusion(graph).run();
}

}  // namespace camshaft
