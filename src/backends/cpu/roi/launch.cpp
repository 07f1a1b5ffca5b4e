#include <algorithm>
#include <cmath>

#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/roi/params.h"
#include "support/error.h"

namespace camshaft::cpu::roi {

namespace {

constexpr int64_t kChannelBlock = 64;  // that share the work of finding a sample
constexpr double kMostSamples = 4096;  // per bin and dimension, as ops/roi.h has it

// Two neighbouring elements and what each counts.
struct Tap {
  int64_t low, high;
  double lowWeight, highWeight;
  bool inside;
};

// The samples of a box along one dimension.
struct BoxAxis {
  double start, bin;
  int64_t perBin, size;

  BoxAxis(const RoiAlignParams& params, double from, double to, int64_t bins, int64_t imageSize)
      : start(from), size(imageSize) {
    double extent = to - from;
    if (!params.halfPixel) extent = std::max(extent, 1.0);
    bin = extent / static_cast<double>(bins);
    const double adaptive = std::ceil(bin);
    perBin = params.samplingRatio > 0
                 ? params.samplingRatio
                 : static_cast<int64_t>(std::min(adaptive > 0 ? adaptive : 0.0, kMostSamples));
  }

  Tap tap(int64_t inBin, int64_t atBin) const {
    const double fraction = (static_cast<double>(inBin) + 0.5) / static_cast<double>(perBin);
    double position = start + (static_cast<double>(atBin) + fraction) * bin;
    if (!(position >= -1 && position <= static_cast<double>(size))) return {0, 0, 0, 0, false};
    position = std::max(position, 0.0);
    const auto low = static_cast<int64_t>(position);
    if (low >= size - 1) return {size - 1, size - 1, 1, 0, true};
    const double ratio = position - static_cast<double>(low);
    return {low, low + 1, 1 - ratio, ratio, true};
  }
};

// One bin of up to kChannelBlock channels, whose images stand `plane` elements apart.
template <bool kMax>
void poolBin(const float* images, int64_t plane, int64_t width, const BoxAxis& rows, int64_t row,
             const BoxAxis& columns, int64_t column, int64_t channels, float* pooled) {
  const bool isEmpty = rows.perBin * columns.perBin == 0;
  std::fill_n(pooled, channels, kMax && !isEmpty ? -INFINITY : 0.0f);
  for (int64_t i = 0; i < rows.perBin; ++i) {
    const Tap y = rows.tap(i, row);
    // A row outside is all zeros, however many samples it has: one will do.
    for (int64_t j = 0; j < (y.inside ? columns.perBin : std::min<int64_t>(columns.perBin, 1));
         ++j) {
      const Tap x = columns.tap(j, column);
      if (!y.inside || !x.inside) {
        if (kMax)
          for (int64_t c = 0; c < channels; ++c) pooled[c] = std::max(pooled[c], 0.0f);
        continue;
      }
      const float *topLeft = images + y.low * width + x.low,
                  *topRight = images + y.low * width + x.high,
                  *lowLeft = images + y.high * width + x.low,
                  *lowRight = images + y.high * width + x.high;
      const auto a = static_cast<float>(y.lowWeight * x.lowWeight),
                 b = static_cast<float>(y.lowWeight * x.highWeight),
                 c = static_cast<float>(y.highWeight * x.lowWeight),
                 d = static_cast<float>(y.highWeight * x.highWeight);
      for (int64_t channel = 0; channel < channels; ++channel) {
        const int64_t at = channel * plane;
        const float w = a * topLeft[at], v = b * topRight[at], u = c * lowLeft[at],
                    t = d * lowRight[at];
        if (kMax)
          pooled[channel] = std::max({pooled[channel], w, v, u, t});
        else
          pooled[channel] += (w + v) + (u + t);
      }
    }
  }
  if (kMax || isEmpty) return;
  const float share = 1 / static_cast<float>(rows.perBin * columns.perBin);
  for (int64_t c = 0; c < channels; ++c) pooled[c] *= share;
}

int64_t imageOf(const TensorArg& indices, int64_t roi, int64_t images) {
  const int64_t image = indices.type == DataType::kI64 ? indices.as<int64_t>()[roi]
                                                       : int64_t{indices.as<int32_t>()[roi]};
  if (image < 0 || image >= images)
    fail(ErrorKind::kInvalidArgument, "a region of interest is of image ", image, " of ", images);
  return image;
}

// Row `row` of the bins of one region, in all channels.
void poolRow(const RoiAlignParams& params, const LaunchArgs& args, int64_t roi, int64_t row) {
  const TensorArg& x = args.inputs[0];
  const int64_t channels = x.dims[1], height = x.dims[2], width = x.dims[3];
  const float* images =
      x.as<float>() + imageOf(args.inputs[2], roi, x.dims[0]) * channels * height * width;
  const float* box = args.inputs[1].as<float>() + roi * 4;
  const double shift = params.halfPixel ? 0.5 : 0;
  const auto edge = [&](int i) { return static_cast<double>(box[i]) * params.scale - shift; };
  const BoxAxis rows(params, edge(1), edge(3), params.height, height);
  const BoxAxis columns(params, edge(0), edge(2), params.width, width);
  float pooled[kChannelBlock];
  for (int64_t first = 0; first < channels; first += kChannelBlock) {
    const int64_t count = std::min(kChannelBlock, channels - first);
    float* y = args.outputs[0].as<float>() +
               ((roi * channels + first) * params.height + row) * params.width;
    for (int64_t column = 0; column < params.width; ++column) {
      const auto pool = params.isMax ? poolBin<true> : poolBin<false>;
      pool(images + first * height * width, height * width, width, rows, row, columns, column,
           count, pooled);
      for (int64_t c = 0; c < count; ++c) y[c * params.height * params.width + column] = pooled[c];
    }
  }
}

bool fits(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const RoiAlignParams*>(state);
  if (!hasOperands(args, 3)) return false;
  const TensorArg &x = args.inputs[0], &rois = args.inputs[1], &indices = args.inputs[2];
  const TensorArg& y = args.outputs[0];
  const bool index = indices.type == DataType::kI32 || indices.type == DataType::kI64;
  return isF32(x) && isF32(rois) && isF32(y) && index && x.rank == 4 && rois.rank == 2 &&
         indices.rank == 1 && y.rank == 4 && rois.dims[1] == 4 && indices.dims[0] == rois.dims[0] &&
         y.dims[0] == rois.dims[0] && y.dims[1] == x.dims[1] && y.dims[2] == params.height &&
         y.dims[3] == params.width;
}

void launch(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const RoiAlignParams*>(state);
  const TensorArg& x = args.inputs[0];
  if (args.outputs[0].count() == 0) return;
  if (x.count() == 0)
    fail(ErrorKind::kInvalidArgument, "images of sizes [", join(x.shape(), ", "),
         "] have no regions");
  const double samples = params.samplingRatio > 0 ? params.samplingRatio : 2;
  const double work = static_cast<double>(x.dims[1] * params.width) * samples * samples * 6;
  parallelItems(args.threads, args.inputs[1].dims[0] * params.height, work,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    poolRow(params, args, i / params.height, i % params.height);
                });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/roi_align_f32", loadParams<RoiAlignParams>, launch, fits},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::roi
