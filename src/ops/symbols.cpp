#include "ops/symbols.h"

#include <utility>

#include "ops/ops.h"

namespace camshaft {

namespace {

// Calls onDim for every dimension among the attributes.
template <class OnDim>
class DimVisitor : public AttrVisitor {
 public:
  explicit DimVisitor(OnDim onDim) : onDim_(std::move(onDim)) {}
  void operator()(std::string_view, Dim& value) override { onDim_(value); }
  void operator()(std::string_view, std::vector<Dim>& value) override {
    for (Dim& dim : value) onDim_(dim);
  }
  void operator()(std::string_view, int64_t&) override {}
  void operator()(std::string_view, double&) override {}
  void operator()(std::string_view, bool&) override {}
  void operator()(std::string_view, std::string&) override {}
  void operator()(std::string_view, DataType&) override {}
  void operator()(std::string_view, std::vector<int64_t>&) override {}
  void operator()(std::string_view, std::vector<double>&) override {}
  void operator()(std::string_view, Expr&) override {}
  void choice(std::string_view, int&, std::span<const std::string_view>) override {}

 private:
  OnDim onDim_;
};

}  // namespace

std::set<std::string> symbolsRead(const Node& node) {
  std::set<std::string> names;
  DimVisitor collect([&](const Dim& dim) { collectSymbols(dim, names); });
  node.attrs->fields(collect);
  for (const std::string& name : symbolsDefined(node)) names.erase(name);
  return names;
}

std::set<std::string> symbolsOf(const Node& node) {
  std::set<std::string> symbols = symbolsRead(node);
  const auto addAll = [&](const std::vector<Value*>& values) {
    for (const Value* value : values)
      for (const Dim& dim : value ? value->shape() : Shape()) collectSymbols(dim, symbols);
  };
  addAll(node.inputs);
  addAll(node.outputs);
  return symbols;
}

bool hasSymbols(const Node& node) { return !symbolsRead(node).empty(); }

void substituteSymbols(Graph& graph, Node* node, const SymbolReplacement& replace) {
  DimVisitor rewrite([&](Dim& dim) { dim = substitute(dim, replace); });
  if (node->op != &ops::BindDims) node->attrs->fields(rewrite);
  graph.inferTypes(node);
}

void substituteSymbols(Graph& graph, const SymbolReplacement& replace) {
  for (Value* input : graph.inputs)
    for (Dim& dim : input->type.shape) dim = substitute(dim, replace);
  for (auto& [name, info] : graph.symbols)
    if (info.upper) info.upper = substitute(*info.upper, replace);
  for (auto& [text, condition] : std::exchange(graph.conditions, {})) {
    condition.a = substitute(condition.a, replace);
    condition.b = substitute(condition.b, replace);
    graph.require(std::move(condition));
  }
  for (Node* node : graph.nodeList()) substituteSymbols(graph, node, replace);
}

static Dim settled(const Dim& dim, const SymbolRange& range) {
  Dim sum = dim.constantPart();
  for (const Dim::Term& term : dim.terms()) {
    Dim product = term.coefficient;
    for (const Dim::AtomPtr& atom : term.atoms) {
      using Kind = DimAtom::Kind;
      if (atom->kind == Kind::kSymbol) {
        product *= Dim::symbol(atom->key);
        continue;
      }
      const Dim a = settled(atom->a, range), b = settled(atom->b, range);
      const bool isExtreme = atom->kind == Kind::kMin || atom->kind == Kind::kMax;
      if (isExtreme && rangeOf(a - b, range).min >= 0)
        product *= atom->kind == Kind::kMax ? a : b;
      else if (isExtreme && rangeOf(b - a, range).min >= 0)
        product *= atom->kind == Kind::kMax ? b : a;
      else if (isExtreme)
        product *= atom->kind == Kind::kMax ? max(a, b) : min(a, b);
      else
        product *= atom->kind == Kind::kFloorDiv ? floorDiv(a, b) : broadcast(a, b);
    }
    sum += product;
  }
  return sum;
}

void settleBounds(Graph& graph) {
  const SymbolRange range = graph.symbolRange();
  DimVisitor settle([&](Dim& dim) {
    if (!dim.isConstant()) dim = settled(dim, range);
  });
  for (Node* node : graph.nodeList())
    if (node->op != &ops::BindDims) node->attrs->fields(settle);
}

Node* addCopy(Graph& graph, const Node& node, const std::vector<Value*>& inputs) {
  for (const std::string& symbol : symbolsOf(node)) graph.symbols.try_emplace(symbol);
  const std::vector<Value*> own(inputs.begin(), inputs.begin() + node.ownInputs());
  Node* copy = graph.addNode(node.op, "node", own, node.attrs->clone(),
                             static_cast<int>(node.outputs.size()));
  if (!node.epilogue) return copy;
  graph.setInputs(copy, inputs);
  copy->epilogue = node.epilogue;
  graph.inferTypes(copy);
  return copy;
}

}  // namespace camshaft
