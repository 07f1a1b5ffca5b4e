#include "ops/evaluate.h"

#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ops/control_flow.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/shape.h"

namespace camshaft {

namespace {

// Nothing when no memory could hold so many.
std::optional<size_t> countBytes(DataType type, const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  if (count > std::numeric_limits<int64_t>::max() / 64) return std::nullopt;  // as bits
  return bytesOf(type, count);
}

size_t requireBytes(DataType type, const Dims& dims) {
  const std::optional<size_t> bytes = countBytes(type, dims);
  if (!bytes)
    fail(ErrorKind::kOutOfMemory, "a tensor of type ", type, " and shape ", makeShape(dims),
         " is larger than any memory");
  return *bytes;
}

}  // namespace

void EvaluationBudget::spend(DataType type, const Dims& dims) {
  const std::optional<size_t> bytes = countBytes(type, dims);
  if (!bytes || *bytes > bytes_ || nodes_ == 0) throw Spent();
  bytes_ -= *bytes;
  --nodes_;
}

HostTensor::HostTensor(DataType type, Dims dims)
    : type(type), dims(std::move(dims)), bytes(requireBytes(type, this->dims)) {}

HostTensor::HostTensor(const ConstTensorView& view) : HostTensor(view.type, view.dims) {
  if (!bytes.empty()) std::memcpy(bytes.data(), view.data, bytes.size());
}

void* HostTensor::data() {
  static std::byte nothing[16];
  return bytes.empty() ? nothing : bytes.data();
}

void evaluateNode(const Node& node, std::span<const ConstTensorView> inputs,
                  std::span<const TensorView> outputs, const SymbolValue& symbolValue) {
  const auto ownInputs = inputs.first(node.ownInputs());
  if (!node.epilogue) {
    node.op->evaluate({node, ownInputs, outputs, symbolValue});
  } else {
    HostTensor result(node.resultBeforeEpilogue().type, outputs[0].dims);
    std::vector<TensorView> before(outputs.begin(), outputs.end());
    before[0] = result.view();
    node.op->evaluate({node, ownInputs, before, symbolValue});

    std::vector<ConstTensorView> operands{before[0]};
    for (const auto& extra : inputs.subspan(node.epilogue->firstInput)) operands.push_back(extra);
    evaluateExpr(node.epilogue->expr, operands, outputs[0]);
  }
  if (node.op->finish) node.op->finish(outputs[0], outputs.subspan(1));
}

std::vector<HostTensor> evaluateNode(const Node& node, std::span<const ConstTensorView> inputs,
                                     const SymbolValue& symbolValue, EvaluationBudget* budget) {
  if (hasBodies(node)) return evaluateBodies(node, inputs, symbolValue, budget);
  if (!node.op->evaluate) {  // a user's operator, in a body too, is beyond every budget
    if (budget) throw EvaluationBudget::Spent();
    fail(ErrorKind::kUnsupported, describe(node), " is a plugin, which engines alone can run");
  }
  std::vector<HostTensor> results;
  for (const Value* output : node.outputs) {
    Dims dims;
    for (const Dim& dim : output->shape()) dims.push_back(evaluate(dim, symbolValue));
    if (budget) budget->spend(output->dataType(), dims);
    results.emplace_back(output->dataType(), std::move(dims));
  }
  std::vector<TensorView> outputs;
  for (HostTensor& result : results) outputs.push_back(result.view());
  evaluateNode(node, inputs, outputs, symbolValue);
  return results;
}

namespace {

using SymbolValues = std::unordered_map<std::string, int64_t>;

SymbolValue lookup(const SymbolValues& values) {
  return [&values](const std::string& name) {
    const auto it = values.find(name);
    if (it == values.end())
      fail(ErrorKind::kInvalidArgument, "dimension '", name, "' has no value yet");
    return it->second;
  };
}

// Symbols take the sizes of the first input that has them; every other use must agree.
void bindInput(const Value& declared, const ConstTensorView& given, SymbolValues& values) {
  if (given.type != declared.dataType() || given.dims.size() != declared.shape().size())
    fail(ErrorKind::kInvalidArgument, "input '", declared.name, "' is declared as ", declared.type,
         " and was given as ", given.type, " of rank ", given.dims.size());
  for (size_t i = 0; i < given.dims.size(); ++i) {
    const Dim& dim = declared.shape()[i];
    if (dim.isSymbol()) values.try_emplace(dim.symbolName(), given.dims[i]);
    if (evaluate(dim, lookup(values)) != given.dims[i])
      fail(ErrorKind::kInvalidArgument, "input '", declared.name, "' is declared as ",
           declared.type, " and was given ", given.dims[i], " as dimension ", i);
  }
}

void bindDims(const Node& node, const ConstTensorView& vector, SymbolValues& values) {
  const auto& symbols = node.as<BindDimsAttrs>().symbols;
  for (size_t i = 0; i < symbols.size(); ++i)
    values[symbols[i].symbolName()] =
        readInteger(vector.type, vector.data, static_cast<int64_t>(i));
}

// Sizes that only a node's results decide.
void bindResults(const Node& node, const std::vector<HostTensor>& results, SymbolValues& values) {
  const std::set<std::string> defined = symbolsDefined(node);
  for (size_t i = 0; i < results.size() && !defined.empty(); ++i)
    for (size_t d = 0; d < results[i].dims.size(); ++d) {
      const Dim& dim = node.outputs[i]->shape()[d];
      if (dim.isSymbol() && defined.contains(dim.symbolName()))
        values.try_emplace(dim.symbolName(), results[i].dims[d]);
    }
}

}  // namespace

std::vector<HostTensor> evaluateGraph(const Graph& graph, std::span<const ConstTensorView> inputs,
                                      EvaluationBudget* budget) {
  if (inputs.size() != graph.inputs.size())
    fail(ErrorKind::kInvalidArgument, "the graph has ", graph.inputs.size(), " inputs and ",
         inputs.size(), " were given");
  SymbolValues symbols;
  std::unordered_map<const Value*, HostTensor> computed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bindInput(*graph.inputs[i], inputs[i], symbols);
    computed.emplace(graph.inputs[i], HostTensor(inputs[i]));
  }
  const auto viewOf = [&](const Value* value) -> ConstTensorView {
    if (!value) return {};
    if (value->isConstant()) {
      ConstTensorView view = value->view();
      if (view.count() == 0) return HostTensor(view).view();
      return view;
    }
    return std::as_const(computed.at(value)).view();
  };
  for (const auto& node : graph.nodes()) {
    std::vector<ConstTensorView> operands;
    for (const Value* value : node->inputs) operands.push_back(viewOf(value));
    if (node->op == &ops::BindDims) {
      bindDims(*node, operands[0], symbols);
      continue;
    }
    std::vector<HostTensor> results = evaluateNode(*node, operands, lookup(symbols), budget);
    bindResults(*node, results, symbols);
    for (size_t i = 0; i < results.size(); ++i) computed[node->outputs[i]] = std::move(results[i]);
  }
  std::vector<HostTensor> outputs;
  for (const auto& output : graph.outputs) outputs.emplace_back(viewOf(output.value));
  return outputs;
}

}  // namespace camshaft
