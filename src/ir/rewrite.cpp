#include "ir/rewrite.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace camshaft {

Node* producerOf(const Value* value, Op op) {
  if (!value || !value->producer) return nullptr;
  Node* node = value->producer;
  return node->op == op && !node->epilogue ? node : nullptr;
}

Value* skipThrough(Value* value, Op op) {
  for (Node* node = producerOf(value, op); node && node->inputs.size() == 1;
       node = producerOf(value, op))
    value = node->inputs[0];
  return value;
}

Value* otherInput(const Node* node, const Value* one) {
  if (node->inputs.size() != 2) return nullptr;
  if (node->inputs[0] == one) return node->inputs[1];
  return node->inputs[1] == one ? node->inputs[0] : nullptr;
}

bool onlyUser(const Graph& graph, const Value* value) {
  return value->users.size() == 1 && !graph.isOutput(value);
}

Node* onlyUser(const Graph& graph, const Value* value, Op op) {
  return onlyUser(graph, value) && value->users.front()->op == op ? value->users.front() : nullptr;
}

bool readsOpaque(const Node& node) {
  return std::ranges::any_of(node.inputs,
                             [](const Value* input) { return input && input->isOpaque(); });
}

bool isScalarConstant(const Value* value, double* number) {
  if (!value || !value->isConstant() || value->isOpaque() || isPacked(value->dataType()))
    return false;
  const auto bytes = value->constant->bytes;
  const size_t width = bytesOf(value->dataType(), 1);
  if (bytes.size() < width) return false;
  if (std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) != 0) return false;
  if (number) *number = readElement(value->dataType(), bytes.data(), 0);
  return true;
}

bool isScalarConstant(const Value* value, double number, double tolerance) {
  double actual = 0;
  return isScalarConstant(value, &actual) &&
         std::fabs(actual - number) <= tolerance * std::max(1.0, std::fabs(number));
}

void mergeOrigins(Node* to, const Node* from) {
  if (from->origins.empty() && !from->name.empty()) to->origins.add(from->name);
  to->origins.add(from->origins);
  if (from->precision.compute == DataType::kF32) to->precision.compute = DataType::kF32;
}

void replaceAndErase(Graph& graph, Node* node, Value* replacement) {
  CAMSHAFT_CHECK(node->outputs.size() == 1, describe(*node),
                 " has more outputs than one to replace");
  if (replacement->producer && replacement->producer != node)
    mergeOrigins(replacement->producer, node);
  graph.replaceUses(node->output(), replacement);
  graph.eraseIfDead(node);
}

Node* insertionPointAfter(const Graph& graph, const Value* value) {
  if (value->producer) return graph.next(value->producer);
  return graph.nodes().empty() ? nullptr : graph.nodes().front().get();
}

}  // namespace camshaft
