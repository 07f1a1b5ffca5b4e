// Scalar expressions: what a chain of pointwise operators becomes, and what rides on a
// convolution, matrix product, reduction or normalisation as its epilogue.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/data_type.h"

namespace camshaft {

enum class ScalarOp : uint8_t {
  kInput,  // operand `a` is the index of an input
  kConst,  // `real` or `integer`, by type
  kCast,   // operand a converted to `type`, as scalar::convert does
  kWhere,  // a ? b : c
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) k##Name,
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
};

enum class ScalarDomain : uint8_t { kAny, kFloat, kInteger, kLogic, kCompare };

struct ScalarOpInfo {
  std::string_view name;
  int arity;
  ScalarDomain domain;
};
const ScalarOpInfo& infoOf(ScalarOp op);

struct ScalarInstruction {
  ScalarOp op = ScalarOp::kInput;
  DataType type = DataType::kF32;  // of the result; comparisons give kBool
  int a = -1, b = -1, c = -1;      // earlier instructions (kInput: the input's index in a)
  double real = 0;
  int64_t integer = 0;
  friend bool operator==(const ScalarInstruction&, const ScalarInstruction&) = default;
};

// A list in SSA form; the last instruction is the result. Each input is read by exactly one
// kInput instruction; operands of one instruction have equal types, except kWhere's condition
// (kBool) and kCast's.
class Expr {
 public:
  int input(int index, DataType type);
  int constant(double value, DataType type);
  int constantInteger(int64_t value, DataType type);
  int cast(int a, DataType type);
  int where(int condition, int a, int b);
  int apply(ScalarOp op, int a, int b = -1);

  const std::vector<ScalarInstruction>& code() const { return code_; }
  int inputCount() const { return inputCount_; }
  DataType inputType(int index) const;
  DataType resultType() const { return code_.back().type; }
  bool empty() const { return code_.empty(); }

  // The one operation when this is op(input...) with inputs in order and nothing else.
  bool isSingle(ScalarOp op) const;
  bool isSingle() const;

  // This expression with input `index` replaced by `inner`'s result. `innerInputs[i]` is the
  // index that inner's input i has in the combined expression, `outerInputs[i]` this one's
  // (ignored for `index`).
  Expr composed(int index, const Expr& inner, const std::vector<int>& innerInputs,
                const std::vector<int>& outerInputs) const;
  // This expression with the constants at these places of its code as further inputs.
  Expr withInputsFor(const std::vector<int>& constants) const;

  friend bool operator==(const Expr&, const Expr&) = default;

 private:
  int push(ScalarInstruction instruction);
  int pushConstant(ScalarInstruction constant);
  std::vector<ScalarInstruction> code_;
  int inputCount_ = 0;
};

// Whether an instruction is a number of a quantised model, a scale or a zero point, and not one of
// what is computed: kernels may take it as an argument, and take as long with another.
bool isQuantisationNumber(const Expr& expr, int at);
// What expressions have in common that differ in those numbers only.
std::string kindOf(const Expr& expr);

// "relu(add(x0:f32, x1:f32))"; shared subexpressions print as "t0 = ...; ...". parseExpr reads it,
// with instructions in the order of the text.
std::string toString(const Expr& expr);
Expr parseExpr(std::string_view text);

}  // namespace camshaft
