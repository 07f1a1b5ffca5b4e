#include "backends/cpu/sample/interpolate.h"

#include <algorithm>

#include "backends/cpu/pointwise/byte_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sample/interpolate.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/narrow-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::sample::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, narrow, ...
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// A sample that does not count is left out, so that an infinity in it does no harm.
HWY_INLINE VF32 between(VF32 a, VF32 b, VF32 weight, float plainWeight) {
  if (plainWeight == 0) return a;
  if (plainWeight == 1) return b;
  return hn::MulAdd(weight, hn::Sub(b, a), a);
}

void corners(const float* topLeft, const float* topRight, const float* bottomLeft,
             const float* bottomRight, float right, float bottom, float* y, int64_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(count);
  const VF32 toRight = hn::Set(d, right), toBottom = hn::Set(d, bottom);
  size_t i = 0;
  for (; i + lanes <= total; i += lanes) {
    const VF32 top = between(hn::LoadU(d, topLeft + i), hn::LoadU(d, topRight + i), toRight, right);
    const VF32 low =
        between(hn::LoadU(d, bottomLeft + i), hn::LoadU(d, bottomRight + i), toRight, right);
    hn::StoreU(between(top, low, toBottom, bottom), d, y + i);
  }
  if (i == total) return;
  const size_t n = total - i;
  const VF32 top =
      between(loadFirst(d, topLeft + i, n), loadFirst(d, topRight + i, n), toRight, right);
  const VF32 low =
      between(loadFirst(d, bottomLeft + i, n), loadFirst(d, bottomRight + i, n), toRight, right);
  storeFirst(between(top, low, toBottom, bottom), d, y + i, n);
}

void rowsOfBytes(const uint8_t* top, const uint8_t* bottom, uint8_t flip, float weight, float* y,
                 int64_t count) {
  const F32 d;
  const hn::Rebind<uint8_t, F32> few;
  const hn::Rebind<int32_t, F32> integers;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(count);
  const auto flips = hn::Set(few, flip);
  const auto floats = [&](hn::Vec<hn::Rebind<uint8_t, F32>> bytes) HWY_ATTR {
    return hn::ConvertTo(d, hn::PromoteTo(integers, hn::Xor(bytes, flips)));
  };
  const VF32 toBottom = hn::Set(d, weight);
  size_t i = 0;
  for (; i + lanes <= total; i += lanes)
    hn::StoreU(between(floats(hn::LoadU(few, top + i)), floats(hn::LoadU(few, bottom + i)),
                       toBottom, weight),
               d, y + i);
  if (i == total) return;
  storeFirst(between(floats(loadFirst(few, top + i, total - i)),
                     floats(loadFirst(few, bottom + i, total - i)), toBottom, weight),
             d, y + i, total - i);
}

void bytesBetween(const float* left, const float* right, float weight, uint8_t flip, uint8_t* y,
                  int64_t count) {
  const F32 d;
  const narrow::Bytes bytes;
  const pointwise::ByteBounds bounds(0, 0, 255, flip);
  const VF32 toRight = hn::Set(d, weight);
  const auto group = [&](const float* from, const float* to) HWY_ATTR {
    VF32 v[narrow::kVectors];
    for (int j = 0; j < narrow::kVectors; ++j)
      v[j] = between(hn::LoadU(d, from + j * narrow::kLanes), hn::LoadU(d, to + j * narrow::kLanes),
                     toRight, weight);
    return narrow::bytesOf(v, bounds);
  };
  constexpr size_t kColumns = narrow::kColumns;
  const size_t total = static_cast<size_t>(count);
  size_t i = 0;
  for (; i + kColumns <= total; i += kColumns) hn::StoreU(group(left + i, right + i), bytes, y + i);
  if (i == total) return;
  float some[2][kColumns] = {};
  std::copy(left + i, left + total, some[0]);
  std::copy(right + i, right + total, some[1]);
  storeFirst(group(some[0], some[1]), bytes, y + i, total - i);
}

}  // namespace camshaft::cpu::sample::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::sample {

HWY_EXPORT(corners);
HWY_EXPORT(rowsOfBytes);
HWY_EXPORT(bytesBetween);

void blendCorners(const float* topLeft, const float* topRight, const float* bottomLeft,
                  const float* bottomRight, float right, float bottom, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(corners)
  (topLeft, topRight, bottomLeft, bottomRight, right, bottom, y, count);
}

void blendRows(const uint8_t* top, const uint8_t* bottom, uint8_t flip, float weight, float* y,
               int64_t count) {
  HWY_DYNAMIC_DISPATCH(rowsOfBytes)(top, bottom, flip, weight, y, count);
}

void blendToBytes(const float* left, const float* right, float weight, uint8_t flip, uint8_t* y,
                  int64_t count) {
  HWY_DYNAMIC_DISPATCH(bytesBetween)(left, right, weight, flip, y, count);
}

}  // namespace camshaft::cpu::sample
#endif  // HWY_ONCE
