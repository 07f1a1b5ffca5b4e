// Attention reads packed QKV, queries, keys and values where matrix products leave them, and leaves
// its result as the next product reads it: [batch, length, heads*size] (BSNH), without transposes.
//
//   %q = Transpose(Reshape(Slice(%qkv)) [b, s, heads, size]) [0, 2, 1, 3]      // k and v alike
//   %a = Attention(%q, %k, %v)
//   %y = Reshape(Transpose(%a) [0, 2, 1, 3]) [b, s, heads*size]
//   →
//   %y = Attention(%qkv, %qkv, %qkv) {heads, size, offsets}
//
// Operands that come from elsewhere, a cache of keys say, stay as they are. Tokens that lie
// [length, batch, width] are transposed; sink_transposes moves that out of the layers.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/attention.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/strided_view.h"

namespace camshaft {

namespace {

// [batch, length, width] of the source's elements, or [length, batch, width].
struct Tokens {
  Value* source;
  Shape shape;
  bool lengthFirst;
  int64_t offset;
};

}  // namespace

// Whether the view is [batch][length][columns] of its source, columns of one token side by side.
static std::optional<Tokens> tokensWith(const StridedView& view, const HeadsView& heads,
                                        const Dim& width, size_t lengthAxis, bool lengthFirst) {
  const Dim batchStride = lengthFirst ? width : heads.length * width,
            tokenStride = lengthFirst ? heads.batch * width : width;
  if (!view.isOne(0) && view.strideOf(0) != batchStride) return std::nullopt;
  if (!view.isOne(lengthAxis) && view.strideOf(lengthAxis) != tokenStride) return std::nullopt;
  if (numElements(view.source->shape()) != heads.batch * heads.length * width) return std::nullopt;
  if (!width.isConstant() || !view.offset.isConstant()) return std::nullopt;
  const int64_t columns = heads.heads.value() * heads.size.value();
  if (view.offset.value() + columns > width.value()) return std::nullopt;
  Shape shape{heads.batch, heads.length, width};
  if (lengthFirst) std::swap(shape[0], shape[1]);
  return Tokens{view.source, std::move(shape), lengthFirst, view.offset.value()};
}

static std::optional<Tokens> asTokens(const StridedView& view, const HeadsView& heads,
                                      bool transposed) {
  const size_t length = transposed ? 3 : 2, features = transposed ? 2 : 3;
  if (!view.isOne(features) && view.strideOf(features) != Dim(1)) return std::nullopt;
  if (!view.isOne(1) && view.strideOf(1) != heads.size) return std::nullopt;
  const std::optional<Dim> token = view.strideOf(length), batch = view.strideOf(0);
  if ((!token && !view.isOne(length)) || (!batch && !view.isOne(0))) return std::nullopt;
  const Dim whole = numElements(view.source->shape());
  if (auto tokens = tokensWith(view, heads, token ? *token : batch.value_or(whole), length, false))
    return tokens;
  return token && batch ? tokensWith(view, heads, *batch, length, true) : std::nullopt;
}

// Tokens that an operand of rank 4 is made from by moving elements.
static std::optional<Tokens> tokensBehind(Value* operand, const HeadsView& heads, bool transposed) {
  if (!heads.heads.isConstant() || !heads.size.isConstant()) return std::nullopt;
  for (const StridedView& view : viewsOf(operand))
    if (view.source != operand)
      if (auto tokens = asTokens(view, heads, transposed)) return tokens;
  return std::nullopt;
}

// [length, batch, ...] of [batch, length, width], or back.
static Value* addSwapped(Graph& graph, const std::string& name, Value* value, Node* before) {
  TransposeAttrs attrs;
  attrs.order = {1, 0, 2};
  return graph.add(&ops::Transpose, name, {value}, std::move(attrs), before)->output();
}

static Value* addTokens(Graph& graph, const Tokens& tokens, Node* before) {
  const std::string& name = tokens.source->name;
  Value* value = addReshape(graph, name, tokens.source, tokens.shape, before);
  return tokens.lengthFirst ? addSwapped(graph, name, value, before) : value;
}

// The Transpose by which a reader of the result has the heads of a token side by side, maybe behind
// a Reshape that takes the batch apart; null where it is none.
static Node* transposeToTokens(const Graph& graph, Node* reader, Value* result) {
  const bool isApart = reader->op == &ops::Reshape && !reader->epilogue;
  Node* transpose = isApart ? soleUser(graph, reader->output()) : reader;
  if (!transpose || transpose->op != &ops::Transpose || transpose->epilogue) return nullptr;
  const auto& order = transpose->as<TransposeAttrs>().order;
  if (!isApart) return order[2] == 1 && order[3] == 3 ? transpose : nullptr;
  const Shape& heads = result->shape();  // [batch, heads, length, size]
  const auto isTokens = [&](const StridedView& view) {
    const auto exchange = view.source == result ? exchangeOf(view) : std::nullopt;
    return exchange && heads[2].isConstant(exchange->outer) &&
           heads[1].isConstant(exchange->inner) && heads[3].isConstant(exchange->run);
  };
  return std::ranges::any_of(viewsOf(transpose->output()), isTokens) ? transpose : nullptr;
}

// Of all that read the result; empty where some want something else.
static std::vector<Node*> transposesToTokens(const Graph& graph, Value* result) {
  std::vector<Node*> transposes;
  if (graph.isOutput(result)) return {};
  for (Node* reader : result->users) {
    Node* transpose = transposeToTokens(graph, reader, result);
    if (!transpose) return {};
    transposes.push_back(transpose);
  }
  return transposes;
}

static void replaceTransposes(Graph& graph, const std::vector<Node*>& transposes,
                              const Value* result, Value* tokens) {
  for (Node* transpose : transposes) {
    const bool lengthFirst =
        transpose->input(0) == result && transpose->as<TransposeAttrs>().order[0] == 2;
    Value* ordered = lengthFirst ? addSwapped(graph, transpose->name, tokens, transpose) : tokens;
    replaceValue(
        graph, transpose->output(),
        addReshape(graph, transpose->name, ordered, transpose->output()->shape(), transpose));
  }
}

static bool foldAttentionTransposes(Graph& graph, Node* node) {
  AttentionAttrs attrs = node->as<AttentionAttrs>();
  const AttentionGeometry geometry = attentionGeometry(*node);
  const HeadsView* heads[] = {&geometry.q, &geometry.k, &geometry.v};
  const bool isStatic = geometry.q.heads.isConstant() && geometry.k.heads.isConstant() &&
                        geometry.q.size.isConstant() && geometry.v.size.isConstant();
  if (attrs.readsTokens() || !isStatic) return false;
  const std::vector<Node*> transposes = transposesToTokens(graph, node->output());
  if (transposes.empty()) return false;

  std::optional<Tokens> tokens[3];
  for (int i = 0; i < 3; ++i)
    tokens[i] = tokensBehind(node->input(i), *heads[i], i == 1 && attrs.transposedKeys);
  if (!tokens[0]) return false;

  attrs.heads = geometry.q.heads.value();
  attrs.kvHeads = geometry.k.heads.value();
  attrs.size = geometry.q.size.value();
  attrs.valueSize = geometry.v.size.value();
  attrs.offsets = {0, 0, 0};
  if (tokens[1]) attrs.transposedKeys = false;
  std::vector<Value*> inputs = node->inputs;
  for (int i = 0; i < 3; ++i) {
    if (!tokens[i]) continue;
    const auto same = std::find_if(tokens, tokens + i, [&](const auto& other) {
      return other && other->source == tokens[i]->source && other->shape == tokens[i]->shape &&
             other->lengthFirst == tokens[i]->lengthFirst;
    });
    inputs[i] = same != tokens + i ? inputs[same - tokens] : addTokens(graph, *tokens[i], node);
    attrs.offsets[i] = tokens[i]->offset;
  }
  Node* attention =
      graph.add(&ops::Attention, node->name, std::move(inputs), std::move(attrs), node);
  mergeOrigins(attention, node);
  replaceTransposes(graph, transposes, node->output(), attention->output());
  return true;
}

bool foldAttentionTransposes(Graph& graph, const PassOptions&) {
  // Rewriting one erases what reads it, never another attention.
  std::vector<Node*> attentions = graph.nodeList();
  std::erase_if(attentions,
                [](const Node* node) { return node->op != &ops::Attention || node->epilogue; });
  bool changed = false;
  for (Node* node : attentions) changed |= foldAttentionTransposes(graph, node);
  return changed;
}

}  // namespace camshaft
