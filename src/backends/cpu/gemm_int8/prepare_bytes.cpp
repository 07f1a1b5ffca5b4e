// Epilogues that end in bytes and need no program: sums, scaled, perhaps with a residual of floats
// or of bytes, and quantised, and what follows a first quantisation when it is
//
//   one more operand of bytes, added, and quantised again     -> a stage and a residual
//   anything that reads nothing else                          -> a table of 256 bytes
//   dequantisation                                            -> a stage whose value is stored
#include "backends/cpu/gemm/prepare_epilogue_match.h"
#include "backends/cpu/gemm_int8/prepare_epilogue.h"
#include "backends/cpu/pointwise/prepare_byte_forms.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

using pointwise::applyClamp;
using pointwise::Clamp;
using pointwise::isByte;
using pointwise::matchRequantize;
using pointwise::peelClamp;
using pointwise::Requantize;

// Of a sum whose one operand is a tensor of bytes, dequantised, the other one.
std::optional<int> takeResidualOfBytes(const Node& node, const Expr& expr, int at,
                                       ScaledEpilogue& scaled) {
  const ScalarInstruction& sum = expr.code()[at];
  if (sum.op != ScalarOp::kAdd) return std::nullopt;
  for (const auto& [operand, other] : {std::pair(sum.a, sum.b), std::pair(sum.b, sum.a)}) {
    const auto residual = pointwise::matchDequantized(expr, operand);
    if (!residual || residual->input == 0 || !isByte(residual->type)) continue;
    const int input = node.ownInputs() + residual->input - 1;
    if (node.inputs[input]->shape() != node.output()->shape()) continue;
    scaled.bytes.residual = residual->flipped();
    scaled.bytesResidual = input;
    return other;
  }
  return std::nullopt;
}

// Scales, bias and perhaps a residual, then a clamp: what comes before a rounding.
bool takeFirst(const Node& node, const Expr& expr, ScaledEpilogue& scaled, Requantize& q) {
  const std::optional<int> value = matchRequantize(expr, q);
  if (!value) return false;
  Clamp clamp;
  const std::optional<int> sums =
      takeResidualOfBytes(node, expr, peelClamp(expr, *value, clamp), scaled);
  if (sums) applyClamp(clamp, q);
  if (!takeScales(node, upTo(expr, sums.value_or(*value)), scaled)) return false;
  FusedEpilogue& fused = scaled.fused;
  if (!scaled.refusal.empty() || !fused.program.empty() || fused.outScale != 1 ||
      fused.outShift != 0)
    return false;
  if (sums && (fused.activation != Activation::kNone || fused.residualInput >= 0)) return false;
  if (fused.activation == Activation::kRelu)
    applyClamp({.low = 0}, q);
  else if (fused.activation == Activation::kClip)
    applyClamp({fused.low, fused.high}, q);
  else if (fused.activation != Activation::kNone)
    return false;
  if (fused.residualInput >= 0 && !pointwise::hasZeroByte(q)) return false;
  fused.activation = Activation::kNone;
  scaled.bytes.isUsed = 1;
  scaled.bytes.first = pointwise::quotientOf(q, expr.resultType());
  return scaled.bytes.first.high != 0;
}

// The last rounding of all.
void setResult(const Requantize& q, DataType type, ScaledEpilogue& scaled) {
  scaled.type = type;
  scaled.bytes.bounds = pointwise::boundsOf(q, type);
}

// The first bytes are dequantised, by the zero point they were given.
bool setStage(const Requantize& first, const pointwise::DequantizedInput& value,
              ScaledEpilogue& scaled) {
  scaled.bytes.hasStage = 1;
  scaled.bytes.stageLow = first.low - first.zero;
  scaled.bytes.stageHigh = first.high - first.zero;
  scaled.bytes.stageScale = value.scale;
  return value.input == 0 && value.zero == first.zero;
}

// What follows a first quantisation reads one more tensor of bytes and adds it.
bool takeJoin(const Node& node, const Requantize& first, const Remainder& rest,
              ScaledEpilogue& scaled) {
  if (rest.operands.size() != 1 || scaled.hasResidual()) return false;
  const int input = node.ownInputs() + rest.operands[0] - 1;
  const Value& other = *node.inputs[input];
  if (!isByte(other.dataType()) || other.shape() != node.output()->shape()) return false;
  Requantize q;
  const std::optional<int> value = matchRequantize(rest.program, q);
  if (!value) return false;
  Clamp clamp;
  const auto sum = pointwise::matchPair(rest.program, peelClamp(rest.program, *value, clamp));
  if (!sum || sum->isProduct || !setStage(first, sum->x, scaled)) return false;
  applyClamp(clamp, q);
  setResult(q, node.output()->dataType(), scaled);
  scaled.bytes.last = pointwise::quotientOf(q, node.output()->dataType());
  scaled.bytes.residual = sum->y.flipped();
  scaled.bytesResidual = input;
  return scaled.bytes.last.high != 0;
}

// What follows a first quantisation is its dequantisation.
bool takeDequantisation(const Requantize& first, const Remainder& rest, ScaledEpilogue& scaled) {
  const int last = static_cast<int>(rest.program.code().size()) - 1;
  const auto value = pointwise::matchDequantized(rest.program, last);
  if (!value || scaled.hasResidual()) return false;
  scaled.type = DataType::kF32;
  return setStage(first, *value, scaled);
}

}  // namespace

std::optional<ScaledEpilogue> byteEpilogue(const Node& node) {
  const Expr& expr = node.epilogue->expr;
  const bool givesBytes = isByte(expr.resultType());
  if (!givesBytes && expr.resultType() != DataType::kF32) return std::nullopt;
  if (givesBytes) {
    ScaledEpilogue scaled;
    Requantize q;
    if (takeFirst(node, expr, scaled, q)) {
      setResult(q, expr.resultType(), scaled);
      return scaled;
    }
  }
  const int last = static_cast<int>(expr.code().size()) - 1;
  for (int at = 0; at < last; ++at) {
    const ScalarInstruction& i = expr.code()[at];
    if (i.op != ScalarOp::kCast || !isByte(i.type)) continue;
    const std::optional<Remainder> rest = remainderAfter(expr, at);
    ScaledEpilogue scaled;
    Requantize q;
    if (!rest || rest->program.empty() || !takeFirst(node, upTo(expr, at), scaled, q)) continue;
    if (!givesBytes) {
      if (rest->operands.empty() && takeDequantisation(q, *rest, scaled)) return scaled;
      continue;
    }
    if (rest->operands.empty()) {
      setResult(q, i.type, scaled);
      scaled.type = expr.resultType();
      scaled.table = pointwise::tableOf(rest->program);
      return scaled;
    }
    if (takeJoin(node, q, *rest, scaled)) return scaled;
  }
  return std::nullopt;
}

}  // namespace camshaft::cpu::gemm_int8
