// Operators that only move or choose elements do so with bytes: dequantisation waits until behind
// them, where the next product or quantisation takes it in.
//
//   %a = Pointwise(%q, %s, %z) {dequantised}
//   %m = Pool(%a)
//   %r = Pointwise(%m, %s, %z) {quantised}
//   →
//   %r = Pool(%q)
//
// Of bytes with one scale and zero point, where backends have products of integers. Parts with
// different ones are quantised before they are joined, so that each is bytes already:
//
//   %c = Concat(%a, %b)                      %d = Pointwise(%a, %t) {quantised}
//   %y = Pointwise(%c, %t) {quantised}   →   %e = Pointwise(%b, %t) {quantised}
//                                            %y = Concat(%d, %e)
//
// What a product of integers stores is quantised there, and not behind what moves it:
//
//   %c = Conv(dequantised, dequantised)      %c = Conv(dequantised, dequantised)
//   %m = Pool(%c)                        →   %q = Pointwise(%c, %t) {quantised}
//   %y = Pointwise(%m, %t) {quantised}       %y = Pool(%q)
#include <algorithm>
#include <span>

#include "ir/rewrite.h"
#include "ops/gemm_int8.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/pool.h"
#include "ops/sample.h"
#include "ops/walk.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/quantisation.h"

namespace camshaft {

namespace {

// Each window has an element, so that no other value comes in.
bool isMaximum(const Node& node) {
  const auto& attrs = node.as<PoolAttrs>();
  if (attrs.kind != PoolKind::kMax || node.outputs.size() != 1) return false;
  for (size_t i = 0; i < attrs.kernel.size(); ++i)
    if (attrs.dilations[i] != 1 || attrs.padsBegin[i] >= attrs.kernel[i] ||
        attrs.padsEnd[i] >= attrs.kernel[i])
      return false;
  return true;
}

bool isNearest(const Node& node) {
  const auto& attrs = node.as<ResizeAttrs>();
  return attrs.mode == ResizeMode::kNearest &&
         attrs.coordinates != ResizeCoordinates::kCropAndResize;
}

}  // namespace

bool movesElements(const Node& node) {
  if (node.op == &ops::Pool) return isMaximum(node);
  if (node.op == &ops::Resize) return isNearest(node);
  return node.op == &ops::Transpose || node.op == &ops::Reshape || node.op == &ops::Slice ||
         node.op == &ops::Concat || node.op == &ops::Gather;
}

std::span<Value* const> movedInputs(const Node& node) {
  return std::span(node.inputs).first(node.op == &ops::Gather ? 1 : node.inputs.size());
}

namespace {

// Dequantisation of all inputs alike.
std::optional<Dequantized> dequantizedInputs(const Node& node) {
  std::optional<Dequantized> first;
  for (const Value* input : movedInputs(node)) {
    const std::optional<Dequantized> each = dequantized(input);
    if (!each || !isOneNumber(*each->scale) || (each->zero && !isOneNumber(*each->zero)))
      return std::nullopt;
    if (!first) first = each;
    if (each->values->dataType() != first->values->dataType() ||
        !areSameNumber(each->scale, first->scale) || !areSameNumber(each->zero, first->zero))
      return std::nullopt;
  }
  return first;
}

bool sinkThrough(Graph& graph, Node* node, const FusionAbilities& fusion) {
  if (node->epilogue || !movesElements(*node)) return false;
  const std::optional<Dequantized> parameters = dequantizedInputs(*node);
  if (!parameters || !hasProductsOf(parameters->values->dataType(), fusion) ||
      !(parameters->scale->rank() == 0))
    return false;
  if (parameters->zero && parameters->zero->rank() != 0) return false;
  const Expr expr = node->input(0)->producer->as<PointwiseAttrs>().expr;
  std::vector<Value*> operands = node->input(0)->producer->inputs;
  const size_t place =
      std::find(operands.begin(), operands.end(), parameters->values) - operands.begin();
  std::vector<Value*> bytes = node->inputs;
  const std::vector<Value*> floats(movedInputs(*node).begin(), movedInputs(*node).end());
  for (size_t i = 0; i < floats.size(); ++i) bytes[i] = dequantized(floats[i])->values;
  graph.setInputs(node, bytes);
  graph.inferTypes(node);
  Value* result = node->output();
  const std::string name = result->name;
  operands[place] = result;
  Value* wide = addPointwise(graph, node->name, operands, expr, graph.next(node));
  Node* dequantization = wide->producer;
  const std::vector<Value*> inputs = dequantization->inputs;
  graph.replaceUses(result, wide);
  graph.setInputs(dequantization, inputs);
  graph.rename(result, graph.uniqueName(name + "_quantised"));
  graph.rename(wide, name);
  // One that is joined with itself goes once.
  for (auto value = floats.begin(); value != floats.end(); ++value)
    if (std::find(floats.begin(), value, *value) == value && (*value)->producer)
      graph.eraseIfDead((*value)->producer);
  return true;
}

// quantised(dequantised(q)) is q.
bool cancel(Graph& graph, Node* node) {
  const std::optional<Quantized> q = quantized(node->output());
  const std::optional<Dequantized> d = q ? dequantized(q->values) : std::nullopt;
  if (!d || d->values->dataType() != node->output()->dataType() ||
      !areSameNumber(q->scale, d->scale) || !areSameNumber(q->zero, d->zero))
    return false;
  replaceValue(graph, node->output(), d->values);
  return true;
}

// An image of at most two dimensions, and nothing from outside.
bool isLinear(const Node& node) {
  const auto& attrs = node.as<ResizeAttrs>();
  const Shape& from = node.input(0)->shape();
  return attrs.mode == ResizeMode::kLinear && !attrs.antialias && !attrs.excludeOutside &&
         attrs.coordinates != ResizeCoordinates::kCropAndResize && from.size() <= 4 &&
         from.size() > 2 && attrs.sizes[0] == from[0] && attrs.sizes[1] == from[1];
}

// Linear interpolation of integers rounds, as quantisation does: quantised(resized(dequantised(q)))
// is resized(q).
bool resizeBytes(Graph& graph, Node* node) {
  const std::optional<Quantized> q = quantized(node->output());
  Node* resize = q ? producerOf(q->values, &ops::Resize) : nullptr;
  const std::optional<Dequantized> d = resize ? dequantized(resize->input(0)) : std::nullopt;
  if (!d || !isByte(d->values) || resize->epilogue || !isLinear(*resize) ||
      soleUser(graph, q->values) != node || d->values->dataType() != node->output()->dataType() ||
      !areSameNumber(q->scale, d->scale) || !areSameNumber(q->zero, d->zero))
    return false;
  Node* floats = resize->input(0)->producer;
  graph.setInputs(resize, {d->values});
  graph.inferTypes(resize);
  graph.eraseIfDead(floats);
  replaceValue(graph, node->output(), resize->output());
  return true;
}

// The input that all others are constants beside, and which only this node reads.
const Value* onlyInput(const Graph& graph, const Node& node) {
  const Value* only = nullptr;
  for (const Value* input : node.inputs) {
    if (!input || input->isConstant()) continue;
    if (only || soleUser(graph, input) != &node) return nullptr;
    only = input;
  }
  return only;
}

// Whether a product of integers will store it, perhaps with pointwise work behind it, and what
// moves elements.
bool isOfProduct(const Graph& graph, const Value* value) {
  const Node* node = value ? value->producer : nullptr;
  if (!node || node->epilogue) return false;
  if (node->op == &ops::Conv || node->op == &ops::MatMul)
    return dequantized(node->input(0)) && dequantized(node->input(1)) && hasIntegerProduct(*node);
  return (node->op == &ops::Pointwise || movesElements(*node)) &&
         isOfProduct(graph, onlyInput(graph, *node));
}

bool isPositive(const Value* constant) {
  return isOneConstant(constant) && readReals(constant->view())[0] > 0;
}

// quantised(moved(x)) is moved(quantised(x)): larger numbers are no smaller bytes.
bool quantiseEarlier(Graph& graph, Node* node) {
  const std::optional<Quantized> q = quantized(node->output());
  Node* mover = q ? q->values->producer : nullptr;
  if (!mover || mover->epilogue || !movesElements(*mover) || movedInputs(*mover).size() != 1 ||
      soleUser(graph, q->values) != node || !isPositive(q->scale) ||
      (q->zero && !isOneConstant(q->zero)))
    return false;
  Value* x = mover->input(0);
  if (soleUser(graph, x) != mover || !isOfProduct(graph, x)) return false;
  std::vector<Value*> inputs = node->inputs;
  std::replace(inputs.begin(), inputs.end(), q->values, x);
  Value* bytes =
      addPointwise(graph, node->name, std::move(inputs), node->as<PointwiseAttrs>().expr, mover);
  graph.setInput(mover, 0, bytes);
  graph.inferTypes(mover);
  replaceValue(graph, node->output(), mover->output());
  quantiseEarlier(graph, bytes->producer);
  return true;
}

// quantised(join(a, b)) is join(quantised(a), quantised(b)).
bool quantiseParts(Graph& graph, Node* node) {
  const std::optional<Quantized> q = quantized(node->output());
  Node* join = q ? producerOf(q->values, &ops::Concat) : nullptr;
  if (!join || join->epilogue || soleUser(graph, q->values) != node || !isOneConstant(q->scale) ||
      (q->zero && !isOneConstant(q->zero)))
    return false;
  if (std::none_of(join->inputs.begin(), join->inputs.end(),
                   [](const Value* part) { return dequantized(part).has_value(); }))
    return false;
  const Expr expr = node->as<PointwiseAttrs>().expr;
  const std::vector<Value*> operands = node->inputs;
  std::vector<Value*> parts;
  for (Value* part : join->inputs) {
    std::vector<Value*> inputs = operands;
    std::replace(inputs.begin(), inputs.end(), q->values, part);
    parts.push_back(addPointwise(graph, node->name, std::move(inputs), expr, join));
  }
  graph.setInputs(join, parts);
  graph.inferTypes(join);
  replaceValue(graph, node->output(), join->output());
  for (const Value* part : parts)
    if (!cancel(graph, part->producer)) quantiseParts(graph, part->producer);
  return true;
}

}  // namespace

bool sinkDequantisation(Graph& graph, const PassOptions& options) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->op == &ops::Pointwise && !node->epilogue)
      changed |= hasProductsOf(node->output()->dataType(), options.fusion) &&
                 (cancel(graph, node) || quantiseParts(graph, node) || resizeBytes(graph, node) ||
                  quantiseEarlier(graph, node));  // each of which may end the node
    else
      changed |= sinkThrough(graph, node, options.fusion);
  }
  return changed;
}

}  // namespace camshaft
