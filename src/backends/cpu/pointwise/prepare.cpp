#include <algorithm>
#include <cmath>
#include <optional>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/pointwise/params.h"
#include "backends/cpu/pointwise/prepare_byte_forms.h"
#include "backends/cpu/pointwise/prepare_program.h"
#include "backends/cpu/prepare_common.h"
#include "ops/pointwise.h"

namespace camshaft::cpu::pointwise {

namespace {

// An epilogue on a pointwise node is one more expression on the same elements.
Expr wholeExpr(const Node& node) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  if (!node.epilogue) return expr;
  std::vector<int> inner(expr.inputCount()), outer(node.epilogue->expr.inputCount());
  for (size_t i = 0; i < inner.size(); ++i) inner[i] = static_cast<int>(i);
  for (size_t i = 1; i < outer.size(); ++i)
    outer[i] = node.epilogue->firstInput + static_cast<int>(i) - 1;
  return node.epilogue->expr.composed(0, expr, inner, outer);
}

Prepared prepare(const Node& node, const BuildContext&, int64_t) {
  Prepared prepared;
  ByteWriter writer;
  writeProgram(writer, compile(wholeExpr(node)));
  prepared.params = writer.take();
  prepared.inputs = allInputs(node);
  return prepared;
}

Verdict supportsTable(const Node& node, const BuildContext&) {
  if (node.epilogue || node.inputs.size() != 1) return Verdict::no("only for one operand");
  if (!isByte(node.input(0)->dataType()) || !isByte(node.output()->dataType()))
    return Verdict::no("only from bytes to bytes");
  return Verdict::yes();
}

Prepared prepareTable(const Node& node, const BuildContext&, int64_t) {
  TableParams params;
  const std::vector<uint8_t> table = tableOf(node.as<PointwiseAttrs>().expr);
  std::copy(table.begin(), table.end(), params.table);
  return preparedWith(node, params);
}

ByteOperand operandOf(const Node& node, size_t input) {
  if (input >= node.inputs.size()) return ByteOperand::kNone;
  return isByte(node.inputs[input]->dataType()) ? ByteOperand::kBytes : ByteOperand::kFloats;
}

// The expression as ByteResult says it, of the node's operands in their order; x comes first.
std::optional<BytesParams> bytesParams(const Node& node) {
  if (node.epilogue || node.inputs.empty() || node.inputs.size() > 2) return std::nullopt;
  if (!isByte(node.output()->dataType())) return std::nullopt;
  for (const Value* input : node.inputs)
    if (!isByte(input->dataType()) && input->dataType() != DataType::kF32) return std::nullopt;
  if (node.input(0)->shape() != node.output()->shape()) return std::nullopt;
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  Requantize q;
  const std::optional<int> value = matchRequantize(expr, q);
  if (!value) return std::nullopt;
  Clamp clamp;
  const std::optional<Bilinear> form = matchBilinear(expr, peelClamp(expr, *value, clamp));
  if (!form) return std::nullopt;
  applyClamp(clamp, q);
  BytesParams params{.x = operandOf(node, 0), .y = operandOf(node, 1)};
  ByteResult& result = params.result;
  const auto flipOf = [](DataType type) { return type == DataType::kI8 ? 128 : 0; };
  const bool isUnary = params.y == ByteOperand::kNone;
  // Of one operand the quotient is exactly what was asked for, or else another kernel's work.
  if (isUnary && (params.x != ByteOperand::kFloats || form->first != 1 || form->constant != 0))
    return std::nullopt;
  result.divisor = q.divisor;
  result.xFlip = flipOf(node.input(0)->dataType());
  result.yFlip = isUnary ? 0 : flipOf(node.input(1)->dataType());
  // x is u8 less 128 where it is flipped, and so is y.
  const double dx = result.xFlip, dy = result.yFlip;
  result.product = static_cast<float>(form->product / q.divisor);
  result.first = static_cast<float>((form->first - form->product * dy) / q.divisor);
  result.second = static_cast<float>((form->second - form->product * dx) / q.divisor);
  result.constant = static_cast<float>(
      (form->constant - form->first * dx - form->second * dy + form->product * dx * dy) /
      q.divisor);
  result.flip = flipOf(node.output()->dataType());
  result.zero = static_cast<int32_t>(q.zero) + result.flip;
  result.low = static_cast<int32_t>(q.low) + result.flip;
  result.high = static_cast<int32_t>(q.high) + result.flip;
  return params;
}

Verdict supportsBytes(const Node& node, const BuildContext&) {
  return bytesParams(node) ? Verdict::yes()
                           : Verdict::no("only for sums and products of two that are quantised");
}

Prepared prepareBytes(const Node& node, const BuildContext&, int64_t) {
  return preparedWith(node, *bytesParams(node));
}

// (byte - zero) * scale, zero being a whole number.
std::optional<DequantizeParams> dequantizeParams(const Node& node) {
  if (node.epilogue || node.inputs.size() != 1) return std::nullopt;
  const DataType type = node.input(0)->dataType();
  if (!isByte(type) || node.output()->dataType() != DataType::kF32) return std::nullopt;
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  const auto form = matchBilinear(expr, static_cast<int>(expr.code().size()) - 1);
  if (!form || form->first == 0) return std::nullopt;
  const double zero = std::nearbyint(-form->constant / form->first);
  if (std::abs(zero * form->first + form->constant) > 1e-9 * std::abs(form->first))
    return std::nullopt;
  const int32_t flip = type == DataType::kI8 ? 128 : 0;
  return DequantizeParams{{.zero = static_cast<float>(zero + flip),
                           .scale = static_cast<float>(form->first),
                           .flip = flip}};
}

Verdict supportsDequantize(const Node& node, const BuildContext&) {
  return dequantizeParams(node) ? Verdict::yes() : Verdict::no("only for dequantisation");
}

Prepared prepareDequantize(const Node& node, const BuildContext&, int64_t) {
  return preparedWith(node, *dequantizeParams(node));
}

// Tile by tile, all of an input that moves with the output is read before it is written over.
bool inPlace(const Node& node, int input) {
  return node.inputs[input]->type == node.output()->type;
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (supportsTable(node, context) || bytesParams(node) || dequantizeParams(node))
    return Verdict::no("one pass over bytes is quicker");
  return Verdict{whyNotCompiled(wholeExpr(node))};
}

constexpr Kernel kKernels[] = {
    {kTable, supportsTable, prepareTable, nullptr, inPlace},
    {kBytes, supportsBytes, prepareBytes, nullptr, inPlace},
    {kDequantize, supportsDequantize, prepareDequantize},
    {"cpu/pointwise", supports, prepare, nullptr, inPlace},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::pointwise
