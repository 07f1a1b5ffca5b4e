#include <algorithm>
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
  const DataType type = node.output()->dataType();
  if (!isByte(type)) return std::nullopt;
  for (const Value* input : node.inputs)
    if (!isByte(input->dataType()) && input->dataType() != DataType::kF32) return std::nullopt;
  if (node.input(0)->shape() != node.output()->shape()) return std::nullopt;
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  Requantize q;
  const std::optional<int> quotient = matchRequantize(expr, q);
  if (!quotient) return std::nullopt;
  Clamp clamp;
  const int value = peelClamp(expr, *quotient, clamp);
  applyClamp(clamp, q);
  BytesParams params{.x = operandOf(node, 0), .y = operandOf(node, 1)};
  ByteResult& result = params.result;
  if (params.y == ByteOperand::kNone) {
    if (expr.code()[value].op != ScalarOp::kInput || params.x != ByteOperand::kFloats)
      return std::nullopt;
  } else {
    const std::optional<DequantizedPair> pair = matchPair(expr, value);
    if (!pair) return std::nullopt;
    result.x = pair->x.flipped();
    result.y = pair->y.flipped();
    result.isProduct = pair->isProduct;
  }
  result.quotient = quotientOf(q, type);
  result.bounds = boundsOf(q, type);
  if ((params.x == ByteOperand::kFloats || params.y == ByteOperand::kFloats) && !hasZeroByte(q))
    return std::nullopt;
  return params;
}

Verdict supportsBytes(const Node& node, const BuildContext&) {
  return bytesParams(node) ? Verdict::yes()
                           : Verdict::no("only for sums and products of two that are quantised");
}

Prepared prepareBytes(const Node& node, const BuildContext&, int64_t) {
  return preparedWith(node, *bytesParams(node));
}

std::optional<DequantizeParams> dequantizeParams(const Node& node) {
  if (node.epilogue || node.inputs.size() != 1) return std::nullopt;
  if (!isByte(node.input(0)->dataType()) || node.output()->dataType() != DataType::kF32)
    return std::nullopt;
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  const auto form = matchDequantized(expr, static_cast<int>(expr.code().size()) - 1);
  return form ? std::optional(DequantizeParams{form->flipped()}) : std::nullopt;
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
