// Max and average of taps, in f32 or of bf16, and max of bytes. Of NaN and numbers the number is
// the maximum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/pool/params.h"
#include "support/half.h"

namespace camshaft::cpu::pool {

// The taps [begin, end) of one window that lie inside `size`, and how many lie in the padding or
// inside.
struct TapRange {
  int64_t begin, end, withPadding;

  TapRange(const Window& window, int64_t position, int64_t size) {
    const int64_t first = position * window.stride - window.padBegin;
    begin = first >= 0 ? 0 : (-first + window.dilation - 1) / window.dilation;
    end = std::clamp<int64_t>((size - first + window.dilation - 1) / window.dilation, 0,
                              window.kernel);
    begin = std::min(begin, end);
    withPadding = std::clamp<int64_t>(
        (size + window.padEnd - first + window.dilation - 1) / window.dilation, 0, window.kernel);
  }
  int64_t count() const { return end - begin; }
};

// One window over channels that lie together: taps at x + i*rowStride + j*columnStride. Needs at
// least one tap; `factor` is what a sum is multiplied with.
template <class T>
struct WindowTaps {
  const T* x;
  int64_t rows, columns;
  int64_t rowStride, columnStride;
};
void maxOverChannels(const WindowTaps<float>& taps, int64_t channels, float* y);
void maxOverChannels(const WindowTaps<uint8_t>& taps, int64_t channels, uint8_t* y);
void maxOverChannels(const WindowTaps<int8_t>& taps, int64_t channels, int8_t* y);
void maxOverChannels(const WindowTaps<BFloat16>& taps, int64_t channels, BFloat16* y);
void averageOverChannels(const WindowTaps<float>& taps, int64_t channels, float factor, float* y);
void averageOverChannels(const WindowTaps<BFloat16>& taps, int64_t channels, float factor,
                         BFloat16* y);

// y[i] = max(y[i], x[i*stride]) and y[i] += x[i*stride].
void maxInto(float* y, const float* x, int64_t stride, int64_t count);
void addInto(float* y, const float* x, int64_t stride, int64_t count);

}  // namespace camshaft::cpu::pool
