// Attention within windows of images reads pixels and leaves results where they lie, instead of in
// windows that are cut out and put back (Swin and its kin). What computes queries, keys and values
// row by row, and what follows, takes the pixels line by line then.
//
//   %p = Pad(%x) {wrap, begin = [0, -3, -3, 0], end = [0, 3, 3, 0]}  // windows that are shifted
//   %c = Reshape(Transpose(Reshape(%p))) [n*64, 49, c]               // x is [n, 56, 56, c]
//   %m = MatMul(%c, %w)
//   %a = Attention(%m, %m, %m)
//   %r = Reshape(Transpose(Reshape(%a))) [n, 56, 56, c]
//   %y = Pad(%r) {wrap, begin = [0, 3, 3, 0], end = [0, -3, -3, 0]}
//   →
//   %m = Reshape(MatMul(%x, %w)) [n, 3136, 3*c]
//   %a = Attention(%m, %m, %m) {windows = [56, 56, 7, 7, 3, 3]}
//   %y = Reshape(%a) [n, 56, 56, c]
#include <algorithm>
#include <optional>

#include "ir/rewrite.h"
#include "ops/attention.h"
#include "ops/move.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/row_work.h"
#include "passes/strided_view.h"

namespace camshaft {

using Factor = StridedView::Factor;

// [a, inner, outer, run] as [a, outer, inner, run]: how windows are cut out and put back.
struct Exchange {
  int64_t outer = 0, inner = 0, run = 0;
  bool operator==(const Exchange&) const = default;
};

static std::optional<Exchange> exchangeOf(const StridedView& view) {
  std::vector<Factor> factors;  // as few as the order of elements allows
  for (const auto& axis : view.axes)
    for (const Factor& factor : axis) {
      const bool goesOn = !factors.empty() && factors.back().stride == factor.size * factor.stride;
      if (goesOn)
        factors.back() = {factors.back().size * factor.size, factor.stride};
      else
        factors.push_back(factor);
    }
  const size_t count = factors.size();
  if (count < 3 || count > 4 || !view.offset.isConstant(0)) return std::nullopt;
  const Factor &outer = factors[count - 3], &inner = factors[count - 2], &run = factors[count - 1];
  for (const Factor* factor : {&outer, &inner, &run})
    if (!factor->size.isConstant() || factor->size.value() < 1) return std::nullopt;
  const bool exchanges = run.stride.isConstant(1) && outer.stride == run.size &&
                         inner.stride == outer.size * run.size &&
                         (count == 3 || factors[0].stride == inner.size * inner.stride);
  if (!exchanges) return std::nullopt;
  return Exchange{outer.size.value(), inner.size.value(), run.size.value()};
}

// By how much a Pad rolls the lines and columns of [n, height, width, c] back; null: not at all.
struct Shift {
  int64_t y = 0, x = 0;
};
static std::optional<Shift> shiftOf(const Node* pad) {
  const PadAttrs* roll = rollOf(pad);
  if (!roll || roll->end.size() != 4) return std::nullopt;
  const Shape& shape = pad->output()->shape();
  for (int axis : {1, 2})
    if (!roll->end[axis].isConstant() || !shape[axis].isConstant() || shape[axis].value() < 1)
      return std::nullopt;
  if (!roll->end[0].isConstant(0) || !roll->end[3].isConstant(0)) return std::nullopt;
  const auto within = [&](int axis) {
    const int64_t size = shape[axis].value();
    return (roll->end[axis].value() % size + size) % size;
  };
  return Shift{within(1), within(2)};
}

struct Cut {
  Value* image = nullptr;  // [n, height, width, c] or [n, height * width, c]
  TokenWindows windows;
  bool operator==(const Cut&) const = default;
};

// Height of images whose lines have `width` pixels; 0: unknown, or they are none.
static int64_t heightOf(const Shape& image, int64_t width) {
  if (image.size() == 4 && image[2].isConstant(width) && image[1].isConstant())
    return image[1].value();
  const bool isFlat = image.size() == 3 && image[1].isConstant() && image[1].value() % width == 0;
  return isFlat ? image[1].value() / width : 0;
}

// Tokens [n * windows, tokens, c] as what they were cut out of.
static std::optional<Cut> cutOf(Value* tokens) {
  const Shape& shape = tokens->shape();
  if (shape.size() != 3 || !shape[2].isConstant()) return std::nullopt;
  const int64_t channels = shape[2].value();
  for (const StridedView& view : viewsOf(tokens)) {
    const auto exchange = exchangeOf(view);
    if (!exchange || channels == 0 || exchange->run % channels != 0) continue;
    Cut cut{.image = view.source};
    TokenWindows& windows = cut.windows;
    windows.windowHeight = exchange->inner;
    windows.windowWidth = exchange->run / channels;
    windows.width = exchange->outer * windows.windowWidth;
    windows.height = heightOf(cut.image->shape(), windows.width);
    if (const auto shift = shiftOf(cut.image->producer)) {
      windows.shiftY = shift->y;
      windows.shiftX = shift->x;
      cut.image = cut.image->producer->input(0);
    }
    if (windows.divideImage() && cut.image->shape().back() == shape[2] &&
        shape[1].isConstant(windows.tokens()))
      return cut;
  }
  return std::nullopt;
}

static bool isPlacedBy(const TokenWindows& windows, Value* value, const Value* results) {
  const int64_t channels = results->shape().back().value();
  const Exchange back{windows.windowHeight, windows.width / windows.windowWidth,
                      windows.windowWidth * channels};
  return std::ranges::any_of(viewsOf(value), [&](const StridedView& view) {
    return view.source == results && exchangeOf(view) == back;
  });
}

// The value that has the results of all windows back where the windows were; null when none has.
static Value* placedValue(const Graph& graph, Value* results, const TokenWindows& windows) {
  Value *value = results, *placed = nullptr;
  while (const Node* user = soleUser(graph, value)) {
    const bool isMove = user->op == &ops::Reshape || user->op == &ops::Transpose;
    const auto shift = shiftOf(user);
    if (isMove && !user->epilogue) {
      value = user->output();
      if (isPlacedBy(windows, value, results)) placed = value;
    } else if (shift && placed == value && value->shape()[1].isConstant(windows.height) &&
               value->shape()[2].isConstant(windows.width)) {
      const bool returns = (shift->y + windows.shiftY) % windows.height == 0 &&
                           (shift->x + windows.shiftX) % windows.width == 0;
      return returns ? user->output() : nullptr;
    } else {
      break;
    }
  }
  return windows.shiftY == 0 && windows.shiftX == 0 ? placed : nullptr;
}

namespace {

// Attention with what computes its operands from tokens that were cut out, and what follows, row by
// row.
struct WindowAttention {
  struct Operand {
    Value* value;
    std::vector<Node*> work;  // in the order of the graph
    Value* tokens;            // what the first of these reads, or the value itself
  };
  Node* node;
  std::vector<Operand> operands;  // different ones
  std::optional<Cut> cut;
  std::vector<Node*> after;
  Value* results = nullptr;
  Value* placed = nullptr;

  bool findOperands(const Graph& graph);
  bool findResults(const Graph& graph);
};

bool WindowAttention::findOperands(const Graph& graph) {
  for (int i = 0; i < 3; ++i) {
    Value* value = node->input(i);
    if (std::count(node->inputs.begin(), node->inputs.begin() + i, value) > 0) continue;
    Operand operand{.value = value, .tokens = value};
    const Node* reader = node;
    while (soleUser(graph, operand.tokens) == reader && rowsOf(operand.tokens->producer)) {
      reader = operand.work.emplace_back(operand.tokens->producer);
      operand.tokens = rowsOf(reader);
    }
    std::ranges::reverse(operand.work);
    const auto found = cutOf(operand.tokens);
    if (!found || (cut && *cut != *found)) return false;
    cut = found;
    operands.push_back(std::move(operand));
  }
  return true;
}

bool WindowAttention::findResults(const Graph& graph) {
  results = node->output();
  for (Node* user = soleUser(graph, results); user && rowsOf(user) == results;
       user = soleUser(graph, results)) {
    after.push_back(user);
    results = user->output();
  }
  if (!results->shape().back().isConstant()) return false;
  placed = placedValue(graph, results, cut->windows);
  return placed != nullptr;
}

}  // namespace

static void replaceInput(Graph& graph, Node* node, const Value* from, Value* to) {
  for (int i = 0; i < static_cast<int>(node->inputs.size()); ++i)
    if (node->inputs[i] == from) graph.setInput(node, i, to);
}

static bool foldWindows(Graph& graph, Node* node) {
  auto& attrs = node->as<AttentionAttrs>();
  if (!attrs.readsTokens() || !attrs.keys.empty() || !attrs.windows.empty()) return false;
  WindowAttention attention{.node = node};
  if (!attention.findOperands(graph) || !attention.findResults(graph)) return false;

  const auto& [image, windows] = *attention.cut;
  const Dim pixels = windows.height * windows.width;
  attrs.windows = {windows.height,      windows.width,  windows.windowHeight,
                   windows.windowWidth, windows.shiftY, windows.shiftX};
  for (const auto& [value, work, tokens] : attention.operands) {
    if (!work.empty()) replaceInput(graph, work.front(), tokens, image);
    for (Node* each : work) graph.inferTypes(each);
    Value* rows = work.empty() ? image : value;
    const Shape& shape = rows->shape();
    replaceInput(graph, node, value,
                 addReshape(graph, rows->name, rows, {shape.front(), pixels, shape.back()}, node));
    if (tokens->users.empty()) graph.eraseIfDead(tokens->producer);
  }
  graph.inferTypes(node);
  for (Node* each : attention.after) graph.inferTypes(each);
  Value* placed = attention.placed;
  replaceValue(
      graph, placed,
      addReshape(graph, placed->name, attention.results, placed->shape(), placed->producer));
  return true;
}

bool foldAttentionWindows(Graph& graph, const PassOptions&) {
  std::vector<Node*> attentions;  // other nodes go
  for (Node* node : graph.nodeList())
    if (node->op == &ops::Attention && !node->epilogue) attentions.push_back(node);
  bool changed = false;
  for (Node* node : attentions) changed |= foldWindows(graph, node);
  return changed;
}

}  // namespace camshaft
