#include "ops/observe.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferObserve(const Node&) { return {}; }
void evaluateObserve(const Evaluation&) {}

}  // namespace

const OpInfo ops::Observe = {"Observe",      1, 1, 0, makeAttrsOf<ObserveAttrs>, inferObserve,
                             evaluateObserve};

Node* addObserve(Graph& graph, Value* value, ObserveAttrs attrs) {
  Node* first = graph.nodeCount() > 0 ? graph.nodes().front().get() : nullptr;
  Node* before = value->producer ? graph.next(value->producer) : first;
  const std::string name = str("observe ", attrs.tensor);
  return graph.add(&ops::Observe, name, {value}, std::move(attrs), before);
}

}  // namespace camshaft
