// Constants that meet.
//
//   (x + a) + b, (x - a) + b               →  x + c          // nobody else reads the inner sum
//   (x * a) * b                            →  x * c
//   Reshape(MatMul(x, w) + a) + b          →  Reshape(MatMul(x, w) + a + b)
//   (MatMul(x, w) + a) * b                 →  MatMul(x, w) * b + a*b
//
// The third for b along the last dimension, which the reshape leaves as it is; the last where w can
// take the factor.
#include "slim/merge_constants.h"

#include <cmath>
#include <optional>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"

namespace camshaft {

namespace {

// A Pointwise node that adds a constant to x, subtracts it, or multiplies by it.
struct WithConstant {
  ScalarOp op;
  Value *x, *constant;
  bool isProduct() const { return op == ScalarOp::kMul; }
};

std::optional<WithConstant> withConstant(const Node* node) {
  if (!node || node->op != &ops::Pointwise || node->epilogue || node->inputs.size() != 2)
    return std::nullopt;
  const Expr& expr = node->as<PointwiseAttrs>().expr;
  const DataType type = expr.resultType();
  if (!expr.isSingle() || isPacked(type) || type == DataType::kBool) return std::nullopt;
  const ScalarOp op = expr.code().back().op;
  if (op != ScalarOp::kAdd && op != ScalarOp::kMul && !(op == ScalarOp::kSub && isFloat(type)))
    return std::nullopt;
  if (node->inputs[1]->isConstant() && !node->inputs[0]->isConstant())
    return WithConstant{op, node->inputs[0], node->inputs[1]};
  if (op != ScalarOp::kSub && node->inputs[0]->isConstant() && !node->inputs[1]->isConstant())
    return WithConstant{op, node->inputs[1], node->inputs[0]};
  return std::nullopt;
}

// Half of the bits that numbers of the type are told apart by.
double largestHarmless(DataType type) {
  switch (type) {
    case DataType::kF64:
      return 1 << 26;
    case DataType::kF32:
      return 1 << 12;
    case DataType::kF16:
      return 1 << 5;
    default:
      return 1 << 4;
  }
}

template <class Condition>
bool allElements(const Value* constant, Condition condition) {
  const ConstTensorView view = constant->view();
  for (int64_t i = 0; i < view.count(); ++i)
    if (!condition(readElement(view.type, view.data, i))) return false;
  return true;
}

// Adding a large number and taking it away again rounds, and is there to do so.
bool roundsOnPurpose(const Value* constant) {
  const double most = largestHarmless(constant->dataType());
  return !allElements(constant, [&](double number) { return std::fabs(number) <= most; });
}

bool isOrdinary(const Value* constant) {
  return allElements(constant, [](double number) {
    return number == 0 || (std::fabs(number) > 1e-4 && std::fabs(number) < 1e4);
  });
}

bool mayMerge(const WithConstant& inner, const WithConstant& outer) {
  if (inner.isProduct() != outer.isProduct()) return false;
  const DataType type = inner.constant->dataType();
  if (!isFloat(type)) return true;
  if (inner.isProduct()) return isOrdinary(inner.constant) && isOrdinary(outer.constant);
  return !roundsOnPurpose(inner.constant) && !roundsOnPurpose(outer.constant);
}

Value* negated(Graph& graph, Value* constant, Node* before) {
  return foldNow(graph,
                 addUnary(graph, ScalarOp::kNeg, constant->name, constant, before)->producer);
}

// The one constant for both; null when it would be larger than either.
Value* merged(Graph& graph, const WithConstant& inner, const WithConstant& outer, Node* before) {
  const auto count = [](const Shape& shape) { return numElements(shape).value(); };
  const Shape shape =
      broadcastShapes(inner.constant->shape(), outer.constant->shape(), before->name);
  if (count(shape) > std::max(count(inner.constant->shape()), count(outer.constant->shape())))
    return nullptr;
  Value* a = inner.op == ScalarOp::kSub ? negated(graph, inner.constant, before) : inner.constant;
  Value* b = outer.op == ScalarOp::kSub ? negated(graph, outer.constant, before) : outer.constant;
  const ScalarOp op = inner.isProduct() ? ScalarOp::kMul : ScalarOp::kAdd;
  return foldNow(graph, addBinary(graph, op, before->name, a, b, before)->producer);
}

bool mergeInto(Graph& graph, Node* node) {
  const auto outer = withConstant(node);
  const auto inner = outer ? withConstant(outer->x->producer) : std::nullopt;
  if (!inner || soleUser(graph, outer->x) != node || !mayMerge(*inner, *outer)) return false;
  Node* first = outer->x->producer;
  Value* constant = merged(graph, *inner, *outer, node);
  if (!constant) return false;
  Expr expr;
  const int x = expr.input(0, inner->x->dataType());
  expr.apply(inner->isProduct() ? ScalarOp::kMul : ScalarOp::kAdd, x,
             expr.input(1, constant->dataType()));
  node->as<PointwiseAttrs>().expr = std::move(expr);
  graph.setInputs(node, {inner->x, constant});
  graph.inferTypes(node);
  mergeOrigins(node, first);
  graph.eraseIfDead(first);
  return true;
}

// The constant without its leading dimensions of 1, when it has no others but the last.
Value* asRow(Graph& graph, Value* constant, int64_t size) {
  const Shape& shape = constant->shape();
  const int64_t count = numElements(shape).value();
  const bool isRow = count == 1 || (count == size && shape.back().isConstant(size));
  if (!isRow) return nullptr;
  const Shape row = count == 1 ? Shape{} : Shape{size};
  if (shape == row) return constant;
  return graph.addConstant(constant->name, {constant->dataType(), row}, constant->constant);
}

bool isProductWithRows(const Value* value) {
  while (const auto node = withConstant(value->producer)) value = node->x;
  return producerOf(value, &ops::MatMul) != nullptr;
}

bool hoist(Graph& graph, Node* node) {
  const auto outer = withConstant(node);
  Node* reshape = outer ? producerOf(outer->x, &ops::Reshape) : nullptr;
  if (!reshape || soleUser(graph, outer->x) != node || outer->x->rank() == 0) return false;
  Value* rows = reshape->input(0);
  const Dim& size = outer->x->shape().back();
  if (rows->rank() == 0 || !size.isConstant() || rows->shape().back() != size ||
      outer->x->shape() != node->output()->shape() || soleUser(graph, rows) != reshape ||
      !isProductWithRows(rows))
    return false;
  Value* row = asRow(graph, outer->constant, size.value());
  if (!row) return false;
  Value* sum = addBinary(graph, outer->op, node->name, rows, row, reshape);
  sum->producer->origins = node->origins;
  graph.setInput(reshape, 0, sum);
  replaceValue(graph, node->output(), reshape->output());
  return true;
}

bool takesFactor(const Node* matmul) {
  return matmul && matmul->input(1)->isConstant() && isFloat(matmul->input(1)->dataType()) &&
         matmul->input(1)->users.size() == 1;
}

bool distribute(Graph& graph, Node* node) {
  const auto outer = withConstant(node);
  if (!outer || !outer->isProduct() || !isFloat(outer->constant->dataType())) return false;
  Node* sum = outer->x->producer;
  const auto inner = withConstant(sum);
  if (!inner || inner->isProduct() || soleUser(graph, outer->x) != node ||
      soleUser(graph, inner->x) != sum || !takesFactor(producerOf(inner->x, &ops::MatMul)) ||
      inner->x->shape() != node->output()->shape() || !isOrdinary(outer->constant))
    return false;
  const WithConstant factor{ScalarOp::kMul, inner->x, inner->constant};
  Value* addend = merged(graph, factor, *outer, node);
  if (!addend) return false;
  Value* product = addBinary(graph, ScalarOp::kMul, node->name, inner->x, outer->constant, node);
  product->producer->origins = node->origins;
  Value* result = addBinary(graph, inner->op, sum->name, product, addend, node);
  result->producer->origins = sum->origins;
  replaceValue(graph, node->output(), result);
  return true;
}

}  // namespace

bool mergeConstants(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList()) changed |= mergeInto(graph, node);
  graph.eraseUnusedConstants();
  return changed;
}

bool hoistRows(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList()) changed |= hoist(graph, node);
  for (Node* node : graph.nodeList()) changed |= distribute(graph, node);
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
