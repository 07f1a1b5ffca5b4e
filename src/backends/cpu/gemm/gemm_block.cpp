#include "backends/cpu/gemm/gemm_block.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/gemm_block.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/gemm/activation-inl.h"
#include "backends/cpu/gemm/micro_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

// Steps of k per pass over the rows. A panel this deep (128 KiB at most) and the next stay in L2,
// from which the tile can be fed at full speed; deeper products add up their passes in C.
inline constexpr int64_t kMaxDepth = 512;
static_assert(kMaxDepth >= kMostSegmented);

// Rows whose activation is computed together, from L1: a call for each tile would cost as much as
// a shallow one.
inline constexpr int64_t kRowsEndedAtOnce = 48;

GemmGeometry geometry() { return {kMaxRows, kPanelWidth, isaName()}; }

// A tile whose last vector reaches beyond the matrix is computed in a buffer of whole vectors.
void computeRaggedTile(const Tile& tile, int rows, int columns) {
  const int vectors = (columns + kLanes - 1) / kLanes;
  float result[kMaxRows * kPanelWidth], residual[kMaxRows * kPanelWidth];
  float bias[kPanelWidth] = {};
  const int floats = rows * kPanelWidth;
  if (tile.accumulate) std::fill(result, result + floats, 0.0f);
  if (tile.residual) std::fill(residual, residual + floats, 0.0f);
  Tile padded = tile;
  padded.lastLanes = kLanes;
  padded.c = result;
  padded.ldc = kPanelWidth;
  if (tile.bias) {
    std::copy(tile.bias, tile.bias + columns, bias);
    padded.bias = bias;
  }
  for (int i = 0; i < rows; ++i) {
    if (tile.residual) {
      const float* row = tile.residual + i * tile.residualStride;
      std::copy(row, row + columns, residual + i * kPanelWidth);
    }
    if (tile.accumulate) {
      std::copy(tile.c + i * tile.ldc, tile.c + i * tile.ldc + columns, result + i * kPanelWidth);
    }
  }
  if (tile.residual) {
    padded.residual = residual;
    padded.residualStride = kPanelWidth;
  }
  kTileFunctions.at[rows - 1][vectors - 1](padded);
  for (int i = 0; i < rows; ++i) {
    const float* row = result + i * kPanelWidth;
    std::copy(row, row + columns, tile.c + i * tile.ldc);
  }
}

// The rows of tile `t` of `tiles`, from `row` on: even heights, because a last tile of one or two
// rows would leave the multipliers waiting.
int64_t tileHeight(int64_t rows, int64_t row, int64_t t, int64_t tiles) {
  return (rows - row + (tiles - t) - 1) / (tiles - t);
}

// Columns [column, column + width) of the block, all rows, steps [k0, k0 + depth) of k, with A
// where it lies or, not null, those steps of it packed by tiles.
void computePass(const GemmBlock& block, const Epilogue& epilogue, int64_t column, int64_t k0,
                 int64_t depth, const float* packedA = nullptr) {
  const int64_t width = std::min<int64_t>(kPanelWidth, block.columns - column);
  const bool first = k0 == 0, last = k0 + depth == block.k;
  const bool endsLater = last && !isClampOnly(epilogue);
  const Clamp bounds = last ? clampOf(epilogue) : clampOf(Epilogue());
  const int64_t tiles = (block.rows + kMaxRows - 1) / kMaxRows;

  Tile tile;
  tile.lda = packedA ? 0 : block.lda;
  tile.b = block.packedB + column * block.k + k0 * kPanelWidth;
  tile.segments = packedA ? 1 : block.segments;
  tile.segmentStride = block.segmentStride;
  tile.k = depth / tile.segments;
  tile.ldc = block.ldc;
  tile.bias = first && epilogue.bias ? epilogue.bias + block.column + column : nullptr;
  tile.residualStride = epilogue.residualStride;
  tile.scale = epilogue.scale;
  tile.low = bounds.low;
  tile.high = bounds.high;
  tile.accumulate = !first;
  // Each tile fetches its share of what is read next: of A where it lies, the steps that follow,
  // and of packed A those of the next panel. Behind the last panel lie other weights, most likely
  // the next to be read; fetching cannot fault.
  const int64_t passBytes = depth * kPanelWidth * static_cast<int64_t>(sizeof(float));
  tile.prefetchStep = passBytes / std::max<int64_t>(1, depth * tiles * kPrefetchesPerStep);

  const float* next = tile.b + kPanelWidth * (packedA ? block.k : depth);
  const int64_t vectors = (width + kLanes - 1) / kLanes;
  tile.lastLanes = kHasMasks ? static_cast<int>(width - (vectors - 1) * kLanes) : kLanes;

  int64_t row = 0, ended = 0;  // rows with products, and those that are finished
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t rows = tileHeight(block.rows, row, t, tiles);
    tile.a = packedA ? packedA + t * kMaxRows * depth : block.a + row * block.lda + k0;
    tile.c = block.c + row * block.ldc + column;
    tile.residual = first && epilogue.residual
                        ? epilogue.residual + (block.row + row) * epilogue.residualStride +
                              block.column + column
                        : nullptr;
    tile.prefetch = reinterpret_cast<const char*>(next) + t * (passBytes / tiles);
    if (kHasMasks || width % kLanes == 0) {
      kTileFunctions.at[rows - 1][vectors - 1](tile);
    } else {
      computeRaggedTile(tile, static_cast<int>(rows), static_cast<int>(width));
    }
    row += rows;
    if (endsLater && (row - ended >= kRowsEndedAtOnce || row == block.rows)) {
      endBlock(epilogue, block.c + ended * block.ldc + column, row - ended, width, block.ldc);
      ended = row;
    }
  }
}

void runPost(const GemmBlock& block, const Epilogue& epilogue, int64_t column) {
  if (!epilogue.post) return;
  const int64_t width = std::min<int64_t>(kPanelWidth, block.columns - column);
  epilogue.post(epilogue.postContext, block.c + column, block.row, block.column + column,
                block.rows, width, block.ldc);
}

#if CAMSHAFT_NEON_TILES
// Multiplying by lane reads a vector of A per row and four steps, or per four rows and one step
// where those lie side by side, which is a third faster. Packing pays off from so many columns on.
inline constexpr int64_t kWorthPacking = 24;
// So much of A is packed at a time and stays in L2, which feeds tiles as fast as L1 does: all steps
// of k up to kPackedDepth, since each further pass over them reads and writes C once more.
inline constexpr int64_t kPackedFloats = 32 * 1024, kPackedDepth = 1024, kMostPackedRows = 128;
static_assert(kPackedDepth >= kMostSegmented);

int64_t passesOver(int64_t k) { return (k + kPackedDepth - 1) / kPackedDepth; }

// Of `rows` that are packed at a time, shares as even as tiles are.
int64_t packedRows(int64_t rows, int64_t k) {
  const int64_t passes = passesOver(k), depth = (k + passes - 1) / passes;
  const int64_t most = std::min(kMostPackedRows, kPackedFloats / depth / kMaxRows * kMaxRows);
  const int64_t tiles = (rows + kMaxRows - 1) / kMaxRows, shares = (rows + most - 1) / most;
  return (tiles + shares - 1) / shares * kMaxRows;
}

void packTile(const float* a, int64_t lda, int64_t rows, int64_t depth, float* packed) {
  const float* row[kMaxRows];  // the last again for those that are not there
  for (int i = 0; i < kMaxRows; ++i) row[i] = a + std::min<int64_t>(i, rows - 1) * lda;
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4, packed += 4 * kMaxRows)
    for (int half = 0; half < kMaxRows; half += 4) {
      const float32x4_t r0 = vld1q_f32(row[half] + k), r1 = vld1q_f32(row[half + 1] + k);
      const float32x4_t r2 = vld1q_f32(row[half + 2] + k), r3 = vld1q_f32(row[half + 3] + k);
      const float64x2_t low01 = vreinterpretq_f64_f32(vzip1q_f32(r0, r1));
      const float64x2_t low23 = vreinterpretq_f64_f32(vzip1q_f32(r2, r3));
      const float64x2_t high01 = vreinterpretq_f64_f32(vzip2q_f32(r0, r1));
      const float64x2_t high23 = vreinterpretq_f64_f32(vzip2q_f32(r2, r3));
      float* to = packed + half;
      vst1q_f32(to, vreinterpretq_f32_f64(vzip1q_f64(low01, low23)));
      vst1q_f32(to + kMaxRows, vreinterpretq_f32_f64(vzip2q_f64(low01, low23)));
      vst1q_f32(to + 2 * kMaxRows, vreinterpretq_f32_f64(vzip1q_f64(high01, high23)));
      vst1q_f32(to + 3 * kMaxRows, vreinterpretq_f32_f64(vzip2q_f64(high01, high23)));
    }
  for (; k < depth; ++k)
    for (int i = 0; i < kMaxRows; ++i) *packed++ = row[i][k];
}

// At most packedRows() rows.
void computePacked(const GemmBlock& block, const Epilogue& epilogue) {
  alignas(64) static thread_local float packed[kPackedFloats];  // much for a caller's stack
  const int64_t passes = passesOver(block.k);
  const int64_t tiles = (block.rows + kMaxRows - 1) / kMaxRows;
  int64_t k0 = 0;
  for (int64_t p = 0; p < passes; ++p) {
    const int64_t depth = (block.k - k0 + (passes - p) - 1) / (passes - p);
    int64_t row = 0;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t rows = tileHeight(block.rows, row, t, tiles), part = depth / block.segments;
      for (int64_t segment = 0; segment < block.segments; ++segment)
        packTile(block.a + row * block.lda + k0 + segment * block.segmentStride, block.lda, rows,
                 part, packed + (t * depth + segment * part) * kMaxRows);
      row += rows;
    }
    for (int64_t column = 0; column < block.columns; column += kPanelWidth) {
      computePass(block, epilogue, column, k0, depth, packed);
      if (p + 1 == passes) runPost(block, epilogue, column);
    }
    k0 += depth;
  }
}
#endif

void computeBlock(const GemmBlock& block, const Epilogue& epilogue) {
#if CAMSHAFT_NEON_TILES
  if (block.columns >= kWorthPacking && block.rows >= kMaxRows && block.k > 0) {
    GemmBlock part = block;
    const int64_t atOnce = packedRows(block.rows, block.k);
    for (int64_t row = 0; row < block.rows; row += atOnce) {
      part.rows = std::min(atOnce, block.rows - row);
      part.a = block.a + row * block.lda;
      part.c = block.c + row * block.ldc;
      part.row = block.row + row;
      computePacked(part, epilogue);
    }
    return;
  }
#endif
  const int64_t passes = std::max<int64_t>(1, (block.k + kMaxDepth - 1) / kMaxDepth);
  for (int64_t column = 0; column < block.columns; column += kPanelWidth) {
    int64_t k0 = 0;
    for (int64_t p = 0; p < passes; ++p) {
      const int64_t depth = (block.k - k0 + (passes - p) - 1) / (passes - p);
      computePass(block, epilogue, column, k0, depth);
      k0 += depth;
    }
    runPost(block, epilogue, column);
  }
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(geometry);
HWY_EXPORT(computeBlock);

GemmGeometry gemmGeometry() { return HWY_DYNAMIC_DISPATCH(geometry)(); }

void gemmBlock(const GemmBlock& block, const Epilogue& epilogue) {
  HWY_DYNAMIC_DISPATCH(computeBlock)(block, epilogue);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
