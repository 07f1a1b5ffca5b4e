#include "backends/cpu/attention/head_products.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_block.h"

namespace camshaft::cpu::attention {

namespace {

using Sizes = HeadProducts::Sizes;

int64_t aligned(int64_t floats) { return (floats + 15) / 16 * 16; }
// Of rows that tiles write.
int64_t wholePanels(int64_t columns) {
  return (columns + kColumns16 - 1) / kColumns16 * kColumns16;
}

int64_t packedFloats(ProductType type, int64_t k, int64_t n) {
  return aligned(type ? packedB16Floats(*type, k, n) : packedBFloats(k, n));
}

// Whether scores stay as tiles leave them, and the softmax writes weights as the next product reads
// them: where a step of a panel's row is as long as vectors.
bool usesPanels(ProductType type) { return type == Type16::kBf16 && kDepth16 >= 16; }

void pack(ProductType type, int64_t k, int64_t n, RowsOf b, bool transposed, float* packed) {
  auto* halves = reinterpret_cast<uint16_t*>(packed);
  if (b.halves)
    packB16(k, n, b.halves, b.stride, transposed, halves);
  else if (type)
    packB16(*type, k, n, b.data, b.stride, transposed, halves);
  else
    packB(k, n, b.data, b.stride, transposed, packed);
}

// C = epilogue(A B), with B packed for products of the depth `packedK` >= k.
struct Product {
  int64_t rows, columns, k, packedK;
  RowsOf a;
  const float* packedB;
  float* c;
  int64_t ldc;
};

void multiply16(Type16 type, const Product& p, const Epilogue& epilogue, float* packedRows) {
  multiplyBlock16(
      {.type = type,
       .rows = p.rows,
       .columns = p.columns,
       .k = p.k,
       .packedK = p.packedK,
       .packedB = reinterpret_cast<const uint16_t*>(p.packedB),
       .c = {.f32 = p.c, .stride = p.ldc}},
      [&](int64_t row, int64_t rows, const Panel16& panel) {
        packPanel16(p.a.data + row * p.a.stride, p.a.stride, p.k, rows, panel);
      },
      epilogue, packedRows);
}

// Panel by panel where the panels are deeper than the product.
void multiplyF32(const Product& p, const Epilogue& epilogue) {
  const int64_t width = p.packedK == p.k ? p.columns : gemmGeometry().nr;
  for (int64_t column = 0; column < p.columns; column += width)
    gemmBlock({.rows = p.rows,
               .columns = std::min(width, p.columns - column),
               .k = p.k,
               .a = p.a.data,
               .lda = p.a.stride,
               .packedB = p.packedB + column * p.packedK,
               .c = p.c + column,
               .ldc = p.ldc},
              epilogue);
}

int64_t rowFloats(const Sizes& sizes) {
  if (!sizes.type) return 0;
  return rows16Floats(*sizes.type, HeadProducts::kMaxBlockRows, std::max(sizes.size, sizes.keys));
}

int64_t unpackedFloats(const Sizes& sizes) {
  return sizes.unpacksBytes ? aligned(sizes.keys * std::max(sizes.size, sizes.valueSize)) : 0;
}

int64_t scoreStrideOf(const Sizes& sizes) {
  return usesPanels(sizes.type) ? wholePanels(sizes.keys) : aligned(sizes.keys);
}

int64_t resultFloats(const Sizes& sizes) {
  return usesPanels(sizes.type) ? HeadProducts::kMaxBlockRows * wholePanels(sizes.valueSize) : 0;
}

}  // namespace

bool takesBf16(ProductType type) { return usesPanels(type); }

int64_t HeadProducts::blockRows(ProductType type) {
  return type ? kMaxBlockRows : std::min(kMaxBlockRows, 6 * gemmGeometry().mr);
}

int64_t HeadProducts::workspaceFloats(const Sizes& sizes) {
  return packedFloats(sizes.type, sizes.size, sizes.keys) +
         packedFloats(sizes.type, sizes.keys, sizes.valueSize) +
         blockRows(sizes.type) * scoreStrideOf(sizes) + aligned(rowFloats(sizes)) +
         resultFloats(sizes) + unpackedFloats(sizes);
}

HeadProducts::HeadProducts(const Sizes& sizes, float* workspace)
    : sizes_(sizes), tiles_(sizes.type && bf16UsesTiles()), scoreStride_(scoreStrideOf(sizes)) {
  keys_ = workspace;
  values_ = keys_ + packedFloats(sizes.type, sizes.size, sizes.keys);
  scores_ = values_ + packedFloats(sizes.type, sizes.keys, sizes.valueSize);
  packedRows_ = scores_ + blockRows(sizes.type) * scoreStride_;
  results_ = packedRows_ + aligned(rowFloats(sizes));
  unpacked_ = results_ + resultFloats(sizes);
}

void HeadProducts::packKeys(RowsOf keys, bool transposed) {
  pack(sizes_.type, sizes_.size, sizes_.keys, keys, !transposed, keys_);
}

void HeadProducts::packValues(RowsOf values) {
  pack(sizes_.type, sizes_.keys, sizes_.valueSize, values, false, values_);
}

RowsOf HeadProducts::unpacked(const int8_t* rows, int64_t stride, int64_t size) {
  for (int64_t j = 0; j < sizes_.keys; ++j)
    for (int64_t i = 0; i < size; ++i) unpacked_[j * size + i] = rows[j * stride + i];
  return {unpacked_, size};
}

void HeadProducts::packKeys(const int8_t* keys, int64_t stride) {
  packKeys(unpacked(keys, stride, sizes_.size), false);
}

void HeadProducts::packValues(const int8_t* values, int64_t stride) {
  packValues(unpacked(values, stride, sizes_.valueSize));
}

// C = A B of the packed rows, whole panels of C being written.
void HeadProducts::multiplyPanels(int64_t k, int64_t packedK, int64_t columns, const float* packedB,
                                  float* c, int64_t stride) {
  const int64_t panelOfA = panelHalves16(*sizes_.type, k),
                panelOfB = panelHalves16(*sizes_.type, packedK);
  for (int64_t row = 0; row < rows_; row += kRows16)
    for (int64_t column = 0; column < columns; column += kColumns16)
      multiplyBf16(
          {.a = reinterpret_cast<const uint16_t*>(packedRows_) + row / kRows16 * panelOfA,
           .b = reinterpret_cast<const uint16_t*>(packedB) + column / kColumns16 * panelOfB,
           .steps = steps16(k),
           .rows = rows_ - row,
           .columns = columns - column,
           .products = c + row * stride + column,
           .stride = stride});
}

void HeadProducts::score(int64_t rows, int64_t visible, RowsOf queries, float scale) {
  rows_ = rows;
  visible_ = visible;
  if (usesPanels(sizes_.type)) {
    scale_ = scale;
    const int64_t panelHalves = panelHalves16(*sizes_.type, sizes_.size);
    for (int64_t row = 0; row < rows; row += kRows16) {
      const int64_t some = std::min(kRows16, rows - row);
      auto* to = reinterpret_cast<uint16_t*>(packedRows_) + row / kRows16 * panelHalves;
      if (queries.halves)
        packPanel16(queries.halves + row * queries.stride, queries.stride, sizes_.size, some,
                    {.steps = to});
      else
        packPanel16(queries.data + row * queries.stride, queries.stride, sizes_.size, some,
                    {.steps = to});
    }
    return multiplyPanels(sizes_.size, sizes_.size, visible, keys_, scores_, scoreStride_);
  }
  const Product product{.rows = rows,
                        .columns = visible,
                        .k = sizes_.size,
                        .packedK = sizes_.size,
                        .a = queries,
                        .packedB = keys_,
                        .c = scores_,
                        .ldc = scoreStride_};
  if (sizes_.type)
    multiply16(*sizes_.type, product, {.scale = scale}, packedRows_);
  else
    multiplyF32(product, {.scale = scale});
}

float HeadProducts::weigh(int64_t row, int64_t count, float softcap, const RowMask& mask) {
  const ScoreRule rule{.scale = scale_, .softcap = softcap, .mask = mask};
  if (!usesPanels(sizes_.type)) {
    std::fill(scores(row) + count, scores(row) + visible_, 0.0f);
    return weighRow(scores(row), count, rule);
  }
  auto* panel = reinterpret_cast<uint16_t*>(packedRows_) +
                row / kRows16 * panelHalves16(*sizes_.type, visible_);
  return weighRow(scores(row), count, rule, panel + row % kRows16 * kDepth16, steps16(visible_));
}

template <class T>
void HeadProducts::combinePanels(const float* factors, T* out, int64_t outStride) {
  const int64_t stride = wholePanels(sizes_.valueSize);
  multiplyPanels(visible_, sizes_.keys, sizes_.valueSize, values_, results_, stride);
  for (int64_t row = 0; row < rows_; ++row)
    scaleRow(results_ + row * stride, sizes_.valueSize, factors[row], out + row * outStride);
}

void HeadProducts::combine(const float* factors, float* out, int64_t outStride) {
  if (usesPanels(sizes_.type)) return combinePanels(factors, out, outStride);
  const Product product{.rows = rows_,
                        .columns = sizes_.valueSize,
                        .k = visible_,
                        .packedK = sizes_.keys,
                        .a = {scores_, scoreStride_},
                        .packedB = values_,
                        .c = out,
                        .ldc = outStride};
  if (sizes_.type)
    multiply16(*sizes_.type, product, {}, packedRows_);
  else
    multiplyF32(product, {});
  for (int64_t row = 0; row < rows_; ++row) {
    float* to = out + row * outStride;
    scaleRow(to, sizes_.valueSize, factors[row], to);
  }
}

void HeadProducts::combine(const float* factors, BFloat16* out, int64_t outStride) {
  combinePanels(factors, out, outStride);
}

}  // namespace camshaft::cpu::attention
