// What each ONNX node became in the Graph, for those who write models back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onnx/names.h"

namespace camshaft::onnx {

// One ONNX node as it was imported, wherever it stood: in the main graph, a function's body or the
// branch that was taken. Pointers are into the imported graph, before any pass.
struct TracedNode {
  struct Capture {  // a tensor of an outer graph that the node's subgraphs read by name
    std::string_view name;
    Value* value;
  };

  importer::wire::Node node;  // attributes that referred to a function's are resolved
  std::string name;           // with the prefix of its function or branch
  int64_t opset = 0;
  bool opaque = false;          // no importer: its outputs are inputs of the graph
  std::vector<Value*> inputs;   // null where omitted, or where the input is no tensor
  std::vector<Value*> outputs;  // null where nobody asked
  std::vector<Capture> captures;
  std::vector<camshaft::Node*> parts;  // nodes of the graph made for it alone
};

struct ImportTrace {
  std::vector<TracedNode> nodes;  // in the order of import
};

}  // namespace camshaft::onnx
