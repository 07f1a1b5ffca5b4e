#include <cstring>

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
  const bool givesFloats = finish.type == DataType::kF32;
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
  const VF residualZero = hn::Set(d, f.dequantize.zero);
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
      narrow::widened(hn::Xor(hn::LoadU(bytes, bytesAt), residualFlip), other);
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
        v[i] = hn::Add(v[i], hn::LoadU(d, floatsAt + i * kLanes));
      v[i] = narrow::quotient(v[i], f.first);
      if constexpr (kStage) {
        v[i] = narrow::roundedSmall(hn::Min(hn::Max(v[i], stageLow), stageHigh));
        v[i] = hn::Mul(v[i], stageScale);
        if constexpr (kResidual == Residual::kBytes)
          v[i] = hn::Add(v[i], hn::Mul(hn::Sub(other[i], residualZero), residualScale));
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

// A residual of bytes comes behind a stage, one of floats in front of where there is none.
template <Residual kResidual>
void finishWith(const Finish& finish, const Sums& sums) {
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
