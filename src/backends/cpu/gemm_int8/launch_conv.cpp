#include "backends/cpu/gemm_int8/launch_conv.h"

#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "support/error.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

struct ConvState {
  ConvParams params;
  ProductState product;
};

// [N, H, W] of a tensor [N, spatial..., C].
struct Picture {
  int64_t batch, height, width;
  explicit Picture(const TensorArg& x)
      : batch(x.dims[0]), height(x.rank == 4 ? x.dims[1] : 1), width(x.dims[x.rank - 2]) {}
  int64_t pixels() const { return batch * height * width; }
};

// Gathers what the window at one output pixel sees, tap by tap.
class PatchGatherer {
 public:
  PatchGatherer(const ConvParams& params, const TensorArg& x, const TensorArg& y, uint8_t zero)
      : params_(params), in_(x), out_(y), data_(x.as<const uint8_t>()), zero_(zero) {}

  void gather(int64_t pixel, RowWriter& writer) const {
    const int64_t column = pixel % out_.width, row = pixel / out_.width % out_.height;
    const int64_t image = pixel / (out_.width * out_.height);
    const int64_t left = column * params_.strides[1] - params_.padsBegin[1];
    const int64_t top = row * params_.strides[0] - params_.padsBegin[0];
    for (int64_t i = 0; i < params_.kernel[0]; ++i) {
      const int64_t y = top + i * params_.dilations[0];
      if (y < 0 || y >= in_.height)
        writer.fill(zero_, params_.kernel[1] * params_.channels);
      else
        gatherRow(data_ + (image * in_.height + y) * in_.width * params_.channels, left, writer);
    }
    writer.finish();
  }

 private:
  // Taps side by side are one stretch of memory.
  void gatherRow(const uint8_t* row, int64_t left, RowWriter& writer) const {
    const int64_t taps = params_.kernel[1], channels = params_.channels;
    if (params_.dilations[1] == 1) {
      const int64_t before = std::clamp<int64_t>(-left, 0, taps);
      const int64_t after = std::clamp<int64_t>(left + taps - in_.width, 0, taps - before);
      writer.fill(zero_, before * channels);
      writer.copy(row + (left + before) * channels, (taps - before - after) * channels);
      writer.fill(zero_, after * channels);
      return;
    }
    for (int64_t i = 0; i < taps; ++i) {
      const int64_t x = left + i * params_.dilations[1];
      if (x < 0 || x >= in_.width)
        writer.fill(zero_, channels);
      else
        writer.copy(row + x * channels, channels);
    }
  }

  const ConvParams& params_;
  const Picture in_, out_;
  const uint8_t* data_;
  const uint8_t zero_;
};

}  // namespace

std::shared_ptr<const void> loadConv(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a convolution of integers");
  auto state = std::make_shared<ConvState>();
  state->params = reader.read<ConvParams>();
  state->product = ProductState(reader);
  reader.expectEnd();
  const ConvParams& p = state->params;
  constexpr int64_t kMost = int64_t{1} << 31;
  bool valid = p.channels >= 0 && p.channels < kMost;
  for (int i = 0; i < 2; ++i)
    for (int64_t size : {p.kernel[i], p.strides[i], p.dilations[i]})
      valid = valid && size > 0 && size < kMost;
  for (int64_t pad : p.padsBegin) valid = valid && pad > -kMost && pad < kMost;
  const int64_t k = state->product.params.k;
  valid = valid && p.kernel[0] <= std::max<int64_t>(k, 1) && p.kernel[1] <= std::max<int64_t>(k, 1);
  if (!valid || p.kernel[0] * p.kernel[1] > kMost || k != p.kernel[0] * p.kernel[1] * p.channels)
    fail(ErrorKind::kInvalidEngine, "the engine holds damaged parameters of a kernel");
  return state;
}

bool fitsConv(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ConvState*>(opaque);
  if (!fitsProduct(state.product, args)) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  return x.rank == y.rank && (x.rank == 3 || x.rank == 4) && x.dims[0] == y.dims[0] &&
         x.dims[x.rank - 1] == state.params.channels;
}

void launchConv(const void* opaque, const LaunchArgs& args) {
  const auto& [params, product] = *static_cast<const ConvState*>(opaque);
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  const int64_t m = Picture(y).pixels(), k = product.params.k;
  const uint8_t flip = product.params.isSigned ? kFlip : 0;
  const PatchGatherer gatherer(params, x, y, zeroPointOf(product, args));
  runProduct(product, args, m, [&](uint8_t* packed, int32_t* sums) {
    const double work = static_cast<double>(stripBytes(k)) / 4;
    parallelItems(args.threads, ceilDiv(m, kStripRows), work, [&](int64_t begin, int64_t end) {
      for (int64_t strip = begin; strip < end; ++strip) {
        uint8_t* to = packed + strip * stripBytes(k);
        const int64_t first = strip * kStripRows, last = std::min(m, first + kStripRows);
        for (int64_t pixel = first; pixel < last; ++pixel) {
          RowWriter writer(to, pixel - first, flip);
          gatherer.gather(pixel, writer);
        }
        if (sums) sumStrip(to, k, sums + first);
      }
    });
  });
}

}  // namespace camshaft::cpu::gemm_int8
