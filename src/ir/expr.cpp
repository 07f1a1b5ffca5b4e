#include "ir/expr.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "ir/scalar_math.h"
#include "ir/tensor.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft {

const ScalarOpInfo& infoOf(ScalarOp op) {
  static constexpr ScalarOpInfo kInfo[] = {
      {"input", 0, ScalarDomain::kAny},
      {"const", 0, ScalarDomain::kAny},
      {"cast", 1, ScalarDomain::kAny},
      {"where", 3, ScalarDomain::kAny},
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) \
  {text, arity, ScalarDomain::domain},
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
  };
  return kInfo[static_cast<size_t>(op)];
}

int Expr::push(ScalarInstruction instruction) {
  code_.push_back(instruction);
  return static_cast<int>(code_.size()) - 1;
}

int Expr::input(int index, DataType type) {
  for (size_t i = 0; i < code_.size(); ++i)
    if (code_[i].op == ScalarOp::kInput && code_[i].a == index) return static_cast<int>(i);
  inputCount_ = std::max(inputCount_, index + 1);
  return push({.op = ScalarOp::kInput, .type = type, .a = index});
}

int Expr::pushConstant(ScalarInstruction constant) {
  for (size_t i = 0; i < code_.size(); ++i)
    if (code_[i] == constant && std::signbit(code_[i].real) == std::signbit(constant.real))
      return static_cast<int>(i);
  return push(constant);
}

int Expr::constant(double value, DataType type) {
  if (!isFloat(type)) return constantInteger(scalar::convert<int64_t>(value), type);
  // As the type stores it, so that equal constants are equal instructions.
  if (!isPacked(type)) {
    std::byte stored[8];
    writeElement(type, stored, 0, value);
    value = readElement(type, stored, 0);
  }
  return pushConstant({.op = ScalarOp::kConst, .type = type, .real = value});
}

int Expr::constantInteger(int64_t value, DataType type) {
  if (isFloat(type)) return constant(static_cast<double>(value), type);
  return pushConstant({.op = ScalarOp::kConst, .type = type, .integer = value});
}

int Expr::cast(int a, DataType type) { return push({.op = ScalarOp::kCast, .type = type, .a = a}); }

int Expr::where(int condition, int a, int b) {
  return push({.op = ScalarOp::kWhere, .type = code_.at(a).type, .a = condition, .b = a, .c = b});
}

int Expr::apply(ScalarOp op, int a, int b) {
  const bool compares = infoOf(op).domain == ScalarDomain::kCompare;
  return push({.op = op, .type = compares ? DataType::kBool : code_.at(a).type, .a = a, .b = b});
}

DataType Expr::inputType(int index) const {
  for (const auto& instruction : code_)
    if (instruction.op == ScalarOp::kInput && instruction.a == index) return instruction.type;
  CAMSHAFT_CHECK(false, "expression has no input ", index);
}

bool Expr::isSingle() const {
  if (code_.size() != static_cast<size_t>(inputCount_) + 1) return false;
  for (int i = 0; i < inputCount_; ++i)
    if (code_[i].op != ScalarOp::kInput || code_[i].a != i) return false;
  const ScalarInstruction& last = code_.back();
  const int operands[] = {last.a, last.b, last.c};
  for (int i = 0; i < infoOf(last.op).arity; ++i)
    if (operands[i] != i) return false;
  return infoOf(last.op).arity == inputCount_;
}

bool Expr::isSingle(ScalarOp op) const { return isSingle() && code_.back().op == op; }

Expr Expr::composed(int index, const Expr& inner, const std::vector<int>& innerInputs,
                    const std::vector<int>& outerInputs) const {
  Expr result;
  const auto append = [&result](const Expr& from, auto mapInput) {
    std::vector<int> at(from.code_.size());
    for (size_t i = 0; i < from.code_.size(); ++i) {
      ScalarInstruction instruction = from.code_[i];
      if (instruction.op == ScalarOp::kInput) {
        at[i] = mapInput(instruction);
        continue;
      }
      for (int* operand : {&instruction.a, &instruction.b, &instruction.c})
        if (*operand >= 0) *operand = at[*operand];
      at[i] = result.push(instruction);
    }
    return at.back();
  };
  const int innerResult = append(inner, [&](const ScalarInstruction& in) {
    return result.input(innerInputs.at(in.a), in.type);
  });
  append(*this, [&](const ScalarInstruction& in) {
    return in.a == index ? innerResult : result.input(outerInputs.at(in.a), in.type);
  });
  return result;
}

Expr Expr::withInputsFor(const std::vector<int>& constants) const {
  Expr result;
  std::vector<int> at(code_.size());
  for (size_t i = 0; i < code_.size(); ++i) {
    ScalarInstruction instruction = code_[i];
    const auto constant = std::ranges::find(constants, static_cast<int>(i));
    if (constant != constants.end()) {
      const auto index = static_cast<int>(constant - constants.begin());
      at[i] = result.input(inputCount_ + index, instruction.type);
    } else if (instruction.op == ScalarOp::kInput) {
      at[i] = result.input(instruction.a, instruction.type);
    } else {
      for (int* operand : {&instruction.a, &instruction.b, &instruction.c})
        if (*operand >= 0) *operand = at[*operand];
      at[i] = result.push(instruction);
    }
  }
  return result;
}

bool isQuantisationNumber(const Expr& expr, int at) {
  constexpr double kCommon[] = {0, 1, -1, 0.5, 2, 127, -128, 255};
  const ScalarInstruction& number = expr.code()[at];
  const auto isByte = [](const ScalarInstruction& each) {
    return each.type == DataType::kU8 || each.type == DataType::kI8 || isFloat8(each.type);
  };
  return number.op == ScalarOp::kConst && isFloat(number.type) && bitsOf(number.type) <= 32 &&
         std::isfinite(number.real) && std::ranges::count(kCommon, number.real) == 0 &&
         std::ranges::any_of(expr.code(), isByte);
}

std::string kindOf(const Expr& expr) {
  const auto& code = expr.code();
  std::string text;
  bool hasNumbers = false;
  for (int i = 0; i < static_cast<int>(code.size()); ++i) {
    const ScalarInstruction& each = code[i];
    text += str(i ? "; " : "", infoOf(each.op).name, ":", each.type);
    if (isQuantisationNumber(expr, i)) {
      hasNumbers = true;
      continue;
    }
    if (each.op == ScalarOp::kConst) text += str(" ", each.real, " ", each.integer);
    for (const int operand : {each.a, each.b, each.c})
      if (operand >= 0) text += str(" ", operand);
  }
  return hasNumbers ? text : toString(expr);
}

}  // namespace camshaft
