// A body made of nodes of the graph around it.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/lowering/region.h"
#include "ir/graph.h"

namespace camshaft::api {

using ValueMap = std::unordered_map<const Value*, Value*>;

// The nodes once more, at the end of `into`, which may be their own graph. `known` leads from
// values that they read to those that the copies read, and grows by what these compute. Other
// values are taken as they are, constants of another graph copied.
void copyNodes(const std::vector<Node*>& nodes, Graph& from, Graph& into, ValueMap& known);
// x itself when it has the shape.
Value* reshaped(Graph& graph, Value* x, const Shape& shape);

// Closes a region: what its nodes read of the graph around them becomes inputs of the body. Sizes
// have the names inside that they have outside; those that no input has are handed over as numbers.
class Body {
 public:
  Body(Graph& outer, std::string name);

  // Inputs before the captures: one of any type, and one for an outer value that the region begins
  // with.
  Value* addInput(const std::string& name, TensorType type);
  void addInputFor(const Value* outer);
  // Makes inputs of what these nodes and values need from outside of the region. Called once,
  // before any node is added.
  void capture(const NodeSet& region, const std::vector<Node*>& nodes,
               const std::vector<Value*>& values);

  void copy(const std::vector<Node*>& nodes) { copyNodes(nodes, outer_, graph_, known_); }
  void define(const Value* outer, Value* inside) { known_[outer] = inside; }
  Value* inside(const Value* outer);
  Graph& graph() { return graph_; }
  ValueMap known() const { return known_; }

  // The finished body; the values that it captured are inputs of its node, in this order.
  BodyPtr finish(const std::vector<Value*>& outputs);
  const std::vector<Value*>& captured() const { return captured_; }

 private:
  void captureSymbols(const std::vector<Node*>& nodes);

  Graph& outer_;
  Graph graph_;
  std::vector<Value*> captured_;
  ValueMap known_;                   // outer value to inner
  std::set<std::string> symbols_;    // that have values when the body begins
  std::vector<const Value*> views_;  // outer values with sizes that are no symbols of their own
};

}  // namespace camshaft::api
