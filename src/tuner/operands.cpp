// What a node's operands hold while its kernels are tried.
#include <algorithm>
#include <tuple>
#include <utility>

#include "ops/attention.h"
#include "ops/index.h"
#include "ops/ops.h"
#include "ops/symbols.h"
#include "support/error.h"
#include "tuner/bench.h"

namespace camshaft {
namespace {

using Range = std::pair<double, double>;

constexpr Range kZero{0, 0};

// Indices from 0 to below a size.
Range below(int64_t size) { return {0, static_cast<double>(std::max<int64_t>(size, 1) - 1)}; }

// Operators whose integers are numbers like others, not indices, lengths or sizes.
bool takesAnyInteger(const Node& node, size_t input) {
  static const Op kFirst[] = {&ops::Gather, &ops::GatherElements, &ops::GatherND};
  static const Op kNotSecond[] = {&ops::ScatterElements, &ops::ScatterND};
  static const Op kAll[] = {&ops::Pointwise, &ops::Identity,   &ops::Reduce,  &ops::ArgReduce,
                            &ops::CumSum,    &ops::Transpose,  &ops::Reshape, &ops::BitCast,
                            &ops::Expand,    &ops::Slice,      &ops::Concat,  &ops::Pad,
                            &ops::Tile,      &ops::Trilu,      &ops::TopK,    &ops::MatMul,
                            &ops::Pool,      &ops::NonZero,    &ops::Unique,  &ops::MatMulInteger,
                            &ops::Attention, &ops::ConvInteger};
  const auto isIn = [&](std::span<const Op> list) {
    return std::find(list.begin(), list.end(), node.op) != list.end();
  };
  const bool isOfEpilogue = node.epilogue && static_cast<int>(input) >= node.epilogue->firstInput;
  return isOfEpilogue || isIn(kAll) || (isIn(kFirst) && input == 0) ||
         (isIn(kNotSecond) && input != 1);
}

// Where integers are indices, those that exist. Elsewhere zero, which is right for all.
Range indexRange(const Node& node, size_t input, const SymbolValue& opt) {
  const auto size = [&](int64_t axis) { return evaluate(node.inputs[0]->shape()[axis], opt); };
  if (input != 1) return kZero;
  if (node.op == &ops::Gather) return below(size(node.as<GatherAttrs>().axis));
  if (node.op == &ops::GatherElements) return below(size(node.as<GatherElementsAttrs>().axis));
  if (node.op == &ops::ScatterElements) return below(size(node.as<ScatterElementsAttrs>().axis));
  if (node.op == &ops::GatherND || node.op == &ops::ScatterND) {
    int64_t least = size(0);
    for (int64_t i = 1; i < node.inputs[0]->rank(); ++i) least = std::min(least, size(i));
    return below(least);
  }
  return kZero;
}

// Few keys might all be masked, and no weights add up to one then.
bool hidesEverything(const Node& node, size_t input, const SymbolValue& opt) {
  constexpr int64_t kManyKeys = 32;
  return node.op == &ops::Attention && input == 3 &&
         evaluate(node.inputs[input]->shape().back(), opt) < kManyKeys;
}

// Large keys would leave all but one of them no weight.
bool areKeys(const Node& node, size_t input) { return node.op == &ops::Attention && input == 1; }

Range rangeFor(const Node& node, size_t input, const SymbolValue& opt) {
  const DataType type = node.inputs[input]->dataType();
  if (type == DataType::kBool) return hidesEverything(node, input, opt) ? Range{1, 1} : Range{0, 1};
  if (isFloat(type)) return {-0.5, 0.5};
  if (!takesAnyInteger(node, input)) return indexRange(node, input, opt);
  const double most = bitsOf(type) == 8 && !areKeys(node, input) ? 100 : 7;
  return {isSigned(type) ? -most : 0, most};
}

}  // namespace

TensorArg argAt(const TensorType& type, const SymbolValue& opt) {
  TensorArg arg{.type = type.type, .rank = static_cast<int32_t>(type.rank())};
  for (int i = 0; i < arg.rank; ++i) arg.dims[i] = evaluate(type.shape[i], opt);
  return arg;
}

TrialOperands operandsOf(const Node& node, const SymbolValue& opt) {
  TrialOperands operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    TrialInput& input = operands.inputs.emplace_back();
    const Value* value = node.inputs[i];
    input.isPresent = value != nullptr;
    if (!value) continue;
    input.tensor = argAt(value->type, opt);
    if (value->isConstant())
      input.bytes = value->constant->bytes;
    else
      std::tie(input.low, input.high) = rangeFor(node, i, opt);
  }
  for (const Value* output : node.outputs) operands.outputs.push_back(argAt(output->type, opt));
  return operands;
}

bool sizesFit(const Node& node, const SymbolValue& opt) {
  Graph graph;
  graph.name = "sizes";
  std::vector<Value*> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value* value = node.inputs[i];
    inputs.push_back(!value ? nullptr
                     : value->isConstant()
                         ? graph.addConstant(str("c", i), value->type, value->constant)
                         : graph.addInput(str("x", i), value->type));
  }
  try {
    const Node* copy = addCopy(graph, node, inputs);
    substituteSymbols(graph, [&](const std::string& symbol) { return Dim(opt(symbol)); });
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Shape& declared = node.outputs[i]->shape();
      const Shape& inferred = copy->outputs[i]->shape();
      if (declared.size() != inferred.size()) return false;
      for (size_t axis = 0; axis < declared.size(); ++axis)
        if (!inferred[axis].isConstant(evaluate(declared[axis], opt))) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace camshaft
