#include "backends/cpu/gemm_int8/launch_conv.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/gemm_int8/taps.h"
#include "backends/cpu/gemm_int8/windows.h"
#include "backends/cpu/operands.h"
#include "support/error.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// Packs what the windows at output pixels see of one group's channels.
class Patches {
 public:
  Patches(const ConvParams& params, int64_t k, const TensorArg& x, const TensorArg& y, uint8_t zero,
          uint8_t flip)
      : params_(params),
        windows_(params, x, y, zero),
        channels_(params.channels / params.groups),
        lineBytes_(k / params.kernel[0]),
        flip_(flip) {}

  // The picture, where windows are its pixels.
  const uint8_t* pixels() const { return windows_.arePixels() ? windows_.data() : nullptr; }

  void pack(const Layout& layout, int64_t group, int64_t pixel, int64_t count, uint8_t* strip,
            uint8_t* scratch) const {
    const uint8_t* rows[kMostStripRows];
    const int64_t first = group * channels_;
    if (windows_.arePixels()) {
      for (int64_t i = 0; i < layout.stripRows; ++i)
        rows[i] = windows_.data() + (pixel + std::min(i, count - 1)) * params_.channels + first;
      packRun(layout, rows, channels_, flip_, strip);
    } else if (channels_ % layout.depth == 0 && params_.channels <= Windows::kMostChannels) {
      packTaps(layout, first, pixel, count, strip);
    } else if (channels_ % kPiece == 0 && layout.depth % kPiece == 0 &&
               params_.channels <= Windows::kMostChannels) {
      packPieces(layout, first, pixel, count, strip);
    } else {
      packGathered(layout, first, pixel, count, strip, scratch);
    }
  }

 private:
  // Tap by tap, each a run of whole steps.
  void packTaps(const Layout& layout, int64_t first, int64_t pixel, int64_t count,
                uint8_t* strip) const {
    Window windows[kMostStripRows];
    const uint8_t* corners[kMostStripRows];
    bool areInside = true;
    OutputPixel each = windows_.outputPixel(pixel);
    for (int64_t i = 0; i < layout.stripRows; ++i) {
      windows[i] = windows_.at(each);
      areInside &= windows_.isInside(windows[i]);
      if (i + 1 < count) each = windows_.next(each);
    }
    for (int64_t i = 0; areInside && i < layout.stripRows; ++i)
      corners[i] = windows_.tap(windows[i], 0, 0) + first;
    const uint8_t* rows[kMostStripRows];
    for (int64_t ky = 0; ky < params_.kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < params_.kernel[1]; ++kx) {
        const int64_t offset = windows_.tapOffset(ky, kx);
        for (int64_t i = 0; i < layout.stripRows; ++i)
          rows[i] = areInside ? corners[i] + offset : windows_.tap(windows[i], ky, kx) + first;
        strip = packRun(layout, rows, channels_, flip_, strip);
      }
    }
  }

  // Row by row, in pieces that steps are multiples of.
  void packPieces(const Layout& layout, int64_t first, int64_t pixel, int64_t count,
                  uint8_t* strip) const {
    const int64_t kernelWidth = params_.kernel[1];
    const bool areRuns = params_.dilations[1] == 1 && params_.groups == 1;
    OutputPixel each = windows_.outputPixel(pixel);
    for (int64_t i = 0; i < layout.stripRows; ++i) {
      const Window window = windows_.at(each);
      const bool isInside = windows_.isInside(window);
      Pieces pieces(layout, strip + i * layout.depth, flip_);
      for (int64_t ky = 0; ky < params_.kernel[0]; ++ky) {
        if (isInside && areRuns) {
          pieces.put(windows_.tap(window, ky, 0), kernelWidth * channels_);
          continue;
        }
        for (int64_t kx = 0; kx < kernelWidth; ++kx)
          pieces.put(windows_.tap(window, ky, kx) + first, channels_);
      }
      pieces.end();
      if (i + 1 < count) each = windows_.next(each);
    }
  }

  // Whole windows, each gathered first.
  void packGathered(const Layout& layout, int64_t first, int64_t pixel, int64_t count,
                    uint8_t* strip, uint8_t* scratch) const {
    const uint8_t* rows[kMostStripRows];
    const int64_t k = params_.kernel[0] * lineBytes_;
    const int64_t pitch = layout.steps(k) * layout.depth;
    OutputPixel each = windows_.outputPixel(pixel);
    for (int64_t i = 0; i < count; ++i, each = windows_.next(each)) {
      uint8_t* to = scratch + i * pitch;
      const Window window = windows_.at(each);
      if (isQuick(window))
        gatherQuickly(window, to);
      else
        gather(first, window, to);
    }
    // Fills up the last step; zeros that are flipped, like the rest.
    for (int64_t i = 0; i < count; ++i) std::memset(scratch + i * pitch + k, flip_, pitch - k);
    for (int64_t i = 0; i < layout.stripRows; ++i)
      rows[i] = scratch + std::min(i, count - 1) * pitch;
    packRun(layout, rows, pitch, flip_, strip);
  }

  // Whether the lines of a window are few bytes each, and those behind them can be read.
  bool isQuick(const Window& window) const {
    const int64_t rowBytes = params_.kernel[1] * channels_;
    if (params_.groups != 1 || params_.dilations[1] != 1 || rowBytes > kFew ||
        !windows_.isInside(window))
      return false;
    return windows_.end() - windows_.tap(window, params_.kernel[0] - 1, 0) >= kFew;
  }
  void gatherQuickly(const Window& window, uint8_t* to) const {
    const int64_t step = windows_.tapOffset(1, 0);
    const uint8_t* from = windows_.tap(window, 0, 0);
    for (int64_t ky = 0; ky < params_.kernel[0]; ++ky, from += step, to += lineBytes_)
      std::memcpy(to, from, kFew);
  }

  // One window as it is, one tap after the other.
  void gather(int64_t first, const Window& window, uint8_t* to) const {
    const Picture& in = windows_.in();
    const int64_t rowBytes = params_.kernel[1] * channels_;
    for (int64_t ky = 0; ky < params_.kernel[0]; ++ky, to += lineBytes_) {
      const int64_t y = window.top + ky * params_.dilations[0];
      if (in.hasRow(y))
        gatherRow(window.image + y * in.width * params_.channels + first, window.left, to);
      else
        std::memset(to, windows_.zero(), rowBytes);
    }
  }

  // Taps side by side are one stretch of memory, unless other groups lie between.
  void gatherRow(const uint8_t* row, int64_t left, uint8_t* to) const {
    const int64_t taps = params_.kernel[1], channels = channels_;
    if (params_.dilations[1] == 1 && params_.groups == 1) {
      const int64_t before = std::clamp<int64_t>(-left, 0, taps);
      const int64_t after =
          std::clamp<int64_t>(left + taps - windows_.in().width, 0, taps - before);
      const int64_t inside = taps - before - after;
      if (inside == taps) return copy(row + left * channels, taps * channels, to);
      std::memset(to, windows_.zero(), before * channels);
      std::memcpy(to + before * channels, row + (left + before) * channels, inside * channels);
      std::memset(to + (before + inside) * channels, windows_.zero(), after * channels);
      return;
    }
    for (int64_t i = 0; i < taps; ++i, to += channels) {
      const int64_t x = left + i * params_.dilations[1];
      if (windows_.in().hasColumn(x))
        std::memcpy(to, row + x * params_.channels, channels);
      else
        std::memset(to, windows_.zero(), channels);
    }
  }

  // A few bytes are copied as many as is quick, where those behind them can be read; what is
  // written too much is overwritten, or lies behind the scratch.
  void copy(const uint8_t* from, int64_t count, uint8_t* to) const {
    if (count <= kFew && windows_.end() - from >= kFew)
      std::memcpy(to, from, kFew);
    else
      std::memcpy(to, from, count);
  }

  static constexpr int64_t kFew = 32, kPiece = 16;
  static_assert(kFew <= kScratchSlack);

  // Writes a row of a strip.
  class Pieces {
   public:
    Pieces(const Layout& layout, uint8_t* to, uint8_t flip)
        : to_(to), depth_(layout.depth), toNext_(layout.stripRows * layout.depth), flip_(flip) {}

    void put(const uint8_t* from, int64_t bytes) {
      for (; bytes > 0; bytes -= kPiece, from += kPiece) {
        uint8_t piece[kPiece];
        std::memcpy(piece, from, kPiece);
        for (uint8_t& byte : piece) byte ^= flip_;
        std::memcpy(to_ + used_, piece, kPiece);
        used_ += kPiece;
        if (used_ < depth_) continue;
        used_ = 0;
        to_ += toNext_;
      }
    }
    // Fills up the last step.
    void end() {
      if (used_ > 0) std::memset(to_ + used_, 0, depth_ - used_);
    }

   private:
    uint8_t* to_;
    const int64_t depth_, toNext_;
    const uint8_t flip_;
    int64_t used_ = 0;
  };

  const ConvParams& params_;
  const Windows windows_;
  const int64_t channels_;   // of a group
  const int64_t lineBytes_;  // of a window, perhaps filled up
  const uint8_t flip_;
};

#if defined(__x86_64__)
// Whether the step planned for them.
bool readsTaps(const ConvParams& params, const ProductParams& product, const LaunchArgs& args) {
  const Picture in(args.inputs[0]), out(args.outputs[0]);
  if (in.pixels() == 0 || out.pixels() == 0) return false;
  const int64_t bytes = tapBytes(params, product, in, out);
  return bytes > 0 && bytes < kMostTapBytes &&
         finishWorkspaceBytes(out.pixels(), product) + bytes <= args.workspaceBytes;
}
#endif

}  // namespace

bool fitsConv(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ConvState*>(opaque);
  const ConvParams& p = state.params;
  const int64_t k = state.product.params.k;
  const bool areFilled = canFillLines(p) && k == p.kernel[0] * filledLineBytes(p);
  return (areFilled || k == p.kernel[0] * lineBytes(p)) &&
         fitsProduct(state.product, args, p.groups) && fitsWindows(p, args);
}

void launchConv(const void* opaque, const LaunchArgs& args) {
  const auto& [params, product] = *static_cast<const ConvState*>(opaque);
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  const int64_t pixels = Picture(y).pixels();
  const uint8_t zero = zeroPointOf(product.params, args);
  const Patches patches(params, product.params.k, x, y, zero,
                        rowFlip(layoutFor(product.params), product.params.isSigned != 0));
#if defined(__x86_64__)
  if (!patches.pixels() && readsTaps(params, product.params, args)) {
    std::byte* memory = args.workspace + finishWorkspaceBytes(pixels, product.params);
    const auto fill = [&](const auto& image) {
      runInPlace(product, args, pixels,
                 image.fill(x.as<const uint8_t>(), zero, *args.threads, memory), image.rows());
    };
    return areTapsSteps(params, product.params) ? fill(ByteTaps(params, Picture(x), Picture(y)))
                                                : fill(ByteLines(params, Picture(x), Picture(y)));
  }
#endif
  runProduct(
      product, args, pixels,
      [&](const Layout& layout, int64_t group, int64_t pixel, int64_t count, uint8_t* strip,
          uint8_t* scratch) { patches.pack(layout, group, pixel, count, strip, scratch); },
      params.groups, patches.pixels());
}

}  // namespace camshaft::cpu::gemm_int8
