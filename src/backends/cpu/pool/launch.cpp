#include "backend/launch.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "backends/cpu/families.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/pool/params.h"
#include "backends/cpu/pool/taps.h"

namespace camshaft::cpu::pool {

namespace {

struct Image {
  int64_t batches, channels, height, width;

  Image(const TensorArg& tensor, const PoolParams& params) {
    const int first = params.channelsLast ? 1 : 2;
    batches = tensor.dims[0];
    channels = tensor.dims[params.channelsLast ? tensor.rank - 1 : 1];
    height = params.spatialRank == 2 ? tensor.dims[first] : 1;
    width = tensor.dims[first + params.spatialRank - 1];
  }
};

template <class T>
struct Pooling {
  const PoolParams& params;
  Image in, out;
  const T* x;
  T* y;

  const Window& vertical() const { return params.windows[0]; }
  const Window& horizontal() const { return params.windows[1]; }

  float factorOf(const TapRange& rows, const TapRange& columns) const {
    const int64_t count = params.countIncludePad ? rows.withPadding * columns.withPadding
                                                 : rows.count() * columns.count();
    return count == 0 ? 0.0f : 1.0f / static_cast<float>(count);
  }

  // One row of output pixels with all their channels. Next to each other lie the pixels of a stride
  // of 1 and their taps, so that those within the image are taken like one of many channels.
  void rowOfPixels(int64_t batch, int64_t row) const {
    const TapRange rows(vertical(), row, in.height);
    T* to = y + (batch * out.height + row) * out.width * out.channels;
    for (int64_t column = 0, pixels = 0; column < out.width; column += pixels) {
      const TapRange columns(horizontal(), column, in.width);
      pixels = columns.count() == horizontal().kernel ? pixelsInside(column) : 1;
      pixelsOfRow(batch, row, column, pixels, rows, columns, to + column * out.channels);
    }
  }

  // Outputs from this one on whose windows lie inside like its own.
  int64_t pixelsInside(int64_t column) const {
    const Window& window = horizontal();
    if (window.stride != 1) return 1;
    const int64_t last = in.width - 1 - (window.kernel - 1) * window.dilation + window.padBegin;
    return std::min(last, out.width - 1) - column + 1;
  }

  void pixelsOfRow(int64_t batch, int64_t row, int64_t column, int64_t pixels, const TapRange& rows,
                   const TapRange& columns, T* to) const {
    const int64_t channels = pixels * in.channels;
    if (rows.count() == 0 || columns.count() == 0) {
      std::fill(to, to + channels, T{});
      return;
    }
    const int64_t r = vertical().start(row) + rows.begin * vertical().dilation,
                  c = horizontal().start(column) + columns.begin * horizontal().dilation;
    const WindowTaps<T> taps{.x = x + ((batch * in.height + r) * in.width + c) * in.channels,
                             .rows = rows.count(),
                             .columns = columns.count(),
                             .rowStride = vertical().dilation * in.width * in.channels,
                             .columnStride = horizontal().dilation * in.channels};
    if constexpr (!std::is_integral_v<T>) {
      if (params.average) return averageOverChannels(taps, channels, factorOf(rows, columns), to);
    }
    maxOverChannels(taps, channels, to);
  }

  // Outputs [begin, end) of a row for which tap `tap` lies inside.
  void columnsOfTap(int64_t tap, int64_t& begin, int64_t& end) const {
    const int64_t first = tap * horizontal().dilation - horizontal().padBegin,
                  stride = horizontal().stride;
    begin = first >= 0 ? 0 : std::min(out.width, (-first + stride - 1) / stride);
    end = first >= in.width
              ? begin
              : std::clamp((in.width - first + stride - 1) / stride, begin, out.width);
  }

  // One row of one channel: tap by tap into the whole row.
  void rowOfPlane(int64_t plane, int64_t row) const {
    const TapRange rows(vertical(), row, in.height);
    float* to = y + (plane * out.height + row) * out.width;
    std::fill(to, to + out.width, params.average ? 0.0f : std::numeric_limits<float>::quiet_NaN());
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      const int64_t r = row * vertical().stride - vertical().padBegin + i * vertical().dilation;
      const float* from = x + (plane * in.height + r) * in.width;
      for (int64_t j = 0; j < horizontal().kernel; ++j) {
        int64_t begin, end;
        columnsOfTap(j, begin, end);
        const int64_t c =
            begin * horizontal().stride - horizontal().padBegin + j * horizontal().dilation;
        if (begin == end) continue;
        (params.average ? addInto : maxInto)(to + begin, from + c, horizontal().stride,
                                             end - begin);
      }
    }
    for (int64_t column = 0; column < out.width; ++column) {
      const TapRange columns(horizontal(), column, in.width);
      if (rows.count() == 0 || columns.count() == 0)
        to[column] = 0;
      else if (params.average)
        to[column] *= factorOf(rows, columns);
    }
  }
};

bool fitsShapes(const PoolParams& params, const LaunchArgs& args) {
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  const int channels = params.channelsLast ? x.rank - 1 : 1;
  return x.rank == params.spatialRank + 2 && y.rank == x.rank && x.dims[0] == y.dims[0] &&
         x.dims[channels] == y.dims[channels];
}

bool fits(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const PoolParams*>(state);
  return hasF32OrBf16Operands(args) && (params.channelsLast || !isBf16(args.inputs[0])) &&
         fitsShapes(params, args);
}

bool fitsBytes(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const PoolParams*>(state);
  if (!hasOperands(args, 1) || params.average || !params.channelsLast) return false;
  const DataType type = args.inputs[0].type;
  return (type == DataType::kU8 || type == DataType::kI8) && args.outputs[0].type == type &&
         fitsShapes(params, args);
}

template <class T>
void poolRows(const Pooling<T>& pooling, ThreadPool* threads) {
  const int64_t height = pooling.out.height;
  const double taps = static_cast<double>(pooling.vertical().kernel * pooling.horizontal().kernel);
  const double work = taps / 2 * static_cast<double>(pooling.out.width * pooling.out.channels) *
                      static_cast<double>(sizeof(T)) / sizeof(float);
  parallelItems(threads, pooling.out.batches * height, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pooling.rowOfPixels(i / height, i % height);
  });
}

template <class T>
void poolPixels(const PoolParams& params, const TensorArg& x, const TensorArg& y,
                ThreadPool* threads) {
  poolRows(Pooling<T>{params, Image(x, params), Image(y, params), x.as<T>(), y.as<T>()}, threads);
}

void launchBytes(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const PoolParams*>(state);
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  requireAxis(x, params.spatialRank + 1);
  if (y.count() == 0) return;
  if (x.type == DataType::kU8)
    poolPixels<uint8_t>(params, x, y, args.threads);
  else
    poolPixels<int8_t>(params, x, y, args.threads);
}

void launch(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const PoolParams*>(state);
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  requireAxis(x, params.spatialRank + 1);
  if (y.count() == 0) return;
  if (params.channelsLast)
    return (isBf16(x) ? poolPixels<BFloat16> : poolPixels<float>)(params, x, y, args.threads);
  const Pooling<float> pooling{params, Image(x, params), Image(y, params), x.as<float>(),
                               y.as<float>()};
  const int64_t height = pooling.out.height;
  const double taps = static_cast<double>(params.windows[0].kernel * params.windows[1].kernel);
  const double work = taps * static_cast<double>(pooling.out.width) + 16;
  parallelItems(args.threads, pooling.out.batches * pooling.out.channels * height, work,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) pooling.rowOfPlane(i / height, i % height);
                });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/pool_f32", loadParams<PoolParams>, launch, fits},
    {"cpu/pool_max_bytes", loadParams<PoolParams>, launchBytes, fitsBytes},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::pool
