// Matrix products of one input with several weights, as of queries, keys and values, become one.
//
//   %q = MatMul(%x, %wq) + %bq          %m = MatMul(%x, [wq wk]) + [bq bk]
//   %k = MatMul(%x, %wk) + %bk     →    %q = Slice(%m), %k = Slice(%m)
//
// What follows each product by columns, scales of quantised weights and biases, follows the one.
// The input is read and packed once, and one larger product divides better among cores. Attention
// reads the parts in place (fold_attention_transposes), and what rotates them does (fuse_parts).
// Elsewhere each part is copied once more: so only where reshapes follow, and, on backends without
// such parts, only in builds that ask for the most (optimisation level 5) until the gain is
// measured to be worth the copies. Products of quantised operands and with weights of a few bits
// are merged like others.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_int8.h"
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
  std::vector<Node*> tail;  // pointwise nodes that read it, one after the other, and constants
  Value* result;            // of the last one
  const Node* attention;    // what reads it as heads; null: something else does

  Value* before(size_t i) const { return i == 0 ? product->output() : tail[i - 1]->output(); }
  Dim columns() const { return result->shape().back(); }
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

static bool isConstantMatrix(const Value* value) {
  return value->isConstant() && value->rank() == 2;
}

// A constant number, or one for each of so many columns.
static bool isOfColumns(const Value& value, const Dim& columns) {
  return value.isConstant() &&
         (isOneNumber(value) || (value.rank() == 1 && value.shape()[0] == columns));
}

static bool isProductWithMatrix(const Node& node) {
  if (node.op == &ops::MatMul)
    return !node.as<MatMulAttrs>().transposeA && isConstantMatrix(node.input(1));
  if (node.op == &ops::MatMulInteger)
    return isConstantMatrix(node.input(1)) &&
           (!node.hasInput(3) || isOfColumns(*node.input(3), node.output()->shape().back()));
  return node.op == &ops::MatMulNBits &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [](const Value* input) { return !input || input->isConstant(); });
}

// Whether the node computes each column from itself and constants.
static bool isByColumns(const Node& node, const Value* value) {
  if (node.op != &ops::Pointwise || node.epilogue || node.output()->shape() != value->shape())
    return false;
  return std::ranges::count(node.inputs, value) == 1 &&
         std::ranges::all_of(node.inputs, [&](const Value* input) {
           return input == value || isOfColumns(*input, value->shape().back());
         });
}

static std::optional<Sibling> asSibling(const Graph& graph, Node* node) {
  if (node->epilogue || !isProductWithMatrix(*node)) return std::nullopt;
  Sibling sibling{node, {}, node->output(), nullptr};
  for (Node* next = soleUser(graph, sibling.result); next && isByColumns(*next, sibling.result);
       next = soleUser(graph, sibling.result)) {
    sibling.tail.push_back(next);
    sibling.result = next->output();
  }
  sibling.attention = attentionAfter(graph, sibling.result);
  const Node* reader = soleUser(graph, sibling.result);
  return reader && reader->op == &ops::Reshape ? std::optional(sibling) : std::nullopt;
}

// Numbers of the siblings, one for each column of theirs or one for all, side by side.
static Value* columnsOf(Graph& graph, const std::vector<Sibling>& siblings,
                        std::vector<Value*> numbers, Node* before) {
  const bool isShared = std::ranges::all_of(
      numbers, [&](const Value* value) { return value == numbers[0] && isOneNumber(*value); });
  if (isShared) return numbers[0];
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i]->rank() == 1 && numbers[i]->shape()[0] == siblings[i].columns()) continue;
    ExpandAttrs attrs;
    attrs.shape = {siblings[i].columns()};
    Value* flat = addReshape(graph, numbers[i]->name, numbers[i], {}, before);
    numbers[i] = foldNow(graph, graph.add(&ops::Expand, numbers[i]->name, {flat}, attrs, before));
  }
  return joinNow(graph, numbers, 0, before);
}

// The product with the weights of all side by side.
static Node* addProductOfAll(Graph& graph, const std::vector<Sibling>& siblings) {
  Node* first = siblings.front().product;
  const auto joined = [&](size_t input, int64_t axis) {
    std::vector<Value*> constants;
    for (const Sibling& sibling : siblings) constants.push_back(sibling.product->inputs[input]);
    return joinNow(graph, constants, axis, first);
  };
  std::vector<Value*> inputs{first->input(0)};
  if (first->op == &ops::MatMul) {
    const MatMulAttrs attrs = first->as<MatMulAttrs>();
    inputs.push_back(joined(1, attrs.transposeB ? 0 : 1));
    return graph.add(&ops::MatMul, first->name, std::move(inputs), attrs, first);
  }
  if (first->op == &ops::MatMulInteger) {
    inputs.push_back(joined(1, 1));
    inputs.push_back(first->hasInput(2) ? first->input(2) : nullptr);
    std::vector<Value*> zeros;
    for (const Sibling& sibling : siblings)
      if (sibling.product->hasInput(3)) zeros.push_back(sibling.product->input(3));
    inputs.push_back(zeros.empty() ? nullptr : columnsOf(graph, siblings, zeros, first));
    return graph.add(&ops::MatMulInteger, first->name, std::move(inputs), NoAttrs{}, first);
  }
  for (size_t i = 1; i < first->inputs.size(); ++i)
    inputs.push_back(first->inputs[i] ? joined(i, 0) : nullptr);
  return graph.add(&ops::MatMulNBits, first->name, std::move(inputs), first->as<MatMulNBitsAttrs>(),
                   first);
}

// Node `i` of the tails on the product of all. Numbers inside of expressions that are not the same
// become operands.
static Value* addTailOfAll(Graph& graph, const std::vector<Sibling>& siblings, size_t i,
                           Value* sum) {
  Node* first = siblings.front().product;
  const Node& node = *siblings.front().tail[i];
  std::vector<Value*> inputs = node.inputs;
  const auto others = [&](const Sibling& sibling) {
    std::vector<Value*> values = sibling.tail[i]->inputs;
    std::erase(values, sibling.before(i));
    return values;
  };
  size_t other = 0;
  for (Value*& input : inputs) {
    if (input == siblings.front().before(i)) {
      input = sum;
      continue;
    }
    std::vector<Value*> numbers;
    for (const Sibling& sibling : siblings) numbers.push_back(others(sibling)[other]);
    input = columnsOf(graph, siblings, std::move(numbers), first);
    ++other;
  }
  const auto codeOf = [&](const Sibling& sibling) -> const std::vector<ScalarInstruction>& {
    return sibling.tail[i]->as<PointwiseAttrs>().expr.code();
  };
  PointwiseAttrs attrs = node.as<PointwiseAttrs>();
  std::vector<int> different;
  for (size_t at = 0; at < codeOf(siblings[0]).size(); ++at) {
    std::vector<Value*> numbers;
    const double real = codeOf(siblings[0])[at].real;
    if (std::ranges::all_of(siblings,
                            [&](const Sibling& each) { return codeOf(each)[at].real == real; }))
      continue;
    for (const Sibling& sibling : siblings) {
      const auto number = static_cast<float>(codeOf(sibling)[at].real);
      numbers.push_back(graph.addConstant(first->name, DataType::kF32, {}, std::span(&number, 1)));
    }
    different.push_back(static_cast<int>(at));
    inputs.push_back(columnsOf(graph, siblings, std::move(numbers), first));
  }
  if (!different.empty()) attrs.expr = attrs.expr.withInputsFor(different);
  return graph.add(&ops::Pointwise, first->name, std::move(inputs), std::move(attrs), first)
      ->output();
}

static void merge(Graph& graph, const std::vector<Sibling>& siblings) {
  Node* first = siblings.front().product;
  Node* product = addProductOfAll(graph, siblings);
  Value* sum = product->output();
  for (size_t i = 0; i < siblings.front().tail.size(); ++i)
    sum = addTailOfAll(graph, siblings, i, sum);

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

// The expression without its f32 numbers; a sum or product of two whichever is first.
static std::string formOf(const Node& tail, const Value* value) {
  const Expr& expr = tail.as<PointwiseAttrs>().expr;
  for (const ScalarOp op : {ScalarOp::kAdd, ScalarOp::kMul})
    if (expr.isSingle(op)) return str(infoOf(op).name);
  std::string form = str(std::ranges::find(tail.inputs, value) - tail.inputs.begin());
  for (const ScalarInstruction& code : expr.code()) {
    form +=
        str(" ", static_cast<int>(code.op), ":", code.type, ",", code.a, ",", code.b, ",", code.c);
    if (code.op == ScalarOp::kConst && code.type != DataType::kF32)
      form += str("=", code.real, ",", code.integer);
  }
  return form;
}

// What products have in common that can be one: operator, attributes, types of weights, the zero
// point of integers, and what follows.
static std::string kindOf(const Sibling& sibling) {
  const Node& product = *sibling.product;
  std::string kind = str(product.op->name, product.attrs ? toString(*product.attrs) : "");
  for (size_t i = 1; i < product.inputs.size(); ++i)
    kind += product.inputs[i] ? str(" ", product.inputs[i]->dataType()) : " _";
  if (product.op == &ops::MatMulInteger && product.hasInput(2))
    kind += str(" %", product.input(2)->name);
  for (size_t i = 0; i < sibling.tail.size(); ++i)
    kind += str("; ", formOf(*sibling.tail[i], sibling.before(i)));
  return kind;
}

bool mergeSiblingMatMuls(Graph& graph, const PassOptions& options) {
  // Keyed by what must agree, in the order of the graph.
  std::map<std::tuple<const Value*, const Node*, std::string>, size_t> groupOf;
  std::vector<std::vector<Sibling>> groups;
  for (Node* node : graph.nodeList()) {
    const std::optional<Sibling> sibling = asSibling(graph, node);
    if (!sibling) continue;
    const bool mayCopy =
        options.fusion.pointwiseParts || options.optimizationLevel >= kLevelThatCopies;
    if (!sibling->attention && !mayCopy) continue;
    const auto key =
        std::tuple{static_cast<const Value*>(node->input(0)), sibling->attention, kindOf(*sibling)};
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
