// Where two products of integers meet, each is quantised by itself, so that it stores bytes.
//
//   %y = Pointwise(%a, %b) {add(dequantised(quantised(x0)), dequantised(quantised(x1)))}
//
// of sums a and b, i32, that nothing else reads becomes
//
//   %qa = Pointwise(%a) {quantised(x0)}
//   %qb = Pointwise(%b) {quantised(x0)}
//   %y = Pointwise(%qa, %qb) {add(dequantised(x0), dequantised(x1))}
//
// and fuse_epilogues lets each part ride on its product; as one piece only one of them could take
// it, and the other would store its sums.
#include <optional>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

namespace {

bool isSumsOfProduct(const Graph& graph, const Value* value, const Node* reader) {
  const Node* producer = value->producer;
  return producer && (producer->op == &ops::MatMulInteger || producer->op == &ops::ConvInteger) &&
         !producer->epilogue && soleUser(graph, value) == reader &&
         value->shape() == reader->output()->shape();
}

// Copies instructions from one expression into another.
class Copier {
 public:
  explicit Copier(const Expr& from) : from_(from), copies_(from.code().size(), -1) {}

  void replace(int at, int input, DataType type) { copies_[at] = to_.input(input, type); }

  int copy(int at) {
    if (at < 0) return at;
    if (copies_[at] < 0) copies_[at] = copyInstruction(from_.code()[at]);
    return copies_[at];
  }

  const Expr& result() const { return to_; }

 private:
  int copyInstruction(const ScalarInstruction& i) {
    switch (i.op) {
      case ScalarOp::kInput:
        return to_.input(i.a, i.type);
      case ScalarOp::kConst:
        return isFloat(i.type) ? to_.constant(i.real, i.type)
                               : to_.constantInteger(i.integer, i.type);
      case ScalarOp::kCast:
        return to_.cast(copy(i.a), i.type);
      case ScalarOp::kWhere: {
        const int a = copy(i.a), b = copy(i.b);
        return to_.where(a, b, copy(i.c));
      }
      default: {
        const int a = copy(i.a);
        return to_.apply(i.op, a, copy(i.b));
      }
    }
  }

  const Expr& from_;
  Expr to_;
  std::vector<int> copies_;
};

// Which instructions need the input otherwise than through instruction `through`.
std::vector<bool> readersOf(const Expr& expr, int input, int through) {
  std::vector<bool> needs;
  for (const ScalarInstruction& i : expr.code()) {
    const auto isReader = [&](int operand) { return operand >= 0 && needs[operand]; };
    const bool reads = i.op == ScalarOp::kInput
                           ? i.a == input
                           : isReader(i.a) || isReader(i.b) || isReader(i.c);
    needs.push_back(reads && static_cast<int>(needs.size()) != through);
  }
  return needs;
}

// The first conversion to bytes that all reads of the input lead through, and that needs no other
// tensor of the result's shape.
std::optional<int> quantisation(const BoundExpr& bound, int input, const Shape& shape) {
  const auto& code = bound.expr.code();
  const int last = static_cast<int>(code.size()) - 1;
  const std::vector<bool> readers = readersOf(bound.expr, input, -1);
  for (int at = 0; at < last; ++at) {
    const bool isByte = code[at].type == DataType::kU8 || code[at].type == DataType::kI8;
    if (code[at].op != ScalarOp::kCast || !isByte || !readers[at]) continue;
    bool isAlone = !readersOf(bound.expr, input, at).back();
    for (int other = 0; other < static_cast<int>(bound.inputs.size()); ++other)
      if (other != input && bound.inputs[other]->shape() == shape)
        isAlone = isAlone && !readersOf(bound.expr, other, -1)[at];
    if (isAlone) return at;
  }
  return std::nullopt;
}

bool splitOff(Graph& graph, Node* node, const Value* sums) {
  const BoundExpr bound = boundExpr(*node);
  size_t input = 0;
  while (bound.inputs[input] != sums) ++input;
  const std::optional<int> at =
      quantisation(bound, static_cast<int>(input), node->output()->shape());
  if (!at) return false;
  Copier inner(bound.expr);
  inner.copy(*at);
  const BoundExpr part = simplified({inner.result(), bound.inputs});
  Value* bytes = addPointwise(graph, node->name, part.inputs, part.expr, node);
  Copier outer(bound.expr);
  outer.replace(*at, static_cast<int>(bound.inputs.size()), bytes->dataType());
  outer.copy(static_cast<int>(bound.expr.code().size()) - 1);
  BoundExpr rest{outer.result(), bound.inputs};
  rest.inputs.push_back(bytes);
  return rewritePointwise(graph, node, simplified(rest));
}

}  // namespace

bool splitQuantised(Graph& graph, const PassOptions& options) {
  if (!options.fusion.integerProducts) return false;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::Pointwise || node->epilogue) continue;
    std::vector<Value*> sums;
    for (Value* value : node->inputs)
      if (isSumsOfProduct(graph, value, node)) sums.push_back(value);
    if (sums.size() < 2) continue;
    for (const Value* value : sums) changed |= splitOff(graph, node, value);
  }
  return changed;
}

}  // namespace camshaft
