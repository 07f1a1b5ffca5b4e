// What each ONNX node became in the Graph, for those who write models back.
#pragma once

#include <map>
#include <set>
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
  bool opaque = false;          // its outputs are inputs of the graph,
  bool openBroadcast = false;   // for this reason; else it has no importer
  std::vector<Value*> inputs;   // null where omitted, or where the input is no tensor
  std::vector<Value*> outputs;  // null where nobody asked
  std::vector<Capture> captures;
  bool capturesItems = false;          // subgraphs read by name what is no tensor
  std::vector<camshaft::Node*> parts;  // nodes of the graph made for it alone
};

struct ImportTrace {
  std::vector<TracedNode> nodes;  // in the order of import
  // The symbols for broadcasts of sets of sizes, and of which sizes each is.
  std::map<std::set<std::string>, camshaft::Dim> broadcastSizes;
  std::map<std::string, std::set<std::string>> broadcastOf;
};

// Whether it broadcasts different sizes of which none is known, and either may be 1.
bool isOpenBroadcast(const TracedNode& traced);

}  // namespace camshaft::onnx
