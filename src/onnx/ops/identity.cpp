#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importIdentity(NodeImport& node) { node.setOutput(0, node.item(0)); }

}  // namespace camshaft::onnx::importer
