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

// Tokens [..., c], of windows that have so many, as what they were cut out of.
static std::optional<Cut> cutOf(Value* tokens, const Dim& length) {
  const Dim& width = tokens->shape().back();
  if (!width.isConstant()) return std::nullopt;
  const int64_t channels = width.value();
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
    if (windows.divideImage() && cut.image->shape().back() == width &&
        length.isConstant(windows.tokens()))
      return cut;
  }
  return std::nullopt;
}

static bool isPlacedBy(const TokenWindows& windows, Value* value, const Value* results) {
  const int64_t channels = results->shape().back().value();
  const AxisExchange back{windows.windowHeight, windows.width / windows.windowWidth,
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

// Work on rows, one after the other, and the Reshapes between that only rearrange them.
struct RowWork {
  struct Step {
    Node* node;
    const Value* rows;  // which of its inputs
  };
  std::vector<Step> steps;  // in the order of the graph
  std::vector<Node*> rearranging;

  // Does it for other rows, and returns what comes of them.
  Value* on(Graph& graph, Value* rows) const;
};

// Attention with what computes its operands from tokens that were cut out, and what follows.
struct WindowAttention {
  struct Operand {
    Value* value;
    RowWork work;
    Value* tokens;  // what this work begins with
  };
  Node* node;
  std::vector<Operand> operands;  // different ones
  std::optional<Cut> cut;
  RowWork after;
  Value* placed = nullptr;  // the results where the windows were

  bool findOperands(const Graph& graph);
  bool findResults(const Graph& graph);
};

// What computes rows takes them as they lie in an image too, of rank 3 or 4.
Value* rowsIn(const Node* node) { return rowsOf(node, 3); }

Value* RowWork::on(Graph& graph, Value* rows) const {
  for (const auto& [node, before] : steps) {
    for (int i = 0; i < static_cast<int>(node->inputs.size()); ++i)
      if (node->inputs[i] == before) graph.setInput(node, i, rows);
    graph.inferTypes(node);
    rows = node->output();
  }
  return rows;
}

bool WindowAttention::findOperands(const Graph& graph) {
  for (int i = 0; i < 3; ++i) {
    Value* value = node->input(i);
    if (std::count(node->inputs.begin(), node->inputs.begin() + i, value) > 0) continue;
    Operand operand{.value = value, .tokens = value};
    auto& [steps, rearranging] = operand.work;
    for (const Node* reader = node; soleUser(graph, operand.tokens) == reader;) {
      Node* producer = operand.tokens->producer;
      if (Value* rows = rowsIn(producer)) {
        steps.insert(steps.begin(), {producer, rows});
        operand.tokens = rows;
      } else if ((rows = rearrangedRows(producer))) {
        rearranging.push_back(producer);
        operand.tokens = rows;
      } else {
        break;
      }
      reader = producer;
    }
    const auto found = cutOf(operand.tokens, value->shape()[1]);
    if (!found || (cut && *cut != *found)) return false;
    cut = found;
    operands.push_back(std::move(operand));
  }
  return true;
}

bool WindowAttention::findResults(const Graph& graph) {
  Value* results = node->output();
  while (Node* user = soleUser(graph, results)) {
    if (rowsIn(user) == results)
      after.steps.push_back({user, results});
    else if (rearrangedRows(user))
      after.rearranging.insert(after.rearranging.begin(), user);
    else
      break;
    results = user->output();
  }
  if (!results->shape().back().isConstant()) return false;
  placed = placedValue(graph, results, cut->windows);
  return placed != nullptr;
}

}  // namespace

// Last ones first.
static void eraseUnused(Graph& graph, const std::vector<Node*>& nodes) {
  for (Node* node : nodes)
    if (!graph.hasUses(node->output())) graph.erase(node);
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
    Value* rows = work.on(graph, image);
    const Shape& shape = rows->shape();
    rows = addReshape(graph, rows->name, rows, {shape.front(), pixels, shape.back()}, node);
    for (int i = 0; i < 3; ++i)
      if (node->inputs[i] == value) graph.setInput(node, i, rows);
    eraseUnused(graph, work.rearranging);
    if (!graph.hasUses(tokens)) graph.eraseIfDead(tokens->producer);
  }
  graph.inferTypes(node);
  Value* placed = attention.placed;
  Value* results = attention.after.on(graph, node->output());
  eraseUnused(graph, attention.after.rearranging);
  replaceValue(graph, placed,
               addReshape(graph, placed->name, results, placed->shape(), placed->producer));
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
