// Matrix products of one input with several weights, as of queries, keys and values, become one.
//
//   %q = MatMul(%x, %wq) + %bq          %m = MatMul(%x, [wq wk]) + [bq bk]
//   %k = MatMul(%x, %wk) + %bk     →    %q = Slice(%m), %k = Slice(%m)
//
// The input is read and packed once, and one larger product divides better among cores. Attention
// reads the parts in place (fold_attention_transposes), and what rotates them does (fuse_parts).
// Elsewhere each part is copied once more: so only where reshapes follow, and, on backends without
// such parts, only in builds that ask for the most (optimisation level 5) until the gain is
// measured to be worth the copies. Products with weights of a few bits are merged like others.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_nbits.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "support/text.h"

namespace camshaft {

constexpr int kLevelThatCopies = 5;

namespace {

struct Sibling {
  Node* product;
  Value* bias;            // null: none
  Value* result;          // of the product, or of the addition of its bias
  const Node* attention;  // what reads it as heads; null: something else does
};

}  // namespace

// The attention that reads the value through reshapes and transposes alone.
static const Node* attentionAfter(const Graph& graph, const Value* value) {
  const Node* reader = soleUser(graph, value);
  while (reader && !reader->epilogue &&
         (reader->op == &ops::Reshape || reader->op == &ops::Transpose))
    reader = soleUser(graph, reader->output());
  return reader && reader->op == &ops::Attention ? reader : nullptr;
}

static bool isProductWithMatrix(const Node& node) {
  if (node.op == &ops::MatMul)
    return !node.as<MatMulAttrs>().transposeA && node.input(1)->isConstant() &&
           node.input(1)->rank() == 2;
  return node.op == &ops::MatMulNBits &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [](const Value* input) { return !input || input->isConstant(); });
}

static std::optional<Sibling> asSibling(const Graph& graph, Node* node) {
  if (node->epilogue || !isProductWithMatrix(*node)) return std::nullopt;
  Sibling sibling{node, nullptr, node->output(), nullptr};
  const Node* add = soleUser(graph, sibling.result);
  if (add && add->op == &ops::Pointwise && !add->epilogue &&
      add->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kAdd)) {
    Value* bias = otherInput(add, sibling.result);
    if (!bias || !bias->isConstant() || bias->rank() != 1 ||
        bias->shape()[0] != sibling.result->shape().back())
      return std::nullopt;
    sibling.bias = bias;
    sibling.result = add->output();
  }
  sibling.attention = attentionAfter(graph, sibling.result);
  const Node* reader = soleUser(graph, sibling.result);
  return reader && reader->op == &ops::Reshape ? std::optional(sibling) : std::nullopt;
}

static Value* concatenated(Graph& graph, const std::string& name, std::vector<Value*> constants,
                           int64_t axis, Node* before) {
  ConcatAttrs attrs;
  attrs.axis = axis;
  return foldNow(graph,
                 graph.add(&ops::Concat, name, std::move(constants), std::move(attrs), before));
}

// The product with the weights of all side by side.
static Node* addProductOfAll(Graph& graph, const std::vector<Sibling>& siblings) {
  Node* first = siblings.front().product;
  const auto joined = [&](size_t input, int64_t axis) {
    std::vector<Value*> constants;
    for (const Sibling& sibling : siblings) constants.push_back(sibling.product->inputs[input]);
    return concatenated(graph, constants[0]->name, constants, axis, first);
  };
  std::vector<Value*> inputs{first->input(0)};
  if (first->op == &ops::MatMul) {
    const MatMulAttrs attrs = first->as<MatMulAttrs>();
    inputs.push_back(joined(1, attrs.transposeB ? 0 : 1));
    return graph.add(&ops::MatMul, first->name, std::move(inputs), attrs, first);
  }
  for (size_t i = 1; i < first->inputs.size(); ++i)
    inputs.push_back(first->inputs[i] ? joined(i, 0) : nullptr);
  return graph.add(&ops::MatMulNBits, first->name, std::move(inputs), first->as<MatMulNBitsAttrs>(),
                   first);
}

static void merge(Graph& graph, const std::vector<Sibling>& siblings) {
  Node* first = siblings.front().product;
  std::vector<Value*> biases;
  for (const Sibling& sibling : siblings) biases.push_back(sibling.bias);
  Node* product = addProductOfAll(graph, siblings);
  Value* sum = product->output();
  if (biases[0])
    sum = addBinary(graph, ScalarOp::kAdd, first->name, sum,
                    concatenated(graph, biases[0]->name, biases, 0, first), first);

  Dim start = 0;
  std::vector<Value*> parts;
  for (const Sibling& sibling : siblings) {
    mergeOrigins(product, sibling.product);
    SliceAttrs slice;
    slice.axes = {sum->rank() - 1};
    slice.starts = {start};
    slice.sizes = {sibling.result->shape().back()};
    slice.steps = {1};
    start += slice.sizes[0];
    parts.push_back(
        graph.add(&ops::Slice, sibling.product->name, {sum}, std::move(slice), first)->output());
  }
  for (size_t i = 0; i < parts.size(); ++i) replaceValue(graph, siblings[i].result, parts[i]);
}

// Whether parts of the result are cut out, through reshapes and transposes: fuse_parts reads these
// where they lie, and what else the product gives beside them.
static bool isRotated(const Sibling& sibling) {
  const auto isCut = [](const Value* value) {
    return std::ranges::any_of(value->users,
                               [](const Node* user) { return user->op == &ops::Slice; });
  };
  return std::ranges::any_of(sibling.result->users, [&](const Node* reader) {
    if (reader->op != &ops::Reshape) return false;
    return isCut(reader->output()) ||
           std::ranges::any_of(reader->output()->users, [&](const Node* user) {
             return user->op == &ops::Transpose && isCut(user->output());
           });
  });
}

// What products have in common that can be one: operator, attributes, types of weights.
static std::string kindOf(const Node& product) {
  std::string kind = str(product.op->name, toString(*product.attrs));
  for (size_t i = 1; i < product.inputs.size(); ++i)
    kind += product.inputs[i] ? str(" ", product.inputs[i]->dataType()) : " _";
  return kind;
}

bool mergeSiblingMatMuls(Graph& graph, const PassOptions& options) {
  // Keyed by what must agree, in the order of the graph.
  std::map<std::tuple<const Value*, const Node*, std::string, bool>, size_t> groupOf;
  std::vector<std::vector<Sibling>> groups;
  for (Node* node : graph.nodeList()) {
    const std::optional<Sibling> sibling = asSibling(graph, node);
    if (!sibling) continue;
    const bool mayCopy =
        options.fusion.pointwiseParts || options.optimizationLevel >= kLevelThatCopies;
    if (!sibling->attention && !mayCopy) continue;
    const auto key = std::tuple{static_cast<const Value*>(node->input(0)), sibling->attention,
                                kindOf(*node), sibling->bias != nullptr};
    const auto [it, isNew] = groupOf.try_emplace(key, groups.size());
    if (isNew) groups.emplace_back();
    groups[it->second].push_back(*sibling);
  }
  bool changed = false;
  for (const std::vector<Sibling>& group : groups) {
    if (group.size() < 2) continue;
    const bool isCopied = !group[0].attention && options.optimizationLevel < kLevelThatCopies;
    if (isCopied && std::ranges::none_of(group, isRotated)) continue;
    merge(graph, group);
    changed = true;
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
