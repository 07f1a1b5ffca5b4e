#include "backends/cpu/pool/taps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/taps.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::pool::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, ...
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

struct MaxOf {
  static HWY_INLINE VF32 join(VF32 best, VF32 x) {
    return hn::IfThenElse(hn::Or(hn::Gt(x, best), hn::IsNaN(best)), x, best);
  }
  static HWY_INLINE float join(float best, float x) { return x > best || best != best ? x : best; }
};
struct SumOf {
  static HWY_INLINE VF32 join(VF32 total, VF32 x) { return hn::Add(total, x); }
  static HWY_INLINE float join(float total, float x) { return total + x; }
};

// Two vectors of channels through all taps.
template <class Join, class T>
HWY_INLINE void twoVectors(const WindowTaps<T>& taps, VF32& v0, VF32& v1) {
  const F32 d;
  loadTwoF32(d, taps.x, v0, v1);
  for (int64_t i = 0; i < taps.rows; ++i) {
    for (int64_t j = i == 0 ? 1 : 0; j < taps.columns; ++j) {
      const T* x = taps.x + i * taps.rowStride + j * taps.columnStride;
      VF32 x0, x1;
      loadTwoF32(d, x, x0, x1);
      v0 = Join::join(v0, x0);
      v1 = Join::join(v1, x1);
    }
  }
}

template <class Join, class T>
HWY_INLINE VF32 oneVector(const WindowTaps<T>& taps, size_t n) {
  const F32 d;
  const bool whole = n == hn::Lanes(d);
  VF32 v = whole ? loadF32(d, taps.x) : loadFirstF32(d, taps.x, n);
  for (int64_t i = 0; i < taps.rows; ++i) {
    for (int64_t j = i == 0 ? 1 : 0; j < taps.columns; ++j) {
      const T* x = taps.x + i * taps.rowStride + j * taps.columnStride;
      v = Join::join(v, whole ? loadF32(d, x) : loadFirstF32(d, x, n));
    }
  }
  return v;
}

template <class Join, class T>
HWY_INLINE void overChannels(WindowTaps<T> taps, size_t channels, float factor, T* y) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const VF32 times = hn::Set(d, factor);
  const T* first = taps.x;
  size_t c = 0;
  for (; c + 2 * lanes <= channels; c += 2 * lanes) {
    taps.x = first + c;
    VF32 v0, v1;
    twoVectors<Join>(taps, v0, v1);
    storeF32(hn::Mul(v0, times), d, y + c);
    storeF32(hn::Mul(v1, times), d, y + c + lanes);
  }
  for (; c < channels; c += lanes) {
    taps.x = first + c;
    const size_t n = channels - c < lanes ? channels - c : lanes;
    const VF32 v = hn::Mul(oneVector<Join>(taps, n), times);
    if (n == lanes)
      storeF32(v, d, y + c);
    else
      storeFirstF32(v, d, y + c, n);
  }
}

void maxChannels(const WindowTaps<float>& taps, int64_t channels, float* y) {
  overChannels<MaxOf>(taps, static_cast<size_t>(channels), 1.0f, y);
}
void averageChannels(const WindowTaps<float>& taps, int64_t channels, float factor, float* y) {
  overChannels<SumOf>(taps, static_cast<size_t>(channels), factor, y);
}
void maxBf16Channels(const WindowTaps<BFloat16>& taps, int64_t channels, BFloat16* y) {
  overChannels<MaxOf>(taps, static_cast<size_t>(channels), 1.0f, y);
}
void averageBf16Channels(const WindowTaps<BFloat16>& taps, int64_t channels, float factor,
                         BFloat16* y) {
  overChannels<SumOf>(taps, static_cast<size_t>(channels), factor, y);
}

template <class T>
void maxBytes(const WindowTaps<T>& taps, int64_t channels, T* y) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const int64_t n = channels - c < lanes ? channels - c : lanes;
    const bool whole = n == lanes;
    auto best = hn::Set(d, hwy::LowestValue<T>());
    for (int64_t i = 0; i < taps.rows; ++i) {
      for (int64_t j = 0; j < taps.columns; ++j) {
        const T* x = taps.x + i * taps.rowStride + j * taps.columnStride + c;
        best = hn::Max(best, whole ? hn::LoadU(d, x) : loadFirst(d, x, n));
      }
    }
    if (whole)
      hn::StoreU(best, d, y + c);
    else
      storeFirst(best, d, y + c, n);
  }
}

void maxUnsigned(const WindowTaps<uint8_t>& taps, int64_t channels, uint8_t* y) {
  maxBytes(taps, channels, y);
}
void maxSigned(const WindowTaps<int8_t>& taps, int64_t channels, int8_t* y) {
  maxBytes(taps, channels, y);
}

template <class Join>
HWY_INLINE void joinInto(float* y, const float* x, int64_t stride, int64_t count) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (stride == 1)
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(Join::join(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  for (; i < count; ++i) y[i] = Join::join(y[i], x[i * stride]);
}

void maxRow(float* y, const float* x, int64_t stride, int64_t count) {
  joinInto<MaxOf>(y, x, stride, count);
}
void addRow(float* y, const float* x, int64_t stride, int64_t count) {
  joinInto<SumOf>(y, x, stride, count);
}

}  // namespace camshaft::cpu::pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::pool {

HWY_EXPORT(maxChannels);
HWY_EXPORT(averageChannels);
HWY_EXPORT(maxUnsigned);
HWY_EXPORT(maxSigned);
HWY_EXPORT(maxBf16Channels);
HWY_EXPORT(averageBf16Channels);
HWY_EXPORT(maxRow);
HWY_EXPORT(addRow);

void maxOverChannels(const WindowTaps<float>& taps, int64_t channels, float* y) {
  HWY_DYNAMIC_DISPATCH(maxChannels)(taps, channels, y);
}
void maxOverChannels(const WindowTaps<uint8_t>& taps, int64_t channels, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(maxUnsigned)(taps, channels, y);
}
void maxOverChannels(const WindowTaps<int8_t>& taps, int64_t channels, int8_t* y) {
  HWY_DYNAMIC_DISPATCH(maxSigned)(taps, channels, y);
}
void maxOverChannels(const WindowTaps<BFloat16>& taps, int64_t channels, BFloat16* y) {
  HWY_DYNAMIC_DISPATCH(maxBf16Channels)(taps, channels, y);
}
void averageOverChannels(const WindowTaps<float>& taps, int64_t channels, float factor, float* y) {
  HWY_DYNAMIC_DISPATCH(averageChannels)(taps, channels, factor, y);
}
void averageOverChannels(const WindowTaps<BFloat16>& taps, int64_t channels, float factor,
                         BFloat16* y) {
  HWY_DYNAMIC_DISPATCH(averageBf16Channels)(taps, channels, factor, y);
}
void maxInto(float* y, const float* x, int64_t stride, int64_t count) {
  HWY_DYNAMIC_DISPATCH(maxRow)(y, x, stride, count);
}
void addInto(float* y, const float* x, int64_t stride, int64_t count) {
  HWY_DYNAMIC_DISPATCH(addRow)(y, x, stride, count);
}

}  // namespace camshaft::cpu::pool
#endif  // HWY_ONCE
