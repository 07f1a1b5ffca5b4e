#include "backends/cpu/attention/head_products.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_block.h"

namespace camshaft::cpu::attention {

namespace {

using Sizes = HeadProducts::Sizes;

int64_t aligned(int64_t floats) { return (floats + 15) / 16 * 16; }

int64_t packedFloats(ProductType type, int64_t k, int64_t n) {
  return aligned(type ? packedB16Floats(*type, k, n) : packedBFloats(k, n));
}

void pack(ProductType type, int64_t k, int64_t n, RowsOf b, bool transposed, float* packed) {
  if (type)
    packB16(*type, k, n, b.data, b.stride, transposed, reinterpret_cast<uint16_t*>(packed));
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

}  // namespace

int64_t HeadProducts::blockRows(ProductType type) {
  return type ? kMaxBlockRows : std::min(kMaxBlockRows, 6 * gemmGeometry().mr);
}

int64_t HeadProducts::workspaceFloats(const Sizes& sizes) {
  return packedFloats(sizes.type, sizes.size, sizes.keys) +
         packedFloats(sizes.type, sizes.keys, sizes.valueSize) +
         blockRows(sizes.type) * aligned(sizes.keys) + aligned(rowFloats(sizes)) +
         unpackedFloats(sizes);
}

HeadProducts::HeadProducts(const Sizes& sizes, float* workspace)
    : sizes_(sizes), tiles_(sizes.type && bf16UsesTiles()), scoreStride_(aligned(sizes.keys)) {
  keys_ = workspace;
  values_ = keys_ + packedFloats(sizes.type, sizes.size, sizes.keys);
  scores_ = values_ + packedFloats(sizes.type, sizes.keys, sizes.valueSize);
  rows_ = scores_ + blockRows(sizes.type) * scoreStride_;
  unpacked_ = rows_ + aligned(rowFloats(sizes));
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

void HeadProducts::score(int64_t rows, int64_t visible, RowsOf queries, float scale) {
  const Product product{.rows = rows,
                        .columns = visible,
                        .k = sizes_.size,
                        .packedK = sizes_.size,
                        .a = queries,
                        .packedB = keys_,
                        .c = scores_,
                        .ldc = scoreStride_};
  if (sizes_.type)
    multiply16(*sizes_.type, product, {.scale = scale}, rows_);
  else
    multiplyF32(product, {.scale = scale});
}

void HeadProducts::combine(int64_t rows, int64_t visible, float* out, int64_t outStride) {
  const Product product{.rows = rows,
                        .columns = sizes_.valueSize,
                        .k = visible,
                        .packedK = sizes_.keys,
                        .a = {scores_, scoreStride_},
                        .packedB = values_,
                        .c = out,
                        .ldc = outStride};
  if (sizes_.type)
    multiply16(*sizes_.type, product, {}, rows_);
  else
    multiplyF32(product, {});
}

}  // namespace camshaft::cpu::attention
