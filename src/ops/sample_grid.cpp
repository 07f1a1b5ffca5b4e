#include <algorithm>
#include <cmath>

#include "ops/rules.h"
#include "ops/sample.h"
#include "ops/walk.h"
#include "ops/window.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferGridSample(const Node& node) {
  const TensorType& x = node.inputs[0]->type;
  const Shape& grid = node.inputs[1]->shape();
  if (x.rank() < 3)
    fail(ErrorKind::kInvalidModel, describe(node), " samples ", x,
         " which has no spatial dimensions");
  requireRank(node, 1, "a grid", x.rank());
  requireFloat(node, 1);
  requireEqual(node, grid.back(), "coordinates per grid point", x.rank() - 2,
               "its input's spatial dimensions are");
  requireEqual(node, grid[0], "batches of grid points", x.shape[0], "its input has");
  for (int64_t i = 2; i < x.rank(); ++i)
    requireAtLeast(node, x.shape[i], str("elements in dimension ", i, " of its input"), 1);
  Shape shape{moreKnown(x.shape[0], grid[0]), x.shape[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  return {{x.type, shape}};
}

// Samples along one dimension of the input.
class GridAxis {
 public:
  GridAxis(const GridSampleAttrs& attrs, int64_t size)
      : attrs_(attrs), size_(size), low_(attrs.alignCorners ? 0 : -0.5), high_(size - 1 - low_) {}

  struct Tap {
    int64_t index;  // -1: outside, where the input is zero
    double weight;
  };

  // The elements and weights that a coordinate in [-1, 1] stands for, computed in its precision:
  // rounding decides which is the nearest.
  template <class Real>
  std::vector<Tap> taps(Real coordinate) const {
    Real x = attrs_.alignCorners ? (coordinate + 1) / 2 * (size_ - 1)
                                 : ((coordinate + 1) * size_ - 1) / 2;
    x = std::isnan(x) ? -1 : std::clamp<Real>(x, -1e9, 1e9);
    if (attrs_.mode == GridSampleMode::kNearest) x = std::nearbyint(x);
    if (attrs_.padding == GridSamplePadding::kReflection) x = static_cast<Real>(reflect(x));
    const auto left = static_cast<int64_t>(std::floor(x));
    const double ratio = x - left;
    switch (attrs_.mode) {
      case GridSampleMode::kNearest:
        return {{inside(static_cast<int64_t>(x)), 1}};
      case GridSampleMode::kLinear:
        return {{inside(left), 1 - ratio}, {inside(left + 1), ratio}};
      case GridSampleMode::kCubic:
        break;
    }
    std::vector<Tap> taps;
    for (int64_t i = -1; i <= 2; ++i) taps.push_back({inside(left + i), cubicWeight(i - ratio)});
    return taps;
  }

 private:
  // Mirrored at both borders until inside.
  double reflect(double x) const {
    const double range = high_ - low_;
    if (range <= 0) return low_;
    const double beyond = x < low_ ? low_ - x : x > high_ ? x - high_ : 0;
    if (beyond == 0) return x;
    const double turns = std::floor(beyond / range), rest = beyond - turns * range;
    const bool endsLow = (x < low_) == (std::fmod(turns, 2) == 0);
    return endsLow ? low_ + rest : high_ - rest;
  }

  int64_t inside(int64_t index) const {
    if (index >= 0 && index < size_) return index;
    switch (attrs_.padding) {
      case GridSamplePadding::kZeros:
        return -1;
      case GridSamplePadding::kBorder:
        break;
      case GridSamplePadding::kReflection:
        index = static_cast<int64_t>(reflect(index));
        break;
    }
    return std::clamp<int64_t>(index, 0, size_ - 1);
  }

  static double cubicWeight(double distance) {
    constexpr double a = -0.75;
    const double x = std::fabs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  }

  const GridSampleAttrs& attrs_;
  int64_t size_;
  double low_, high_;  // outermost positions, between which reflection keeps
};

// The input elements of one grid point, as offsets within a channel.
struct WeightedOffset {
  int64_t offset;
  double weight;
};

std::vector<WeightedOffset> samplesOf(const std::vector<std::vector<GridAxis::Tap>>& taps,
                                      const Dims& strides) {
  Dims counts;
  for (const auto& axis : taps) counts.push_back(static_cast<int64_t>(axis.size()));
  std::vector<WeightedOffset> samples;
  forEachIndex(counts, [&](const Dims& index) {
    WeightedOffset sample{0, 1};
    for (size_t i = 0; i < taps.size(); ++i) {
      const GridAxis::Tap& tap = taps[i][index[i]];
      if (tap.index < 0) return;
      sample.offset += tap.index * strides[i];
      sample.weight *= tap.weight;
    }
    samples.push_back(sample);
  });
  return samples;
}

void evaluateGridSample(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<GridSampleAttrs>();
  const ImageView x(evaluation.inputs[0].dims, false);
  const std::vector<double> input = readReals(evaluation.inputs[0]);
  const std::vector<double> grid = readReals(evaluation.inputs[1]);
  std::vector<double> output(evaluation.outputs[0].count());
  if (output.empty()) return;
  const bool isWide = evaluation.inputs[1].type == DataType::kF64;
  const int64_t rank = static_cast<int64_t>(x.spatial.size());
  const int64_t points = static_cast<int64_t>(grid.size()) / x.batch / rank;
  for (int64_t n = 0; n < x.batch; ++n) {
    for (int64_t point = 0; point < points; ++point) {
      std::vector<std::vector<GridAxis::Tap>> taps;
      for (int64_t i = 0; i < rank; ++i) {  // the grid names the last dimension first
        const double coordinate = grid[(n * points + point) * rank + rank - 1 - i];
        const GridAxis axis(attrs, x.spatial[i]);
        taps.push_back(isWide ? axis.taps(coordinate) : axis.taps(static_cast<float>(coordinate)));
      }
      const std::vector<WeightedOffset> samples = samplesOf(taps, x.spatialStrides);
      for (int64_t c = 0; c < x.channels; ++c) {
        const double* image = &input[n * x.batchStride + c * x.channelStride];
        double sum = 0;
        for (const WeightedOffset& sample : samples) sum += sample.weight * image[sample.offset];
        output[(n * x.channels + c) * points + point] = sum;
      }
    }
  }
  writeReals(evaluation.outputs[0], output);
}

}  // namespace

const OpInfo ops::GridSample = {
    "GridSample", 2, 2, 1, makeAttrsOf<GridSampleAttrs>, inferGridSample, evaluateGridSample};

}  // namespace camshaft
