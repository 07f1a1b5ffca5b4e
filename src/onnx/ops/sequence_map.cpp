// SequenceMap: a body for each element, or a loop where the run decides how many they are.
#include "onnx/ops/loop.h"
#include "onnx/ops/sequence.h"
#include "onnx/size.h"

namespace camshaft::onnx::importer {

namespace {

void mapByCopies(NodeImport& node, size_t count) {
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

// What iterations give is stacked, and so must be alike.
void mapByLoop(NodeImport& node) {
  const auto stackedInput = [&](int i) -> Value* {
    const Item item = node.item(i);
    const Sequence* sequence = std::get_if<Sequence>(&item);
    return sequence ? stacked(node, node.anySequence(i)) : nullptr;
  };
  std::vector<Value*> sequences;
  for (int i = 0; i < node.inputCount(); ++i) sequences.push_back(stackedInput(i));
  const Dim count = sequences.at(0)->shape()[0];
  for (const Value* sequence : sequences)
    if (sequence)
      node.graph().require({SizeRelation::kEqual, sequence->shape()[0], count,
                            str("node '", node.name(), "' (SequenceMap): its sequences have "),
                            " and ", " elements"});
  const LoopInputs inputs{.trips = sizeTensor(node, count)};

  const auto make = [&](BodyImport& body, const std::vector<TensorType>&) {
    const wire::Graph& graph = body.wireGraph();
    if (graph.inputs.size() != sequences.size())
      node.invalid("its body takes ", graph.inputs.size(), " inputs instead of ", sequences.size());
    Graph& into = body.graph();
    Value* iteration = into.addInput("iteration", {DataType::kI64, {}});
    into.addInput("condition", {DataType::kBool, {}});
    for (size_t i = 0; i < sequences.size(); ++i) {
      Value* all = body.inside(sequences[i] ? sequences[i] : node.input(static_cast<int>(i)));
      body.define(graph.inputs[i].name,
                  sequences[i] ? elementAt(into, str("element", i), all, iteration, 0) : all);
    }
    return body.run() ? goingOn(into, body.outputs()) : std::vector<Value*>();
  };
  const std::vector<Value*> outputs =
      addLoop(node, inputs, [&] { return node.body("body"); }, make);
  for (size_t i = 0; i < outputs.size(); ++i)
    node.setOutput(static_cast<int>(i), Sequence{.stacked = outputs[i]});
}

}  // namespace

void importSequenceMap(NodeImport& node) {
  node.anySequence(0);  // required
  for (int i = 0; i < node.inputCount(); ++i) {
    const Item item = node.item(i);
    const Sequence* sequence = std::get_if<Sequence>(&item);
    if (sequence && sequence->stacked) return mapByLoop(node);
  }
  mapByCopies(node, node.sequence(0).elements.size());
}

}  // namespace camshaft::onnx::importer
