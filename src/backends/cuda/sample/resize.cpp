#include <cmath>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
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

Verdict supports(const Node& node, const BuildContext&) {
  const DataType type = node.input(0)->dataType();
  const bool computes = node.as<ResizeAttrs>().mode != ResizeMode::kNearest || extrapolates(node);
  if (computes && (type == DataType::kBool || (isFloat(type) && bitsOf(type) == 8)))
    return Verdict::no(str("does not compute with ", type));
  return Verdict{whyNotPrinted(node)};
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

// Each element becomes `scale` equal ones: no fractions are needed.
bool isWholeFactor(const Node& node, const ResizedDim& dim) {
  const auto& attrs = node.as<ResizeAttrs>();
  return attrs.mode == ResizeMode::kNearest && attrs.nearest == ResizeNearest::kFloor &&
         attrs.coordinates == ResizeCoordinates::kAsymmetric && dim.scale >= 1 &&
         dim.scale == std::floor(dim.scale) && dim.scale < 1 << 20;
}

// What output position `at` is made of along a dimension, as one of the device code's kinds.
std::string dimText(KernelText& kernel, const Node& node, const ResizedDim& dim, const Dim& stride,
                    const std::string& at) {
  if (!dim.isResized) return str("KeptDim<Rules>{", at, ", ", kernel.size(stride), "}");
  const std::string in = kernel.size(dim.in), out = kernel.size(dim.out);
  if (isWholeFactor(node, dim))
    return str("KeptDim<Rules>{clampedTo((", at, ") / ", static_cast<int64_t>(dim.scale), ", ", in,
               "), ", kernel.size(stride), "}");
  const std::string scale = dim.scale == 0 ? str("double(", out, ") / double(", in, ")")
                                           : literal(dim.scale, DataType::kF64);
  return str("ResizedDim<Rules>{{ResizeAxis{", in, ", ", out, ", ", scale, ", ",
             literal(dim.roiStart, DataType::kF64), ", ", literal(dim.roiEnd, DataType::kF64),
             "}, ", at, "}, ", kernel.size(stride), "}");
}

// The innermost dimension is a vector of elements where it keeps its size, and otherwise sampled
// for each lane.
Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const std::vector<ResizedDim> dims = resizedDims(node);
  Shape in, out;
  for (const ResizedDim& dim : dims) {
    in.push_back(dim.in);
    out.push_back(dim.out);
  }
  const std::vector<Dim> strides = contiguousStrides(in);
  const DataType type = node.input(0)->dataType();
  const int width = vectorWidth(type, {out.back()});
  const size_t last = dims.size() - 1;
  const bool computes = node.as<ResizeAttrs>().mode != ResizeMode::kNearest || extrapolates(node);
  ElementKernel kernel("resize", node, context, width,
                       computes ? Results::kComputed : Results::kStored);
  kernel.printCoordinates(out);
  printRules(kernel.text, node);
  std::string& body = kernel.text.body;
  std::string names;
  for (size_t i = 0; i < last; ++i) {
    body += str("  const auto d", i, " = ",
                dimText(kernel.text, node, dims[i], strides[i], str("at[", i, "]")), ";\n");
    names += str(", d", i);
  }
  const std::string lane = dims[last].isResized ? " + lane" : "";
  body +=
      str("  const auto inner = [&](int lane) {\n    return ",
          dimText(kernel.text, node, dims[last], strides[last], str("at[", last, "]", lane)),
          ";\n  };\n  Resizing<Rules, ", storageType(type), ", ", width, ", ", dims[last].isResized,
          ">::run(x0, ", literal(node.as<ResizeAttrs>().extrapolation, DataType::kF64),
          ", first, store, inner", names, ");\n");
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/resize", supports, prepare}};

}  // namespace

KernelList resizeKernels() { return kKernels; }

}  // namespace camshaft::cuda::sample
