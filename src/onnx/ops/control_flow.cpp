// If, where its condition is known while importing.
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importIf(NodeImport& node) {
  const auto condition = node.knownIntegers(node.input(0));
  if (!condition)
    node.unsupported("its condition ('", node.input(0)->name,
                     "') is known at run time only, which is not supported yet");
  const std::vector<Value*> outputs =
      node.importBranch(condition->at(0) ? "then_branch" : "else_branch");
  for (size_t i = 0; i < outputs.size(); ++i) node.setOutput(static_cast<int>(i), outputs[i]);
}

}  // namespace camshaft::onnx::importer
