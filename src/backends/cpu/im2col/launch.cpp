#include <algorithm>
#include <cmath>

#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/im2col/params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"

namespace camshaft::cpu::im2col {

namespace {

constexpr int64_t kWindows = 64;  // whose samples are found once for all channels

// Where the samples of some windows lie in a channel's image: offsets and weights of corners.
struct Samples {
  int64_t offsets[4][kWindows];  // negative: outside, where an infinity must not count either
  float weights[4][kWindows];

  // `y` and `x` lie anywhere; `factor` multiplies what is there.
  void set(int64_t at, double y, double x, int64_t height, int64_t width, float factor) {
    const bool inside =
        y > -1 && x > -1 && y < static_cast<double>(height) && x < static_cast<double>(width);
    const int64_t top = inside ? static_cast<int64_t>(std::floor(y)) : 0;
    const int64_t left = inside ? static_cast<int64_t>(std::floor(x)) : 0;
    const double down = inside ? y - static_cast<double>(top) : 0;
    const double right = inside ? x - static_cast<double>(left) : 0;
    for (int corner = 0; corner < 4; ++corner) {
      const int64_t i = top + corner / 2, j = left + corner % 2;
      const bool counts = inside && i >= 0 && i < height && j >= 0 && j < width;
      const double weight = (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right);
      offsets[corner][at] = counts ? i * width + j : -1;
      weights[corner][at] = static_cast<float>(weight) * factor;
    }
  }

  void take(const float* image, int64_t count, float* y) const {
    const auto share = [&](int corner, int64_t i) {
      const int64_t offset = offsets[corner][i];
      return offset < 0 ? 0.0f : weights[corner][i] * image[offset];
    };
    for (int64_t i = 0; i < count; ++i)
      y[i] = (share(0, i) + share(1, i)) + (share(2, i) + share(3, i));
  }
};

struct Problem {
  const DeformColumnsParams& params;
  int64_t channels, height, width, taps, windowRows, windowColumns;
  const float *x, *offsets, *mask;
  float* y;

  // One row of windows, as one tap of one group of channels sees it.
  void run(int64_t n, int64_t group, int64_t tap, int64_t row) const {
    const int64_t windows = windowRows * windowColumns, perGroup = channels / params.groups;
    const int64_t set = (n * params.groups + group) * taps + tap;
    const int64_t down = row * params.strides[0] - params.padsBegin[0] +
                         tap / params.kernel[1] * params.dilations[0];
    const int64_t right = tap % params.kernel[1] * params.dilations[1] - params.padsBegin[1];
    Samples samples;
    for (int64_t first = 0; first < windowColumns; first += kWindows) {
      const int64_t count = std::min(kWindows, windowColumns - first);
      const int64_t window = row * windowColumns + first;
      const float* moveY = offsets + set * 2 * windows + window;
      const float* moveX = moveY + windows;
      for (int64_t i = 0; i < count; ++i)
        samples.set(i, static_cast<double>(down) + moveY[i],
                    static_cast<double>(right + (first + i) * params.strides[1]) + moveX[i], height,
                    width, mask ? mask[set * windows + window + i] : 1);
      for (int64_t c = group * perGroup; c < (group + 1) * perGroup; ++c)
        samples.take(x + (n * channels + c) * height * width, count,
                     y + ((n * channels + c) * taps + tap) * windows + window);
    }
  }
};

bool fits(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const DeformColumnsParams*>(state);
  if (!hasF32Operands(args, 2)) return false;
  const TensorArg &x = args.inputs[0], &offsets = args.inputs[1], &y = args.outputs[0];
  if (x.rank != 4 || offsets.rank != 4 || y.rank != 4) return false;
  const int64_t taps = volumeOf({params.kernel[0], params.kernel[1]}),
                sets = volumeOf({params.groups, taps});
  if (sets < 0) return false;
  if (args.inputs.size() > 2 && args.inputs[2].data) {
    const TensorArg& mask = args.inputs[2];
    if (!sameSizes(mask, offsets, 1) || mask.dims[1] != sets) return false;
  }
  return x.dims[1] % params.groups == 0 && offsets.dims[0] == x.dims[0] &&
         offsets.dims[1] == volumeOf({sets, 2}) && y.dims[0] == x.dims[0] &&
         y.dims[1] == x.dims[1] && y.dims[2] == taps &&
         y.dims[3] == offsets.dims[2] * offsets.dims[3];
}

void launch(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const DeformColumnsParams*>(state);
  const TensorArg &x = args.inputs[0], &offsets = args.inputs[1], &y = args.outputs[0];
  if (y.count() == 0) return;
  if (x.count() == 0) {
    std::fill_n(y.as<float>(), y.count(), 0.0f);
    return;
  }
  const Problem problem{.params = params,
                        .channels = x.dims[1],
                        .height = x.dims[2],
                        .width = x.dims[3],
                        .taps = y.dims[2],
                        .windowRows = offsets.dims[2],
                        .windowColumns = offsets.dims[3],
                        .x = x.as<float>(),
                        .offsets = offsets.as<float>(),
                        .mask = args.inputs.size() > 2 ? args.inputs[2].as<float>() : nullptr,
                        .y = y.as<float>()};
  const int64_t rows = problem.windowRows, perImage = params.groups * problem.taps * rows;
  const double work = static_cast<double>(problem.windowColumns) *
                      (6.0 * static_cast<double>(problem.channels / params.groups) + 30);
  parallelItems(args.threads, x.dims[0] * perImage, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      problem.run(i / perImage, i % perImage / (problem.taps * rows), i / rows % problem.taps,
                  i % rows);
  });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/deform_columns_f32", loadParams<DeformColumnsParams>, launch, fits},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::im2col
