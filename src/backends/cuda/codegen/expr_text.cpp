#include <bit>
#include <cmath>

#include "backends/cuda/codegen/kernel_text.h"
#include "ir/expr.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

struct ScalarFunction {
  ScalarOp op;
  std::string_view name, expression;
};

// The definitions that constant folding and the CPU compile, as text.
constexpr ScalarFunction kFunctions[] = {
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) \
  {ScalarOp::k##Name, #Name, #expression},
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
};

std::string_view functionName(ScalarOp op) {
  for (const ScalarFunction& function : kFunctions)
    if (function.op == op) return function.name;
  return {};
}

std::string hex(uint64_t bits) {
  std::string text;
  do {
    text.insert(text.begin(), "0123456789abcdef"[bits % 16]);
  } while (bits /= 16);
  return "0x" + text;
}

std::string constantText(const ScalarInstruction& constant) {
  if (isFloat(constant.type)) return literal(constant.real, constant.type);
  if (constant.type == DataType::kBool) return constant.integer ? "true" : "false";
  return str("static_cast<", storageType(constant.type), ">(",
             hex(static_cast<uint64_t>(constant.integer)), "ull)");
}

// Conversion saturates: bounds of a value that are those of the type it is converted to change
// nothing. Goes into them.
int withoutBounds(const Expr& expr, int at, DataType to) {
  if (to != DataType::kU8 && to != DataType::kI8) return at;
  const double low = to == DataType::kI8 ? -128 : 0, high = low + 255;
  while (true) {
    const ScalarInstruction& i = expr.code()[at];
    if ((i.op != ScalarOp::kMin && i.op != ScalarOp::kMax) || !isFloat(i.type)) return at;
    const ScalarInstruction& bound = expr.code()[i.b];
    if (bound.op != ScalarOp::kConst || bound.real != (i.op == ScalarOp::kMin ? high : low))
      return at;
    at = i.a;
  }
}

// f16 to f32 and back inside an expression rounds; between kernels the store does.
std::string castText(const std::string& a, DataType from, DataType to) {
  if (from == to) return a;
  const std::string value =
      computeType(from) == computeType(to) ? a : str("op::convert<", computeType(to), ">(", a, ")");
  const bool isNarrow = computeType(to) != storageType(to);
  return isNarrow ? str("rounded<", storageType(to), ">(", value, ")") : value;
}

}  // namespace

std::string_view scalarFunctions() {
  static const std::string text = [] {
    std::string all = "namespace op {\nusing namespace camshaft::scalar;\n";
    for (const ScalarFunction& function : kFunctions) {
      const ScalarOpInfo& info = infoOf(function.op);
      const std::string_view result = info.domain == ScalarDomain::kCompare ? "bool" : "T";
      all += str("template <class T> ", result, " ", function.name,
                 info.arity == 1 ? "(T a)" : "(T a, T b)", " { return ", result, "(",
                 function.expression, "); }\n");
    }
    return all + "}\n";
  }();
  return text;
}

std::string literal(double value, DataType type) {
  if (type == DataType::kF64)
    return str("__longlong_as_double(", hex(std::bit_cast<uint64_t>(value)), "ll)");
  if (isFloat(type))
    return str("__int_as_float(", hex(std::bit_cast<uint32_t>(static_cast<float>(value))), ")");
  return str("static_cast<", storageType(type), ">(", static_cast<int64_t>(value), "ll)");
}

std::string whyNotPrinted(const Expr& expr) {
  for (const ScalarInstruction& instruction : expr.code())
    if (!isPrintable(instruction.type))
      return str("has elements of type ", instruction.type, ", which device code lacks");
  return {};
}

std::string printExpr(const Expr& expr, std::span<const std::string> inputs,
                      std::string_view prefix, std::string& body) {
  const std::vector<ScalarInstruction>& code = expr.code();
  const auto name = [&](int index) { return str(prefix, index); };
  for (size_t i = 0; i < code.size(); ++i) {
    const ScalarInstruction& instruction = code[i];
    std::string text;
    switch (instruction.op) {
      case ScalarOp::kInput:
        text = inputs[instruction.a];
        break;
      case ScalarOp::kConst:
        text = constantText(instruction);
        break;
      case ScalarOp::kCast: {
        const int from = withoutBounds(expr, instruction.a, instruction.type);
        text = castText(name(from), code[from].type, instruction.type);
        break;
      }
      case ScalarOp::kWhere:
        text = str(name(instruction.a), " ? ", name(instruction.b), " : ", name(instruction.c));
        break;
      default:
        text = str("op::", functionName(instruction.op), "<", computeType(code[instruction.a].type),
                   ">(", name(instruction.a));
        if (instruction.b >= 0) text += str(", ", name(instruction.b));
        text += ")";
    }
    body += str("    const ", computeType(instruction.type), " ", prefix, i, " = ", text, ";\n");
  }
  return name(static_cast<int>(code.size()) - 1);
}

}  // namespace camshaft::cuda
