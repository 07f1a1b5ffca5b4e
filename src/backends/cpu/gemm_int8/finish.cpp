#include "backends/cpu/gemm_int8/finish.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/gemm/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_int8/finish.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, storeFirst

using I32 = hn::ScalableTag<int32_t>;
using F32 = hn::ScalableTag<float>;
using VI32 = hn::Vec<I32>;
using VF32 = hn::Vec<F32>;

// Sums wrap around, which only unsigned ones may.
HWY_INLINE VI32 totalAt(const Finish& finish, const Sums& sums, int64_t row, int64_t column) {
  const I32 d;
  const hn::RebindToUnsigned<I32> wrapping;
  const auto load = [&](const int32_t* from)
                        HWY_ATTR { return hn::BitCast(wrapping, hn::LoadU(d, from)); };
  const int64_t at = sums.column + column;
  auto total = load(sums.data + row * kBlockColumns + column);
  if (finish.columnOffsets) total = hn::Add(total, load(finish.columnOffsets + at));
  if (finish.columnZeros) {
    const auto rowSum = hn::Set(wrapping, static_cast<uint32_t>(sums.ofRows[row]));
    total = hn::Sub(total, hn::Mul(load(finish.columnZeros + at), rowSum));
  }
  return hn::BitCast(d, total);
}

void storeTotals(const Finish& finish, const Sums& sums) {
  const I32 d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t row = 0; row < sums.rows; ++row) {
    int32_t* to =
        static_cast<int32_t*>(finish.out) + (sums.row + row) * finish.stride + sums.column;
    for (int64_t j = 0; j < sums.columns; j += lanes) {
      const VI32 total = totalAt(finish, sums, row, j);
      if (j + lanes <= sums.columns)
        hn::StoreU(total, d, to + j);
      else
        storeFirst(total, d, to + j, sums.columns - j);
    }
  }
}

// One vector of columns of all rows: scale, bias, residual and clamp.
template <bool kWhole>
void scaleColumns(const Finish& finish, const Sums& sums, int64_t column, float* out,
                  int64_t stride) {
  const F32 d;
  const Epilogue& epilogue = finish.epilogue;
  const Clamp bounds = clampOf(epilogue);
  const VF32 low = hn::Set(d, bounds.low), high = hn::Set(d, bounds.high);
  const int64_t left = sums.columns - column, at = sums.column + column;
  const auto load = [&](const float* from) {
    return kWhole ? hn::LoadU(d, from) : loadFirst(d, from, left);
  };
  const VF32 scale = hn::LoadU(d, finish.scales + at);
  const VF32 bias = epilogue.bias ? load(epilogue.bias + at) : hn::Zero(d);
  const float* residual =
      epilogue.residual ? epilogue.residual + sums.row * epilogue.residualStride + at : nullptr;
  const int64_t rows = sums.rows, residualStride = epilogue.residualStride;
  out += column;
  for (int64_t row = 0; row < rows; ++row, out += stride) {
    const VF32 total = hn::ConvertTo(d, totalAt(finish, sums, row, column));
    VF32 y = hn::Add(hn::Mul(total, scale), bias);
    if (residual) {
      y = hn::Add(y, load(residual));
      residual += residualStride;
    }
    y = hn::IfThenElse(hn::Lt(y, low), low, y);
    y = hn::IfThenElse(hn::Gt(y, high), high, y);
    if (kWhole)
      hn::StoreU(y, d, out);
    else
      storeFirst(y, d, out, left);
  }
}

// The same of all columns, to rows `stride` floats apart. The other activations follow.
void scaleTotals(const Finish& finish, const Sums& sums, float* out, int64_t stride) {
  const int64_t lanes = hn::Lanes(F32());
  for (int64_t j = 0; j < sums.columns; j += lanes) {
    if (sums.columns - j >= lanes)
      scaleColumns<true>(finish, sums, j, out, stride);
    else
      scaleColumns<false>(finish, sums, j, out, stride);
  }
  endBlock(finish.epilogue, out, sums.rows, sums.columns, stride);
}

// All of the epilogue, on the block as it lies in the whole result.
float* storeFloats(const Finish& finish, const Sums& sums, float* out) {
  const Epilogue& epilogue = finish.epilogue;
  float* block = out + sums.row * finish.stride + sums.column;
  scaleTotals(finish, sums, block, finish.stride);
  if (epilogue.post)
    epilogue.post(epilogue.postContext, block, sums.row, sums.column, sums.rows, sums.columns,
                  finish.stride);
  return block;
}

template <class Byte>
void storeBytes(const Finish& finish, const Sums& sums) {
  const F32 d;
  const I32 integers;
  const hn::Rebind<Byte, F32> bytes;
  alignas(64) float buffer[kBlockRows * kBlockColumns];
  const float* values = buffer;
  int64_t stride = kBlockColumns;
  if (finish.floats) {
    values = storeFloats(finish, sums, finish.floats);
    stride = finish.stride;
  } else {
    scaleTotals(finish, sums, buffer, stride);
  }
  const pointwise::Requantize& q = finish.requantize;
  const VF32 divisor = hn::Set(d, q.divisor), zero = hn::Set(d, q.zero);
  const VF32 low = hn::Set(d, q.low), high = hn::Set(d, q.high);
  const int64_t lanes = hn::Lanes(d);
  for (int64_t row = 0; row < sums.rows; ++row) {
    Byte* to = static_cast<Byte*>(finish.out) + (sums.row + row) * finish.stride + sums.column;
    for (int64_t j = 0; j < sums.columns; j += lanes) {
      const int64_t left = sums.columns - j;
      const float* from = values + row * stride + j;
      VF32 y = left >= lanes ? hn::LoadU(d, from) : loadFirst(d, from, left);
      y = hn::Add(hn::Round(hn::Div(y, divisor)), zero);
      y = hn::IfThenZeroElse(hn::IsNaN(y), y);
      y = hn::Min(hn::Max(y, low), high);
      const auto narrow = hn::DemoteTo(bytes, hn::ConvertTo(integers, y));
      if (left >= lanes)
        hn::StoreU(narrow, bytes, to + j);
      else
        storeFirst(narrow, bytes, to + j, left);
    }
  }
}

void finishBlockOfSums(const Finish& finish, const Sums& sums) {
  switch (finish.type) {
    case DataType::kF32:
      storeFloats(finish, sums, static_cast<float*>(finish.out));
      return;
    case DataType::kU8:
      return storeBytes<uint8_t>(finish, sums);
    case DataType::kI8:
      return storeBytes<int8_t>(finish, sums);
    default:
      return storeTotals(finish, sums);
  }
}

}  // namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_int8 {

HWY_EXPORT(finishBlockOfSums);

void finishSums(const Finish& finish, const Sums& sums) {
  if (finish.bytes.isUsed) return finishBytes(finish, sums);
  HWY_DYNAMIC_DISPATCH(finishBlockOfSums)(finish, sums);
}

}  // namespace camshaft::cpu::gemm_int8
#endif  // HWY_ONCE
