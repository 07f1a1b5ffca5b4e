// Blocks of products of 8-bit integers, u8 by i8, summed up in 32 bits without loss.
//
// A lies in strips of 16 rows, [k / 64][16 rows][64 of k] bytes, B in blocks of 32 columns,
// [k / 64][left, right 16 columns][16 quads of k][16 columns][4 of k] bytes, both filled up with
// zeros. Tiles of AMX are these; vectors of any length read B's quads as 32-bit lanes. So packed
// operands are the same for every CPU.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace camshaft::cpu::gemm_int8 {

inline constexpr int64_t kStripRows = 16;
inline constexpr int64_t kBlockRows = 32;
inline constexpr int64_t kBlockColumns = 32;
inline constexpr int64_t kStepDepth = 64;

inline int64_t stepsOf(int64_t k) { return (k + kStepDepth - 1) / kStepDepth; }
inline int64_t stripBytes(int64_t k) { return stepsOf(k) * kStripRows * kStepDepth; }
inline int64_t blockBytes(int64_t k) { return stepsOf(k) * kBlockColumns * kStepDepth; }

struct Block {
  const uint8_t* a = nullptr;  // one strip, or two that follow each other
  const int8_t* b = nullptr;
  int64_t k = 0;
  int64_t rows = 0;         // 1 .. kBlockRows
  int32_t* sums = nullptr;  // [kBlockRows][kBlockColumns]; those beyond `rows` may be anything
};

// A way to multiply blocks; all give the same sums.
struct Multiplier {
  std::string_view name;
  void (*multiply)(const Block& block) = nullptr;
  bool usesTiles = false;  // needs TileScope on its thread
};

// The fastest for so many rows under the instruction set in use (simd/isa.h).
const Multiplier& multiplierFor(int64_t rows);
// All that run here.
std::vector<Multiplier> availableMultipliers();

// Holds this thread's tile registers configured, where the multiplier needs them.
class TileScope {
 public:
  explicit TileScope(const Multiplier& multiplier);
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  const bool active_;
};

// tile_vector.cpp: Highway's vectors.
void multiplyWithVectors(const Block& block);
// tile_arm.cpp
void multiplyWithI8mm(const Block& block);

}  // namespace camshaft::cpu::gemm_int8
