// Movements: sizes become 0 and -1 where ONNX can say them so, constants or arithmetic elsewhere.
#include "ops/move.h"

#include <algorithm>
#include <limits>

#include "onnx/write/printers.h"
#include "support/text.h"

namespace camshaft::onnx::writer {

namespace {

// Positions of the ones that `longer` has and `shorter` has not; nothing when they differ more.
std::optional<std::vector<int64_t>> insertedOnes(const Shape& shorter, const Shape& longer) {
  std::vector<int64_t> axes;
  size_t next = 0;
  for (size_t i = 0; i < longer.size(); ++i) {
    const size_t missing = longer.size() - shorter.size() - axes.size();
    if (next < shorter.size() && shorter[next] == longer[i] &&
        !(longer[i].isConstant(1) && missing))
      ++next;
    else if (longer[i].isConstant(1) && missing)
      axes.push_back(static_cast<int64_t>(i));
    else
      return std::nullopt;
  }
  return next == shorter.size() ? std::optional(axes) : std::nullopt;
}

// Squeeze or Unsqueeze; their axes moved from attribute to input at opset 13.
void addWithAxes(GraphWriter& writer, std::string_view op, const Node& node,
                 std::vector<int64_t> axes) {
  const Name x = writer.use(node.input(0));
  if (writer.opset() >= 13)
    writer.add(op, {x, writer.integers(axes)}, {}, node.output());
  else
    writer.add(op, {x}, {attribute("axes", std::move(axes))}, node.output());
}

bool printOnes(GraphWriter& writer, const Node& node) {
  const Shape &from = node.input(0)->shape(), &to = node.output()->shape();
  if (from.size() == to.size()) return false;
  const bool grows = from.size() < to.size();
  const auto axes = grows ? insertedOnes(from, to) : insertedOnes(to, from);
  if (axes) addWithAxes(writer, grows ? "Unsqueeze" : "Squeeze", node, *axes);
  return axes.has_value();
}

// What a Reshape is told: 0 copies a size of the input, one -1 is what is left.
std::vector<Dim> reshapeTarget(const Shape& from, const Shape& to, int& unknown) {
  std::vector<Dim> target = to;
  unknown = 0;
  size_t last = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].isConstant() && !to[i].isConstant(0)) continue;
    if (i < from.size() && from[i] == to[i]) {
      target[i] = 0;
    } else {
      ++unknown;
      last = i;
    }
  }
  if (unknown > 0) target[last] = -1;
  return target;
}

std::string addWithDims(GraphWriter& writer, std::string_view op, const Node& node,
                        const std::vector<Dim>& dims) {
  if (std::string reason = whyNoDims(writer, dims); !reason.empty()) return reason;
  const Name sizes = writeDims(writer, dims).name;
  writer.add(op, {writer.use(node.input(0)), sizes}, {}, node.output());
  return {};
}

struct Bounds {
  std::vector<Dim> starts, ends;
  std::string refusal;
};

Bounds boundsOf(const GraphWriter& writer, const Node& slice) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  const auto& attrs = slice.as<SliceAttrs>();
  Bounds bounds;
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    const Dim& size = slice.input(0)->shape()[attrs.axes[i]];
    Dim start = attrs.starts[i];
    Dim end = start + attrs.sizes[i] * attrs.steps[i];
    if (attrs.steps[i] > 0) {
      if (attrs.sizes[i] == ceilDiv(size - start, attrs.steps[i])) end = kLast;
    } else if (attrs.sizes[i] == ceilDiv(start + 1, -attrs.steps[i])) {
      end = kFirst;
    } else if (end.isConstant()) {
      if (end.value() < 0) end = kFirst;
    } else if (rangeOf(end, writer.graph().symbolRange()).min < 0) {
      bounds.refusal = str("its end ", toString(end), " may be negative");
    }
    if (const Dim fromEnd = start - size; !start.isConstant() && fromEnd.isConstant())
      start = fromEnd;
    if (const Dim fromEnd = end - size; !end.isConstant() && fromEnd.isConstant()) end = fromEnd;
    bounds.starts.push_back(start);
    bounds.ends.push_back(end);
  }
  return bounds;
}

}  // namespace

std::string printTranspose(GraphWriter& writer, const Node& node) {
  writer.add("Transpose", {writer.use(node.input(0))},
             {attribute("perm", node.as<TransposeAttrs>().order)}, node.output());
  return {};
}

std::string printReshape(GraphWriter& writer, const Node& node) {
  if (writer.opset() < 5) return "opset 5 is the first whose Reshape takes a tensor";
  const Shape &from = node.input(0)->shape(), &to = node.output()->shape();
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i].isConstant(0) && !(i < from.size() && from[i].isConstant(0)))
      return "a size of 0 in its shape would copy one of its input";
  int unknown = 0;
  const std::vector<Dim> target = reshapeTarget(from, to, unknown);
  if (unknown > 1 && printOnes(writer, node)) return {};
  return addWithDims(writer, "Reshape", node, target);
}

std::string printExpand(GraphWriter& writer, const Node& node) {
  if (writer.opset() < 8) return "opset 8 is the first with Expand";
  const Shape& from = node.input(0)->shape();
  Shape target = node.output()->shape();
  const size_t added = target.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == target[added + i]) target[added + i] = 1;  // broadcasting keeps the input's
  return addWithDims(writer, "Expand", node, target);
}

std::string printSlice(GraphWriter& writer, const Node& node) {
  if (printResults(writer, node)) return {};
  const auto& attrs = node.as<SliceAttrs>();
  Bounds bounds = boundsOf(writer, node);
  if (!bounds.refusal.empty()) return bounds.refusal;
  if (writer.opset() < 10) {
    const bool forward =
        std::all_of(attrs.steps.begin(), attrs.steps.end(), [](int64_t step) { return step == 1; });
    if (!forward || !isStatic(bounds.starts) || !isStatic(bounds.ends))
      return "before opset 10 a Slice has constant bounds and no steps";
    writer.add("Slice", {writer.use(node.input(0))},
               {attribute("axes", attrs.axes), attribute("starts", staticDims(bounds.starts)),
                attribute("ends", staticDims(bounds.ends))},
               node.output());
    return {};
  }
  for (const auto& dims : {bounds.starts, bounds.ends})
    if (std::string reason = whyNoDims(writer, dims); !reason.empty()) return reason;
  const Name starts = writeDims(writer, bounds.starts).name;
  const Name ends = writeDims(writer, bounds.ends).name;
  writer.add("Slice",
             {writer.use(node.input(0)), starts, ends, writer.integers(attrs.axes),
              writer.integers(attrs.steps)},
             {}, node.output());
  return {};
}

std::string printConcat(GraphWriter& writer, const Node& node) {
  std::vector<Name> inputs;
  for (const Value* input : node.inputs) inputs.push_back(writer.use(input));
  writer.add("Concat", std::move(inputs), {attribute("axis", node.as<ConcatAttrs>().axis)},
             node.output());
  return {};
}

std::string printPad(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<PadAttrs>();
  constexpr std::string_view kModes[] = {"constant", "reflect", "edge", "wrap"};
  if (writer.opset() < 11) return "before opset 11 pads are attributes";
  if (attrs.mode == PadMode::kWrap && writer.opset() < 19)
    return "opset 19 is the first that wraps";
  std::vector<Dim> pads = attrs.begin;
  pads.insert(pads.end(), attrs.end.begin(), attrs.end.end());
  if (std::string reason = whyNoDims(writer, pads); !reason.empty()) return reason;
  const Name sizes = writeDims(writer, pads).name;
  writer.add("Pad", {writer.use(node.input(0)), sizes, writer.useOptional(node.input(1))},
             {attribute("mode", kModes[static_cast<size_t>(attrs.mode)])}, node.output());
  return {};
}

std::string printTile(GraphWriter& writer, const Node& node) {
  if (writer.opset() < 6) return "opset 6 is the first whose Tile takes all repeats";
  return addWithDims(writer, "Tile", node, node.as<TileAttrs>().repeats);
}

std::string printTrilu(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<TriluAttrs>();
  if (writer.opset() < 14) return "opset 14 is the first with Trilu";
  const DimsResult diagonal = writeDims(writer, {attrs.diagonal}, DataType::kI64, true);
  if (!diagonal.refusal.empty()) return diagonal.refusal;
  writer.add("Trilu", {writer.use(node.input(0)), diagonal.name},
             {attribute("upper", int64_t{attrs.upper})}, node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
