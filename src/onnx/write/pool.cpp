// Pooling.
#include "onnx/write/printers.h"
#include "ops/pool.h"

namespace camshaft::onnx::writer {

namespace {

bool areOnes(const std::vector<int64_t>& values) {
  for (const int64_t value : values)
    if (value != 1) return false;
  return true;
}

// The opset that rounds up first, and the one that dilates.
struct PoolSpelling {
  std::string_view op;
  int64_t ceils, dilates;
};
constexpr PoolSpelling kPools[] = {
    {"MaxPool", 10, 10}, {"AveragePool", 10, 19}, {"LpPool", 18, 18}};

}  // namespace

std::string printPool(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<PoolAttrs>();
  const PoolSpelling& spelling = kPools[static_cast<size_t>(attrs.kind)];
  if (attrs.channelsLast) return "its channels are last";
  const bool isDilated = !areOnes(attrs.dilations);
  if (writer.opset() < (isDilated ? spelling.dilates : attrs.ceilMode ? spelling.ceils : 7))
    return "this opset does not have all of its attributes";
  Attributes made{attribute("kernel_shape", attrs.kernel), attribute("strides", attrs.strides),
                  attribute("pads", joined(attrs.padsBegin, attrs.padsEnd))};
  if (isDilated) made.push_back(attribute("dilations", attrs.dilations));
  if (attrs.ceilMode) made.push_back(attribute("ceil_mode", int64_t{1}));
  if (attrs.countIncludePad) made.push_back(attribute("count_include_pad", int64_t{1}));
  if (attrs.kind == PoolKind::kLp) made.push_back(attribute("p", attrs.p));
  writer.add(spelling.op, {writer.use(node.input(0))}, std::move(made), node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
