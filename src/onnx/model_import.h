// The import of one model: walks node lists scope by scope and collects problems.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "onnx/constant.h"
#include "onnx/fixed_caches.h"
#include "onnx/import.h"
#include "onnx/input_sizes.h"
#include "onnx/names.h"
#include "onnx/operators.h"
#include "onnx/scope.h"
#include "onnx/trace.h"

namespace camshaft::onnx::importer {

class ModelImport {
 public:
  ModelImport(const LoadedModel& model, Graph& graph, const ImportOptions& options);
  // Of a body, into a graph of its own.
  ModelImport(ModelImport& outer, Graph& graph, const ImportOptions& options)
      : loaded_(outer.loaded_),
        graph_(graph),
        options_(options),
        inputSizes_(graph, &outer.inputSizes_),
        outer_(&outer) {}

  std::vector<ImportProblem> run();

  Graph& graph() { return graph_; }
  InputSizes& inputSizes() { return inputSizes_; }
  ConstantFolder& folder() { return folder_; }
  FixedCaches& caches() { return caches_; }
  const std::shared_ptr<const ModelFiles>& files() const { return loaded_.files; }
  const PluginSource* plugins() const { return outer_ ? outer_->plugins() : options_.plugins; }
  // What the model says of a tensor of its main graph, with a shape; null when it does not.
  const wire::ValueInfo* declarationOf(std::string_view tensor);
  // Imports a branch's nodes where they stand; throws Error when any of them can't be.
  std::vector<Item> importBranch(const wire::Graph& branch, const Scope& outer,
                                 const std::string& name, const std::vector<Item>& inputs);
  // Imports a body's nodes and finds its outputs: Item() for those that could not be made.
  std::vector<ImportProblem> importBody(const wire::Graph& body, Scope& scope,
                                        std::vector<Item>& outputs);
  void addProblems(std::vector<ImportProblem> problems);
  std::vector<ImportProblem> takeProblems() { return std::move(problems_); }

 private:
  void checkModel();
  void importInitializers(const wire::Graph& graph, Scope& scope);
  void importInputs(const wire::Graph& graph, Scope& scope);
  void importOutputs(const wire::Graph& graph, const Scope& scope);
  void importItemOutput(std::string_view name, const Item& item);
  std::string outputName(std::string_view name);
  bool isOutput(std::string_view name) const;
  void importNodes(const std::vector<wire::Node>& nodes, Scope& scope);
  void importNode(const wire::Node& node, Scope& scope);
  void importWith(ImportFunction function, const wire::Node& node, Scope& scope, int64_t opset);
  std::vector<Node*> nodesAfter(const Node* last) const;  // null: all
  void keepCopies(const wire::Node& node, Scope& scope, const std::string& name, const Node* last);
  void importFunction(const wire::Function& function, const wire::Node& node, Scope& scope);
  void requireSizesOf(const std::vector<Node*>& nodes);
  void nameOutputs(const wire::Node& node, const Scope& scope, const std::vector<Node*>& added);

  const wire::Function* findFunction(const wire::Node& node) const;
  std::string checkOperator(const wire::Node& node, const Scope& scope) const;
  bool isPlugin(const wire::Node& node, int64_t opset) const;
  bool hasPoisonedInput(const wire::Node& node, const Scope& scope) const;
  void poison(const wire::Node& node, Scope& scope);
  // An input of the declared type, in place of a main graph's tensor that could not be made; null
  // when the model declares none.
  Value* standIn(std::string_view tensor);
  void recordOutputs(const wire::Node& node, const Scope& scope);
  TracedNode traced(const wire::Node& node, const Scope& scope, int64_t opset) const;
  bool keepOpaque(const wire::Node& node, Scope& scope);
  void hideOpenBroadcast(TracedNode& record, Scope& scope);
  void report(ErrorKind kind, const std::string& message);
  void reportNode(ErrorKind kind, const wire::Node& node, const Scope& scope,
                  std::string_view message);

  const LoadedModel& loaded_;
  Graph& graph_;
  const ImportOptions& options_;
  InputSizes inputSizes_;
  ConstantFolder folder_;
  FixedCaches caches_;
  std::vector<ImportProblem> problems_;
  std::unordered_map<std::string_view, const wire::ValueInfo*> declared_;  // once one is asked for
  int mainNode_ = -1;  // index of the main graph's node being imported
  size_t imported_ = 0;
  ModelImport* outer_ = nullptr;  // whose body this imports
  // By domain, name and overload; the outermost import has them.
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const wire::Function*>
      functions_;
};

// Ends the import of a node whose body's problems are reported already.
struct BodyFailure {};

}  // namespace camshaft::onnx::importer
