// Tensors that whoever runs the network may look at while it runs.
#pragma once

#include "ir/graph.h"
#include "ops/ops.h"

namespace camshaft {

// Observe(x): hands x, under the name it had in the network, to the observer of the run. No output.
// It reads x like any operator, so x keeps its type and layout and is stored, whatever is fused
// around it.
struct ObserveAttrs : AttrsOf<ObserveAttrs> {
  std::string tensor;
  bool isUnfused = false;  // nobody named it: it is stored anyway
  void fields(AttrVisitor& visit) override {
    visit("tensor", tensor);
    visit("unfused", isUnfused);
  }
};

// Behind what computes the value.
Node* addObserve(Graph& graph, Value* value, ObserveAttrs attrs);

}  // namespace camshaft
