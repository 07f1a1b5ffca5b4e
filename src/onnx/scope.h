// The names visible to a list of ONNX nodes: the main graph, a function's body or a branch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/sequence.h"

namespace camshaft::onnx::importer {

// Where the enclosing scope's values are in another graph: brings them into this one.
class Captures {
 public:
  virtual ~Captures() = default;
  virtual Value* inside(Value* outer) = 0;
  virtual Dim inside(const Dim& outer) = 0;
};

struct Scope {
  const Scope* parent = nullptr;  // names of the enclosing graph, seen from a branch
  Captures* captures = nullptr;   // of a body
  std::string prefix;             // of names: "caller/" inside a function's body; see enter()
  std::vector<wire::OpsetImport> opsets;
  // A function's attributes as its caller gave them; bodies refer to them by name.
  std::unordered_map<std::string_view, const wire::Attribute*> functionAttributes;
  std::vector<std::string_view> functions;  // whose bodies this lies in, outermost first
  int depth = 0;

  std::unordered_map<std::string_view, Item> values;
  std::unordered_set<std::string_view> poisoned;  // outputs of nodes that could not be imported

  // Names in the graph of what this scope's nodes become. A node of a function or loop becomes one
  // for every call and iteration, so names from inside are shortened where they are very long.
  void enter(std::string_view caller);  // sets the prefix
  std::string named(std::string_view own) const;
  std::string named(const wire::Node& node) const;

  Value* find(std::string_view name) const;  // null too where the name stands for a sequence
  std::optional<Item> findItem(std::string_view name) const;
  bool isMade(std::string_view name) const;  // a tensor or a sequence stands behind it
  bool isPoisoned(std::string_view name) const;
  // Of this scope itself; names of an enclosing one may be used again.
  bool has(std::string_view name) const { return values.contains(name) || poisoned.contains(name); }
  // The imported version of a domain, or 0.
  int64_t opset(std::string_view domain) const;
};

}  // namespace camshaft::onnx::importer
