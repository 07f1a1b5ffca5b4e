// If and Loop. An If whose condition is known while importing becomes its branch.
#include "ops/control_flow.h"

#include <algorithm>

#include "onnx/ops/loop.h"
#include "ops/shape.h"
#include "onnx/ops/sequence.h"

namespace camshaft::onnx::importer {

namespace {

// The sizes of an If's outputs: those that both branches agree on, else symbols of its own.
void recordSizes(NodeImport& node, BodyImport& yes, BodyImport& no, IfAttrs& attrs) {
  for (size_t i = 0; i < yes.outputs().size(); ++i) {
    const TensorType &a = yes.outputs()[i]->type, &b = no.outputs()[i]->type;
    if (a.type != b.type || a.rank() != b.rank())
      node.unsupported("output ", i, " is ", a, " or ", b,
                       ": both branches must give the same element type and rank");
    for (size_t d = 0; d < a.shape.size(); ++d) {
      const auto outerA = yes.outside(a.shape[d]), outerB = no.outside(b.shape[d]);
      if (outerA && outerB && *outerA == *outerB) {
        attrs.sizes.push_back(*outerA);
        continue;
      }
      const DimRange rangeA = rangeOf(a.shape[d], yes.graph().symbolRange());
      const DimRange rangeB = rangeOf(b.shape[d], no.graph().symbolRange());
      const int64_t least = std::max<int64_t>(std::min(rangeA.min, rangeB.min), 0);
      std::optional<Dim> most;
      if (outerA && outerB) most = max(*outerA, *outerB);
      const bool isBound = most && !most->isConstant();
      attrs.symbols.push_back(node.graph().newSymbol(
          "size", {least, std::max(rangeA.max, rangeB.max)}, isBound ? most : std::nullopt));
      attrs.sizes.push_back(attrs.symbols.back());
    }
  }
}

bool sameTypes(const BodyImport& yes, const BodyImport& no) {
  for (size_t i = 0; i < yes.outputs().size(); ++i) {
    const TensorType &a = yes.outputs()[i]->type, &b = no.outputs()[i]->type;
    if (a.type != b.type || a.rank() != b.rank()) return false;
  }
  return true;
}

// Exporters give a scalar in one branch and a vector of one element in the other; the vector stays.
void alignSingles(BodyImport& yes, BodyImport& no) {
  for (size_t i = 0; i < yes.outputs().size(); ++i) {
    const Shape a = yes.outputs()[i]->shape(), b = no.outputs()[i]->shape();
    if (a.size() == b.size() || !isSingle(a) || !isSingle(b)) continue;
    if (a.size() < b.size())
      yes.reshapeOutput(i, b);
    else
      no.reshapeOutput(i, a);
  }
}

bool squeezes(const wire::Graph& branch) {
  return std::any_of(branch.nodes.begin(), branch.nodes.end(),
                     [](const wire::Node& inner) { return inner.opType == "Squeeze"; });
}

// Exporters write x.squeeze(d) as an If that leaves x as it is where d is not 1. Who squeezes
// counts on a 1: the graph goes on with that rank, and a run with another size fails.
bool importSqueeze(NodeImport& node, const BodyImport& yes, const BodyImport& no) {
  const bool inThen = squeezes(yes.wireGraph());
  if (inThen == squeezes(no.wireGraph())) return false;
  addAssertion(node.graph(), node.reshape(node.cast(node.input(0), DataType::kI64), {}), inThen,
               str(node.name(), ", a squeeze of a dimension that must be 1"));
  const std::vector<Item> outputs = node.importBranch(inThen ? "then_branch" : "else_branch");
  for (size_t i = 0; i < outputs.size(); ++i) node.setOutput(static_cast<int>(i), outputs[i]);
  return true;
}

// How an output of an If is handed over: a tensor; the elements of a sequence, where both branches
// have as many; or all of them as one tensor.
enum class Handed { kTensor, kElements, kStacked };

std::vector<Handed> handedOver(NodeImport& node, const BodyImport& yes, const BodyImport& no) {
  if (yes.items().size() != no.items().size())
    node.invalid("its branches give ", yes.items().size(), " and ", no.items().size(), " outputs");
  std::vector<Handed> all;
  for (size_t i = 0; i < yes.items().size(); ++i) {
    const Item &a = yes.items()[i], &b = no.items()[i];
    const Sequence *as = std::get_if<Sequence>(&a), *bs = std::get_if<Sequence>(&b);
    const bool areSequences =
        as && bs && !as->isNothing && !bs->isNothing && !as->continues && !bs->continues;
    if (!areSequences && !(tensorOf(a) && tensorOf(b)))
      node.unsupported("output ", i, " is ", describe(a), " or ", describe(b),
                       ", and which branch makes it is known at run time only");
    const bool areCounted =
        areSequences && !as->stacked && !bs->stacked && as->elements.size() == bs->elements.size();
    all.push_back(!areSequences ? Handed::kTensor
                  : areCounted  ? Handed::kElements
                                : Handed::kStacked);
  }
  return all;
}

void handOver(NodeImport& node, BodyImport& body, const std::vector<Handed>& how) {
  std::vector<Value*> tensors;
  body.importHere(node, [&](NodeImport& inside) {
    for (size_t i = 0; i < how.size(); ++i) {
      const Item& item = body.items()[i];
      if (how[i] == Handed::kTensor) {
        tensors.push_back(tensorOf(item));
        continue;
      }
      const auto& sequence = std::get<Sequence>(item);
      if (how[i] == Handed::kElements)
        tensors.insert(tensors.end(), sequence.elements.begin(), sequence.elements.end());
      else if (!sequence.stacked && sequence.elements.empty())
        node.unsupported("output ", i,
                         " is an empty sequence in one branch, whose type nothing tells");
      else
        tensors.push_back(stacked(inside, sequence));
    }
  });
  body.setOutputs(std::move(tensors));
}

void takeOver(NodeImport& node, const std::vector<Handed>& how, const std::vector<Item>& items,
              const std::vector<Value*>& values) {
  auto next = values.begin();
  for (size_t i = 0; i < how.size(); ++i) {
    const int output = static_cast<int>(i);
    if (how[i] == Handed::kTensor) {
      node.setOutput(output, *next++);
    } else if (how[i] == Handed::kStacked) {
      node.setOutput(output, Sequence{.stacked = *next++});
    } else {
      const auto end = next + static_cast<int64_t>(std::get<Sequence>(items[i]).elements.size());
      node.setOutput(output, Sequence{.elements = {next, end}});
      next = end;
    }
  }
}

}  // namespace

void importIf(NodeImport& node) {
  const auto condition = node.knownIntegers(node.input(0));
  if (condition) {
    const std::vector<Item> outputs =
        node.importBranch(condition->at(0) ? "then_branch" : "else_branch");
    for (size_t i = 0; i < outputs.size(); ++i) node.setOutput(static_cast<int>(i), outputs[i]);
    return;
  }
  const auto yes = node.body("then_branch"), no = node.body("else_branch");
  if (!yes->runWithSequences()) yes->fail();
  if (!no->runWithSequences()) no->fail();
  const std::vector<Handed> handed = handedOver(node, *yes, *no);
  handOver(node, *yes, handed);
  handOver(node, *no, handed);
  alignSingles(*yes, *no);
  if (!sameTypes(*yes, *no) && importSqueeze(node, *yes, *no)) return;
  IfAttrs attrs;
  recordSizes(node, *yes, *no, attrs);
  std::vector<Value*> operands{node.reshape(node.input(0), {})};
  for (const BodyImport* branch : {yes.get(), no.get()})
    operands.insert(operands.end(), branch->captured().begin(), branch->captured().end());
  attrs.thenBranch = yes->finish(yes->outputs());
  attrs.elseBranch = no->finish(no->outputs());
  const int outputs = static_cast<int>(yes->outputs().size());
  const Node* added = node.addNode(&ops::If, std::move(operands), std::move(attrs), outputs);
  takeOver(node, handed, yes->items(), added->outputs);
}

void importLoop(NodeImport& node) {
  if (carriesSequences(node)) return importSequenceLoop(node);
  LoopInputs inputs = limitsOf(node);
  for (int i = 2; i < node.inputCount(); ++i) inputs.carried.push_back(node.input(i));

  const auto make = [&](BodyImport& body, const std::vector<TensorType>& carried) {
    const wire::Graph& graph = body.wireGraph();
    checkCarried(node, graph, carried.size());
    addLimits(body);
    for (size_t c = 0; c < carried.size(); ++c) body.addInput(graph.inputs[2 + c].name, carried[c]);
    return body.run() ? body.outputs() : std::vector<Value*>();
  };
  const std::vector<Value*> outputs =
      addLoop(node, inputs, [&] { return node.body("body"); }, make);
  for (size_t i = 0; i < outputs.size(); ++i) node.setOutput(static_cast<int>(i), outputs[i]);
}

}  // namespace camshaft::onnx::importer
