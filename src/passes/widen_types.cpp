// 16-bit graphs compute and store in f32, for backends that have no kernels for 16-bit tensors.
//
//   %y = Conv(%x, %w)                          x, w, y: f16, x an input of the graph
//   %z = Pointwise(%y) {relu(x0:f16)}          an output
//   →
//   %x_f32 = Pointwise(%x) {cast(x0:f16, f32)}
//   %y = Conv(%x_f32, %w_f32)
//   %z_f32 = Pointwise(%y) {relu(x0:f32)}
//   %z = Pointwise(%z_f32) {cast(x0:f32, f16)}
//
// Results are those of the 16-bit graph with fewer roundings. A cast of f32 to 16 bits that the
// model has rounds as before. Operators for which the type is part of what they do keep theirs.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/passes.h"
#include "passes/precision_rules.h"
#include "support/half.h"

namespace camshaft {

namespace {

bool keepsTypes(const Node& node) {
  static constexpr Op kTyped[] = {&ops::BitCast, &ops::Random, &ops::MelWeights, &ops::Observe,
                                  &ops::If,      &ops::Loop,   &ops::Plugin};
  return node.epilogue || std::ranges::find(kTyped, node.op) != std::end(kTyped);
}

bool touches16Bit(const Node& node) {
  const auto is16 = [](const Value* value) { return value && is16Bit(value->dataType()); };
  return std::ranges::any_of(node.inputs, is16) || std::ranges::any_of(node.outputs, is16);
}

// What a number is in a 16-bit type.
double rounded(double number, DataType type) {
  const auto value = static_cast<float>(number);
  return type == DataType::kF16 ? static_cast<float>(Half(value))
                                : static_cast<float>(BFloat16(value));
}

Expr inF32(const Expr& expr) {
  Expr wide;
  std::vector<int> at;  // of each instruction in `wide`
  for (const ScalarInstruction& in : expr.code()) {
    const bool is16 = is16Bit(in.type);
    const DataType type = is16 ? DataType::kF32 : in.type;
    switch (in.op) {
      case ScalarOp::kInput:
        at.push_back(wide.input(in.a, type));
        break;
      case ScalarOp::kConst:
        at.push_back(isFloat(type) ? wide.constant(is16 ? rounded(in.real, in.type) : in.real, type)
                                   : wide.constantInteger(in.integer, type));
        break;
      case ScalarOp::kCast:
        at.push_back(wide.cast(at[in.a], type));
        break;
      case ScalarOp::kWhere:
        at.push_back(wide.where(at[in.a], at[in.b], at[in.c]));
        break;
      default:
        at.push_back(wide.apply(in.op, at[in.a], in.b < 0 ? -1 : at[in.b]));
    }
  }
  return wide;
}

class Widening {
 public:
  explicit Widening(Graph& graph) : graph_(graph) {}

  bool run() {
    for (Node* node : graph_.nodeList()) {
      if (keepsTypes(*node))
        restoreInputs(node);
      else if (touches16Bit(*node) || readsWidened(*node))
        widen(node);
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      Value* value = graph_.outputs[i].value;
      if (!original_.contains(value)) continue;
      const std::string name = value->name;
      graph_.rename(value, graph_.uniqueName(name + "_f32"));
      Value* narrow = addCast(graph_, name, value, original_.at(value), nullptr);
      narrow->producer->name = value->producer->name;
      graph_.setOutput(i, narrow);
    }
    graph_.eraseUnusedConstants();
    return changed_;
  }

 private:
  bool readsWidened(const Node& node) const {
    return std::ranges::any_of(node.inputs,
                               [&](const Value* input) { return original_.contains(input); });
  }

  void restoreInputs(Node* node) {
    for (int i = 0; i < static_cast<int>(node->inputs.size()); ++i) {
      const auto original = original_.find(node->inputs[i]);
      if (original != original_.end())
        graph_.setInput(node, i, as(node->inputs[i], original->second));
    }
  }

  void widen(Node* node) {
    if (node->op == &ops::Pointwise) {
      const Expr& expr = node->as<PointwiseAttrs>().expr;
      const bool isBorder =
          expr.isSingle(ScalarOp::kCast) && !readsWidened(*node) &&
          (expr.inputType(0) == DataType::kF32 || expr.resultType() == DataType::kF32);
      if (isBorder) return;
    }
    changed_ = true;
    for (int i = 0; i < static_cast<int>(node->inputs.size()); ++i)
      if (Value* input = node->inputs[i]; input && is16Bit(input->dataType()))
        graph_.setInput(node, i, as(input, DataType::kF32));
    std::vector<DataType> types;
    for (const Value* output : node->outputs) types.push_back(output->dataType());
    if (node->op == &ops::Pointwise) {
      Expr& expr = node->as<PointwiseAttrs>().expr;
      expr = inF32(expr);
    }
    graph_.inferTypes(node);
    for (size_t i = 0; i < types.size(); ++i)
      if (is16Bit(types[i])) original_[node->outputs[i]] = types[i];
  }

  // The value in this type: a cast or a constant that all its readers share.
  Value* as(Value* value, DataType type) {
    Value*& converted = converted_[{value, type}];
    if (converted) return converted;
    const std::string name = str(value->name, "_", toString(type));
    converted = value->isConstant()
                    ? addWidened(value, name)
                    : addCast(graph_, name, value, type, insertionPointAfter(graph_, value));
    return converted;
  }

  Value* addWidened(const Value* constant, const std::string& name) {
    const int64_t count = static_cast<int64_t>(constant->constant->bytes.size() / sizeof(Half));
    std::vector<std::byte> bytes(bytesOf(DataType::kF32, count));
    auto* to = reinterpret_cast<float*>(bytes.data());
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(
          readElement(constant->dataType(), constant->constant->bytes.data(), i));
    return graph_.addConstant(graph_.uniqueName(name), {DataType::kF32, constant->shape()},
                              ConstantData::own(std::move(bytes), constant->isOpaque()));
  }

  Graph& graph_;
  std::unordered_map<const Value*, DataType> original_;  // of values that are f32 now
  std::map<std::pair<const Value*, DataType>, Value*> converted_;
  bool changed_ = false;
};

}  // namespace

bool widenTypes(Graph& graph, const PassOptions& options) {
  return !options.stores16Bit && Widening(graph).run();
}

}  // namespace camshaft
