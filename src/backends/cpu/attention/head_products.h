// The two products of attention, for blocks of queries of one head, by one worker: scores from
// queries and keys, which a softmax makes weights, results from weights and values. Keys and values
// are packed once per head.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/cpu/attention/masked_softmax.h"
#include "backends/cpu/gemm/tile16.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "support/half.h"

namespace camshaft::cpu::attention {

using ProductType = std::optional<Type16>;  // what f32 is rounded to, if it is

// Whether operands and results may be stored in bf16: on x86-64, in bf16's kernel.
bool takesBf16(ProductType type);

// Rows with `stride` numbers between them: of floats, or of bf16 where tensors are stored so.
struct RowsOf {
  const float* data = nullptr;
  const uint16_t* halves = nullptr;
  int64_t stride = 0;
  RowsOf(const float* data, int64_t stride) : data(data), stride(stride) {}
  RowsOf(const BFloat16* data, int64_t stride)
      : halves(reinterpret_cast<const uint16_t*>(data)), stride(stride) {}
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

  // A block of queries times the first `visible` keys; both are then those of what follows.
  void score(int64_t rows, int64_t visible, RowsOf queries, float scale);
  // The scores of one of its rows. weigh() makes the first `count` of them the row's weights, and
  // returns their sum; those behind them weigh nothing.
  float* scores(int64_t row) { return scores_ + row * scoreStride_; }
  float weigh(int64_t row, int64_t count, float softcap, const RowMask& mask);
  // The weights times the values, each row times its factor. Of bf16 where blocks are tiles.
  void combine(const float* factors, float* out, int64_t outStride);
  void combine(const float* factors, BFloat16* out, int64_t outStride);

 private:
  RowsOf unpacked(const int8_t* rows, int64_t stride, int64_t size);
  void multiplyPanels(int64_t k, int64_t packedK, int64_t columns, const float* packedB, float* c,
                      int64_t stride);
  template <class T>
  void combinePanels(const float* factors, T* out, int64_t outStride);

  const Sizes sizes_;
  const TileScope tiles_;
  const int64_t scoreStride_;
  int64_t rows_ = 0, visible_ = 0;
  float scale_ = 1;  // of the scores, before weigh()
  float *keys_, *values_, *scores_, *packedRows_, *results_, *unpacked_;
};

}  // namespace camshaft::cpu::attention
