#include "passes/quantisation.h"

#include <algorithm>
#include <cstring>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_int8.h"
#include "ops/pointwise.h"
#include "passes/precision_rules.h"

namespace camshaft {

static bool isByte(DataType type) { return type == DataType::kU8 || type == DataType::kI8; }

bool hasProductsOf(DataType type, const FusionAbilities& fusion) {
  return isFloat8(type) ? fusion.float8Products : isByte(type) && fusion.integerProducts;
}

// The input that cast(x_i, f32) reads; null for anything else.
static Value* castInput(const Node& node, const Expr& expr, int at) {
  const ScalarInstruction& cast = expr.code()[at];
  if (cast.op != ScalarOp::kCast || cast.type != DataType::kF32) return nullptr;
  const ScalarInstruction& input = expr.code()[cast.a];
  const bool isEightBits = isByte(input.type) || isFloat8(input.type);
  return input.op == ScalarOp::kInput && isEightBits ? node.inputs[input.a] : nullptr;
}

static Value* inputAt(const Node& node, const Expr& expr, int at) {
  const ScalarInstruction& input = expr.code()[at];
  const bool isFloats = input.op == ScalarOp::kInput && input.type == DataType::kF32;
  return isFloats ? node.inputs[input.a] : nullptr;
}

// The f32 that a conversion from or to 16 bits reads, or the instruction itself.
static int withoutCast(const Expr& expr, int at) {
  const ScalarInstruction& i = expr.code()[at];
  const bool isCast = i.op == ScalarOp::kCast && isFloat(i.type) && isFloat(expr.code()[i.a].type);
  return isCast && (is16Bit(i.type) || is16Bit(expr.code()[i.a].type)) ? i.a : at;
}

std::optional<Dequantized> dequantized(const Value* value) {
  const auto result = dequantizedInAnyType(value);
  const bool isInF32 =
      result && value->dataType() == DataType::kF32 && result->scale->dataType() == DataType::kF32;
  return isInF32 ? result : std::nullopt;
}

std::optional<Dequantized> dequantizedInAnyType(const Value* value) {
  const Node* node = producerOf(value, &ops::Pointwise);
  if (!node || node->epilogue) return std::nullopt;
  const Expr& expr = node->as<PointwiseAttrs>().expr;
  const auto& code = expr.code();
  const ScalarInstruction& product = code[withoutCast(expr, static_cast<int>(code.size()) - 1)];
  if (product.op != ScalarOp::kMul || product.type != DataType::kF32) return std::nullopt;
  const ScalarInstruction& scale = code[withoutCast(expr, product.b)];
  Dequantized result{nullptr, scale.op == ScalarOp::kInput ? node->inputs[scale.a] : nullptr,
                     nullptr};
  const ScalarInstruction& difference = expr.code()[product.a];
  if (difference.op == ScalarOp::kSub) {
    result.values = castInput(*node, expr, difference.a);
    result.zero = castInput(*node, expr, difference.b);
    if (!result.zero || !result.values || result.zero->dataType() != result.values->dataType())
      return std::nullopt;
  } else {
    result.values = castInput(*node, expr, product.a);
  }
  if (!result.scale || !result.values || result.values->shape() != value->shape())
    return std::nullopt;
  return result;
}

// Goes into min and max with the bounds of the type, which saturate.
static int withoutBounds(const Expr& expr, int at, DataType type) {
  const bool isSigned = type == DataType::kI8;
  for (int step = 0; step < 2; ++step) {
    const ScalarInstruction& i = expr.code()[at];
    if (i.op != ScalarOp::kMin && i.op != ScalarOp::kMax) return at;
    const ScalarInstruction& bound = expr.code()[i.b];
    const double limit = i.op == ScalarOp::kMin ? (isSigned ? 127 : 255) : (isSigned ? -128 : 0);
    if (bound.op != ScalarOp::kConst || bound.real != limit) return at;
    at = i.a;
  }
  return at;
}

std::optional<Quantized> quantized(const Value* value) {
  const Node* node = producerOf(value, &ops::Pointwise);
  const bool isFloats = isFloat8(value->dataType());
  if (!node || node->epilogue || !(isFloats || isByte(value->dataType()))) return std::nullopt;
  const Expr& expr = node->as<PointwiseAttrs>().expr;
  const ScalarInstruction& last = expr.code().back();
  if (last.op != ScalarOp::kCast || expr.code()[last.a].type != DataType::kF32) return std::nullopt;
  Quantized result{};
  int at = isFloats ? last.a : withoutBounds(expr, last.a, last.type);
  if (expr.code()[at].op == ScalarOp::kAdd && !isFloats) {
    result.zero = castInput(*node, expr, expr.code()[at].b);
    if (!result.zero || result.zero->dataType() != last.type) return std::nullopt;
    at = expr.code()[at].a;
  }
  if (!isFloats) {
    if (expr.code()[at].op != ScalarOp::kRound) return std::nullopt;
    at = expr.code()[at].a;
  }
  const ScalarInstruction& quotient = expr.code()[at];
  if (quotient.op != ScalarOp::kDiv) return std::nullopt;
  result.values = inputAt(*node, expr, quotient.a);
  result.scale = inputAt(*node, expr, quotient.b);
  if (!result.values || !result.scale || result.values->shape() != value->shape())
    return std::nullopt;
  return result;
}

bool isSumOfFloat8(const Value* value) {
  const Node* product = producerOf(value, &ops::MatMul);
  return product && !product->epilogue && isFloat8(product->input(0)->dataType());
}

bool isKnown(const Value* value) {
  if (value->isConstant()) return true;
  const Node* node = value->producer;
  return node && !node->inputs.empty() &&
         std::all_of(node->inputs.begin(), node->inputs.end(),
                     [](const Value* input) { return !input || isKnown(input); });
}

bool areSameNumber(const Value* a, const Value* b) {
  if (!a || !b) return a == b;
  if (!isOneNumber(*a) || !isOneNumber(*b) || a->dataType() != b->dataType()) return false;
  if (a == b) return true;
  return a->isConstant() && b->isConstant() && !a->isOpaque() && !b->isOpaque() &&
         std::memcmp(a->view().data, b->view().data, bytesOf(a->dataType(), 1)) == 0;
}

static Expr quantisation(DataType to, bool hasZero) {
  Expr expr;
  const int quotient =
      expr.apply(ScalarOp::kDiv, expr.input(0, DataType::kF32), expr.input(1, DataType::kF32));
  int at = expr.apply(ScalarOp::kRound, quotient);
  if (hasZero) at = expr.apply(ScalarOp::kAdd, at, expr.cast(expr.input(2, to), DataType::kF32));
  const bool isSigned = to == DataType::kI8;
  at = expr.apply(ScalarOp::kMax, at, expr.constant(isSigned ? -128 : 0, DataType::kF32));
  at = expr.apply(ScalarOp::kMin, at, expr.constant(isSigned ? 127 : 255, DataType::kF32));
  expr.cast(at, to);
  return expr;
}

static Expr dequantisation(DataType from, bool hasZero) {
  Expr expr;
  int at = expr.cast(expr.input(0, from), DataType::kF32);
  const int scale = expr.input(1, DataType::kF32);
  if (hasZero) at = expr.apply(ScalarOp::kSub, at, expr.cast(expr.input(2, from), DataType::kF32));
  expr.apply(ScalarOp::kMul, at, scale);
  return expr;
}

Value* addDequantisation(Graph& graph, const std::string& name, Value* bytes, Value* scale,
                         Node* before) {
  return addPointwise(graph, name + "_dequantised", {bytes, scale},
                      dequantisation(bytes->dataType(), false), before);
}

Value* addQdq(Graph& graph, Value* value, const ByteScale& to) {
  Node* before = insertionPointAfter(graph, value);
  std::vector<Value*> operands{value,
                               addScalar(graph, value->name + "_scale", DataType::kF32, to.scale)};
  if (to.zero != 0) operands.push_back(addScalar(graph, value->name + "_zero", to.type, to.zero));
  const bool hasZero = to.zero != 0;
  operands[0] = addPointwise(graph, value->name + "_quantised", operands,
                             quantisation(to.type, hasZero), before);
  return addPointwise(graph, value->name + "_dequantised", operands,
                      dequantisation(to.type, hasZero), before);
}

bool hasIntegerProduct(const Node& product) {
  const Shape& weights = product.input(1)->shape();
  if (product.op == &ops::MatMul) {
    const auto& attrs = product.as<MatMulAttrs>();
    return !attrs.transposeA && weights.size() == 2 &&
           hasFewTerms(weights[attrs.transposeB ? 1 : 0]);
  }
  if (product.op != &ops::Conv) return false;
  const auto& attrs = product.as<ConvAttrs>();
  return isConvolvedAsBytes(weights, attrs.groups) && !attrs.channelsLast && weights.size() <= 4 &&
         hasFewTerms(numElements(Shape(weights.begin() + 1, weights.end())));
}

bool hasPackedProduct(int64_t bits, int64_t blockSize, DataType rows) {
  const bool isWholeWords = blockSize > 0 && blockSize % (32 / bits) == 0;
  return isWholeWords && (rows == DataType::kF32 || is16Bit(rows));
}

int64_t weightAxis(const Node& product) {
  return product.op == &ops::MatMul && !product.as<MatMulAttrs>().transposeB ? 1 : 0;
}

}  // namespace camshaft
