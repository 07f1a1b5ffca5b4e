// The two products of attention, for blocks of queries of one head, by one worker: scores from
// queries and keys, results from weights and values. Keys and values are packed once per head.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/cpu/gemm/tile16.h"
#include "backends/cpu/simd/amx_tiles.h"

namespace camshaft::cpu::attention {

using ProductType = std::optional<Type16>;  // what f32 is rounded to, if it is

// Rows with `stride` floats between them.
struct RowsOf {
  const float* data = nullptr;
  int64_t stride = 0;
};

// Made by the worker that uses them.
class HeadProducts {
 public:
  struct Sizes {
    ProductType type;
    bool unpacksBytes;  // keys and values come as such
    int64_t keys, size, valueSize;
  };
  // Queries at a time: enough to amortise reading the packed keys, few enough for their scores to
  // stay in L2.
  static constexpr int64_t kMaxBlockRows = 64;
  static int64_t blockRows(ProductType type);
  static int64_t workspaceFloats(const Sizes& sizes);  // enough for smaller ones too

  HeadProducts(const Sizes& sizes, float* workspace);

  // Keys are rows of features; of tokens, where they are transposed.
  void packKeys(RowsOf keys, bool transposed);
  void packValues(RowsOf values);
  void packKeys(const int8_t* keys, int64_t stride);
  void packValues(const int8_t* values, int64_t stride);

  // scores[rows][scoreStride()] = scale * queries times the first `visible` keys.
  void score(int64_t rows, int64_t visible, RowsOf queries, float scale);
  // out = scores times the first `visible` values.
  void combine(int64_t rows, int64_t visible, float* out, int64_t outStride);

  float* scores() { return scores_; }
  int64_t scoreStride() const { return scoreStride_; }

 private:
  RowsOf unpacked(const int8_t* rows, int64_t stride, int64_t size);

  const Sizes sizes_;
  const TileScope tiles_;
  const int64_t scoreStride_;
  float *keys_, *values_, *scores_, *rows_, *unpacked_;
};

}  // namespace camshaft::cpu::attention
