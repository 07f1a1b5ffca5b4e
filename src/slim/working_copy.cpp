#include "slim/working_copy.h"

#include <algorithm>
#include <set>

#include "support/text.h"

namespace camshaft {

using onnx::TracedNode;
using onnx::writer::KeptNode;

WorkingCopy::WorkingCopy(const Graph& imported)
    : graph_(imported.clone()), firstKept_(graph_.inputs.size()) {}

void WorkingCopy::keep(const TracedNode& traced) {
  Kept kept{&traced, {}, {}, graph_.outputs.size()};
  for (const Value* input : traced.inputs)
    if (input) keepAlive(*input);
  for (const auto& capture : traced.captures) keepAlive(*capture.value);
  for (const Value* output : traced.outputs) kept.imported.push_back(output);
  kept_.push_back(std::move(kept));
}

void WorkingCopy::cut() {
  for (Kept& kept : kept_)
    for (const Value* output : kept.imported) {
      const auto& parts = kept.traced->parts;
      const bool isOwn =
          output && std::find(parts.begin(), parts.end(), output->producer) != parts.end();
      Value* value = isOwn || (output && kept.traced->opaque) ? graph_.find(output->name) : nullptr;
      if (value && !kept.traced->opaque) {
        Value* input = graph_.addInput(str(value->name, ".kept"), value->type);
        graph_.replaceUses(value, input);
        value = input;
      }
      kept.outputs.push_back(value);
    }
  rebindSymbols();
}

std::vector<KeptNode> WorkingCopy::keptNodes() const {
  std::vector<KeptNode> nodes;
  for (const Kept& kept : kept_) {
    KeptNode node{kept.traced, {}, {kept.outputs.begin(), kept.outputs.end()}, {}};
    size_t next = kept.firstOutput;
    for (const Value* input : kept.traced->inputs)
      node.inputs.push_back(input ? graph_.outputs[next++].value : nullptr);
    for (size_t i = 0; i < kept.traced->captures.size(); ++i)
      node.captures.push_back(graph_.outputs[next++].value);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

bool WorkingCopy::isUnused(const Node* node) const {
  return std::none_of(node->outputs.begin(), node->outputs.end(),
                      [&](const Value* output) { return graph_.hasUses(output); });
}

// A symbol has its value from one place. Where the shapes of new inputs give all symbols of a node
// that is there for nothing else, they do; other sizes of new inputs get symbols of their own.
void WorkingCopy::rebindSymbols() {
  std::set<std::string> given;
  for (size_t i = firstKept_; i < graph_.inputs.size(); ++i)
    for (const Dim& dim : graph_.inputs[i]->shape())
      if (dim.isSymbol()) given.insert(dim.symbolName());
  std::set<std::string> defined;
  for (Node* node : graph_.nodeList()) {
    const std::set<std::string> symbols = symbolsDefined(*node);
    if (!symbols.empty() && isUnused(node) &&
        std::includes(given.begin(), given.end(), symbols.begin(), symbols.end()))
      graph_.erase(node);
    else
      defined.insert(symbols.begin(), symbols.end());
  }
  for (Value* input : graph_.inputs)  // those of nodes that the importer hid as well
    for (Dim& dim : input->type.shape) {
      std::set<std::string> symbols;
      collectSymbols(dim, symbols);
      if (std::any_of(symbols.begin(), symbols.end(),
                      [&](const auto& name) { return defined.contains(name); }))
        dim = graph_.newSymbol("kept");
    }
  graph_.inferAllTypes();
}

void WorkingCopy::keepAlive(const Value& imported) {
  graph_.addOutput(str("kept ", graph_.outputs.size()), graph_.find(imported.name));
}

}  // namespace camshaft
