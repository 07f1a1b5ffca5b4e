#include "onnx/import.h"

#include "onnx/model_import.h"
#include "onnx/operators.h"

namespace camshaft::onnx {

std::vector<ImportProblem> importModel(const LoadedModel& model, camshaft::Graph& graph,
                                       const ImportOptions& options) {
  return importer::ModelImport(model, graph, options).run();
}

camshaft::Graph importModel(const LoadedModel& model) {
  camshaft::Graph graph;
  const std::vector<ImportProblem> problems = importModel(model, graph);
  if (problems.empty()) return graph;
  std::string message;
  for (const ImportProblem& problem : problems)
    message += (message.empty() ? "" : "\n") + problem.message;
  throw Error(problems.front().kind, std::move(message));
}

bool isKnownOperator(std::string_view domain, std::string_view name) {
  return importer::findOperator(importer::canonicalDomain(domain), name, INT64_MAX) != nullptr;
}

}  // namespace camshaft::onnx
