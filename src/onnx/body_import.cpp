#include "onnx/body_import.h"

#include <algorithm>
#include <set>

#include "ops/evaluate.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

BodyImport::BodyImport(ModelImport& model, const Scope& outer, const std::string& name,
                       const wire::Graph& body)
    : outerModel_(model), body_(body), import_(model, graph_, options_) {
  graph_.name = name;
  scope_.parent = &outer;
  scope_.captures = this;
  scope_.depth = outer.depth + 1;
  scope_.enter(name);
  scope_.functions = outer.functions;
  scope_.opsets = outer.opsets;
  scope_.functionAttributes = outer.functionAttributes;
}

Value* BodyImport::addInput(std::string_view name, TensorType type) {
  Value* value = graph_.addInput(std::string(name), std::move(type));
  define(name, value);
  return value;
}

// Inputs have numbers or symbols as sizes. A symbol keeps its name, an expression becomes a symbol;
// equal sizes outside are equal inside.
Dim BodyImport::inside(const Dim& outer) {
  if (outer.isConstant()) return outer;
  const auto [known, isNew] = insideDims_.try_emplace(toString(outer));
  if (isNew) {
    const DimRange range = rangeOf(outer, outerModel_.graph().symbolRange());
    known->second = graph_.newSymbol(outer.isSymbol() ? outer.symbolName() : "size", range);
    outsideDims_.emplace(known->second.symbolName(), outer);
    import_.inputSizes().mayAssume(known->second.symbolName(), outer);
  }
  return known->second;
}

TensorType BodyImport::inside(TensorType outer) {
  for (Dim& dim : outer.shape) dim = inside(dim);
  return outer;
}

Value* BodyImport::inside(Value* outer) {
  const auto [known, isNew] = known_.try_emplace(outer);
  if (!isNew) return known->second;
  Value*& value = known->second;
  if (outer->isConstant())
    return value = graph_.addConstant(outer->name, outer->type, outer->constant);
  if (const HostTensor* tensor = outerModel_.folder().find(outer))
    return value = graph_.addConstant(outer->name, outer->type, ConstantData::own(tensor->bytes));
  if ((value = sizesInside(*outer))) return value;
  captured_.push_back(outer);
  return value = graph_.addInput(outer->name, inside(outer->type));
}

// Shape arithmetic on sizes that the body's inputs have goes on inside.
Value* BodyImport::sizesInside(const Value& outer) {
  if (!outer.contents || outer.rank() > 1) return nullptr;
  std::set<std::string> names;
  for (const Dim& dim : *outer.contents) collectSymbols(dim, names);
  for (const std::string& name : names)
    if (!insideDims_.contains(name)) return nullptr;
  DimsTensorAttrs attrs;
  for (const Dim& dim : *outer.contents)
    attrs.values.push_back(
        substitute(dim, [&](const std::string& name) { return insideDims_.at(name); }));
  attrs.scalar = outer.rank() == 0;
  attrs.type = outer.dataType();
  return graph_.add(&ops::DimsTensor, outer.name, {}, std::move(attrs))->output();
}

bool BodyImport::runWithSequences() {
  problems_ = import_.importBody(body_, scope_, items_);
  return problems_.empty() && std::find(items_.begin(), items_.end(), Item()) == items_.end();
}

bool BodyImport::run() {
  if (!runWithSequences()) return false;
  for (size_t i = 0; i < items_.size(); ++i) {
    outputs_.push_back(tensorOf(items_[i]));
    if (outputs_.back()) continue;
    const std::string message = str(
        "output '", body_.outputs[i].name, "' of the subgraph of '", graph_.name, "' is ",
        describe(items_[i]), ", and which iterations or branch make it is known at run time only");
    problems_.push_back({.kind = ErrorKind::kUnsupported, .message = message, .reason = message});
  }
  return problems_.empty();
}

void BodyImport::importHere(const NodeImport& node,
                            const std::function<void(NodeImport& inside)>& add) {
  NodeImport inside(import_, scope_, node.wireNode(), node.opset());
  try {
    add(inside);
  } catch (const BodyFailure&) {
    problems_ = import_.takeProblems();
  }
}

void BodyImport::fail() {
  outerModel_.addProblems(std::move(problems_));
  throw BodyFailure();
}

void BodyImport::reshapeOutput(size_t index, const Shape& shape) {
  Value*& output = outputs_[index];
  ReshapeAttrs attrs;
  attrs.shape = shape;
  output = graph_.add(&ops::Reshape, output->name, {output}, std::move(attrs))->output();
}

bool BodyImport::isKnownTrue(const Value* value) {
  const auto known = import_.folder().integers(value);
  return known && known->size() == 1 && known->front() != 0;
}

std::optional<Dim> BodyImport::outside(const Dim& dim) const {
  std::set<std::string> names;
  collectSymbols(dim, names);
  for (const std::string& name : names)
    if (!outsideDims_.contains(name)) return std::nullopt;
  return substitute(dim, [&](const std::string& name) { return outsideDims_.at(name); });
}

BodyPtr BodyImport::finish(std::vector<Value*> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) graph_.addOutput(str("output", i), outputs[i]);
  return std::make_shared<const Graph>(std::move(graph_));
}

}  // namespace camshaft::onnx::importer
