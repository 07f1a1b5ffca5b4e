#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/dispatch.h"
#include "ops/rules.h"
#include "ops/sample.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferResize(const Node& node) {
  const auto& attrs = node.as<ResizeAttrs>();
  const TensorType& x = node.inputs[0]->type;
  const size_t rank = x.shape.size();
  if (attrs.sizes.size() != rank || attrs.scales.size() != rank)
    fail(ErrorKind::kInvalidModel, describe(node), " needs one size and one scale for each of ",
         rank, " dimensions and has ", attrs.sizes.size(), " and ", attrs.scales.size());
  if (attrs.coordinates == ResizeCoordinates::kCropAndResize && attrs.roi.size() != 2 * rank)
    fail(ErrorKind::kInvalidModel, describe(node), " crops with ", attrs.roi.size(),
         " region bounds where it needs ", 2 * rank);
  if (attrs.antialias && attrs.mode == ResizeMode::kNearest)
    fail(ErrorKind::kInvalidModel, describe(node),
         " asks for antialiasing, which nearest sampling does not have");
  // Every element of a result needs one that it is made of.
  for (size_t i = 0; i < rank; ++i)
    requireAtLeast(node, x.shape[i], str("elements in dimension ", i), min(attrs.sizes[i], 1));
  return {{x.type, attrs.sizes}};
}

// One dimension of the resize.
struct Axis {
  int64_t in, out;
  double scale;
  double roiStart = 0, roiEnd = 1;

  double resizedSize() const { return scale * in; }  // before it was rounded to `out`
  bool isIdentity() const {
    return in == out && std::fabs(scale - 1) < 1e-9 && roiStart == 0 && roiEnd == 1;
  }
};

// Where output element `x` lies among the input elements.
double sourcePosition(ResizeCoordinates coordinates, const Axis& axis, double x) {
  const double halfPixel = (x + 0.5) / axis.scale - 0.5;
  const double last = axis.in - 1;
  switch (coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return halfPixel;
    case ResizeCoordinates::kAsymmetric:
      return x / axis.scale;
    case ResizeCoordinates::kAlignCorners:
      return axis.resizedSize() == 1 ? 0 : x * last / (axis.resizedSize() - 1);
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.out > 1 ? halfPixel : 0;
    case ResizeCoordinates::kHalfPixelSymmetric:
      return axis.in / 2.0 * (1 - axis.out / axis.resizedSize()) + halfPixel;
    case ResizeCoordinates::kCropAndResize: {
      const double width = (axis.roiEnd - axis.roiStart) * last;
      const double within =
          axis.resizedSize() == 1 ? width / 2 : x * width / (axis.resizedSize() - 1);
      return axis.roiStart * last + within;
    }
  }
  return 0;
}

// Weight of a sample at this distance: a triangle, or Keys' cubic with coefficient a.
double kernelWeight(const ResizeAttrs& attrs, double distance) {
  const double x = std::fabs(distance), a = attrs.cubicCoefficient;
  if (attrs.mode == ResizeMode::kLinear) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

bool picksRight(ResizeNearest nearest, double ratio) {
  switch (nearest) {
    case ResizeNearest::kRoundPreferFloor:
      return ratio > 0.5;
    case ResizeNearest::kRoundPreferCeil:
      return ratio >= 0.5;
    case ResizeNearest::kFloor:
      return ratio == 1;
    case ResizeNearest::kCeil:
      return true;
  }
  return false;
}

// What one output element is made of along one dimension.
struct Samples {
  bool isOutside = false;  // takes the extrapolation value
  int64_t first = 0;       // index of the first sample, possibly outside the input
  std::vector<double> weights;
};

Samples samplesAt(const ResizeAttrs& attrs, const Axis& axis, int64_t x) {
  const double position = sourcePosition(attrs.coordinates, axis, static_cast<double>(x));
  Samples samples;
  samples.isOutside = attrs.coordinates == ResizeCoordinates::kCropAndResize &&
                      (position < 0 || position > axis.in - 1);
  // The left neighbour is strictly left of the position, which lies `ratio` in (0, 1] after it.
  const int64_t left = static_cast<int64_t>(std::ceil(position)) - 1;
  const double ratio = position - left;
  if (attrs.mode == ResizeMode::kNearest) {
    samples.first = left + picksRight(attrs.nearest, ratio);
    samples.weights = {1};
    return samples;
  }
  // Antialiasing widens the kernel when shrinking, so that it covers every input element.
  const double narrowing = attrs.antialias ? std::min(axis.scale, 1.0) : 1;
  const double support = attrs.mode == ResizeMode::kLinear ? 1 : 2;
  const int64_t begin = static_cast<int64_t>(std::floor(-support / narrowing)) + 1;
  samples.first = left + begin;
  double sum = 0;
  for (int64_t i = begin; i < 2 - begin; ++i) {
    const bool excluded = attrs.excludeOutside && (left + i < 0 || left + i >= axis.in);
    samples.weights.push_back(excluded ? 0 : kernelWeight(attrs, (i - ratio) * narrowing));
    sum += samples.weights.back();
  }
  if (sum != 0 && (attrs.antialias || attrs.excludeOutside))
    for (double& weight : samples.weights) weight /= sum;
  return samples;
}

std::vector<double> resizeAxis(const ResizeAttrs& attrs, const Axis& axis,
                               const std::vector<double>& x, const AxisView& view) {
  std::vector<double> y(view.outer * axis.out * view.inner);
  for (int64_t position = 0; position < axis.out; ++position) {
    const Samples samples = samplesAt(attrs, axis, position);
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) {
        double sum = samples.isOutside ? attrs.extrapolation : 0;
        for (size_t s = 0; s < samples.weights.size() && !samples.isOutside; ++s) {
          if (samples.weights[s] == 0) continue;  // so that an infinite neighbour does no harm
          const int64_t at = std::clamp<int64_t>(samples.first + s, 0, axis.in - 1);
          sum += samples.weights[s] * x[(o * axis.in + at) * view.inner + i];
        }
        y[(o * axis.out + position) * view.inner + i] = sum;
      }
    }
  }
  return y;
}

// Integers round to even and saturate.
void roundTo(DataType type, std::vector<double>& values) {
  dispatch(type, [&](auto tag) {
    using T = Compute<decltype(tag)>;
    if constexpr (std::is_integral_v<T>)
      for (double& value : values)
        value =
            std::clamp(std::nearbyint(value), static_cast<double>(std::numeric_limits<T>::lowest()),
                       static_cast<double>(std::numeric_limits<T>::max()));
  });
}

void evaluateResize(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<ResizeAttrs>();
  const TensorView& y = evaluation.outputs[0];
  if (y.count() == 0) return;
  Dims dims = evaluation.inputs[0].dims;
  std::vector<double> values = readReals(evaluation.inputs[0]);
  for (size_t i = 0; i < dims.size(); ++i) {
    Axis axis{dims[i], y.dims[i], attrs.scales[i]};
    if (axis.scale == 0) axis.scale = static_cast<double>(axis.out) / static_cast<double>(axis.in);
    if (attrs.coordinates == ResizeCoordinates::kCropAndResize) {
      axis.roiStart = attrs.roi[i];
      axis.roiEnd = attrs.roi[dims.size() + i];
    }
    if (axis.isIdentity()) continue;
    values = resizeAxis(attrs, axis, values, AxisView(dims, i));
    dims[i] = axis.out;
  }
  if (attrs.mode != ResizeMode::kNearest) roundTo(y.type, values);
  writeReals(y, values);
}

}  // namespace

const OpInfo ops::Resize = {"Resize",      1, 1, 1, makeAttrsOf<ResizeAttrs>, inferResize,
                            evaluateResize};

}  // namespace camshaft
