// A subgraph imported as a body: a graph of its own, closed by capturing what it reads of the graph
// around it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx/model_import.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

class BodyImport : private Captures {
 public:
  // Of a node of `outer`, named `name`.
  BodyImport(ModelImport& model, const Scope& outer, const std::string& name,
             const wire::Graph& body);

  // Inputs before the captures, by their names in the subgraph.
  Value* addInput(std::string_view name, TensorType type);
  // A name of the subgraph for what was made in graph().
  void define(std::string_view name, Item item) { scope_.values[name] = std::move(item); }
  // An outer value, seen from inside: a constant, sizes computed again, or an input of the body.
  Value* inside(Value* outer) override;
  Dim inside(const Dim& outer) override;
  TensorType inside(TensorType outer);
  // A size that only the body knows.
  Dim newSize(const std::string& base) { return graph_.newSymbol(base); }

  // Imports the nodes. False: it failed, for problems that fail() reports or others did before.
  bool run();  // refuses outputs that are no tensors
  bool runWithSequences();
  // Instead of run(): calls `add` for this node as if it stood in the body.
  void importHere(const NodeImport& node, const std::function<void(NodeImport& inside)>& add);
  // Hands the problems of run() to the model's import, and ends the node that has the body.
  [[noreturn]] void fail();

  Graph& graph() { return graph_; }
  ModelImport& model() { return import_; }
  const wire::Graph& wireGraph() const { return body_; }
  const std::vector<Item>& items() const { return items_; }        // its outputs
  const std::vector<Value*>& outputs() const { return outputs_; }  // those of run()
  // Instead of those: tensors of graph(), in which the items are.
  void setOutputs(std::vector<Value*> outputs) { outputs_ = std::move(outputs); }
  void reshapeOutput(size_t index, const Shape& shape);
  bool isKnownTrue(const Value* value);
  // A size of the body in the symbols outside, where it depends on nothing else.
  std::optional<Dim> outside(const Dim& dim) const;

  // The finished body; the values that it captured are then inputs of its node, in this order.
  BodyPtr finish(std::vector<Value*> outputs);
  const std::vector<Value*>& captured() const { return captured_; }

 private:
  Value* sizesInside(const Value& outer);

  ModelImport& outerModel_;
  const wire::Graph& body_;
  ImportOptions options_;
  Graph graph_;
  ModelImport import_;
  Scope scope_;
  std::vector<ImportProblem> problems_;
  std::vector<Item> items_;
  std::vector<Value*> outputs_;
  std::vector<Value*> captured_;            // outer values that became inputs
  std::map<const Value*, Value*> known_;    // outer value to inner
  std::map<std::string, Dim> insideDims_;   // by the outer dimension's text
  std::map<std::string, Dim> outsideDims_;  // by the inner symbol
};

}  // namespace camshaft::onnx::importer
