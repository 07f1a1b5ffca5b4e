#include <algorithm>
#include <type_traits>

#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/simd/bf16_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/finish_block.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/gemm/activation-inl.h"
#include "backends/cpu/simd/bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

// Products and what becomes of them, from one column of the result on. T is float or BFloat16.
template <class T>
struct Products {
  const float* from;
  int64_t stride;
  int64_t rows, columns;
  float scale;
  // Each may be null.
  const float* bias;
  const float* residual;
  const BFloat16* bf16Residual;
  int64_t residualStride;
  T* to;
  int64_t ldc;
};

// As many as there are registers for.
constexpr bool kHas32Registers = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;
constexpr int kRowsAtOnce = hn::MaxLanes(hn::ScalableTag<float>()) == 1 ? 1
                            : kHas32Registers                           ? 4
                            : HWY_TARGET <= HWY_AVX2                    ? 2
                                                                        : 1;

// kVectors vectors of columns from `column` on, of all rows, which share what is in registers: a
// copy of `p`, since for all that a compiler knows a store of a vector may change the caller's.
template <int kVectors, class D, class E, class T>
HWY_INLINE void finishColumns(D d, const E& ending, const Products<T> p, int64_t column) {
  using V = hn::Vec<D>;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const V scale = hn::Set(d, p.scale);
  V bias[kVectors];
  for (int i = 0; i < kVectors; ++i)
    bias[i] = p.bias ? hn::LoadU(d, p.bias + column + i * kLanes) : hn::Set(d, -0.0f);
  const float* from = p.from + column;
  T* to = p.to + column;
  const float* residual = p.residual ? p.residual + column : nullptr;
  const BFloat16* bf16Residual = p.bf16Residual ? p.bf16Residual + column : nullptr;
  // Vectors of several rows in turn: the steps of one wait for each other.
  const auto finishSome = [&](int64_t row, auto together) HWY_ATTR {
    constexpr int kAll = together * kVectors;
    V y[kAll];
    const auto inEach = [&](int64_t stride, auto step) HWY_ATTR {
#pragma GCC unroll 8
      for (int i = 0; i < kAll; ++i) step(i, (row + i / kVectors) * stride + i % kVectors * kLanes);
    };
    inEach(p.stride, [&](int i, int64_t at) HWY_ATTR {
      y[i] = hn::MulAdd(hn::LoadU(d, from + at), scale, bias[i % kVectors]);
    });
    if (residual)
      inEach(p.residualStride, [&](int i, int64_t at)
                                   HWY_ATTR { y[i] = hn::Add(y[i], hn::LoadU(d, residual + at)); });
    if (bf16Residual)
      inEach(p.residualStride, [&](int i, int64_t at) HWY_ATTR {
        y[i] = hn::Add(y[i], loadF32(d, bf16Residual + at));
      });
    inEach(0, [&](int i, int64_t) HWY_ATTR { y[i] = ending(d, y[i]); });
    inEach(p.ldc, [&](int i, int64_t at) HWY_ATTR { storeByUnit(y[i], d, to + at); });
  };
  constexpr bool kIsWhole = kLanes == hn::MaxLanes(hn::ScalableTag<float>());
  int64_t row = 0;
  if constexpr (kIsWhole && kRowsAtOnce >= 4 && !E::kIsLong)
    for (; row + 4 <= p.rows; row += 4) finishSome(row, std::integral_constant<int, 4>());
  if constexpr (kIsWhole && kRowsAtOnce >= 2 && kVectors > 1)
    for (; row + 2 <= p.rows; row += 2) finishSome(row, std::integral_constant<int, 2>());
  for (; row < p.rows; ++row) finishSome(row, std::integral_constant<int, 1>());
}

// As many whole vectors of D as fit, from `column` on; narrower ones follow.
template <Activation kActivation, int kVectors, class D, class T>
HWY_INLINE int64_t finishWhole(D d, const Epilogue& epilogue, const Products<T>& p,
                               int64_t column) {
  constexpr int64_t kColumns = kVectors * static_cast<int64_t>(hn::MaxLanes(D()));
  const Ending<kActivation, std::is_same_v<T, BFloat16>, D> ending(d, epilogue);
  for (; column + kColumns <= p.columns; column += kColumns)
    finishColumns<kVectors>(d, ending, p, column);
  return column;
}

template <Activation kActivation, class T>
void finishAll(const Epilogue& epilogue, const Products<T>& p) {
  const hn::ScalableTag<float> whole;
  int64_t column = finishWhole<kActivation, 2>(whole, epilogue, p, 0);
  column = finishWhole<kActivation, 1>(whole, epilogue, p, column);
  column = finishWhole<kActivation, 1>(hn::CappedTag<float, 8>(), epilogue, p, column);
  column = finishWhole<kActivation, 1>(hn::CappedTag<float, 4>(), epilogue, p, column);
  finishWhole<kActivation, 1>(hn::CappedTag<float, 1>(), epilogue, p, column);
}

template <class T>
void finishRows(const Epilogue& epilogue, Products<T> p) {
  const bool isOneRow = !p.bias && p.columns == p.stride && p.columns == p.ldc &&
                        ((!p.residual && !p.bf16Residual) || p.columns == p.residualStride);
  if (isOneRow) {  // of few columns, each would cost a whole vector
    p.columns *= p.rows;
    p.rows = std::min<int64_t>(p.rows, 1);
  }
  switch (epilogue.activation) {
    case Activation::kNone:
    case Activation::kRelu:
    case Activation::kClip:
      return finishAll<Activation::kClip>(epilogue, p);
    case Activation::kSigmoid:
      return finishAll<Activation::kSigmoid>(epilogue, p);
    case Activation::kSilu:
      return finishAll<Activation::kSilu>(epilogue, p);
    case Activation::kHardSwish:
      return finishAll<Activation::kHardSwish>(epilogue, p);
    case Activation::kGelu:
      return finishAll<Activation::kGelu>(epilogue, p);
    case Activation::kTanh:
      return finishAll<Activation::kTanh>(epilogue, p);
  }
}

// Everything but post() of the block at (row, column).
template <class T>
void finishRows(const float* products, int64_t stride, int64_t rows, int64_t columns, int64_t row,
                int64_t column, T* block, int64_t ldc, const Epilogue& epilogue) {
  const int64_t place = row * epilogue.residualStride + column;
  finishRows<T>(epilogue,
                {.from = products,
                 .stride = stride,
                 .rows = rows,
                 .columns = columns,
                 .scale = epilogue.scale,
                 .bias = epilogue.bias ? epilogue.bias + column : nullptr,
                 .residual = epilogue.residual ? epilogue.residual + place : nullptr,
                 .bf16Residual = epilogue.bf16Residual ? epilogue.bf16Residual + place : nullptr,
                 .residualStride = epilogue.residualStride,
                 .to = block,
                 .ldc = ldc});
}

void endRows(const Epilogue& epilogue, float* values, int64_t rows, int64_t columns,
             int64_t stride) {
  if (isClampOnly(epilogue)) return;
  finishRows<float>(epilogue, {.from = values,
                               .stride = stride,
                               .rows = rows,
                               .columns = columns,
                               .scale = 1,
                               .bias = nullptr,
                               .residual = nullptr,
                               .bf16Residual = nullptr,
                               .residualStride = 0,
                               .to = values,
                               .ldc = stride});
}

void finishProducts(const float* products, int64_t stride, int64_t rows, int64_t columns,
                    int64_t row, int64_t column, float* c, int64_t ldc, const Epilogue& epilogue) {
  float* block = c + row * ldc + column;
  finishRows(products, stride, rows, columns, row, column, block, ldc, epilogue);
  if (epilogue.post) epilogue.post(epilogue.postContext, block, row, column, rows, columns, ldc);
}

void finishProductsBf16(float* products, int64_t stride, int64_t rows, int64_t columns, int64_t row,
                        int64_t column, BFloat16* c, int64_t ldc, const Epilogue& epilogue) {
  BFloat16* block = c + row * ldc + column;
  if (!epilogue.post && mayNarrowByUnit()) {
    finishRows(products, stride, rows, columns, row, column, block, ldc, epilogue);
    return;
  }
  finishRows(products, stride, rows, columns, row, column, products, stride, epilogue);
  if (epilogue.post)
    epilogue.post(epilogue.postContext, products, row, column, rows, columns, stride);
  for (int64_t i = 0; i < rows; ++i) narrowRow(products + i * stride, columns, block + i * ldc);
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(endRows);
HWY_EXPORT(finishProducts);
HWY_EXPORT(finishProductsBf16);

void finishBlock(const float* products, int64_t stride, int64_t rows, int64_t columns, int64_t row,
                 int64_t column, float* c, int64_t ldc, const Epilogue& epilogue) {
  HWY_DYNAMIC_DISPATCH(finishProducts)
  (products, stride, rows, columns, row, column, c, ldc, epilogue);
}

void finishBlock(float* products, int64_t stride, int64_t rows, int64_t columns, int64_t row,
                 int64_t column, BFloat16* c, int64_t ldc, const Epilogue& epilogue) {
  HWY_DYNAMIC_DISPATCH(finishProductsBf16)
  (products, stride, rows, columns, row, column, c, ldc, epilogue);
}

void endBlock(const Epilogue& epilogue, float* values, int64_t rows, int64_t columns,
              int64_t stride) {
  HWY_DYNAMIC_DISPATCH(endRows)(epilogue, values, rows, columns, stride);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
