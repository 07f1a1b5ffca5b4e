// The import of one model: walks node lists scope by scope and collects problems.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/constant.h"
#include "onnx/import.h"
#include "onnx/names.h"
#include "onnx/operators.h"
#include "onnx/scope.h"

namespace camshaft::onnx::importer {

class ModelImport {
 public:
  ModelImport(const LoadedModel& model, Graph& graph, const ImportOptions& options)
      : loaded_(model), graph_(graph), options_(options) {}

  std::vector<ImportProblem> run();

  Graph& graph() { return graph_; }
  ConstantFolder& folder() { return folder_; }
  const std::shared_ptr<const ModelFiles>& files() const { return loaded_.files; }
  // Imports a branch's nodes where they stand; throws Error when any of them can't be.
  std::vector<Value*> importBranch(const wire::Graph& branch, const Scope& outer,
                                   const std::string& name);

 private:
  void checkModel();
  void importInitializers(const wire::Graph& graph, Scope& scope);
  void importInputs(const wire::Graph& graph, Scope& scope);
  void importOutputs(const wire::Graph& graph, const Scope& scope);
  void importNodes(const std::vector<wire::Node>& nodes, Scope& scope);
  void importNode(const wire::Node& node, Scope& scope);
  void importWith(ImportFunction function, const wire::Node& node, Scope& scope, int64_t opset);
  void importFunction(const wire::Function& function, const wire::Node& node, Scope& scope);
  void nameOutputs(const wire::Node& node, const Scope& scope, const std::vector<Node*>& added);

  const wire::Function* findFunction(const wire::Node& node) const;
  std::string checkOperator(const wire::Node& node, const Scope& scope) const;
  bool hasPoisonedInput(const wire::Node& node, const Scope& scope) const;
  void poison(const wire::Node& node, Scope& scope);
  void report(ErrorKind kind, std::string message);
  void reportNode(ErrorKind kind, const wire::Node& node, const Scope& scope,
                  std::string_view message);

  const LoadedModel& loaded_;
  Graph& graph_;
  const ImportOptions& options_;
  ConstantFolder folder_;
  std::vector<ImportProblem> problems_;
  int mainNode_ = -1;  // index of the main graph's node being imported
  int64_t imported_ = 0;
};

}  // namespace camshaft::onnx::importer
