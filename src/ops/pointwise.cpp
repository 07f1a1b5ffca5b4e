#include "ops/pointwise.h"

#include <cstring>

#include "ops/contents.h"
#include "ops/rules.h"

namespace camshaft {

Shape broadcastShapes(const Shape& a, const Shape& b, const std::string& who) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t skipped = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& size = result[skipped + i];
    const bool areNumbers = size.isConstant() && shorter[i].isConstant();
    if (areNumbers && !holds(SizeRelation::kBroadcast, size.value(), shorter[i].value()))
      fail(ErrorKind::kInvalidModel, who, " has shapes ", a, " and ", b, " that do not broadcast");
    size = broadcastSize(size, shorter[i], who);
  }
  return result;
}

namespace {

bool domainAccepts(ScalarDomain domain, DataType type) {
  switch (domain) {
    case ScalarDomain::kFloat:
      return isFloat(type);
    case ScalarDomain::kInteger:
      return isInteger(type);
    case ScalarDomain::kLogic:
      return type == DataType::kBool;
    default:
      return true;
  }
}

void checkExpr(const Node& node, const Expr& expr) {
  const auto& code = expr.code();
  for (const ScalarInstruction& in : code) {
    if (in.op <= ScalarOp::kWhere) continue;
    const DataType type = code[in.a].type;
    if (!domainAccepts(infoOf(in.op).domain, type))
      fail(ErrorKind::kInvalidModel, describe(node), " applies '", infoOf(in.op).name,
           "' to elements of type ", type);
    if (in.b >= 0 && code[in.b].type != type)
      fail(ErrorKind::kInvalidModel, describe(node), " applies '", infoOf(in.op).name,
           "' to elements of types ", type, " and ", code[in.b].type);
  }
}

std::vector<TensorType> inferPointwise(const Node& node) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  const int count = node.ownInputs();
  if (expr.empty() || expr.inputCount() != count)
    fail(ErrorKind::kInvalidModel, describe(node), " has ", count, " inputs and an expression of ",
         expr.inputCount());
  checkExpr(node, expr);
  TensorType result{expr.resultType(), {}};
  for (int i = 0; i < count; ++i) {
    if (!node.inputs[i]) fail(ErrorKind::kInvalidModel, describe(node), " lacks its input ", i);
    if (node.inputs[i]->dataType() != expr.inputType(i))
      fail(ErrorKind::kInvalidModel, describe(node), " reads input ", i, " as ", expr.inputType(i),
           " where it is ", node.inputs[i]->type);
    result.shape = broadcastShapes(result.shape, node.inputs[i]->shape(), describe(node));
  }
  return {result};
}

void evaluatePointwise(const Evaluation& evaluation) {
  evaluateExpr(evaluation.node.as<PointwiseAttrs>().expr, evaluation.inputs, evaluation.outputs[0]);
}

std::vector<TensorType> inferIdentity(const Node& node) { return {node.input(0)->type}; }

void evaluateIdentity(const Evaluation& evaluation) {
  if (evaluation.outputs[0].bytes() > 0)
    std::memcpy(evaluation.outputs[0].data, evaluation.inputs[0].data,
                evaluation.outputs[0].bytes());
}

Contents identityContents(const Node& node) { return node.input(0)->contents; }

}  // namespace

const OpInfo ops::Pointwise = {
    "Pointwise",      0, -1, 1, makeAttrsOf<PointwiseAttrs>, inferPointwise, evaluatePointwise,
    pointwiseContents};
const OpInfo ops::Identity = {
    "Identity", 1, 1, 1, makeAttrsOf<NoAttrs>, inferIdentity, evaluateIdentity, identityContents};

Value* addPointwise(Graph& graph, const std::string& name, std::vector<Value*> inputs, Expr expr,
                    Node* before) {
  PointwiseAttrs attrs;
  attrs.expr = std::move(expr);
  return graph.add(&ops::Pointwise, name, std::move(inputs), std::move(attrs), before)->output();
}

Value* addUnary(Graph& graph, ScalarOp op, const std::string& name, Value* x, Node* before) {
  Expr expr;
  expr.apply(op, expr.input(0, x->dataType()));
  return addPointwise(graph, name, {x}, std::move(expr), before);
}

Value* addBinary(Graph& graph, ScalarOp op, const std::string& name, Value* a, Value* b,
                 Node* before) {
  Expr expr;
  const int left = expr.input(0, a->dataType());
  const int right = expr.input(1, b->dataType());
  expr.apply(op, left, right);
  return addPointwise(graph, name, {a, b}, std::move(expr), before);
}

Value* addCast(Graph& graph, const std::string& name, Value* x, DataType type, Node* before) {
  Expr expr;
  expr.cast(expr.input(0, x->dataType()), type);
  return addPointwise(graph, name, {x}, std::move(expr), before);
}

Value* addScalar(Graph& graph, const std::string& name, DataType type, double value) {
  std::vector<std::byte> bytes(bytesOf(type, 1));
  writeElement(type, bytes.data(), 0, value);
  return graph.addConstant(name, {type, {}}, ConstantData::own(std::move(bytes)));
}

}  // namespace camshaft
