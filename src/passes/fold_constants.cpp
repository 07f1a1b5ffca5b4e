// Nodes that read only constants run now, and integer tensors whose elements are known as
// dimensions become those elements.
//
//   %c = Pointwise(%a, %b) {add}, a and b constant   →   constant c
//   %s = Shape(%x); %d = Gather(%s, 0)               →   %d = DimsTensor() {[n]}, or a constant
//   BindDims(%d) {k}, d known to hold [2*n]          →   2*n wherever k was
#include <map>
#include <unordered_map>
#include <utility>

#include "ir/rewrite.h"
#include "ops/control_flow.h"
#include "ops/evaluate.h"
#include "ops/ops.h"
#include "ops/shape.h"
#include "ops/symbols.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

// Results this much larger than what they are computed from stay computed: an engine file should
// not store a filled tensor.
constexpr size_t kMaxGrowth = 4;
constexpr size_t kMaxFilledBytes = size_t{1} << 20;
constexpr size_t kMaxGrownBytes = size_t{64} << 20;
// What the bodies of one node may compute. What takes more, or never ends, is left to run time.
constexpr size_t kMaxBodyBytes = size_t{1} << 30;
constexpr int64_t kMaxBodyNodes = 1'000'000;

static size_t bytesOfStatic(const Value& value) {
  return bytesOf(value.dataType(), numElements(value.shape()).value());
}

static bool worthStoring(const Node& node) {
  size_t in = 0, out = 0;
  for (const Value* input : node.inputs)
    if (input) in += bytesOfStatic(*input);
  for (const Value* output : node.outputs) out += bytesOfStatic(*output);
  return out <= kMaxGrowth * in ||
         out <= (node.op == &ops::Expand ? kMaxFilledBytes : kMaxGrownBytes);
}

static bool isFoldable(const Node& node) {
  if (node.outputs.empty() || hasSymbols(node) || node.op == &ops::Random || !node.op->evaluate)
    return false;
  for (const Value* input : node.inputs)
    if (input && !input->isConstant()) return false;
  if (hasBodies(node)) return true;  // it runs once here instead of in every inference
  for (const Value* output : node.outputs)
    if (!isStatic(output->shape())) return false;
  return worthStoring(node);
}

// What symbols turned out to be.
using KnownSymbols = std::unordered_map<std::string, Dim>;

// Sizes that only the results decided are numbers from here on.
static void nameSizes(Graph& graph, Node& node, const std::vector<HostTensor>& results,
                      KnownSymbols& known) {
  const std::set<std::string> defined = symbolsDefined(node);
  if (defined.empty()) return;
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < results.size(); ++i)
    for (size_t d = 0; d < results[i].dims.size(); ++d)
      if (const Dim& dim = node.outputs[i]->shape()[d]; dim.isSymbol())
        sizes.emplace(dim.symbolName(), results[i].dims[d]);
  forgetDefinitions(node);
  for (const std::string& name : defined) {
    graph.symbols.erase(name);
    known.emplace(name, sizes.at(name));
  }
}

// False when it takes too long.
static bool replaceByConstants(Graph& graph, Node* node, KnownSymbols& known) {
  std::vector<ConstTensorView> inputs;
  std::vector<HostTensor> empties;  // a constant without elements has no data, yet is present
  const bool isOpaque = readsOpaque(*node);
  empties.reserve(node->inputs.size());
  for (const Value* input : node->inputs) {
    inputs.push_back(input ? input->view() : ConstTensorView{});
    if (input && inputs.back().count() == 0)
      inputs.back() = std::as_const(empties.emplace_back(inputs.back())).view();
  }
  const auto noSymbols = [&](const std::string& symbol) -> int64_t {
    CAMSHAFT_CHECK(false, describe(*node), " reads the dimension ", symbol, " while it is folded");
  };
  EvaluationBudget budget(kMaxBodyBytes, kMaxBodyNodes);
  std::vector<HostTensor> results;
  try {
    results = evaluateNode(*node, inputs, noSymbols, hasBodies(*node) ? &budget : nullptr);
  } catch (const EvaluationBudget::Spent&) {
    return false;
  }
  nameSizes(graph, *node, results, known);
  std::vector<std::pair<Value*, std::string>> constants;  // with the names they take over
  for (size_t i = 0; i < results.size(); ++i) {
    Value* output = node->outputs[i];
    if (!graph.hasUses(output)) continue;
    Value* constant = graph.addConstant(output->name, {results[i].type, makeShape(results[i].dims)},
                                        ConstantData::own(std::move(results[i].bytes), isOpaque));
    graph.replaceUses(output, constant);
    constants.emplace_back(constant, output->name);
  }
  graph.eraseIfDead(node);
  for (const auto& [constant, name] : constants) graph.rename(constant, name);
  return true;
}

// Elements of a tensor as a constant of its type, when none is symbolic.
static Value* addConstantDims(Graph& graph, const Value& value, const std::vector<Dim>& dims) {
  std::vector<std::byte> bytes(bytesOf(value.dataType(), static_cast<int64_t>(dims.size())));
  for (size_t i = 0; i < dims.size(); ++i)
    writeElement(value.dataType(), bytes.data(), static_cast<int64_t>(i),
                 static_cast<double>(dims[i].value()));
  return graph.addConstant(value.name, value.type, ConstantData::own(std::move(bytes)));
}

static bool replaceByContents(Graph& graph, Node* node) {
  Value* output = node->output();
  if (!output->contents || !isInteger(output->dataType()) || output->rank() > 1) return false;
  if (!graph.hasUses(output)) return false;
  const std::vector<Dim> dims = *output->contents;
  Value* known = nullptr;
  if (isStatic(dims)) {
    known = addConstantDims(graph, *output, dims);
  } else {
    if (node->op == &ops::DimsTensor) return false;
    DimsTensorAttrs attrs;
    attrs.values = dims;
    attrs.scalar = output->rank() == 0;
    attrs.type = output->dataType();
    Node* tensor = graph.add(&ops::DimsTensor, node->name, {}, std::move(attrs), node);
    known = tensor->output();
  }
  replaceValue(graph, output, known);
  return true;
}

// An assertion stays unless it is seen to hold: a run must fail.
static bool mayFail(const Graph& graph, const Node& assertion) {
  const std::vector<Dim>& symbols = assertion.as<BindDimsAttrs>().symbols;
  for (size_t i = 0; i < symbols.size(); ++i)
    if (!assertion.input(0)->contents->at(i).isConstant(
            graph.symbolRange()(symbols[i].symbolName()).min))
      return true;
  return false;
}

// Symbols that BindDims would read from a tensor of known dimensions are those dimensions.
static bool resolveBoundDims(Graph& graph, Node* node, KnownSymbols& known) {
  if (node->op != &ops::BindDims || !node->input(0)->contents) return false;
  const Value* values = node->input(0);
  if (!values->producer && !values->isConstant()) return false;  // an input: only a run knows
  if (isAssertion(graph, *node) && mayFail(graph, *node)) return false;
  const std::vector<Dim>& symbols = node->as<BindDimsAttrs>().symbols;
  for (size_t i = 0; i < symbols.size(); ++i) {
    graph.symbols.erase(symbols[i].symbolName());
    known.emplace(symbols[i].symbolName(), node->input(0)->contents->at(i));
  }
  Node* producer = node->input(0)->producer;
  graph.erase(node);
  if (producer) graph.eraseIfDead(producer);
  return true;
}

// One walk in order, in which folding erases only this node and earlier ones: symbols are used
// after the nodes that define them, so what is known of them reaches all nodes that ask.
static bool foldNodes(Graph& graph) {
  bool changed = false;
  KnownSymbols known;
  const auto replace = [&known](const std::string& name) {
    const auto it = known.find(name);
    return it == known.end() ? Dim::symbol(name) : it->second;
  };
  for (Node* node : graph.nodeList()) {
    if (known.empty())
      graph.inferTypes(node);  // contents of its inputs may have become known
    else
      substituteSymbols(graph, node, replace);
    if (isFoldable(*node))
      changed |= replaceByConstants(graph, node, known);
    else if (!node->outputs.empty())
      changed |= replaceByContents(graph, node);
    else
      changed |= resolveBoundDims(graph, node, known);
  }
  if (!known.empty()) substituteSymbols(graph, replace);  // in bounds of symbols too
  return changed;
}

bool foldConstants(Graph& graph, const PassOptions&) {
  bool changed = false;
  while (foldNodes(graph)) changed = true;
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
