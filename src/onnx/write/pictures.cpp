// What works on windows, boxes and points of pictures.
#include "onnx/write/printers.h"
#include "ops/norm.h"
#include "ops/pool.h"
#include "ops/roi.h"
#include "ops/sample.h"

namespace camshaft::onnx::writer {

namespace {

bool areOnes(const std::vector<int64_t>& values) {
  for (const int64_t value : values)
    if (value != 1) return false;
  return true;
}

std::vector<int64_t> joined(std::vector<int64_t> first, const std::vector<int64_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
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

std::string printLrn(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<LrnAttrs>();
  writer.add("LRN", {writer.use(node.input(0))},
             {attribute("size", attrs.size), attribute("alpha", attrs.alpha),
              attribute("beta", attrs.beta), attribute("bias", attrs.bias)},
             node.output());
  return {};
}

std::string printGridSample(GraphWriter& writer, const Node& node) {
  constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
  constexpr std::string_view kModesBefore20[] = {"bilinear", "nearest", "bicubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  const auto& attrs = node.as<GridSampleAttrs>();
  const bool isOld = writer.opset() < 20;
  if (writer.opset() < 16 || (isOld && node.input(0)->rank() != 4))
    return "this opset does not sample such pictures";
  const size_t mode = static_cast<size_t>(attrs.mode);
  writer.add("GridSample", {writer.use(node.input(0)), writer.use(node.input(1))},
             {attribute("mode", isOld ? kModesBefore20[mode] : kModes[mode]),
              attribute("padding_mode", kPaddings[static_cast<size_t>(attrs.padding)]),
              attribute("align_corners", int64_t{attrs.alignCorners})},
             node.output());
  return {};
}

std::string printRoiAlign(GraphWriter& writer, const Node& node) {
  constexpr std::string_view kModes[] = {"avg", "max"};
  const auto& attrs = node.as<RoiAlignAttrs>();
  const bool saysWhere = writer.opset() >= 16;  // before, pixel centres are at whole numbers
  if (writer.opset() < 10 || (attrs.halfPixel && !saysWhere))
    return "this opset does not place pixels so";
  if (node.input(2)->dataType() != DataType::kI64) return "its indices must be 64-bit integers";
  Attributes made{attribute("mode", kModes[static_cast<size_t>(attrs.mode)]),
                  attribute("output_height", attrs.height), attribute("output_width", attrs.width),
                  attribute("sampling_ratio", attrs.samplingRatio),
                  attribute("spatial_scale", attrs.scale)};
  if (saysWhere)
    made.push_back(
        attribute("coordinate_transformation_mode",
                  std::string_view(attrs.halfPixel ? "half_pixel" : "output_half_pixel")));
  writer.add("RoiAlign",
             {writer.use(node.input(0)), writer.use(node.input(1)), writer.use(node.input(2))},
             std::move(made), node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
