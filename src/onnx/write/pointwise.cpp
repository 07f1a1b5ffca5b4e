// Expressions as chains of elementwise nodes.
#include "ops/pointwise.h"

#include <algorithm>

#include "onnx/wire/element_type.h"
#include "onnx/write/printers.h"

namespace camshaft::onnx::writer {

namespace {

struct Spelling {
  ScalarOp op;
  std::string_view name;
  int64_t since;         // opset
  int64_t sinceInteger;  // for integers; 0: not at all
};

constexpr Spelling kSpellings[] = {
    {ScalarOp::kNeg, "Neg", 6, 6},
    {ScalarOp::kAbs, "Abs", 6, 6},
    {ScalarOp::kSign, "Sign", 9, 9},
    {ScalarOp::kRelu, "Relu", 6, 14},
    {ScalarOp::kFloor, "Floor", 6, 0},
    {ScalarOp::kCeil, "Ceil", 6, 0},
    {ScalarOp::kRound, "Round", 11, 0},
    {ScalarOp::kSqrt, "Sqrt", 6, 0},
    {ScalarOp::kReciprocal, "Reciprocal", 6, 0},
    {ScalarOp::kExp, "Exp", 6, 0},
    {ScalarOp::kLog, "Log", 6, 0},
    {ScalarOp::kSin, "Sin", 7, 0},
    {ScalarOp::kCos, "Cos", 7, 0},
    {ScalarOp::kTan, "Tan", 7, 0},
    {ScalarOp::kAsin, "Asin", 7, 0},
    {ScalarOp::kAcos, "Acos", 7, 0},
    {ScalarOp::kAtan, "Atan", 7, 0},
    {ScalarOp::kSinh, "Sinh", 9, 0},
    {ScalarOp::kCosh, "Cosh", 9, 0},
    {ScalarOp::kTanh, "Tanh", 6, 0},
    {ScalarOp::kAsinh, "Asinh", 9, 0},
    {ScalarOp::kAcosh, "Acosh", 9, 0},
    {ScalarOp::kAtanh, "Atanh", 9, 0},
    {ScalarOp::kErf, "Erf", 9, 0},
    {ScalarOp::kSigmoid, "Sigmoid", 6, 0},
    {ScalarOp::kSoftplus, "Softplus", 1, 0},
    {ScalarOp::kGelu, "Gelu", 20, 0},
    {ScalarOp::kHardSwish, "HardSwish", 14, 0},
    {ScalarOp::kNot, "Not", 1, 1},
    {ScalarOp::kBitNot, "BitwiseNot", 18, 18},
    {ScalarOp::kAdd, "Add", 7, 7},
    {ScalarOp::kSub, "Sub", 7, 7},
    {ScalarOp::kMul, "Mul", 7, 7},
    {ScalarOp::kDiv, "Div", 7, 7},
    {ScalarOp::kMod, "Mod", 0, 10},
    {ScalarOp::kPow, "Pow", 7, 12},
    {ScalarOp::kMin, "Min", 8, 12},
    {ScalarOp::kMax, "Max", 8, 12},
    {ScalarOp::kAnd, "And", 7, 7},
    {ScalarOp::kOr, "Or", 7, 7},
    {ScalarOp::kXor, "Xor", 7, 7},
    {ScalarOp::kBitAnd, "BitwiseAnd", 18, 18},
    {ScalarOp::kBitOr, "BitwiseOr", 18, 18},
    {ScalarOp::kBitXor, "BitwiseXor", 18, 18},
    {ScalarOp::kEqual, "Equal", 11, 7},
    {ScalarOp::kLess, "Less", 7, 9},
    {ScalarOp::kLessEqual, "LessOrEqual", 12, 12},
    {ScalarOp::kGreater, "Greater", 7, 9},
    {ScalarOp::kGreaterEqual, "GreaterOrEqual", 12, 12},
};

const Spelling* spellingOf(ScalarOp op, DataType operand, int64_t opset) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.op != op) continue;
    const int64_t since = isFloat(operand) ? spelling.since : spelling.sinceInteger;
    return since > 0 && opset >= since ? &spelling : nullptr;
  }
  return nullptr;
}

// Operations without an operator of their own in this opset, from those that have one.
bool isComposite(ScalarOp op, DataType type) {
  if (!isFloat(type)) return op == ScalarOp::kNotEqual;
  constexpr ScalarOp kComposites[] = {ScalarOp::kRsqrt,    ScalarOp::kSilu,     ScalarOp::kGelu,
                                      ScalarOp::kGeluTanh, ScalarOp::kFloorDiv, ScalarOp::kNotEqual,
                                      ScalarOp::kHardSwish};
  return std::find(std::begin(kComposites), std::end(kComposites), op) != std::end(kComposites);
}

class ExprPrinter {
 public:
  ExprPrinter(GraphWriter& writer, const Node& node)
      : writer_(writer), node_(node), code_(node.as<PointwiseAttrs>().expr.code()) {}

  std::string refusal() const {
    for (const ScalarInstruction& one : code_) {
      if (one.op == ScalarOp::kInput || one.op == ScalarOp::kConst) continue;
      if (one.op == ScalarOp::kCast || (one.op == ScalarOp::kWhere && writer_.opset() >= 9))
        continue;
      const DataType operand = code_[one.a].type;
      if (isComposite(one.op, operand) && writer_.opset() >= 9) continue;
      if (!spellingOf(one.op, operand, writer_.opset()))
        return str("opset ", writer_.opset(), " has no ", infoOf(one.op).name, " of ", operand);
    }
    return {};
  }

  void print() {
    for (at_ = 0; at_ < code_.size(); ++at_) names_.push_back(printOne(code_[at_]));
  }

 private:
  const Value* result() const { return at_ + 1 == code_.size() ? node_.output() : nullptr; }
  Name add(std::string_view op, std::vector<Name> inputs, Attributes attributes = {}) {
    return writer_.add(op, std::move(inputs), std::move(attributes));
  }
  Name finish(std::string_view op, std::vector<Name> inputs, Attributes attributes = {}) {
    return writer_.add(op, std::move(inputs), std::move(attributes), result());
  }

  Name printOne(const ScalarInstruction& one) {
    switch (one.op) {
      case ScalarOp::kInput: {
        const Name input = writer_.use(node_.input(one.a));
        return result() ? finish("Identity", {input}) : input;
      }
      case ScalarOp::kConst:
        return writer_.scalar(one.type, one.real, one.integer);
      case ScalarOp::kCast:
        return finish("Cast", {names_[one.a]},
                      {attribute("to", static_cast<int64_t>(onnxCodeOf(one.type)))});
      case ScalarOp::kWhere:
        return finish("Where", {names_[one.a], names_[one.b], names_[one.c]});
      default:
        break;
    }
    const DataType operand = code_[one.a].type;
    std::vector<Name> inputs{names_[one.a]};
    if (one.b >= 0) inputs.push_back(names_[one.b]);
    if (const Spelling* spelling = spellingOf(one.op, operand, writer_.opset()))
      return finish(spelling->name, std::move(inputs));
    return printComposite(one, operand, inputs);
  }

  Name printComposite(const ScalarInstruction& one, DataType type,
                      const std::vector<Name>& inputs) {
    const Name x = inputs[0];
    const auto number = [&](double value) { return writer_.scalar(type, value); };
    switch (one.op) {
      case ScalarOp::kRsqrt:
        return finish("Reciprocal", {add("Sqrt", {x})});
      case ScalarOp::kSilu:
        return finish("Mul", {x, add("Sigmoid", {x})});
      case ScalarOp::kFloorDiv:
        return finish("Floor", {add("Div", inputs)});
      case ScalarOp::kNotEqual:
        return finish("Not", {add("Equal", inputs)});
      case ScalarOp::kHardSwish:
        return finish("Mul", {x, add("HardSigmoid", {x},
                                     {attribute("alpha", 1.0 / 6.0), attribute("beta", 0.5)})});
      case ScalarOp::kGeluTanh:
        if (writer_.opset() >= 20)
          return finish("Gelu", {x}, {attribute("approximate", std::string_view("tanh"))});
        break;
      default:
        break;
    }
    Name inner;
    if (one.op == ScalarOp::kGelu) {
      inner = add("Erf", {add("Mul", {x, number(0.70710678118654752440)})});
    } else {  // gelu by tanh
      const Name cube = add("Mul", {add("Mul", {add("Mul", {x, x}), x}), number(0.044715)});
      inner = add("Tanh", {add("Mul", {add("Add", {x, cube}), number(0.79788456080286535588)})});
    }
    const Name half = add("Mul", {x, number(0.5)});
    return finish("Mul", {half, add("Add", {inner, number(1)})});
  }

  GraphWriter& writer_;
  const Node& node_;
  const std::vector<ScalarInstruction>& code_;
  std::vector<Name> names_;
  size_t at_ = 0;
};

// Shapes come from what is computed, so every input must flow into the result.
bool readsAll(const Expr& expr) {
  std::vector<bool> needed(expr.code().size(), false);
  needed.back() = true;
  for (size_t i = expr.code().size(); i-- > 0;) {
    const ScalarInstruction& one = expr.code()[i];
    if (!needed[i]) return false;
    if (one.op == ScalarOp::kInput) continue;
    for (const int operand : {one.a, one.b, one.c})
      if (operand >= 0) needed[operand] = true;
  }
  return true;
}

}  // namespace

std::string printPointwise(GraphWriter& writer, const Node& node) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  if (!readsAll(expr)) return "its expression has parts that nothing reads";
  if (expr.code().back().op == ScalarOp::kConst) return "its expression is a constant";
  ExprPrinter printer(writer, node);
  if (std::string reason = printer.refusal(); !reason.empty()) return reason;
  printer.print();
  return {};
}

std::string printIdentity(GraphWriter& writer, const Node& node) {
  writer.add("Identity", {writer.use(node.input(0))}, {}, node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
