#include "onnx/node_import.h"
#include "onnx/size.h"
#include "ops/contents.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

// Equal parts; since opset 18 the last one may be smaller.
std::vector<Dim> equalParts(const NodeImport& node, const Dim& size, int64_t count) {
  if (count < 1 || count != node.outputCount())
    node.invalid("it splits into ", count, " parts and has ", node.outputCount(), " outputs");
  if (node.opset() < 18 && size.isConstant() && size.value() % count != 0)
    node.invalid("it splits ", size, " elements into ", count, " equal parts");
  if (node.opset() < 18)
    node.graph().require({SizeRelation::kEqual, size, floorDiv(size, count) * count,
                          str("node '", node.name(), "' (Split): it splits "),
                          str(" elements into ", count, " equal parts, which would be "),
                          " together"});
  const Dim part = node.opset() < 18 ? floorDiv(size, count) : ceilDiv(size, count);
  std::vector<Dim> parts(static_cast<size_t>(count), part);
  parts.back() = size - part * (count - 1);
  return parts;
}

std::vector<Dim> partsOf(const NodeImport& node, const Dim& size) {
  if (node.has("split")) return makeShape(node.integers("split"));
  if (node.hasInput(1)) {
    Value* parts = node.input(1);
    if (const auto known = node.knownIntegers(parts)) return makeShape(*known);
    return boundedSizes(node.graph(), parts, std::vector<Dim>(kMaxContents, size), node.name());
  }
  return equalParts(node, size, node.integer("num_outputs", node.outputCount()));
}

}  // namespace

void importSplit(NodeImport& node) {
  Value* x = node.input(0);
  const int64_t axis = node.axisAttribute("axis", 0, x->rank());
  const std::vector<Dim> parts = partsOf(node, x->shape()[axis]);
  if (parts.size() < static_cast<size_t>(node.outputCount()))
    node.invalid("it has ", node.outputCount(), " outputs for ", parts.size(), " parts");
  Dim start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (node.wants(static_cast<int>(i))) {
      SliceAttrs attrs;
      attrs.axes = {axis};
      attrs.starts = {start};
      attrs.sizes = {parts[i]};
      attrs.steps = {1};
      node.setOutput(static_cast<int>(i), node.add(&ops::Slice, {x}, std::move(attrs)));
    }
    start += parts[i];
  }
  node.graph().require({SizeRelation::kEqual, start, x->shape()[axis],
                        str("node '", node.name(), "' (Split): its parts sum up to "),
                        str(" where dimension ", axis, " has "), ""});
}

}  // namespace camshaft::onnx::importer
