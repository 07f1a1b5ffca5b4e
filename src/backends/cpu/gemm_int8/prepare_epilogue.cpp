#include "backends/cpu/gemm_int8/prepare_epilogue.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/cpu/gemm/prepare_epilogue_match.h"
#include "backends/cpu/pointwise/prepare_byte_forms.h"
#include "backends/cpu/pointwise/prepare_program.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// constant * product of operands, and of the sums when `ofSums`. As kernels multiply: sums by one
// number, which is the constant times one operand after the other.
struct Product {
  float constant = 1;
  std::vector<int> operands;  // inputs of the expression
  bool ofSums = false;

  bool isSums() const { return ofSums && constant == 1 && operands.empty(); }
};
using Products = std::vector<std::optional<Product>>;

std::optional<Product> productOf(const Expr& expr, const ScalarInstruction& i,
                                 const Products& earlier) {
  if (i.type != DataType::kF32) return std::nullopt;
  if (i.op == ScalarOp::kConst) return Product{.constant = static_cast<float>(i.real)};
  if (i.op == ScalarOp::kInput)
    return i.a > 0 ? std::optional(Product{.operands = {i.a}}) : std::nullopt;
  if (i.op == ScalarOp::kCast) {
    const ScalarInstruction& from = expr.code()[i.a];
    const bool ofSums = from.op == ScalarOp::kInput && from.a == 0 && from.type == DataType::kI32;
    return ofSums ? std::optional(Product{.ofSums = true}) : std::nullopt;
  }
  if (i.op != ScalarOp::kMul || !earlier[i.a] || !earlier[i.b]) return std::nullopt;
  const Product &a = *earlier[i.a], &b = *earlier[i.b];
  if (a.ofSums && b.ofSums) return std::nullopt;
  // Another order would be rounded in another way.
  const bool hasSums = a.ofSums || b.ofSums;
  if (hasSums && !(a.isSums() || b.isSums())) return std::nullopt;
  const size_t factors =
      a.operands.size() + b.operands.size() + (a.constant != 1) + (b.constant != 1);
  if (!hasSums && factors > 2) return std::nullopt;
  Product result{a.constant * b.constant, a.operands, hasSums};
  result.operands.insert(result.operands.end(), b.operands.begin(), b.operands.end());
  return result;
}

// One f32 number, or one per column of the result.
bool isScale(const Value& value, const Shape& result) {
  if (value.dataType() != DataType::kF32) return false;
  const Shape& shape = value.shape();
  const auto isOne = [](const Dim& dim) { return dim.isConstant(1); };
  if (std::all_of(shape.begin(), shape.end(), isOne)) return true;
  return std::all_of(shape.begin(), shape.end() - 1, isOne) && shape.back() == result.back();
}

bool isArithmetic(ScalarOp op) {
  return op == ScalarOp::kAdd || op == ScalarOp::kSub || op == ScalarOp::kMul ||
         op == ScalarOp::kDiv || op == ScalarOp::kNeg;
}

// Whether FusedEpilogue's order is that of the expression, which decides how sums are rounded: what
// it adds to input 0 is one number per column at most, and then one per element.
bool addsInOrder(const Node& node, const Remainder& rest) {
  const auto& code = rest.program.code();
  bool hasColumns = false, hasElements = false;
  for (int at = 0;;) {  // instruction 0 is input 0
    const auto uses = [&](const ScalarInstruction& i) {
      return i.op != ScalarOp::kInput && i.op != ScalarOp::kConst &&
             (i.a == at || i.b == at || i.c == at);
    };
    const auto user = std::find_if(code.begin(), code.end(), uses);
    if (user == code.end()) return true;
    const auto combines = [&](const ScalarInstruction& i) { return uses(i) && isArithmetic(i.op); };
    const auto combinations = std::count_if(user, code.end(), combines);
    if (combinations > 1) return false;  // FusedEpilogue has one factor for both
    if (combinations == 0 || std::count_if(user, code.end(), uses) > 1) return true;
    if (user->op == ScalarOp::kNeg || user->a == user->b) return false;
    const ScalarInstruction& other = code[user->a == at ? user->b : user->a];
    if (isArithmetic(other.op)) return false;
    if (user->op == ScalarOp::kMul || user->op == ScalarOp::kDiv)
      return other.op != ScalarOp::kConst;
    if (other.op != ScalarOp::kConst && other.op != ScalarOp::kInput) return true;
    const bool isPerColumn =
        other.op == ScalarOp::kConst ||
        isScale(*node.inputs[node.ownInputs() + rest.operands[other.a - 1] - 1],
                node.output()->shape());
    if (hasElements || (hasColumns && isPerColumn)) return false;
    (isPerColumn ? hasColumns : hasElements) = true;
    at = static_cast<int>(user - code.begin());
  }
}

// The rest of the epilogue, whose input 0 are the scaled sums, as fuseEpilogue() sees it: a node
// of f32. Its inputs are numbered as the node's afterwards.
FusedEpilogue fuseRest(const Node& node, const Remainder& rest) {
  Value result;
  result.type = {DataType::kF32, node.output()->shape()};
  Node standIn;
  standIn.op = node.op;
  standIn.outputs = {&result};
  const int own = node.ownInputs();
  standIn.inputs.assign(node.inputs.begin(), node.inputs.begin() + own);
  if (!rest.program.empty()) standIn.epilogue = camshaft::Epilogue{rest.program, own};
  std::vector<int> original;
  for (int i = 0; i < own; ++i) original.push_back(i);
  for (int operand : rest.operands) {
    original.push_back(own + operand - 1);
    standIn.inputs.push_back(node.inputs[original.back()]);
  }
  FusedEpilogue fused;
  if (rest.program.empty() || addsInOrder(node, rest)) {
    fused = fuseEpilogue(standIn, -1, Rounding::kAsWritten);
  } else {
    fused.program = rest.program;
    for (size_t i = 0; i < rest.operands.size(); ++i)
      fused.programInputs.push_back(own + static_cast<int>(i));
    fused.refusal = pointwise::whyNotCompiled(fused.program);
  }
  const auto restore = [&](int& input) { input = input < 0 ? -1 : original[input]; };
  restore(fused.biasInput);
  restore(fused.residualInput);
  for (int& input : fused.programInputs) restore(input);
  return fused;
}

}  // namespace

Expr upTo(const Expr& expr, int at) {
  std::vector<bool> isNeeded(at + 1);
  isNeeded[at] = true;
  for (int index = at; index >= 0; --index) {
    const ScalarInstruction& i = expr.code()[index];
    if (!isNeeded[index] || i.op == ScalarOp::kInput) continue;
    for (int operand : {i.a, i.b, i.c})
      if (operand >= 0) isNeeded[operand] = true;
  }
  Expr result;
  std::vector<int> copies;
  for (int index = 0; index <= at; ++index) {
    const ScalarInstruction& i = expr.code()[index];
    const auto copy = [&](int operand) { return operand < 0 ? -1 : copies[operand]; };
    if (!isNeeded[index]) {
      copies.push_back(-1);
      continue;
    }
    switch (i.op) {
      case ScalarOp::kInput:
        copies.push_back(result.input(i.a, i.type));
        break;
      case ScalarOp::kConst:
        copies.push_back(isFloat(i.type) ? result.constant(i.real, i.type)
                                         : result.constantInteger(i.integer, i.type));
        break;
      case ScalarOp::kCast:
        copies.push_back(result.cast(copy(i.a), i.type));
        break;
      case ScalarOp::kWhere:
        copies.push_back(result.where(copy(i.a), copy(i.b), copy(i.c)));
        break;
      default:
        copies.push_back(result.apply(i.op, copy(i.a), copy(i.b)));
    }
  }
  return result;
}

// Scales as far as they reach, and what is left after them.
bool takeScales(const Node& node, const Expr& expr, ScaledEpilogue& scaled) {
  Products products;
  for (const ScalarInstruction& i : expr.code()) products.push_back(productOf(expr, i, products));
  for (int at = static_cast<int>(products.size()) - 1; at >= 0; --at) {
    if (!products[at] || !products[at]->ofSums) continue;
    std::vector<int> inputs;
    for (int operand : products[at]->operands) inputs.push_back(node.ownInputs() + operand - 1);
    const bool areScales = std::all_of(inputs.begin(), inputs.end(), [&](int input) {
      return isScale(*node.inputs[input], node.output()->shape());
    });
    const std::optional<Remainder> rest = areScales ? remainderAfter(expr, at) : std::nullopt;
    if (!rest) continue;
    scaled.fused = fuseRest(node, *rest);
    // At most a sign: another factor is no part of the registers' work.
    scaled.factor = products[at]->constant * scaled.fused.scale;
    scaled.fused.scale = 1;
    scaled.scaleInputs = std::move(inputs);
    scaled.refusal = scaled.fused.refusal;
    return true;
  }
  return false;
}

ScaledEpilogue scaledEpilogue(const Node& node) {
  ScaledEpilogue scaled;
  if (!node.epilogue) return scaled;
  if (std::optional<ScaledEpilogue> bytes = byteEpilogue(node)) return std::move(*bytes);
  scaled.type = node.output()->dataType();
  Expr expr = node.epilogue->expr;
  if (scaled.givesBytes()) {
    const std::optional<int> value = pointwise::matchRequantize(expr, scaled.requantize);
    if (!value) {
      scaled.refusal = "its epilogue gives bytes in another way than by rounding and clamping";
      return scaled;
    }
    expr = upTo(expr, *value);
  } else if (scaled.type != DataType::kF32) {
    scaled.refusal = "its epilogue gives neither f32 nor bytes";
    return scaled;
  }
  if (!takeScales(node, expr, scaled))
    scaled.refusal = "its epilogue does not begin with the sums as f32";
  return scaled;
}

void writeScaledEpilogue(const ScaledEpilogue& scaled, Prepared& prepared, ByteWriter& writer) {
  writer.write(static_cast<int32_t>(scaled.type));
  writer.write(scaled.factor);
  writer.write(scaled.requantize);
  ByteForm bytes = scaled.bytes;
  const auto add = [&](StepInput input) {
    prepared.inputs.push_back(std::move(input));
    return static_cast<int32_t>(prepared.inputs.size()) - 1;
  };
  if (scaled.bytesResidual >= 0)
    bytes.residualInput = add(StepInput::fromNode(scaled.bytesResidual));
  if (!scaled.table.empty()) {
    const auto table = std::as_bytes(std::span(scaled.table));
    bytes.tableInput =
        add(StepInput::fromBytes({DataType::kU8, {256}}, {table.begin(), table.end()}));
  }
  writer.write(bytes);
  writer.write(static_cast<int32_t>(prepared.inputs.size()));
  writer.write(static_cast<int32_t>(scaled.scaleInputs.size()));
  for (int input : scaled.scaleInputs) prepared.inputs.push_back(StepInput::fromNode(input));
  writeEpilogue(scaled.fused, prepared, writer);
}

}  // namespace camshaft::cpu::gemm_int8
