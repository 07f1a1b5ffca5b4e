#include "backend/launch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/families.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/sample/interpolate.h"
#include "backends/cpu/sample/params.h"
#include "backends/cpu/sample/positions.h"
#include "backends/cpu/sample/resample.h"
#include "support/error.h"

namespace camshaft::cpu::sample {

namespace {

void fillBlends(const ResizeParams& params, double scale, int64_t in, int64_t out, Blend* blends) {
  const auto inside = [&](int64_t at) {
    return static_cast<int32_t>(std::clamp<int64_t>(at, 0, in - 1));
  };
  for (int64_t x = 0; x < out; ++x) {
    const Neighbour at(sourcePosition(params.coordinates, {in, out, scale}, x));
    if (params.linear) {
      blends[x] = {inside(at.left), inside(at.left + 1), static_cast<float>(at.ratio)};
    } else {
      const int32_t nearest = inside(at.left + picksRight(params.nearest, at.ratio));
      blends[x] = {nearest, nearest, 0};
    }
  }
}

// The tensors as [outer, height, width, inner].
struct Resize {
  int64_t outer = 1, inHeight = 1, inWidth = 1, outHeight = 1, outWidth = 1, inner = 1;
  const Blend* rows;
  const Blend* columns;

  // Pixels of `width` bytes, copied.
  void nearestRow(const std::byte* x, std::byte* y, size_t width, int64_t row) const {
    const int64_t source = row / outHeight * inHeight + rows[row % outHeight].left;
    const std::byte* from = x + static_cast<size_t>(source * inWidth) * width;
    std::byte* to = y + static_cast<size_t>(row * outWidth) * width;
    switch (width) {
      case 1:
        return pick<uint8_t>(from, to);
      case 2:
        return pick<uint16_t>(from, to);
      case 4:
        return pick<uint32_t>(from, to);
      case 8:
        return pick<uint64_t>(from, to);
      default:
        for (int64_t i = 0; i < outWidth; ++i)
          std::memcpy(to + static_cast<size_t>(i) * width,
                      from + static_cast<size_t>(columns[i].left) * width, width);
    }
  }
  template <class T>
  void pick(const std::byte* from, std::byte* to) const {
    for (int64_t i = 0; i < outWidth; ++i)
      reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[columns[i].left];
  }

  static float between(float a, float b, float weight) {
    return weight == 0 ? a : weight == 1 ? b : a + weight * (b - a);
  }

  void linearRow(const float* x, float* y, int64_t row) const {
    const Blend& vertical = rows[row % outHeight];
    const float* image = x + row / outHeight * inHeight * inWidth * inner;
    const float* top = image + vertical.left * inWidth * inner;
    const float* low = image + vertical.right * inWidth * inner;
    float* to = y + row * outWidth * inner;
    for (int64_t i = 0; i < outWidth; ++i) {
      const Blend& horizontal = columns[i];
      const int64_t left = horizontal.left * inner, right = horizontal.right * inner;
      const float weight = horizontal.rightWeight;
      if (inner == 1)
        to[i] = between(between(top[left], top[right], weight),
                        between(low[left], low[right], weight), vertical.rightWeight);
      else
        blendCorners(top + left, top + right, low + left, low + right, weight, vertical.rightWeight,
                     to + i * inner, inner);
    }
  }
};

// Rows of bytes: first between two rows of x, which is `blended`, then between its pixels.
void linearRowOfBytes(const Resize& resize, const uint8_t* x, uint8_t* y, uint8_t flip, int64_t row,
                      float* blended) {
  const Blend& vertical = resize.rows[row % resize.outHeight];
  const int64_t inner = resize.inner, length = resize.inWidth * inner;
  const uint8_t* image = x + row / resize.outHeight * resize.inHeight * length;
  blendRows(image + vertical.left * length, image + vertical.right * length, flip,
            vertical.rightWeight, blended, length);
  uint8_t* to = y + row * resize.outWidth * inner;
  if (inner == 1) {
    for (int64_t i = 0; i < resize.outWidth; ++i) {
      const Blend& at = resize.columns[i];
      const float value = Resize::between(blended[at.left], blended[at.right], at.rightWeight);
      to[i] = static_cast<uint8_t>(static_cast<uint8_t>(std::nearbyint(value)) ^ flip);
    }
    return;
  }
  for (int64_t i = 0; i < resize.outWidth; ++i, to += inner) {
    const Blend& at = resize.columns[i];
    blendToBytes(blended + at.left * inner, blended + at.right * inner, at.rightWeight, flip, to,
                 inner);
  }
}

bool fitsResize(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ResizeParams*>(state);
  if (!hasOperands(args, 1)) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  if (x.rank != y.rank || !sameType(x, y)) return false;
  if (params.linear && !isF32(x) && x.type != DataType::kU8 && x.type != DataType::kI8)
    return false;
  for (int i = 0; i < x.rank; ++i)
    if ((i < params.axis || i >= params.axis + params.axes) ? x.dims[i] != y.dims[i]
                                                            : x.dims[i] > INT32_MAX)
      return false;  // positions are 32 bits wide
  return true;
}

void launchResize(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ResizeParams*>(state);
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  if (y.count() == 0) return;
  if (x.count() == 0)
    fail(ErrorKind::kInvalidArgument, "a tensor of sizes [", join(x.shape(), ", "),
         "] has nothing to resize");
  requireAxis(x, params.axis + params.axes - 1);
  Resize resize;
  const int last = params.axis + params.axes - 1;
  for (int i = 0; i < params.axis; ++i) resize.outer *= x.dims[i];
  for (int i = last + 1; i < x.rank; ++i) resize.inner *= x.dims[i];
  resize.inWidth = x.dims[last];
  resize.outWidth = y.dims[last];
  if (params.axes == 2) {
    resize.inHeight = x.dims[params.axis];
    resize.outHeight = y.dims[params.axis];
  }
  const int64_t blendBytes =
      static_cast<int64_t>(sizeof(Blend)) * (resize.outWidth + resize.outHeight);
  const bool blendsBytes = params.linear && !isF32(x);
  const int64_t blendedRow = blendsBytes ? resize.inWidth * resize.inner : 0;  // of each thread
  const WorkersWithin workers(args, [&](int threads) {
    return blendBytes / static_cast<int64_t>(sizeof(float)) + threads * blendedRow;
  });
  Blend* columns = reinterpret_cast<Blend*>(args.workspace);
  Blend* rows = columns + resize.outWidth;
  fillBlends(params, params.scales[params.axes - 1], resize.inWidth, resize.outWidth, columns);
  if (params.axes == 2)
    fillBlends(params, params.scales[0], resize.inHeight, resize.outHeight, rows);
  else
    *rows = {0, 0, 0};
  resize.columns = columns;
  resize.rows = rows;

  const size_t width = bytesOf(x.type, 1) * static_cast<size_t>(resize.inner);
  if (blendsBytes) {
    auto* blended = reinterpret_cast<float*>(args.workspace + blendBytes);
    const uint8_t flip = x.type == DataType::kI8 ? 0x80 : 0;
    const double work = static_cast<double>((resize.inWidth + resize.outWidth) * resize.inner);
    const auto run = [&](int64_t begin, int64_t end, int worker) {
      for (int64_t row = begin; row < end; ++row)
        linearRowOfBytes(resize, x.as<uint8_t>(), y.as<uint8_t>(), flip, row,
                         blended + worker * blendedRow);
    };
    const int64_t count = resize.outer * resize.outHeight;
    if (isWorthSharing(work * static_cast<double>(count)))
      args.threads->parallelFor(count, 1 + static_cast<int64_t>(kWorthSharing / work), run);
    else
      run(0, count, 0);
    return;
  }
  const double pixelWork = params.linear ? 2.0 * static_cast<double>(resize.inner) + 4
                                         : static_cast<double>(width) / 16 + 1;
  parallelItems(args.threads, resize.outer * resize.outHeight,
                pixelWork * static_cast<double>(resize.outWidth), [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    if (params.linear)
                      resize.linearRow(x.as<float>(), y.as<float>(), row);
                    else
                      resize.nearestRow(x.as<std::byte>(), y.as<std::byte>(), width, row);
                  }
                });
}

// x is [N, C, spatial...], the grid [N, points..., spatial dimensions], y [N, C, points...].
bool fitsGridSample(const void*, const LaunchArgs& args) {
  if (!hasF32Operands(args, 2) || worksInPlace(args)) return false;
  const TensorArg &x = args.inputs[0], &grid = args.inputs[1], &y = args.outputs[0];
  const int axes = x.rank - 2;
  if (axes < 1 || axes > kMostGridAxes || grid.rank != x.rank || y.rank != x.rank) return false;
  int64_t pixels = 1;
  for (int i = 2; i < x.rank; ++i) {
    if (y.dims[i] != grid.dims[i - 1]) return false;
    pixels = volumeOf({pixels, x.dims[i]});
    if (pixels < 0) return false;
  }
  return grid.dims[grid.rank - 1] == axes && grid.dims[0] == x.dims[0] && y.dims[0] == x.dims[0] &&
         y.dims[1] == x.dims[1] && pixels <= INT32_MAX;  // offsets are 32 bits wide
}

void launchGridSample(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const GridSampleParams*>(state);
  const TensorArg &x = args.inputs[0], &grid = args.inputs[1], &y = args.outputs[0];
  if (y.count() == 0) return;
  if (x.count() == 0)
    fail(ErrorKind::kInvalidArgument, "images of sizes [", join(x.shape(), ", "),
         "] have nothing to sample");
  const int axes = x.rank - 2;
  const int64_t channels = x.dims[1], images = x.dims[0] * channels;
  const int64_t pixels = x.count() / images, points = y.count() / images;
  const int64_t blocks = (points + GridSamples::kPoints - 1) / GridSamples::kPoints;
  const double taps = params.rules.mode == GridMode::kCubic ? 16 : 4;
  const double work =
      static_cast<double>(GridSamples::kPoints) * (50 + taps * static_cast<double>(channels) / 2);
  parallelItems(args.threads, x.dims[0] * blocks, work, [&](int64_t begin, int64_t end) {
    GridSamples samples;
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t n = unit / blocks, first = unit % blocks * GridSamples::kPoints;
      samples.find(params.rules, grid.as<float>() + (n * points + first) * axes,
                   std::min(GridSamples::kPoints, points - first), x.dims + 2, axes);
      for (int64_t image = n * channels; image < (n + 1) * channels; ++image)
        samples.take(x.as<float>() + image * pixels, y.as<float>() + image * points + first);
    }
  });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/resize", loadParams<ResizeParams>, launchResize, fitsResize},
    {"cpu/resample_f32", loadParams<ResampleParams>, launchResample, fitsResample},
    {"cpu/grid_sample_f32", loadParams<GridSampleParams>, launchGridSample, fitsGridSample}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::sample
