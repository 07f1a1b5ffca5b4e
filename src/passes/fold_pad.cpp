// A Pad that only a convolution or pooling reads becomes padding of that node.
//
//   %p = Pad(%x) {begin = [0, 0, 1, 1], end = [0, 0, 1, 1]}
//   %y = Conv(%p, %w) {pads_begin = [0, 0], pads_end = [0, 0]}
//   →
//   %y = Conv(%x, %w) {pads_begin = [1, 1], pads_end = [1, 1]}
//
// The reader must treat its own padding as elements with the value of the Pad: zero for Conv, the
// zero point for ConvInteger, zero that counts for average pooling, -inf for max pooling. (There, a
// window of NaNs and padding alone gives NaN then, and gave -inf.)
#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "ir/rewrite.h"
#include "ops/conv.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pool.h"
#include "ops/window.h"
#include "passes/passes.h"

namespace camshaft {

// The reader's windows in each spatial dimension, their padding that of both nodes.
using Windows = std::vector<Window>;

// Amounts are known and nothing is cropped, in the spatial dimensions alone.
static bool padsSpaceOnly(const PadAttrs& pad, const ImageLayout& layout) {
  if (pad.mode != PadMode::kConstant) return false;
  const int64_t first = layout.spatialAxis(0), last = first + layout.spatialRank();
  for (int64_t i = 0; i < layout.rank; ++i)
    for (const Dim& amount : {pad.begin[i], pad.end[i]}) {
      const bool isSpace = i >= first && i < last;
      if (!amount.isConstant() || amount.value() < 0 || (!isSpace && amount.value() != 0))
        return false;
    }
  return true;
}

// The value of a missing operand is zero.
static std::optional<double> scalarOf(const Node& node, int input) {
  if (!node.hasInput(input)) return 0;
  double number = 0;
  if (!isScalarConstant(node.input(input), &number)) return std::nullopt;
  return number;
}

static bool areZero(const std::vector<int64_t>& pads) {
  return std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; });
}

// Whether every window holds an element of the image: of one that does not, the maximum is zero.
static bool reachImage(const Windows& windows) {
  return std::all_of(windows.begin(), windows.end(), [](const Window& window) {
    return window.dilation == 1 && window.padBegin < window.kernel && window.padEnd < window.kernel;
  });
}

// Whether the pool, given these windows, makes of its padding what it makes of elements `value`.
static bool poolsPadding(const Node& pool, const Windows& windows, double value) {
  const auto& attrs = pool.as<PoolAttrs>();
  if (attrs.ceilMode) return false;  // windows that start in the padding are dropped
  if (attrs.kind == PoolKind::kMax)
    return value == -std::numeric_limits<double>::infinity() && pool.outputs.size() == 1 &&
           reachImage(windows);
  return attrs.kind == PoolKind::kAverage && value == 0 &&
         (attrs.countIncludePad || (areZero(attrs.padsBegin) && areZero(attrs.padsEnd)));
}

static bool treatsPaddingAs(const Node& node, const Windows& windows, double value) {
  if (node.op == &ops::Conv) return value == 0;
  if (node.op == &ops::ConvInteger) return scalarOf(node, 2) == value;
  return poolsPadding(node, windows, value);
}

// Readers refuse an empty image. Behind a Pad it is none to them, unless no window fits into it.
static bool isNeverPaddingAlone(const Graph& graph, const Shape& image, const Windows& windows,
                                const ImageLayout& layout) {
  for (int64_t i = 0; i < layout.spatialRank(); ++i) {
    const Window& window = windows[i];
    const bool fits = window.padBegin + window.padEnd >= window.extent();
    if (fits && rangeOf(image[layout.spatialAxis(i)], graph.symbolRange()).min < 1) return false;
  }
  return true;
}

template <class Attrs>
static bool foldInto(Graph& graph, Node* node, Attrs& attrs, std::span<const int64_t> kernel) {
  Node* pad = producerOf(node->input(0), &ops::Pad);
  if (!pad || !onlyUser(graph, pad->output())) return false;
  const ImageLayout layout{attrs.channelsLast, node->input(0)->rank()};
  const auto& around = pad->as<PadAttrs>();
  const std::optional<double> value = scalarOf(*pad, 1);
  if (!value || !padsSpaceOnly(around, layout)) return false;

  Windows windows = windowsOf(attrs, kernel);
  for (int64_t i = 0; i < layout.spatialRank(); ++i) {
    windows[i].padBegin += around.begin[layout.spatialAxis(i)].value();
    windows[i].padEnd += around.end[layout.spatialAxis(i)].value();
  }
  if (!treatsPaddingAs(*node, windows, *value) ||
      !isNeverPaddingAlone(graph, pad->input(0)->shape(), windows, layout))
    return false;

  for (size_t i = 0; i < windows.size(); ++i) {
    attrs.padsBegin[i] = windows[i].padBegin;
    attrs.padsEnd[i] = windows[i].padEnd;
  }
  if constexpr (std::is_same_v<Attrs, PoolAttrs>)
    attrs.countIncludePad |= attrs.kind == PoolKind::kAverage;
  mergeOrigins(node, pad);
  graph.setInput(node, 0, pad->input(0));
  graph.erase(pad);
  return true;
}

static bool foldPadOf(Graph& graph, Node* node) {
  if (node->op == &ops::Pool) {
    auto& attrs = node->as<PoolAttrs>();
    return foldInto(graph, node, attrs, attrs.kernel);
  }
  if (node->op != &ops::Conv && node->op != &ops::ConvInteger) return false;
  Dims kernel;
  const Shape& weights = node->input(1)->shape();
  for (size_t i = 2; i < weights.size(); ++i) kernel.push_back(weights[i].value());
  return foldInto(graph, node, node->as<ConvAttrs>(), kernel);
}

bool foldPad(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList())
    while (foldPadOf(graph, node)) changed = true;
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
