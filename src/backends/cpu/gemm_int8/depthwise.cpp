#include "backends/cpu/gemm_int8/depthwise.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_int8/depthwise.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class Byte>
void sumBlock(const DepthwiseBlock& block) {
  for (int64_t pixel = 0; pixel < kDepthwisePixels; ++pixel)
    for (int64_t c = 0; c < block.channels; ++c) {
      int32_t sum = 0;
      for (int64_t tap = 0; tap < block.tapCount; ++tap)
        sum += static_cast<Byte>(block.taps[tap * kDepthwisePixels + pixel][block.channel + c]) *
               static_cast<const int16_t*>(block.filters)[tap * kBlockColumns + c];
      block.sums[pixel * kBlockColumns + c] = sum;
    }
}

#else

// Eight channels: half a vector of bytes, one of 16 bits, two of 32.
constexpr int64_t kChannels = 8;
using I16 = hn::Full128<int16_t>;
using I32 = hn::Full128<int32_t>;
using V32 = hn::Vec<I32>;

HWY_INLINE void addProducts(V32& low, V32& high, hn::Vec<I16> x, hn::Vec<I16> w) {
#if HWY_ARCH_ARM_A64
  low = V32(vmlal_s16(low.raw, vget_low_s16(x.raw), vget_low_s16(w.raw)));
  high = V32(vmlal_high_s16(high.raw, x.raw, w.raw));
#else
  const I32 d;
  const hn::Half<I16> half;
  low = hn::Add(low, hn::Mul(hn::PromoteTo(d, hn::LowerHalf(half, x)),
                             hn::PromoteTo(d, hn::LowerHalf(half, w))));
  high = hn::Add(high, hn::Mul(hn::PromoteTo(d, hn::UpperHalf(half, x)),
                               hn::PromoteTo(d, hn::UpperHalf(half, w))));
#endif
}

// Four pixels by eight channels, of which the first `channels` are there.
template <class Byte, bool kWhole>
HWY_INLINE void sumChannels(const DepthwiseBlock& block, int64_t pixel, int64_t first,
                            int64_t channels) {
  constexpr int kPixels = 4;
  const I32 d;
  const I16 d16;
  const hn::Rebind<Byte, I16> bytes;
  V32 low[kPixels], high[kPixels];
  for (int p = 0; p < kPixels; ++p) low[p] = high[p] = hn::Zero(d);
  const uint8_t* const* taps = block.taps + pixel;
  const int16_t* filters = static_cast<const int16_t*>(block.filters) + first;
  const int64_t at = block.channel + first;
  for (int64_t tap = block.tapCount; tap > 0;
       --tap, taps += kDepthwisePixels, filters += kBlockColumns) {
    const auto w = hn::LoadU(d16, filters);
    HWY_UNROLL(4)
    for (int p = 0; p < kPixels; ++p) {
      const Byte* from = reinterpret_cast<const Byte*>(taps[p]) + at;
      if constexpr (kWhole) {
        addProducts(low[p], high[p], hn::PromoteTo(d16, hn::LoadU(bytes, from)), w);
      } else {
        Byte some[kChannels] = {};
        std::memcpy(some, from, channels);
        addProducts(low[p], high[p], hn::PromoteTo(d16, hn::LoadU(bytes, some)), w);
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    int32_t* to = block.sums + (pixel + p) * kBlockColumns + first;
    hn::StoreU(low[p], d, to);
    hn::StoreU(high[p], d, to + kChannels / 2);
  }
}

// Four pixels by sixteen channels, so that a load is a whole vector of bytes.
template <class Byte>
HWY_INLINE void sumTwice(const DepthwiseBlock& block, int64_t pixel, int64_t first) {
  constexpr int kPixels = 4;
  const I32 d;
  const I16 d16;
  const hn::Full128<Byte> bytes;
  const hn::Half<hn::Full128<Byte> > half;
  V32 sum[kPixels][4];
  for (int p = 0; p < kPixels; ++p)
    for (int i = 0; i < 4; ++i) sum[p][i] = hn::Zero(d);
  const uint8_t* const* taps = block.taps + pixel;
  const int16_t* filters = static_cast<const int16_t*>(block.filters) + first;
  const int64_t at = block.channel + first;
  for (int64_t tap = block.tapCount; tap > 0;
       --tap, taps += kDepthwisePixels, filters += kBlockColumns) {
    const auto w = hn::LoadU(d16, filters), next = hn::LoadU(d16, filters + kChannels);
    HWY_UNROLL(4)
    for (int p = 0; p < kPixels; ++p) {
      const auto x = hn::LoadU(bytes, reinterpret_cast<const Byte*>(taps[p]) + at);
      addProducts(sum[p][0], sum[p][1], hn::PromoteTo(d16, hn::LowerHalf(half, x)), w);
      addProducts(sum[p][2], sum[p][3], hn::PromoteTo(d16, hn::UpperHalf(half, x)), next);
    }
  }
  for (int p = 0; p < kPixels; ++p)
    for (int i = 0; i < 4; ++i)
      hn::StoreU(sum[p][i], d, block.sums + (pixel + p) * kBlockColumns + first + 4 * i);
}

template <class Byte>
void sumBlock(const DepthwiseBlock& block) {
  int64_t first = 0;
  for (; first + 2 * kChannels <= block.channels; first += 2 * kChannels)
    for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += 4)
      sumTwice<Byte>(block, pixel, first);
  for (; first < block.channels; first += kChannels) {
    const int64_t channels = block.channels - first;
    for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += 4) {
      if (channels >= kChannels)
        sumChannels<Byte, true>(block, pixel, first, kChannels);
      else
        sumChannels<Byte, false>(block, pixel, first, channels);
    }
  }
}

#endif

void sumDepthwiseBlock(const DepthwiseBlock& block) {
  if (block.isSigned)
    sumBlock<int8_t>(block);
  else
    sumBlock<uint8_t>(block);
}

}  // namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_int8 {

HWY_EXPORT(sumDepthwiseBlock);

void sumDepthwise(const DepthwiseBlock& block) { HWY_DYNAMIC_DISPATCH(sumDepthwiseBlock)(block); }

}  // namespace camshaft::cpu::gemm_int8
#endif  // HWY_ONCE
