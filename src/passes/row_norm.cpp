#include "passes/row_norm.h"

#include "ir/rewrite.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"

namespace camshaft {

bool isPlainPointwise(const Node* node) {
  return node && node->op == &ops::Pointwise && !node->epilogue;
}

static bool isCast(const Node* node) {
  return isPlainPointwise(node) && node->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kCast);
}

// Takes in what makes a result of f32 one of fewer bits, times constants of these.
static void takeNarrowing(const Graph& graph, RowNorm& norm) {
  const Node* reader = soleUser(graph, norm.result);
  if (isCast(reader)) {
    norm.result = reader->output();
    return;
  }
  if (!isPlainPointwise(reader) || reader->inputs.size() != 2 || norm.factors || norm.shifts)
    return;
  const auto& code = reader->as<PointwiseAttrs>().expr.code();
  if (code.size() != 4 || code[3].op != ScalarOp::kMul) return;
  const bool isFirst = code[code[3].a].op == ScalarOp::kCast;
  const ScalarInstruction &cast = code[isFirst ? code[3].a : code[3].b],
                          &other = code[isFirst ? code[3].b : code[3].a];
  if (cast.op != ScalarOp::kCast || other.op != ScalarOp::kInput) return;
  if (reader->inputs[code[cast.a].a] != norm.result) return;
  norm.factors = reader->inputs[other.a];
  norm.result = reader->output();
}

static bool areFactors(const Value* value, const Dim& depth) {
  return value->isConstant() && value->shape() == Shape{depth} &&
         value->dataType() != DataType::kF64;
}

RowNorm rowNormOf(const Graph& graph, const Node& node) {
  const auto& attrs = node.as<LayerNormAttrs>();
  const int64_t rank = node.input(0)->rank();
  if (attrs.axis != rank - 1 || node.epilogue) return {};
  RowNorm norm{.x = node.input(0),
               .factors = node.input(1),
               .shifts = node.input(2),
               .result = node.output()};
  if (norm.x->dataType() == DataType::kF32 && isCast(norm.x->producer)) {
    norm.x = norm.x->producer->input(0);
    takeNarrowing(graph, norm);
  }
  const Dim& depth = norm.x->shape().back();
  const bool isTaken = norm.x->type == norm.result->type && !graph.isOutput(norm.result) &&
                       (!norm.factors || areFactors(norm.factors, depth)) &&
                       (!norm.shifts || areFactors(norm.shifts, depth));
  return isTaken ? norm : RowNorm{};
}

}  // namespace camshaft
