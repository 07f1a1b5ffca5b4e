// The names visible to a list of ONNX nodes: the main graph, a function's body or a branch.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/names.h"

namespace camshaft::onnx::importer {

struct Scope {
  const Scope* parent = nullptr;  // names of the enclosing graph, seen from a branch
  std::string prefix;             // of node names: "caller/" inside a function's body
  std::vector<wire::OpsetImport> opsets;
  // A function's attributes as its caller gave them; bodies refer to them by name.
  std::unordered_map<std::string_view, const wire::Attribute*> functionAttributes;
  int depth = 0;

  std::unordered_map<std::string_view, Value*> values;
  std::unordered_set<std::string_view> poisoned;  // outputs of nodes that could not be imported

  Value* find(std::string_view name) const;
  bool isPoisoned(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) || isPoisoned(name); }
  // The imported version of a domain, or 0.
  int64_t opset(std::string_view domain) const;
};

}  // namespace camshaft::onnx::importer
