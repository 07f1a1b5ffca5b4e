// Blocks of products of 8-bit integers, summed up in 32 bits without loss: columns of B are i8,
// rows of A u8 or, where the instructions want it, i8 as well.
//
// Rows of A lie in strips, [k / depth][rows of a strip][depth] bytes, columns of B in blocks of 32,
// both filled up with zeros. How is a matter of the instructions that multiply them (Layout).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace camshaft::cpu::gemm_int8 {

inline constexpr int64_t kBlockRows = 128;
inline constexpr int64_t kBlockColumns = 32;
inline constexpr int64_t kMostStripRows = 16;

struct Layout {
  enum class Kind : int32_t { kQuads, kPairs, kPanels, kTaps };
  Kind kind;
  int64_t stripRows;
  int64_t depth;  // bytes of a row that lie together
  bool rowsAreSigned = false;

  int64_t steps(int64_t k) const { return (k + depth - 1) / depth; }
  int64_t stripBytes(int64_t k) const { return steps(k) * stripRows * depth; }
  int64_t blockBytes(int64_t k) const { return steps(k) * kBlockColumns * depth; }
};

// A block of B is [k / 64][left, right 16 columns][16 quads of k][16 columns][4 of k]. Tiles of AMX
// are these; vectors of any length read the quads as 32-bit lanes. Any CPU can multiply them.
inline constexpr Layout kQuads{Layout::Kind::kQuads, 16, 64};
// A block of B is four panels [k / 8][8 columns][8 of k], like strips of A: Arm's usmmla multiplies
// two rows of eight by two columns of eight.
inline constexpr Layout kPairs{Layout::Kind::kPairs, 8, 8};
// A block of B is two panels [k / 4][16 columns][4 of k], whose quads Arm's sdot multiplies by one
// quad of a row.
inline constexpr Layout kPanels{Layout::Kind::kPanels, 8, 16, true};

// Filters of depthwise convolutions alone, four taps of which x86's vpdpbusd, or what stands in for
// it, multiplies at once (depthwise.h); for products it is kQuads.
inline constexpr Layout kTaps{Layout::Kind::kTaps, 16, 64};

struct Block {
  const uint8_t* a = nullptr;  // strips that follow each other
  // Or rows so far apart, for multipliers that read them in place: whole strips of them, of whole
  // steps, for tiles. Their k is parts, as long as each other and of whole quads, at these pairs of
  // bytes from a row's beginning; null: one part, there.
  int64_t rowStride = 0;
  const int64_t* taps = nullptr;
  int64_t tapCount = 1;
  // Or rows anywhere, of such parts, for those that read any.
  const uint8_t* const* scattered = nullptr;
  const int8_t* b = nullptr;
  int64_t k = 0;
  int64_t blocks = 1;  // of columns, one behind the other, for multipliers that take so many
  int64_t rows = 0, columns = kBlockColumns;  // at most kBlockRows / blocks; of the last block
  // What will be b, or a part of it, to be fetched into cache meanwhile.
  const char* next = nullptr;
  int64_t nextBytes = 0;
  // [blocks][kBlockRows / blocks][kBlockColumns]; those beyond rows and columns may become
  // anything.
  int32_t* sums = nullptr;
};

// A way to multiply blocks; all give the same sums.
struct Multiplier {
  std::string_view name;
  const Layout* layout = &kQuads;
  void (*multiply)(const Block& block) = nullptr;
  bool usesTiles = false;     // needs a TileScope (simd/amx_tiles.h) on its thread
  bool readsAnyRows = false;  // in place; tiles read whole strips of whole steps
  int64_t rowsAtOnce = 1;     // of one block, of several blocks so many times fewer
  int64_t blocksAtOnce = 1;
};

// What to pack for, under the instruction set in use (simd/isa.h).
const Layout& layoutInUse();
// The same for filters of depthwise convolutions that are bytes.
const Layout& depthwiseLayoutInUse();
// The layout of an engine's parameters; null when this CPU cannot multiply it or there is none.
const Layout* layoutOf(Layout::Kind kind);
// The fastest for so many rows, under the instruction set in use.
const Multiplier& multiplierFor(const Layout& layout, int64_t rows);
// All that run here.
std::vector<Multiplier> availableMultipliers();

// tile_vector.cpp: Highway's vectors.
void multiplyWithVectors(const Block& block);
// tile_x86.cpp: vectors of 256 and of 512 bits, without vpdpbusd and with it; AMX.
void multiplyWithAvx2(const Block& block);
void multiplyWithAvx512(const Block& block);
void multiplyWithAvxVnni(const Block& block);
void multiplyWithVnni(const Block& block);
void multiplyWithTiles(const Block& block);
// tile_arm.cpp
void multiplyWithI8mm(const Block& block);
// tile_dot_arm.cpp
void multiplyWithDots(const Block& block);

}  // namespace camshaft::cpu::gemm_int8
