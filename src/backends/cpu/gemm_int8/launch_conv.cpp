#include "backends/cpu/gemm_int8/launch_conv.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/operands.h"
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

// Packs what the windows at output pixels see.
class Patches {
 public:
  Patches(const ConvParams& params, const TensorArg& x, const TensorArg& y, uint8_t zero,
          uint8_t flip)
      : params_(params),
        in_(x),
        out_(y),
        data_(x.as<const uint8_t>()),
        flip_(flip),
        isPointwise_(isPointwise()) {
    std::memset(zeros_, zero, sizeof zeros_);
  }

  void pack(const Layout& layout, int64_t pixel, int64_t count, uint8_t* strip,
            uint8_t* scratch) const {
    const uint8_t* rows[kMostStripRows];
    const int64_t channels = params_.channels;
    if (isPointwise_) {
      for (int64_t i = 0; i < layout.stripRows; ++i)
        rows[i] = data_ + (pixel + std::min(i, count - 1)) * channels;
      packRun(layout, rows, channels, flip_, strip);
    } else if (channels % layout.depth == 0 && channels <= kMostChannels) {
      packTaps(layout, pixel, count, strip);
    } else {
      const int64_t k = params_.kernel[0] * params_.kernel[1] * channels;
      for (int64_t i = 0; i < count; ++i) gather(pixel + i, scratch + i * k);
      for (int64_t i = 0; i < layout.stripRows; ++i) rows[i] = scratch + std::min(i, count - 1) * k;
      packRun(layout, rows, k, flip_, strip);
    }
  }

 private:
  static constexpr int64_t kMostChannels = 4096;

  struct Window {
    int64_t top, left;
    const uint8_t* image;
  };

  bool isPointwise() const {
    for (int i = 0; i < 2; ++i)
      if (params_.kernel[i] != 1 || params_.strides[i] != 1 || params_.padsBegin[i] != 0)
        return false;
    return in_.height == out_.height && in_.width == out_.width;
  }

  Window windowAt(int64_t pixel) const {
    const int64_t column = pixel % out_.width, row = pixel / out_.width;
    const int64_t image = row / out_.height;
    return {(row - image * out_.height) * params_.strides[0] - params_.padsBegin[0],
            column * params_.strides[1] - params_.padsBegin[1],
            data_ + image * in_.height * in_.width * params_.channels};
  }

  static bool isInside(int64_t at, int64_t size) {
    return static_cast<uint64_t>(at) < static_cast<uint64_t>(size);
  }

  // Tap by tap, each a run of whole steps.
  void packTaps(const Layout& layout, int64_t pixel, int64_t count, uint8_t* strip) const {
    Window windows[kMostStripRows];
    for (int64_t i = 0; i < layout.stripRows; ++i)
      windows[i] = windowAt(pixel + std::min(i, count - 1));
    const uint8_t* rows[kMostStripRows];
    for (int64_t ky = 0; ky < params_.kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < params_.kernel[1]; ++kx) {
        for (int64_t i = 0; i < layout.stripRows; ++i) {
          const int64_t y = windows[i].top + ky * params_.dilations[0];
          const int64_t x = windows[i].left + kx * params_.dilations[1];
          rows[i] = isInside(y, in_.height) && isInside(x, in_.width)
                        ? windows[i].image + (y * in_.width + x) * params_.channels
                        : zeros_;
        }
        strip = packRun(layout, rows, params_.channels, flip_, strip);
      }
    }
  }

  // One window as it is, one tap after the other.
  void gather(int64_t pixel, uint8_t* to) const {
    const Window window = windowAt(pixel);
    const int64_t rowBytes = params_.kernel[1] * params_.channels;
    for (int64_t ky = 0; ky < params_.kernel[0]; ++ky, to += rowBytes) {
      const int64_t y = window.top + ky * params_.dilations[0];
      if (isInside(y, in_.height))
        gatherRow(window.image + y * in_.width * params_.channels, window.left, to);
      else
        std::memset(to, zeros_[0], rowBytes);
    }
  }

  // Taps side by side are one stretch of memory.
  void gatherRow(const uint8_t* row, int64_t left, uint8_t* to) const {
    const int64_t taps = params_.kernel[1], channels = params_.channels;
    if (params_.dilations[1] == 1) {
      const int64_t before = std::clamp<int64_t>(-left, 0, taps);
      const int64_t after = std::clamp<int64_t>(left + taps - in_.width, 0, taps - before);
      const int64_t inside = taps - before - after;
      std::memset(to, zeros_[0], before * channels);
      std::memcpy(to + before * channels, row + (left + before) * channels, inside * channels);
      std::memset(to + (before + inside) * channels, zeros_[0], after * channels);
      return;
    }
    for (int64_t i = 0; i < taps; ++i, to += channels) {
      const int64_t x = left + i * params_.dilations[1];
      if (isInside(x, in_.width))
        std::memcpy(to, row + x * channels, channels);
      else
        std::memset(to, zeros_[0], channels);
    }
  }

  const ConvParams& params_;
  const Picture in_, out_;
  const uint8_t* data_;
  const uint8_t flip_;
  const bool isPointwise_;
  uint8_t zeros_[kMostChannels];  // what a tap outside the picture reads
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
  const Patches patches(params, x, y, zeroPointOf(product, args),
                        product.params.isSigned ? kFlip : 0);
  runProduct(product, args, Picture(y).pixels(),
             [&](const Layout& layout, int64_t pixel, int64_t count, uint8_t* strip,
                 uint8_t* scratch) { patches.pack(layout, pixel, count, strip, scratch); });
}

}  // namespace camshaft::cpu::gemm_int8
