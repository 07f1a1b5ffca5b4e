// Sequences and optionals, taken apart while importing.
#include "onnx/ops/sequence.h"

#include <algorithm>

#include "onnx/size.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

namespace {

// Where an element lies, from input `i`, which counts from the end when negative.
size_t positionIn(const NodeImport& node, int i, size_t count) {
  const int64_t given = node.constantIntegers(i, "position").at(0);
  const int64_t size = static_cast<int64_t>(count);
  if (given < -size || given >= size)
    node.invalid("position ", given, " is outside a sequence of ", count, " elements");
  return static_cast<size_t>(given < 0 ? given + size : given);
}

Value* withAxis(const NodeImport& node, Value* x, int64_t axis) {
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

// Sizes of the parts along the axis. Their number must be known.
std::vector<Dim> partsOf(const NodeImport& node, const Value* x, int64_t axis) {
  const Dim& size = x->shape()[axis];
  Value* split = node.optionalInput(1);
  if (split && split->rank() == 1) return node.dims(split);
  if (!size.isConstant())
    node.unsupported("dimension ", axis, " of '", x->name, "' is ", size,
                     ", so that the number of parts is not known: fix it when exporting");
  const int64_t part = split ? node.constantIntegers(1, "size of parts").at(0) : 1;
  if (part < 1) node.invalid("it splits into parts of ", part, " elements");
  if (size.value() / part > kMostElements)
    node.unsupported("it splits ", size, " elements into more than ", kMostElements, " parts");
  std::vector<Dim> parts;
  for (int64_t rest = size.value(); rest > 0; rest -= part) parts.push_back(std::min(part, rest));
  return parts;
}

}  // namespace

Value* stacked(const NodeImport& node, const Sequence& sequence) {
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
  Value* x = node.input(0);
  const int64_t axis = node.axisAttribute("axis", 0, x->rank());
  const bool keepsAxis = node.hasInput(1) || node.flag("keepdims", true);
  if (!node.hasInput(1) && !x->shape()[axis].isConstant()) {
    Value* rows = moveAxis(node, x, axis, 0);
    return node.setOutput(0,
                          Sequence{.stacked = keepsAxis ? withAxis(node, rows, axis + 1) : rows});
  }
  Shape flat = x->shape();
  flat.erase(flat.begin() + axis);
  Sequence parts;
  Dim start = 0;
  for (const Dim& size : partsOf(node, x, axis)) {
    Value* part = node.slice(x, axis, start, size);
    start += size;
    parts.elements.push_back(keepsAxis ? part : node.reshape(part, flat));
  }
  node.setOutput(0, std::move(parts));
}

void importSequenceInsert(NodeImport& node) {
  Sequence sequence = node.hasInput(2) ? node.sequence(0) : node.anySequence(0);
  if (sequence.stacked) {
    Value* last = stacked(node, {.elements = {node.input(1)}});
    sequence.stacked = node.concat({sequence.stacked, last}, 0);
    return node.setOutput(0, std::move(sequence));
  }
  std::vector<Value*>& elements = sequence.elements;
  if (static_cast<int64_t>(elements.size()) >= kMostElements)
    node.unsupported("it makes a sequence of more than ", kMostElements, " elements");
  // One may be added behind the last.
  const size_t count = elements.size() + 1;
  const bool isLast = !node.hasInput(2) || node.constantIntegers(2, "position").at(0) ==
                                               static_cast<int64_t>(elements.size());
  const size_t position = isLast ? count - 1 : positionIn(node, 2, elements.size());
  elements.insert(elements.begin() + static_cast<int64_t>(position), node.input(1));
  node.setOutput(0, std::move(sequence));
}

void importSequenceErase(NodeImport& node) {
  Sequence sequence = node.sequence(0);
  std::vector<Value*>& elements = sequence.elements;
  if (elements.empty()) node.invalid("it erases an element of an empty sequence");
  const size_t position =
      node.hasInput(1) ? positionIn(node, 1, elements.size()) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<int64_t>(position));
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
  if (!sequence.stacked && node.knownIntegers(position))
    return node.setOutput(sequence.elements.at(positionIn(node, 1, sequence.elements.size())));
  if (!sequence.stacked && sequence.elements.empty())
    node.invalid("it takes an element of an empty sequence");
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
  Value* all = moveAxis(node, sequence.stacked, 0, axis);
  Shape shape = all->shape();
  if (!asNewAxis) {
    shape[axis] = shape[axis] * shape[axis + 1];
    shape.erase(shape.begin() + axis + 1);
  }
  node.setOutput(node.reshape(all, std::move(shape)));
}

void importSequenceMap(NodeImport& node) {
  const size_t count = node.sequence(0).elements.size();
  std::vector<Sequence> results(static_cast<size_t>(node.outputCount()));
  for (size_t i = 0; i < count; ++i) {
    std::vector<Item> inputs;
    for (int input = 0; input < node.inputCount(); ++input) {
      const Item item = node.item(input);
      const Sequence* sequence = std::get_if<Sequence>(&item);
      if (sequence && sequence->elements.size() != count)
        node.invalid("its sequences have ", count, " and ", sequence->elements.size(), " elements");
      inputs.push_back(sequence ? Item(sequence->elements[i]) : item);
    }
    const std::vector<Item> outputs = node.importBranch("body", inputs, str(i));
    if (isSpoilt(node, outputs)) return;
    for (size_t k = 0; k < results.size(); ++k)
      results[k].elements.push_back(tensorOutput(node, outputs, k));
  }
  for (size_t k = 0; k < results.size(); ++k)
    node.setOutput(static_cast<int>(k), std::move(results[k]));
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
