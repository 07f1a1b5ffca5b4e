// Sequences and optionals, taken apart while importing.
#include "onnx/ops/sequence.h"

#include <algorithm>

#include "onnx/formula.h"
#include "onnx/ops/reduce.h"
#include "onnx/size.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

// Where an element lies, which counts from the end when negative.
size_t positionIn(const NodeImport& node, int64_t given, size_t count) {
  const int64_t size = static_cast<int64_t>(count);
  if (given < -size || given >= size)
    node.invalid("position ", given, " is outside a sequence of ", count, " elements");
  return static_cast<size_t>(given < 0 ? given + size : given);
}

// The same along dimension 0 of elements that are one tensor, known at run time or before it.
Dim positionIn(const NodeImport& node, Value* given, const Dim& count) {
  if (const auto known = node.knownIntegers(given))
    return known->at(0) < 0 ? count + known->at(0) : Dim(known->at(0));
  Formula formula;
  const Term at = cast(formula.input(0, given->dataType()), DataType::kI64);
  const Term result = where(at < 0, at + formula.input(1, DataType::kI64), at);
  Value* position =
      node.pointwise({node.reshape(given, {}), sizeTensor(node, count)}, formula.take(result));
  return boundedSizes(node.graph(), position, {count}, node.name()).at(0);
}

Value* withAxis(const NodeImport& node, Value* x, int64_t axis) {
  if (axis > x->rank())
    node.invalid("its element ", x->type, " has no place for a dimension ", axis,
                 ": all elements must have one rank");
  Shape shape = x->shape();
  shape.insert(shape.begin() + axis, Dim(1));
  return node.reshape(x, std::move(shape));
}

// x with one dimension at another place.
Value* moveAxis(const NodeImport& node, Value* x, int64_t from, int64_t to) {
  if (from == to) return x;
  std::vector<int64_t> order;
  for (int64_t d = 0; d < x->rank(); ++d)
    if (d != from) order.push_back(d);
  order.insert(order.begin() + to, from);
  return node.transpose(x, std::move(order));
}

constexpr int64_t kMostElements = 8192;  // each is a value of the graph

// A tensor's slices along dimension 0 as a sequence, element by element where it is known how many
// they are.
Sequence sequenceOf(const NodeImport& node, Value* rows) {
  const Dim& count = rows->shape()[0];
  if (!count.isConstant() || count.value() > kMostElements) return {.stacked = rows};
  const Shape shape(rows->shape().begin() + 1, rows->shape().end());
  Sequence sequence;
  for (int64_t i = 0; i < count.value(); ++i)
    sequence.elements.push_back(node.reshape(node.slice(rows, 0, i, 1), shape));
  return sequence;
}

// `count` parts of x along an axis as slices along a new dimension 0.
Value* stackParts(const NodeImport& node, Value* x, int64_t axis, const Dim& count,
                  const Dim& part) {
  Shape shape = x->shape();
  shape[axis] = part;
  shape.insert(shape.begin() + axis, count);
  return moveAxis(node, node.reshape(x, std::move(shape)), axis, 0);
}

// Parts of x along an axis, of which the last may be smaller.
Sequence partsOfSize(const NodeImport& node, Value* x, int64_t axis, const Dim& part) {
  const Dim size = x->shape()[axis], count = ceilDiv(size, part);
  node.graph().require({SizeRelation::kAtLeast, part, 1,
                        str("node '", node.name(), "' (SplitToSequence): it splits into parts of "),
                        " elements where it needs at least ", ""});
  Value* filled = x;
  if (!(count * part == size)) {
    PadAttrs pad;
    pad.begin.assign(static_cast<size_t>(x->rank()), Dim(0));
    pad.end = pad.begin;
    pad.end[axis] = count * part - size;
    filled = node.add(&ops::Pad, {x}, std::move(pad));
  }
  Sequence parts{.stacked = stackParts(node, filled, axis, count, part)};
  if (filled != x) parts.parts = Parts{x, axis, part};
  return parts;
}

// As many parts as the run decides, of sizes that must be equal.
Sequence equalParts(const NodeImport& node, Value* x, int64_t axis, Value* sizes) {
  const Dim part = floorDiv(x->shape()[axis], sizes->shape()[0]);
  Formula formula;
  const Term size = cast(formula.input(0, sizes->dataType()), DataType::kI64);
  const Term result = cast(size != formula.input(1, DataType::kI64), DataType::kI64);
  Value* differ = node.pointwise({sizes, sizeTensor(node, part)}, formula.take(result));
  addAssertion(node.graph(), reduce(node, ReduceKind::kSum, differ, {0}, false), 0,
               str(node.name(),
                   ", a split into parts that must be alike where the run decides on "
                   "their number"));
  return {.stacked = stacked(node, partsOfSize(node, x, axis, part))};
}

// Sizes of the parts along the axis, where it is known how many they are.
std::optional<std::vector<Dim>> partsOf(const NodeImport& node, const Value* x, int64_t axis) {
  const Dim& size = x->shape()[axis];
  Value* split = node.optionalInput(1);
  if (split && split->rank() == 1) {
    if (split->shape()[0].isConstant()) return node.dims(split);
    return std::nullopt;
  }
  const Dim given = split ? node.dims(split).at(0) : Dim(1);
  if (!size.isConstant() || !given.isConstant()) return std::nullopt;
  const int64_t part = given.value();
  if (part < 1) node.invalid("it splits into parts of ", part, " elements");
  if (size.value() / part > kMostElements)
    node.unsupported("it splits ", size, " elements into more than ", kMostElements, " parts");
  std::vector<Dim> parts;
  for (int64_t rest = size.value(); rest > 0; rest -= part) parts.push_back(std::min(part, rest));
  return parts;
}

}  // namespace

Value* stacked(const NodeImport& node, const Sequence& sequence) {
  if (const auto& parts = sequence.parts) {
    requireAlike(node.graph(), sequence);
    const Dim count = floorDiv(parts->whole->shape()[parts->axis], parts->size);
    return stackParts(node, parts->whole, parts->axis, count, parts->size);
  }
  if (sequence.stacked) return sequence.stacked;
  for (const Value* element : sequence.elements)
    if (element->type != sequence.elements[0]->type)
      node.unsupported("its sequence has elements of type ", sequence.elements[0]->type, " and ",
                       element->type,
                       ", which must be alike where the run decides on their number");
  return joined(node, sequence.elements, 0, true);
}

Value* joined(const NodeImport& node, std::vector<Value*> parts, int64_t axis, bool asNewAxis) {
  if (asNewAxis)
    for (Value*& part : parts) part = withAxis(node, part, axis);
  return parts.size() == 1 ? parts[0] : node.concat(std::move(parts), axis);
}

bool isSpoilt(NodeImport& node, const std::vector<Item>& bodyOutputs) {
  if (std::find(bodyOutputs.begin(), bodyOutputs.end(), Item()) == bodyOutputs.end()) return false;
  for (int i = 0; i < node.outputCount(); ++i) node.setOutput(i, Item());
  return true;
}

Value* tensorOutput(const NodeImport& node, const std::vector<Item>& bodyOutputs, size_t i) {
  Value* value = i < bodyOutputs.size() ? tensorOf(bodyOutputs[i]) : nullptr;
  if (!value) node.invalid("output ", i, " of its body is missing, or no tensor");
  return value;
}

void importSequenceEmpty(NodeImport& node) { node.setOutput(0, Sequence{}); }

void importSequenceConstruct(NodeImport& node) { node.setOutput(0, Sequence{node.allInputs()}); }

void importSplitToSequence(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(1));
  const int64_t axis = node.axisAttribute("axis", 0, x->rank());
  const bool keepsAxis = node.hasInput(1) || node.flag("keepdims", true);
  const auto sizes = partsOf(node, x, axis);
  Shape flat = x->shape();
  flat.erase(flat.begin() + axis);
  if (!sizes) {
    if (!node.hasInput(1)) {
      Value* rows = moveAxis(node, x, axis, 0);
      return node.setOutput(0,
                            Sequence{.stacked = keepsAxis ? withAxis(node, rows, axis + 1) : rows});
    }
    Value* split = node.input(1, {0, 1});
    return node.setOutput(0, split->rank() == 1
                                 ? equalParts(node, x, axis, split)
                                 : partsOfSize(node, x, axis, node.dims(split).at(0)));
  }
  Sequence parts;
  Dim start = 0;
  for (const Dim& size : *sizes) {
    Value* part = node.slice(x, axis, start, size);
    start += size;
    parts.elements.push_back(keepsAxis ? part : node.reshape(part, flat));
  }
  node.graph().require({SizeRelation::kEqual, start, x->shape()[axis],
                        str("node '", node.name(), "' (SplitToSequence): its parts sum up to "),
                        str(" where dimension ", axis, " has "), ""});
  node.setOutput(0, std::move(parts));
}

namespace {

// Elements as one tensor, without those from `from` up to `to` and with others instead.
Sequence replaced(const NodeImport& node, Value* all, const Dim& from, const Dim& to,
                  Value* others) {
  std::vector<Value*> parts{node.slice(all, 0, 0, from)};
  if (others) parts.push_back(others);
  parts.push_back(node.slice(all, 0, to, all->shape()[0] - to));
  return sequenceOf(node, node.concat(std::move(parts), 0));
}

}  // namespace

void importSequenceInsert(NodeImport& node) {
  // Where a loop goes on with a sequence it is not known here how many elements lie before: nothing
  // but the end can be told.
  Sequence sequence = node.anySequence(0);
  if (sequence.continues && node.hasInput(2)) node.sequence(0);  // refuses
  Value* position = node.optionalInput(2);
  const auto known = position ? node.knownIntegers(position) : std::nullopt;
  std::vector<Value*>& elements = sequence.elements;
  if (sequence.stacked || (position && !known && !elements.empty())) {
    Value* all = stacked(node, sequence);
    const Dim count = all->shape()[0];
    const Dim at = position ? positionIn(node, position, count) : count;
    return node.setOutput(
        0, replaced(node, all, at, at, stacked(node, {.elements = {node.input(1)}})));
  }
  if (static_cast<int64_t>(elements.size()) >= kMostElements)
    node.unsupported("it makes a sequence of more than ", kMostElements, " elements");
  // One may be added behind the last.
  const bool isLast = !known || known->at(0) == static_cast<int64_t>(elements.size());
  const size_t at = isLast ? elements.size() : positionIn(node, known->at(0), elements.size());
  elements.insert(elements.begin() + static_cast<int64_t>(at), node.input(1));
  node.setOutput(0, std::move(sequence));
}

void importSequenceErase(NodeImport& node) {
  Sequence sequence = node.anySequence(0);
  if (sequence.continues) node.sequence(0);  // refuses: it may be another iteration's
  std::vector<Value*>& elements = sequence.elements;
  if (!sequence.stacked && elements.empty())
    node.invalid("it erases an element of an empty sequence");
  Value* position = node.optionalInput(1);
  const auto known = position ? node.knownIntegers(position) : std::nullopt;
  if (sequence.stacked || (position && !known)) {
    Value* all = stacked(node, sequence);
    const Dim count = all->shape()[0];
    const Dim at = position ? positionIn(node, position, count) : count - 1;
    return node.setOutput(0, replaced(node, all, at, at + 1, nullptr));
  }
  const size_t at = known ? positionIn(node, known->at(0), elements.size()) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<int64_t>(at));
  node.setOutput(0, std::move(sequence));
}

namespace {

// A sequence that nobody adds to any more.
Sequence finished(const NodeImport& node, int i) {
  Sequence sequence = node.anySequence(i);
  return sequence.stacked ? sequence : node.sequence(i);
}

}  // namespace

void importSequenceAt(NodeImport& node) {
  const Sequence sequence = finished(node, 0);
  Value* position = node.input(1);
  const auto known = node.knownIntegers(position);
  if (!sequence.stacked && known)
    return node.setOutput(
        sequence.elements.at(positionIn(node, known->at(0), sequence.elements.size())));
  if (!sequence.stacked && sequence.elements.empty())
    node.invalid("it takes an element of an empty sequence");
  if (const auto& parts = sequence.parts) {
    const Dim all = parts->whole->shape()[parts->axis];
    const Dim start = positionIn(node, position, sequence.stacked->shape()[0]) * parts->size;
    return node.setOutput(
        node.slice(parts->whole, parts->axis, start, min(parts->size, all - start)));
  }
  node.setOutput(
      node.add(&ops::Gather, {stacked(node, sequence), node.reshape(position, {})}, GatherAttrs{}));
}

void importSequenceLength(NodeImport& node) {
  const Sequence sequence = finished(node, 0);
  const Dim count = sequence.stacked ? sequence.stacked->shape()[0]
                                     : Dim(static_cast<int64_t>(sequence.elements.size()));
  node.setOutput(count.isConstant()
                     ? node.scalar(DataType::kI64, static_cast<double>(count.value()))
                     : sizeTensor(node, count));
}

void importConcatFromSequence(NodeImport& node) {
  const Sequence sequence = finished(node, 0);
  const bool asNewAxis = node.flag("new_axis");
  node.integer("axis");  // required
  if (!sequence.stacked && sequence.elements.empty())
    node.unsupported("it joins an empty sequence, whose shape nothing tells");
  const int64_t rank =
      sequence.stacked ? sequence.stacked->rank() - 1 : sequence.elements[0]->rank();
  const int64_t axis = node.axisAttribute("axis", 0, rank + (asNewAxis ? 1 : 0));
  if (!sequence.stacked) return node.setOutput(joined(node, sequence.elements, axis, asNewAxis));
  if (sequence.parts && sequence.parts->axis == axis && !asNewAxis)
    return node.setOutput(sequence.parts->whole);
  Value* all = moveAxis(node, stacked(node, sequence), 0, axis);
  Shape shape = all->shape();
  if (!asNewAxis) {
    shape[axis] = shape[axis] * shape[axis + 1];
    shape.erase(shape.begin() + axis + 1);
  }
  node.setOutput(node.reshape(all, std::move(shape)));
}

void importOptional(NodeImport& node) {
  node.setOutput(0, node.optionalItem(0).value_or(Sequence{.elements = {}, .isNothing = true}));
}

void importOptionalHasElement(NodeImport& node) {
  const Item item = node.optionalItem(0).value_or(Sequence{.elements = {}, .isNothing = true});
  const Sequence* sequence = std::get_if<Sequence>(&item);
  node.setOutput(node.scalar(DataType::kBool, !sequence || !sequence->isNothing));
}

void importOptionalGetElement(NodeImport& node) {
  Item item = node.item(0);
  const Sequence* sequence = std::get_if<Sequence>(&item);
  if (sequence && sequence->isNothing) node.invalid("it reads an optional that holds nothing");
  node.setOutput(0, std::move(item));
}

}  // namespace camshaft::onnx::importer
