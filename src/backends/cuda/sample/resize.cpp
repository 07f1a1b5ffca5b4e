#include <cmath>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/pointwise/pointwise.h"
#include "ops/sample.h"
#include "support/text.h"

namespace camshaft::cuda::sample {
namespace {

// A dimension that is resized, or neighbours that are not, joined.
struct ResizedDim {
  Dim in, out;
  bool isResized = false;
  double scale = 0, roiStart = 0, roiEnd = 1;
};

std::vector<ResizedDim> resizedDims(const Node& node) {
  const auto& attrs = node.as<ResizeAttrs>();
  const Shape& in = node.input(0)->shape();
  std::vector<ResizedDim> dims;
  for (size_t i = 0; i < in.size(); ++i) {
    ResizedDim dim{in[i], attrs.sizes[i], false, attrs.scales[i]};
    if (attrs.coordinates == ResizeCoordinates::kCropAndResize) {
      dim.roiStart = attrs.roi[i];
      dim.roiEnd = attrs.roi[in.size() + i];
    }
    const bool keepsScale = dim.scale == 0 || std::fabs(dim.scale - 1) < 1e-9;
    dim.isResized = dim.in != dim.out || !keepsScale || dim.roiStart != 0 || dim.roiEnd != 1;
    if (!dim.isResized && !dims.empty() && !dims.back().isResized) {
      dims.back().in *= dim.in;
      dims.back().out *= dim.out;
    } else {
      dims.push_back(std::move(dim));
    }
  }
  if (dims.empty()) dims.push_back({1, 1});
  return dims;
}

bool extrapolates(const Node& node) {
  return node.as<ResizeAttrs>().coordinates == ResizeCoordinates::kCropAndResize;
}

Verdict supports(const Node& node) {
  const DataType type = node.input(0)->dataType();
  const bool computes = node.as<ResizeAttrs>().mode != ResizeMode::kNearest || extrapolates(node);
  if (computes && (type == DataType::kBool || (isFloat(type) && bitsOf(type) == 8)))
    return Verdict::no(str("does not compute with ", type));
  return movesElements(node);
}

// Sums of integers are exact in double.
std::string_view sumType(DataType type) {
  return isFloat(type) && bitsOf(type) <= 32 ? "float" : "double";
}

void printRules(KernelText& kernel, const Node& node) {
  static constexpr std::string_view kModes[] = {"kNearest", "kLinear", "kCubic"};
  static constexpr std::string_view kCoordinates[] = {"kHalfPixel",          "kAsymmetric",
                                                      "kAlignCorners",       "kPytorchHalfPixel",
                                                      "kHalfPixelSymmetric", "kCropAndResize"};
  static constexpr std::string_view kNearest[] = {"kRoundPreferFloor", "kRoundPreferCeil", "kFloor",
                                                  "kCeil"};
  const auto& attrs = node.as<ResizeAttrs>();
  kernel.include("sample/resize.cuh");
  kernel.functions += str(
      "struct Rules {\n  using Sum = ", sumType(node.input(0)->dataType()),
      ";\n  static constexpr ResizeMode kMode = ResizeMode::", kModes[static_cast<int>(attrs.mode)],
      ";\n  static constexpr ResizeCoordinates kCoordinates = ResizeCoordinates::",
      kCoordinates[static_cast<int>(attrs.coordinates)],
      ";\n  static constexpr ResizeNearest kNearest = ResizeNearest::",
      kNearest[static_cast<int>(attrs.nearest)],
      ";\n  static constexpr bool kAntialias = ", attrs.antialias ? "true" : "false",
      ", kExcludeOutside = ", attrs.excludeOutside ? "true" : "false",
      ";\n  static constexpr double kCubic = ", attrs.cubicCoefficient, ";\n};\n");
}

// Prints the kernel's sampling. The innermost dimension is a vector of elements where it keeps its
// size, and otherwise sampled for each lane.
class ResizeText {
 public:
  ResizeText(ElementKernel& kernel, const Node& node, const std::vector<ResizedDim>& dims,
             int width)
      : kernel_(kernel), node_(node), dims_(dims), width_(width) {
    Shape in;
    for (const ResizedDim& dim : dims) in.push_back(dim.in);
    strides_ = contiguousStrides(in);
  }

  Prepared print() {
    const size_t last = dims_.size() - 1;
    const bool isPerLane = dims_[last].isResized;
    for (size_t i = 0; i < dims_.size() - isPerLane; ++i) kernel_.text.body += taps(i, str("c", i));
    const bool isNearest = node_.as<ResizeAttrs>().mode == ResizeMode::kNearest;
    if (isPerLane) {
      const std::string own = taps(last, str("c", last, " + lane"));
      return isNearest ? finishNearest(own, "x0[" + position() + "]")
                       : finishSum(own + "    Rules::Sum sum = 0;\n" + sumLoops(), "sum");
    }
    if (isNearest) {
      kernel_.text.body +=
          str("  const auto moved = loadVector<", width_, ">(x0 + ", position(), ");\n");
      return finishNearest("", "moved.v[lane]");
    }
    kernel_.text.body += str("  Rules::Sum sums[", width_, "] = {};\n", sumLoops());
    return finishSum("", "sums[lane]");
  }

 private:
  std::string taps(size_t i, const std::string& at) {
    const ResizedDim& dim = dims_[i];
    if (!dim.isResized) return str("  const Index at", i, " = ", at, ";\n");
    const std::string in = kernel_.size(dim.in), out = kernel_.size(dim.out);
    if (isWholeFactor(dim)) {
      return str("  const Index at", i, " = clampedTo((", at, ") / ",
                 static_cast<int64_t>(dim.scale), ", ", in, ");\n");
    }
    const std::string scale = dim.scale == 0 ? str("double(", out, ") / double(", in, ")")
                                             : literal(dim.scale, DataType::kF64);
    std::string text = str("  const ResizeTaps<Rules> taps", i, "(ResizeAxis{", in, ", ", out, ", ",
                           scale, ", ", literal(dim.roiStart, DataType::kF64), ", ",
                           literal(dim.roiEnd, DataType::kF64), "}, ", at, ");\n");
    if (node_.as<ResizeAttrs>().mode == ResizeMode::kNearest)
      text += str("  const Index at", i, " = taps", i, ".nearest();\n");
    return text;
  }

  // Each element becomes `scale` equal ones: no fractions are needed.
  bool isWholeFactor(const ResizedDim& dim) const {
    const auto& attrs = node_.as<ResizeAttrs>();
    return attrs.mode == ResizeMode::kNearest && attrs.nearest == ResizeNearest::kFloor &&
           attrs.coordinates == ResizeCoordinates::kAsymmetric && dim.scale >= 1 &&
           dim.scale == std::floor(dim.scale) && dim.scale < 1 << 20;
  }

  std::string position() {
    std::string text;
    for (size_t i = 0; i < dims_.size(); ++i)
      text += str(i == 0 ? "" : " + ", "at", i, " * ", kernel_.size(strides_[i]));
    return text;
  }

  // Adds to `sum`, or to `sums` of the lanes. A weight of 0 is skipped, so that an infinite
  // neighbour does no harm.
  std::string sumLoops() {
    std::string loops, weight, ends;
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (!dims_[i].isResized) continue;
      loops += str("  for (int i", i, " = taps", i, ".firstTap(); i", i, " < taps", i,
                   ".endTap(); ++i", i, ") {\n  const Index at", i, " = taps", i, ".at(i", i,
                   ");\n  const Rules::Sum weight", i, " = taps", i, ".weight(i", i,
                   ");\n  if (weight", i, " == 0) continue;\n");
      weight += str("weight", i, " * ");
      ends += "  }\n";
    }
    if (dims_.back().isResized)
      return str(loops, "  sum += ", weight, "Rules::Sum(toCompute(x0[", position(), "]));\n",
                 ends);
    return str(loops, "  const auto part = loadVector<", width_, ">(x0 + ", position(),
               ");\n#pragma unroll\n  for (int lane = 0; lane < ", width_,
               "; ++lane) sums[lane] += ", weight, "Rules::Sum(toCompute(part.v[lane]));\n", ends);
  }

  std::string isOutside() const {
    std::string text;
    for (size_t i = 0; i < dims_.size(); ++i)
      if (dims_[i].isResized) text += str(text.empty() ? "" : " || ", "taps", i, ".isOutside");
    return text.empty() ? "false" : text;
  }

  std::string extrapolated(const std::string& value) const {
    if (!extrapolates(node_)) return value;
    const DataType type = node_.input(0)->dataType();
    return str(isOutside(), " ? op::convert<", computeType(type), ">(",
               literal(node_.as<ResizeAttrs>().extrapolation, DataType::kF64), ") : ", value);
  }

  Prepared finishNearest(const std::string& statements, const std::string& element) {
    if (!extrapolates(node_)) return kernel_.finish(statements, element, LaneValue::kStored);
    return kernel_.finish(statements, "(" + extrapolated(str("toCompute(", element, ")")) + ")",
                          LaneValue::kComputed);
  }

  // Integers round to even and saturate.
  Prepared finishSum(const std::string& statements, const std::string& sum) {
    const DataType type = node_.input(0)->dataType();
    const std::string value =
        isFloat(type) ? sum : str("op::convert<", computeType(type), ">(rint(", sum, "))");
    return kernel_.finish(statements, "(" + extrapolated(value) + ")", LaneValue::kComputed);
  }

  ElementKernel& kernel_;
  const Node& node_;
  const std::vector<ResizedDim>& dims_;
  int width_;
  std::vector<Dim> strides_;
};

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const std::vector<ResizedDim> dims = resizedDims(node);
  Shape out;
  for (const ResizedDim& dim : dims) out.push_back(dim.out);
  const int width = vectorWidth(node.input(0)->dataType(), {out.back()});
  ElementKernel kernel("resize", node, options, out, width);
  printRules(kernel.text, node);
  return ResizeText(kernel, node, dims, width).print();
}

constexpr Kernel kKernels[] = {{"cuda/resize", supports, prepare}};

}  // namespace

KernelList resizeKernels() { return kKernels; }

}  // namespace camshaft::cuda::sample
