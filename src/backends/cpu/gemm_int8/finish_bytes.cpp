#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/gemm_int8/finish.h"
#include "backends/cpu/pointwise/byte_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_int8/finish_bytes.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/narrow-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, storeFirst
using Residual = ByteFinish::Residual;

using narrow::kColumns;
using narrow::kLanes;
using narrow::kVectors;
using F32 = narrow::F32;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using VF = hn::Vec<F32>;

// kColumns columns, or fewer where they are not whole, from `first` of the block on, of all its
// rows. The loop over whole ones calls nothing, so that what it needs stays in registers.
template <Residual kResidual, bool kStage, bool kRowZeros, bool kWhole>
void finishColumns(const Finish& finish, const Sums& sums, int64_t first, int64_t columns) {
  // Copies: stored bytes could be any of what is only referred to.
  const ByteFinish f = finish.bytes;
  const int64_t rows = sums.rows, stride = finish.stride;
  // Behind a stage that meets no residual.
  const bool givesFloats = kStage && kResidual == Residual::kNone && finish.type == DataType::kF32;
  uint8_t* const out = static_cast<uint8_t*>(finish.out);
  const int32_t* from = sums.data + first;
  const int32_t* rowSums = sums.ofRows;
  int64_t place = sums.row * stride + sums.column + first;
  const F32 d;
  const I32 integers;
  const U32 wrapping;
  const narrow::Bytes bytes;
  const int64_t at = sums.column + first;
  hn::Vec<U32> offset[kVectors], zeros[kVectors];
  VF scale[kVectors], bias[kVectors];
  for (int i = 0; i < kVectors; ++i) {
    const int64_t column = at + i * kLanes;
    offset[i] = hn::BitCast(wrapping, hn::LoadU(integers, finish.columnOffsets + column));
    zeros[i] = kRowZeros ? hn::BitCast(wrapping, hn::LoadU(integers, finish.columnZeros + column))
                         : hn::Zero(wrapping);
    scale[i] = hn::LoadU(d, f.scales + column);
    bias[i] = hn::LoadU(d, f.bias + column);
  }
  const VF stageLow = hn::Set(d, f.stageLow), stageHigh = hn::Set(d, f.stageHigh);
  const VF stageScale = hn::Set(d, f.stageScale);
  const VF residualScale = hn::Set(d, f.dequantize.scale);
  const auto residualFlip = hn::Set(bytes, static_cast<uint8_t>(f.dequantize.flip));
  for (int64_t row = 0; row < rows; ++row, place += stride, from += kBlockColumns) {
    alignas(64) float floats[kColumns];
    alignas(64) uint8_t someBytes[kColumns];
    const float* floatsAt = floats;
    const uint8_t* bytesAt = someBytes;
    if constexpr (kResidual == Residual::kFloats) {
      floatsAt = static_cast<const float*>(f.residual) + place;
      if constexpr (!kWhole) {
        std::memcpy(floats, floatsAt, columns * sizeof(float));
        floatsAt = floats;
      }
    } else if constexpr (kResidual == Residual::kBytes) {
      bytesAt = static_cast<const uint8_t*>(f.residual) + place;
      if constexpr (!kWhole) {
        std::memcpy(someBytes, bytesAt, columns);
        bytesAt = someBytes;
      }
    }
    VF v[kVectors], other[kVectors];
    if constexpr (kResidual == Residual::kBytes)
      narrow::widened(hn::Xor(hn::LoadU(bytes, bytesAt), residualFlip), f.dequantize.zero, other);
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) {
      auto total =
          hn::Add(hn::BitCast(wrapping, hn::LoadU(integers, from + i * kLanes)), offset[i]);
      if constexpr (kRowZeros)
        total = hn::Sub(total,
                        hn::Mul(zeros[i], hn::Set(wrapping, static_cast<uint32_t>(rowSums[row]))));
      v[i] = hn::Mul(hn::ConvertTo(d, hn::BitCast(integers, total)), scale[i]);
      v[i] = hn::Add(v[i], bias[i]);
      if constexpr (kResidual == Residual::kFloats)
        other[i] = hn::LoadU(d, floatsAt + i * kLanes);
      else if constexpr (kResidual == Residual::kBytes)
        other[i] = hn::Mul(other[i], residualScale);
      if constexpr (kResidual != Residual::kNone && !kStage) v[i] = hn::Add(v[i], other[i]);
      v[i] = narrow::quotient(v[i], f.first);
      if constexpr (kStage) {
        v[i] = narrow::roundedSmall(hn::Min(hn::Max(v[i], stageLow), stageHigh));
        v[i] = hn::Mul(v[i], stageScale);
        if constexpr (kResidual == Residual::kBytes) v[i] = hn::Add(v[i], other[i]);
        if (!givesFloats) v[i] = narrow::quotient(v[i], f.last);
      }
      if constexpr (kResidual == Residual::kFloats) v[i] = narrow::orZeroByte(v[i], f.bounds);
    }
    if (givesFloats) {
      float* to = reinterpret_cast<float*>(out) + place;
      for (int i = 0; i < kVectors; ++i)
        hn::StoreU(v[i], d, kWhole ? to + i * kLanes : floats + i * kLanes);
      if constexpr (!kWhole) std::memcpy(to, floats, columns * sizeof(float));
      continue;
    }
    const narrow::VBytes result = narrow::bytesOf(v, f.bounds);
    if constexpr (kWhole)
      hn::StoreU(result, bytes, out + place);
    else
      storeFirst(result, bytes, out + place, columns);
  }
}

template <Residual kResidual, bool kStage, bool kRowZeros>
void finishAll(const Finish& finish, const Sums& sums) {
  int64_t first = 0;
  for (; first + kColumns <= sums.columns; first += kColumns)
    finishColumns<kResidual, kStage, kRowZeros, true>(finish, sums, first, kColumns);
  if (first < sums.columns)
    finishColumns<kResidual, kStage, kRowZeros, false>(finish, sums, first, sums.columns - first);
}

#if HWY_TARGET <= HWY_AVX3

// Whole blocks of columns of one byte each, without zero points of columns: both vectors of a row
// at once, as two of them are rounded, saturated and stored in fewer steps than one and one. Steps
// of several rows in turn: those of one wait for each other, and CPUs see too few instructions
// ahead to find another row's. kPlain: the result and the bytes of a residual are any u8, and the
// zero point of these is 0.
template <Residual kResidual, bool kStage, bool kPlain>
void finishPairs(const Finish& finish, const Sums& sums) {
  static_assert(kBlockColumns == 2 * kLanes && kVectors == 1);
  constexpr int kTogether = 4, kAhead = 2 * kTogether;
  const ByteFinish f = finish.bytes;  // stored bytes could be what is only referred to
  const int64_t rows = sums.rows, stride = finish.stride;
  const F32 d;
  const I32 integers;
  const U32 wrapping;
  const narrow::Bytes bytes;
  const hn::Repartition<int16_t, F32> shorts;
  const hn::Repartition<uint8_t, F32> packed;
  const hn::CappedTag<uint8_t, kBlockColumns> stored;
  hn::Vec<U32> offset[2];
  VF scale[2], bias[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t column = sums.column + i * kLanes;
    offset[i] = hn::BitCast(wrapping, hn::LoadU(integers, finish.columnOffsets + column));
    scale[i] = hn::LoadU(d, f.scales + column);
    bias[i] = hn::LoadU(d, f.bias + column);
  }
  const VF stageLow = hn::Set(d, f.stageLow), stageHigh = hn::Set(d, f.stageHigh);
  const VF stageScale = hn::Set(d, f.stageScale), most = hn::Set(d, f.bounds.most);
  const VF residualScale = hn::Set(d, f.dequantize.scale);
  const auto residualFlip = hn::Set(bytes, static_cast<uint8_t>(f.dequantize.flip));
  const auto zero = hn::Set(shorts, static_cast<int16_t>(f.bounds.zero));
  const auto low = hn::Set(stored, static_cast<uint8_t>(f.bounds.low));
  const auto high = hn::Set(stored, static_cast<uint8_t>(f.bounds.high));
  const auto flip = hn::Set(stored, static_cast<uint8_t>(f.bounds.flip));
  // Quads of bytes of the first vector and of the second, which packing leaves in turn.
  alignas(64) static constexpr uint32_t kQuads[16] = {0, 4, 8, 12, 1, 5, 9, 13};
  const auto quads = hn::SetTableIndices(wrapping, kQuads);

  const int32_t* from = sums.data;
  uint8_t* to = static_cast<uint8_t*>(finish.out) + sums.row * stride + sums.column;
  const uint8_t* other = static_cast<const uint8_t*>(f.residual) + sums.row * stride + sums.column;
  const auto finishRows = [&](auto together) HWY_ATTR {
    constexpr int kRows = together, kBoth = 2 * kRows;
    if constexpr (kResidual == Residual::kBytes)
      for (int i = kAhead; i < kAhead + kRows; ++i) {
        __builtin_prefetch(other + i * stride, 0, 3);
        __builtin_prefetch(to + i * stride, 1, 3);
      }
    VF v[kBoth];
    const auto inEach = [&](auto step) HWY_ATTR {
      HWY_UNROLL(8)
      for (int i = 0; i < kBoth; ++i) v[i] = step(v[i], i);
    };
    const auto addResidual = [&](VF x, int i) HWY_ATTR {
      const narrow::VBytes stored16 = hn::LoadU(bytes, other + i / 2 * stride + i % 2 * kLanes);
      VF wide[1];
      if constexpr (kPlain)
        wide[0] = hn::ConvertTo(d, hn::PromoteTo(integers, stored16));
      else
        narrow::widened(hn::Xor(stored16, residualFlip), f.dequantize.zero, wide);
      return hn::Add(x, hn::Mul(wide[0], residualScale));
    };
    inEach([&](VF, int i) HWY_ATTR {
      const auto sum = hn::BitCast(wrapping, hn::LoadU(integers, from + i * kLanes));
      return hn::ConvertTo(d, hn::BitCast(integers, hn::Add(sum, offset[i % 2])));
    });
    inEach([&](VF x, int i) HWY_ATTR { return hn::Mul(x, scale[i % 2]); });
    inEach([&](VF x, int i) HWY_ATTR { return hn::Add(x, bias[i % 2]); });
    if constexpr (kResidual == Residual::kBytes && !kStage) inEach(addResidual);
    inEach([&](VF x, int) HWY_ATTR { return narrow::quotient(x, f.first); });
    if constexpr (kStage) {
      inEach([&](VF x, int) HWY_ATTR { return hn::Min(hn::Max(x, stageLow), stageHigh); });
      inEach([&](VF x, int) HWY_ATTR { return narrow::roundedSmall(x); });
      inEach([&](VF x, int) HWY_ATTR { return hn::Mul(x, stageScale); });
      if constexpr (kResidual == Residual::kBytes) inEach(addResidual);
      inEach([&](VF x, int) HWY_ATTR { return narrow::quotient(x, f.last); });
    } else {
      // What is beyond integers would not be large there.
      inEach([&](VF x, int) HWY_ATTR { return hn::Min(most, x); });
    }
    HWY_UNROLL(4)
    for (int i = 0; i < kRows; ++i) {
      const hn::Vec<I32> left{_mm512_cvtps_epi32(v[2 * i].raw)};
      const hn::Vec<I32> right{_mm512_cvtps_epi32(v[2 * i + 1].raw)};
      const auto halves = hn::SaturatedAdd(hn::ReorderDemote2To(shorts, left, right), zero);
      const auto both = hn::Vec<U32>{_mm512_packus_epi16(halves.raw, halves.raw)};
      const auto ordered = hn::BitCast(packed, hn::TableLookupLanes(both, quads));
      auto result = hn::LowerHalf(stored, ordered);
      if constexpr (!kPlain) result = hn::Xor(hn::Min(hn::Max(result, low), high), flip);
      hn::StoreU(result, stored, to + i * stride);
    }
    from += kRows * kBlockColumns;
    to += kRows * stride;
    other += kRows * stride;
  };
  int64_t row = 0;
  for (; row + kTogether <= rows; row += kTogether)
    finishRows(std::integral_constant<int, kTogether>());
  for (; row < rows; ++row) finishRows(std::integral_constant<int, 1>());
}

// Whether what is rounded to bytes behind a stage can be rounded to integers.
bool isTame(const ByteFinish& f) {
  constexpr float kMost = 1 << 30, kMostOfByte = 512;
  const auto size = [](float x) { return x < 0 ? -x : x; };
  const float stage = std::max(size(f.stageLow), size(f.stageHigh)) * size(f.stageScale);
  const float residual = kMostOfByte * size(f.dequantize.scale);
  return (stage + residual) * (size(f.last.high) + size(f.last.low)) < kMost;
}

// Whether it was done.
template <Residual kResidual, bool kStage>
bool finishedPairs(const Finish& finish, const Sums& sums) {
  const ByteFinish& f = finish.bytes;
  if (sums.columns != kBlockColumns || finish.columnZeros || finish.type == DataType::kF32 ||
      (kStage && !isTame(f)))
    return false;
  const bool isPlain = f.dequantize.zero == 0 && f.dequantize.flip == 0 && f.bounds.low == 0 &&
                       f.bounds.high == 255 && f.bounds.flip == 0;
  if (isPlain)
    finishPairs<kResidual, kStage, true>(finish, sums);
  else
    finishPairs<kResidual, kStage, false>(finish, sums);
  return true;
}

#else

template <Residual kResidual, bool kStage>
bool finishedPairs(const Finish&, const Sums&) {
  return false;
}

#endif

// A residual of bytes comes behind a stage; without one, any residual in front of the rounding.
template <Residual kResidual>
void finishWith(const Finish& finish, const Sums& sums) {
  if constexpr (kResidual != Residual::kFloats)
    if (finish.bytes.hasStage ? finishedPairs<kResidual, true>(finish, sums)
                              : finishedPairs<kResidual, false>(finish, sums))
      return;
  if (finish.bytes.hasStage)
    finish.columnZeros ? finishAll<kResidual, true, true>(finish, sums)
                       : finishAll<kResidual, true, false>(finish, sums);
  else
    finish.columnZeros ? finishAll<kResidual, false, true>(finish, sums)
                       : finishAll<kResidual, false, false>(finish, sums);
}

void finishBlockOfBytes(const Finish& finish, const Sums& sums) {
  switch (finish.bytes.residualKind) {
    case Residual::kNone:
      return finishWith<Residual::kNone>(finish, sums);
    case Residual::kFloats:
      return finishWith<Residual::kFloats>(finish, sums);
    case Residual::kBytes:
      return finishWith<Residual::kBytes>(finish, sums);
  }
}

}  // namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_int8 {

HWY_EXPORT(finishBlockOfBytes);

void finishBytes(const Finish& finish, const Sums& sums) {
  HWY_DYNAMIC_DISPATCH(finishBlockOfBytes)(finish, sums);
  if (!finish.bytes.table) return;
  uint8_t* block = static_cast<uint8_t*>(finish.out) + sums.row * finish.stride + sums.column;
  pointwise::lookUp(finish.bytes.table, block, block, sums.rows, sums.columns, finish.stride);
}

}  // namespace camshaft::cpu::gemm_int8
#endif  // HWY_ONCE
