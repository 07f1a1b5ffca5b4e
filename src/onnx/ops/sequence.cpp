// Sequences and optionals, taken apart while importing.
#include "onnx/ops/sequence.h"

#include <algorithm>

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
  Sequence sequence = node.sequence(0);
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

// A position that only the run knows picks among elements of one type and shape.
void importSequenceAt(NodeImport& node) {
  const std::vector<Value*> elements = node.sequence(0).elements;
  Value* position = node.input(1);
  if (node.knownIntegers(position))
    return node.setOutput(elements.at(positionIn(node, 1, elements.size())));
  const bool areAlike = std::all_of(elements.begin(), elements.end(), [&](const Value* element) {
    return element->type == elements[0]->type;
  });
  if (elements.empty() || !areAlike)
    node.unsupported("its position ('", position->name,
                     "') is known at run time only, and the elements differ in type or shape");
  Value* all = joined(node, elements, 0, true);
  node.setOutput(node.add(&ops::Gather, {all, node.reshape(position, {})}, GatherAttrs{}));
}

void importSequenceLength(NodeImport& node) {
  const auto count = static_cast<double>(node.sequence(0).elements.size());
  node.setOutput(node.scalar(DataType::kI64, count));
}

void importConcatFromSequence(NodeImport& node) {
  const std::vector<Value*> elements = node.sequence(0).elements;
  if (elements.empty()) node.unsupported("it joins an empty sequence, whose shape nothing tells");
  const bool asNewAxis = node.flag("new_axis");
  node.integer("axis");  // required
  const int64_t axis = node.axisAttribute("axis", 0, elements[0]->rank() + (asNewAxis ? 1 : 0));
  node.setOutput(joined(node, elements, axis, asNewAxis));
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
