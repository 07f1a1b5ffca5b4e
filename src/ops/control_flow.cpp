#include "ops/control_flow.h"

#include <cstring>
#include <limits>
#include <utility>

#include "ops/rules.h"

namespace camshaft {

namespace {

constexpr int kLoopOwnInputs = 2;  // trip count and condition; in the body iteration and condition

void requireBody(const Node& node, const BodyPtr& body, std::string_view what) {
  if (!body) fail(ErrorKind::kInvalidModel, describe(node), " lacks its ", what);
}

void requireScalar(const Node& node, int input, std::string_view what, DataType type) {
  const Value* value = node.input(input);
  if (!value) return;
  if (value->dataType() != type || !numElements(value->shape()).isConstant(1))
    fail(ErrorKind::kInvalidModel, describe(node), " needs ", what, " of one ", type, " and got ",
         value->type);
}

// The body's inputs from `first` on are the node's from `nodeFirst` on.
void requireInputs(const Node& node, const Graph& body, size_t first, size_t nodeFirst) {
  for (size_t i = first; i < body.inputs.size(); ++i) {
    const Value& declared = *body.inputs[i];
    const Value* given = node.input(static_cast<int>(nodeFirst + i - first));
    if (!given)
      fail(ErrorKind::kInvalidModel, describe(node), " gives its body nothing for '", declared.name,
           "'");
    bool fits = given->dataType() == declared.dataType() && given->rank() == declared.rank();
    for (size_t d = 0; fits && d < declared.shape().size(); ++d) {
      const Dim& size = declared.shape()[d];  // a symbol is the body's own, whatever its name
      fits = size.isSymbol() || mayBeEqual(given->shape()[d], size);
    }
    if (!fits)
      fail(ErrorKind::kInvalidModel, describe(node), " gives its body ", given->type, " for '",
           declared.name, "', which is ", declared.type);
  }
}

// Output types from the element types and ranks that the bodies give, with the sizes recorded.
class SizeReader {
 public:
  SizeReader(const Node& node, const Shape& sizes) : node_(node), sizes_(sizes) {}

  TensorType take(DataType type, size_t rank) {
    if (sizes_.size() - at_ < rank) stop();
    const auto begin = sizes_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += rank;
    return {type, Shape(begin, begin + static_cast<std::ptrdiff_t>(rank))};
  }
  void finish() const {
    if (at_ != sizes_.size()) stop();
  }

 private:
  [[noreturn]] void stop() const {
    fail(ErrorKind::kInvalidModel, describe(node_), " records ", sizes_.size(),
         " sizes, which are not those of its outputs");
  }
  const Node& node_;
  const Shape& sizes_;
  size_t at_ = 0;
};

std::vector<TensorType> inferIf(const Node& node) {
  const auto& attrs = node.as<IfAttrs>();
  requireBody(node, attrs.thenBranch, "then branch");
  requireBody(node, attrs.elseBranch, "else branch");
  const Graph &yes = *attrs.thenBranch, &no = *attrs.elseBranch;
  requireScalar(node, 0, "a condition", DataType::kBool);
  const size_t captures = yes.inputs.size() + no.inputs.size();
  if (node.inputs.size() != 1 + captures || yes.outputs.size() != no.outputs.size())
    fail(ErrorKind::kInvalidModel, describe(node), " does not fit its branches");
  requireInputs(node, yes, 0, 1);
  requireInputs(node, no, 0, 1 + yes.inputs.size());
  SizeReader sizes(node, attrs.sizes);
  std::vector<TensorType> types;
  for (size_t i = 0; i < yes.outputs.size(); ++i) {
    const TensorType &a = yes.outputs[i].value->type, &b = no.outputs[i].value->type;
    if (a.type != b.type || a.rank() != b.rank())
      fail(ErrorKind::kUnsupported, describe(node), " gives ", a, " or ", b, " as output ", i,
           ": both branches must give the same element type and rank");
    types.push_back(sizes.take(a.type, a.shape.size()));
  }
  sizes.finish();
  return types;
}

std::vector<TensorType> inferLoop(const Node& node) {
  const auto& attrs = node.as<LoopAttrs>();
  requireBody(node, attrs.body, "body");
  const Graph& body = *attrs.body;
  requireScalar(node, 0, "a trip count", DataType::kI64);
  requireScalar(node, 1, "a condition", DataType::kBool);
  const auto carried = static_cast<size_t>(attrs.carried);
  if (node.inputs.size() != body.inputs.size() || body.outputs.size() < 1 + carried ||
      body.inputs.size() < kLoopOwnInputs + carried)
    fail(ErrorKind::kInvalidModel, describe(node), " does not fit its body");
  requireInputs(node, body, kLoopOwnInputs, kLoopOwnInputs);
  SizeReader sizes(node, attrs.sizes);
  std::vector<TensorType> types;
  for (size_t i = 1; i < body.outputs.size(); ++i) {
    const TensorType& type = body.outputs[i].value->type;
    const bool isCarried = i <= carried;
    if (isCarried) {
      const TensorType& before = body.inputs[kLoopOwnInputs + i - 1]->type;
      if (type.type != before.type || type.rank() != before.rank())
        fail(ErrorKind::kUnsupported, describe(node), " carries ", before,
             " into an iteration and ", type, " out of it: element type and rank must stay");
    }
    if (!isCarried && isPacked(type.type))
      fail(ErrorKind::kUnsupported, describe(node), " stacks ", type,
           ", whose elements are smaller than a byte");
    types.push_back(sizes.take(type.type, type.shape.size() + (isCarried ? 0 : 1)));
  }
  sizes.finish();
  return types;
}

template <class A>
std::vector<Dim> definedSymbols(const Attrs& attrs) {
  return static_cast<const A&>(attrs).symbols;
}

bool isTrue(const ConstTensorView& condition) {
  return readInteger(condition.type, condition.data, 0) != 0;
}

std::vector<HostTensor> evaluateIf(const Node& node, std::span<const ConstTensorView> inputs,
                                   EvaluationBudget* budget) {
  const auto& attrs = node.as<IfAttrs>();
  const size_t thenCount = attrs.thenBranch->inputs.size();
  return isTrue(inputs[0])
             ? evaluateGraph(*attrs.thenBranch, inputs.subspan(1, thenCount), budget)
             : evaluateGraph(*attrs.elseBranch, inputs.subspan(1 + thenCount), budget);
}

// Iterations' values of one scan output, appended.
void append(const Node& node, HostTensor& all, const HostTensor& one) {
  if (all.dims[0] == 0) {
    all.dims.assign(one.dims.begin(), one.dims.end());
    all.dims.insert(all.dims.begin(), 0);
  } else if (!std::equal(all.dims.begin() + 1, all.dims.end(), one.dims.begin(), one.dims.end())) {
    fail(ErrorKind::kInvalidArgument, describe(node),
         " gives scan outputs of different sizes in different iterations");
  }
  ++all.dims[0];
  all.bytes.insert(all.bytes.end(), one.bytes.begin(), one.bytes.end());
}

std::vector<HostTensor> evaluateLoop(const Node& node, std::span<const ConstTensorView> inputs,
                                     const SymbolValue& symbolValue, EvaluationBudget* budget) {
  const auto& attrs = node.as<LoopAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried);
  const int64_t trips = inputs[0].present() ? readInteger(inputs[0].type, inputs[0].data, 0)
                                            : std::numeric_limits<int64_t>::max();
  HostTensor iteration(DataType::kI64, {}), condition(DataType::kBool, {});
  iteration.dims = staticDims(attrs.body->inputs[0]->shape());
  condition.dims = staticDims(attrs.body->inputs[1]->shape());
  condition.bytes[0] = std::byte{!inputs[1].present() || isTrue(inputs[1])};

  std::vector<HostTensor> results;
  const std::set<std::string> defined = symbolsDefined(node);
  for (const Value* output : node.outputs) {
    if (results.size() < carried) {
      results.emplace_back(inputs[kLoopOwnInputs + results.size()]);
      continue;
    }
    Dims dims;  // as long as there was no iteration
    for (const Dim& dim : output->shape()) {
      std::set<std::string> names;
      collectSymbols(dim, names);
      const bool decidedByRun = std::any_of(
          names.begin(), names.end(), [&](const auto& name) { return defined.contains(name); });
      dims.push_back(dims.empty() || decidedByRun ? 0 : evaluate(dim, symbolValue));
    }
    results.emplace_back(output->dataType(), dims);
  }
  for (int64_t i = 0; i < trips && condition.bytes[0] != std::byte{0}; ++i) {
    if (budget) budget->spend(iteration.type, iteration.dims);  // a body may have no node
    std::memcpy(iteration.bytes.data(), &i, sizeof i);
    std::vector<ConstTensorView> arguments{std::as_const(iteration).view(),
                                           std::as_const(condition).view()};
    for (size_t c = 0; c < carried; ++c) arguments.push_back(std::as_const(results[c]).view());
    const auto captures = inputs.subspan(kLoopOwnInputs + carried);
    arguments.insert(arguments.end(), captures.begin(), captures.end());
    std::vector<HostTensor> given = evaluateGraph(*attrs.body, arguments, budget);
    condition.bytes[0] = given[0].bytes[0];
    for (size_t k = 0; k < results.size(); ++k) {
      HostTensor& one = given[1 + k];
      if (k < carried) {
        results[k] = std::move(one);
        continue;
      }
      if (budget) budget->spend(one.type, one.dims);
      append(node, results[k], one);
    }
  }
  return results;
}

// Where somebody has made room for the results beforehand.
void evaluateInto(const Evaluation& evaluation) {
  const std::vector<HostTensor> results =
      evaluateBodies(evaluation.node, evaluation.inputs, evaluation.symbolValue);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].dims != evaluation.outputs[i].dims)
      fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " gives output ", i,
           " in other sizes than expected");
    std::memcpy(evaluation.outputs[i].data, results[i].view().data, results[i].bytes.size());
  }
}

}  // namespace

const OpInfo ops::If = {
    "If", 1, -1, -1, makeAttrsOf<IfAttrs>, inferIf, evaluateInto, nullptr, definedSymbols<IfAttrs>};
const OpInfo ops::Loop = {"Loop",
                          0,
                          -1,
                          -1,
                          makeAttrsOf<LoopAttrs>,
                          inferLoop,
                          evaluateInto,
                          nullptr,
                          definedSymbols<LoopAttrs>};

int firstBodyInput(const Node& node, size_t body) {
  if (node.op == &ops::Loop) return 0;
  return body == 0 ? 1 : 1 + static_cast<int>(node.as<IfAttrs>().thenBranch->inputs.size());
}

std::map<std::string, Dim> outerDims(const Node& node, size_t body) {
  std::map<std::string, Dim> outer;
  const Graph& graph = *bodiesOf(node)[body];
  const bool isLoop = node.op == &ops::Loop;
  const size_t carriedEnd =
      isLoop ? kLoopOwnInputs + static_cast<size_t>(node.as<LoopAttrs>().carried) : 0;
  const int first = firstBodyInput(node, body);
  for (size_t i = isLoop ? kLoopOwnInputs : 0; i < graph.inputs.size(); ++i) {
    const Shape& inside = graph.inputs[i]->shape();
    const Shape& outside = node.inputs[first + i]->shape();
    for (size_t d = 0; d < inside.size(); ++d) {
      const bool stays =
          i >= carriedEnd || graph.outputs[1 + i - kLoopOwnInputs].value->shape()[d] == inside[d];
      if (inside[d].isSymbol() && stays) outer.emplace(inside[d].symbolName(), outside[d]);
    }
  }
  return outer;
}

void forgetDefinitions(Node& node) {
  (node.op == &ops::If ? node.as<IfAttrs>().symbols : node.as<LoopAttrs>().symbols).clear();
}

std::vector<HostTensor> evaluateBodies(const Node& node, std::span<const ConstTensorView> inputs,
                                       const SymbolValue& symbolValue, EvaluationBudget* budget) {
  return node.op == &ops::If ? evaluateIf(node, inputs, budget)
                             : evaluateLoop(node, inputs, symbolValue, budget);
}

}  // namespace camshaft
