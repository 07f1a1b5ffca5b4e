#include "onnx/size_rules.h"

#include "ops/pointwise.h"

namespace camshaft::onnx::importer {

static std::string whoIs(const NodeImport& node) {
  return str("node '", node.name(), "' (", node.opType(), ")");
}

void requireSize(const NodeImport& node, const Dim& have, std::string_view what, const Dim& want) {
  node.graph().require({SizeRelation::kEqual, have, want, str(whoIs(node), ": it has "),
                        str(" ", what, " where it needs "), ""});
}

void requireShape(const NodeImport& node, const Value* operand, std::string_view what,
                  const Shape& shape) {
  if (!operand) return;
  if (operand->shape().size() != shape.size())
    node.invalid("its ", what, " has rank ", operand->rank(), " where it needs ", shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    requireSize(node, operand->shape()[i], str("elements in dimension ", i, " of its ", what),
                shape[i]);
}

void requireBroadcastsTo(const NodeImport& node, const Value* operand, std::string_view what,
                         const Shape& shape) {
  const Shape& own = operand->shape();
  if (own.size() > shape.size())
    node.invalid("its ", what, " of shape ", own, " does not broadcast to ", shape);
  for (size_t i = 1; i <= own.size(); ++i)
    node.graph().require({SizeRelation::kBroadcastTo, own[own.size() - i], shape[shape.size() - i],
                          str(whoIs(node), ": its ", what, " has a size of "),
                          " that does not broadcast to ", ""});
}

Shape broadcastShape(const NodeImport& node, const Shape& a, const Shape& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i)
    node.graph().require({SizeRelation::kBroadcast, a[a.size() - i], b[b.size() - i],
                          str(whoIs(node), " has sizes "), " and ", " that do not broadcast"});
  return broadcastShapes(a, b, whoIs(node));
}

}  // namespace camshaft::onnx::importer
