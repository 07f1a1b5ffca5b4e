#include "api/lowering/body.h"

#include "api/lowering/placeholders.h"
#include "ops/move.h"
#include "ops/shape.h"
#include "ops/symbols.h"

namespace camshaft::api {

namespace {

Value* counterpart(const Value* value, const Graph& from, Graph& into, ValueMap& known) {
  if (!value) return nullptr;
  const auto [it, isNew] = known.try_emplace(value);
  if (!isNew) return it->second;
  if (&from == &into) return it->second = const_cast<Value*>(value);
  CAMSHAFT_CHECK(value->isConstant(), "the body '", into.name, "' did not capture '", value->name,
                 "'");
  return it->second = into.addConstant(value->name, value->type, value->constant);
}

}  // namespace

void copyNodes(const std::vector<Node*>& nodes, Graph& from, Graph& into, ValueMap& known) {
  for (const Node* node : nodes) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs) inputs.push_back(counterpart(input, from, into, known));
    if (node->op == &placeholders::ConditionalInput) {
      known[node->output()] = inputs[0];
      continue;
    }
    Node* copy = into.addNode(node->op, node->name, std::move(inputs), node->attrs->clone(),
                              static_cast<int>(node->outputs.size()));
    copy->origins = node->origins;
    copy->precision = node->precision;
    for (size_t i = 0; i < node->outputs.size(); ++i) known[node->outputs[i]] = copy->outputs[i];
  }
}

Value* reshaped(Graph& graph, Value* x, const Shape& shape) {
  if (x->shape() == shape) return x;
  ReshapeAttrs attrs;
  attrs.shape = shape;
  return graph.add(&ops::Reshape, x->name, {x}, std::move(attrs))->output();
}

Body::Body(Graph& outer, std::string name) : outer_(outer) { graph_.name = std::move(name); }

Value* Body::addInput(const std::string& name, TensorType type) {
  return graph_.addInput(name, std::move(type));
}

// Inputs have numbers or symbols as sizes: one of an expression gets a symbol of its own, and is
// seen in the shape that it has outside.
void Body::addInputFor(const Value* outer) {
  const SymbolRange outerRange = outer_.symbolRange();
  TensorType type = outer->type;
  for (Dim& dim : type.shape) {
    if (dim.isConstant()) continue;
    if (dim.isSymbol()) {
      symbols_.insert(dim.symbolName());
      graph_.symbols.try_emplace(dim.symbolName(), SymbolInfo{rangeOf(dim, outerRange), {}});
    } else {
      dim = graph_.newSymbol("size", rangeOf(dim, outerRange));
    }
  }
  if (type != outer->type) views_.push_back(outer);
  known_[outer] = addInput(outer->name, std::move(type));
}

void Body::capture(const NodeSet& region, const std::vector<Node*>& nodes,
                   const std::vector<Value*>& values) {
  const auto captureValue = [&](Value* value) {
    if (!value || value->isConstant() || known_.contains(value) || region.contains(value->producer))
      return;
    addInputFor(value);
    captured_.push_back(value);
  };
  for (const Node* node : nodes)
    for (Value* input : node->inputs) captureValue(input);
  for (Value* value : values) captureValue(value);
  captureSymbols(nodes);
  for (const Value* outer : views_) known_[outer] = reshaped(graph_, known_[outer], outer->shape());
}

void Body::captureSymbols(const std::vector<Node*>& nodes) {
  std::set<std::string> wanted, defined;
  for (const Node* node : nodes) {
    wanted.merge(symbolsRead(*node));
    defined.merge(symbolsDefined(*node));
  }
  for (const std::string& symbol : defined) {
    const SymbolInfo& info = graph_.symbols[symbol] = outer_.symbols.at(symbol);
    if (info.upper) collectSymbols(*info.upper, wanted);
  }
  for (const Value* outer : views_)
    for (const Dim& dim : outer->shape()) collectSymbols(dim, wanted);
  for (const std::string& symbol : wanted) {
    if (symbols_.contains(symbol) || defined.contains(symbol)) continue;
    const Dim dim = Dim::symbol(symbol);
    Value* number = addDims(outer_, str("size_", symbol), {dim});
    captured_.push_back(number);
    graph_.symbols.try_emplace(symbol, SymbolInfo{rangeOf(dim, outer_.symbolRange()), {}});
    BindDimsAttrs attrs;
    attrs.symbols = {dim};
    Value* input = addInput(number->name, number->type);
    graph_.add(&ops::BindDims, str("dims of ", input->name), {input}, std::move(attrs));
  }
}

Value* Body::inside(const Value* outer) { return counterpart(outer, outer_, graph_, known_); }

BodyPtr Body::finish(const std::vector<Value*>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) graph_.addOutput(str("output", i), outputs[i]);
  return std::make_shared<const Graph>(std::move(graph_));
}

}  // namespace camshaft::api
