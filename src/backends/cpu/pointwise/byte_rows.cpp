#include "backends/cpu/pointwise/byte_rows.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise/byte_rows.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/narrow-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::pointwise::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // narrow, storeFirst

using RowF32 = narrow::F32;
using RowVector = narrow::VF32;

// A group of columns.
template <ByteOperand kOperand>
HWY_INLINE void loadOperand(const void* from, int64_t at, uint8_t flip,
                            RowVector (&v)[narrow::kVectors]) {
  if constexpr (kOperand == ByteOperand::kFloats) {
    HWY_UNROLL(4)
    for (int i = 0; i < narrow::kVectors; ++i)
      v[i] = hn::LoadU(RowF32(), static_cast<const float*>(from) + at + i * narrow::kLanes);
  } else if constexpr (kOperand == ByteOperand::kBytes) {
    const narrow::Bytes bytes;
    const auto stored = hn::LoadU(bytes, static_cast<const uint8_t*>(from) + at);
    narrow::widened(hn::Xor(stored, hn::Set(bytes, flip)), 0, v);
  }
}

HWY_INLINE RowVector dequantized(RowVector x, const Dequantize& by) {
  const RowF32 d;
  return hn::Mul(hn::Sub(x, hn::Set(d, by.zero)), hn::Set(d, by.scale));
}

// `count` elements where a whole group of columns can be read.
template <ByteOperand kX, ByteOperand kY>
HWY_INLINE narrow::VBytes byteColumns(const ByteResult& r, const void* x, const void* y, int64_t at,
                                      int64_t yStep) {
  const bool divides = r.quotient.high == 0;
  constexpr bool kHasFloats = kX == ByteOperand::kFloats || kY == ByteOperand::kFloats;
  RowVector v[narrow::kVectors];
  loadOperand<kX>(x, at, static_cast<uint8_t>(r.x.flip), v);
  [[maybe_unused]] RowVector right[narrow::kVectors];
  loadOperand<kY>(y, at * yStep, static_cast<uint8_t>(r.y.flip), right);
  HWY_UNROLL(4)
  for (int i = 0; i < narrow::kVectors; ++i) {
    if constexpr (kY != ByteOperand::kNone) {
      const RowVector a = dequantized(v[i], r.x), b = dequantized(right[i], r.y);
      v[i] = r.isProduct ? hn::Mul(a, b) : hn::Add(a, b);
    }
    v[i] = divides ? hn::Div(v[i], hn::Set(RowF32(), r.quotient.divisor))
                   : narrow::quotient(v[i], r.quotient);
    if constexpr (kHasFloats) v[i] = narrow::orZeroByte(v[i], r.bounds);
  }
  return narrow::bytesOf(v, r.bounds);
}

template <ByteOperand kOperand>
constexpr int64_t kWidth = kOperand == ByteOperand::kFloats ? 4 : 1;

template <ByteOperand kX, ByteOperand kY>
void byteRow(const ByteResult& result, const ByteRow& row) {
  const ByteResult r = result;  // a copy: stored bytes could be any of what is only referred to
  const narrow::Bytes bytes;
  // One element for all is as many as a group of columns reads, standing still.
  alignas(64) uint8_t same[64 * 4];
  const void* y = row.y;
  if (kY != ByteOperand::kNone && row.yStep == 0) {
    for (int64_t i = 0; i < narrow::kColumns; ++i)
      std::memcpy(same + i * kWidth<kY>, row.y, kWidth<kY>);
    y = same;
  }
  int64_t at = 0;
  for (; at + narrow::kColumns <= row.count; at += narrow::kColumns)
    hn::StoreU(byteColumns<kX, kY>(r, row.x, y, at, row.yStep), bytes, row.out + at);
  const int64_t left = row.count - at;
  if (left <= 0) return;  // never less, which compilers do not see
  alignas(64) uint8_t someX[64 * 4] = {}, someY[64 * 4] = {};
  std::memcpy(someX, static_cast<const uint8_t*>(row.x) + at * kWidth<kX>, left * kWidth<kX>);
  if (kY != ByteOperand::kNone && row.yStep != 0) {
    std::memcpy(someY, static_cast<const uint8_t*>(row.y) + at * kWidth<kY>, left * kWidth<kY>);
    y = someY;
  }
  storeFirst(byteColumns<kX, kY>(r, someX, y, 0, row.yStep), bytes, row.out + at, left);
}

void dequantizeAll(const Dequantize& dequantize, const uint8_t* x, int64_t count, float* out) {
  const RowF32 d;
  const hn::Rebind<uint8_t, RowF32> few;
  const hn::RebindToSigned<RowF32> integers;
  const RowVector zero = hn::Set(d, dequantize.zero), scale = hn::Set(d, dequantize.scale);
  const auto flip = hn::Set(few, static_cast<uint8_t>(dequantize.flip));
  const auto real = [&](hn::Vec<hn::Rebind<uint8_t, RowF32>> bytes) HWY_ATTR {
    const auto wide = hn::ConvertTo(d, hn::PromoteTo(integers, hn::Xor(bytes, flip)));
    return hn::Mul(hn::Sub(wide, zero), scale);
  };
  int64_t i = 0;
  for (; i + narrow::kLanes <= count; i += narrow::kLanes)
    hn::StoreU(real(hn::LoadU(few, x + i)), d, out + i);
  if (i < count) storeFirst(real(loadFirst(few, x + i, count - i)), d, out + i, count - i);
}

template <ByteOperand kX>
ByteRowFunction functionOf(ByteOperand y) {
  switch (y) {
    case ByteOperand::kNone:
      return byteRow<kX, ByteOperand::kNone>;
    case ByteOperand::kBytes:
      return byteRow<kX, ByteOperand::kBytes>;
    default:
      return byteRow<kX, ByteOperand::kFloats>;
  }
}

ByteRowFunction functionFor(ByteOperand x, ByteOperand y) {
  return x == ByteOperand::kBytes ? functionOf<ByteOperand::kBytes>(y)
                                  : functionOf<ByteOperand::kFloats>(y);
}

}  // namespace camshaft::cpu::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::pointwise {

HWY_EXPORT(functionFor);
HWY_EXPORT(dequantizeAll);

void dequantizeRow(const Dequantize& dequantize, const uint8_t* x, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(dequantizeAll)(dequantize, x, count, out);
}

ByteRowFunction byteRowFunction(ByteOperand x, ByteOperand y) {
  return HWY_DYNAMIC_DISPATCH(functionFor)(x, y);
}

}  // namespace camshaft::cpu::pointwise
#endif  // HWY_ONCE
