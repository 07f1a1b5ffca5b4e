// Fused attention as text: the constants that stand before the device code, and the problem that is
// handed to it. Knows nothing of graphs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backend/target.h"
#include "support/data_type.h"
#include "support/token_windows.h"

namespace camshaft::cuda {

// How a block is cut up; flash.cuh says what the parts do.
struct FlashTile {
  int rowWarps = 4, keyWarps = 1, keyBlocks = 1;
  int warpRows = 16;        // 16 or 32
  int keys = 64;            // of one warp at a time, a multiple of 16
  int stages = 2;           // tiles of keys in shared memory, from 2 on
  bool warpgroups = false;  // sm_90a alone; four row warps at least, 64 keys or 128
  bool overlaps = false;    // with warpgroups and three stages: products during exponentials

  int threads() const { return 32 * rowWarps * keyWarps; }
  int rows() const { return rowWarps * warpRows; }
  int tileKeys() const { return keyWarps * keys; }
  // Whether no block needs a second tile.
  bool holds(int64_t allKeys) const { return allKeys <= int64_t{tileKeys()} * keyBlocks; }
  bool operator==(const FlashTile&) const = default;
};
// As configurations number them.
int64_t pack(const FlashTile& tile);
FlashTile unpackFlash(int64_t packed);

// What the choice of tiles depends on.
struct FlashSizes {
  BuildTarget target = {};
  int64_t heads = 1;  // of all batches
  int64_t queries = 1, keys = 1;
  int64_t mostKeys = std::numeric_limits<int64_t>::max();
  int headSize = 64, valueSize = 64;
  bool hasBias = false;
  bool readsBytes = false;  // keys and values of 8 bits
};
// Tiles worth timing, the best guess first.
std::vector<FlashTile> flashTiles(const FlashSizes& sizes);

// What is known when the kernel is printed.
struct FlashKernel {
  DataType element = DataType::kF16;
  DataType stored = DataType::kF16;  // of keys and values: as elements, or of 8 bits
  std::optional<DataType> bias;      // bool selects
  std::optional<DataType> output;    // of what an epilogue makes of results
  int headSize = 64, valueSize = 64;
  bool causal = false;
  bool biasPairs = false;   // rows of the bias begin at even elements and have an even length
  bool singleTile = false;  // the keys never need a second tile
  double scale = 1, softcap = 0;
  TokenWindows windows = {};
  FlashTile tile;

  int sharedBytes() const;  // aligned to 1024
  std::string constants() const;
};

// Attention without matrix units (plain.cuh).
struct PlainKernel {
  DataType element = DataType::kF32, stored = DataType::kF32;
  std::optional<DataType> bias, output;
  int headSize = 64, valueSize = 64;
  bool causal = false, transposedKeys = false;
  double scale = 1, softcap = 0;
  TokenWindows windows = {};
  int64_t sharedBytesPerBlock = 227 << 10;  // of the target

  static constexpr int kRowWarps = 8;
  int warpRows() const { return valueSize <= 256 ? 4 : 1; }
  int rows() const { return kRowWarps * warpRows(); }
  int threads() const { return 32 * kRowWarps; }
  bool isStaged() const {
    return stagedBytes() <= std::min<int64_t>(96 << 10, sharedBytesPerBlock);
  }
  int sharedBytes() const { return isStaged() ? stagedBytes() : 0; }
  std::string constants() const;

 private:
  int stagedBytes() const;
};

struct StridesText {
  std::string batch, head, token;
};

// Numbers of a problem, each a literal or the name of a parameter. The operands are q, k, v, bias
// and y.
struct AttentionText {
  std::string batches, queries, keys, group = "1", causalOffset = "0";
  StridesText q, k, v, out;
  std::string qOffset = "0", kOffset = "0", vOffset = "0", outOffset = "0";
  std::string kFeature = "1";
  bool hasBias = false;
  std::vector<std::string> numbers = {};
  std::string biasBatch = "0", biasHead = "0", biasRow = "0", biasKey = "1", biasDivisor = "1",
              biasModulo = "1";

  // Declares attention::Problem p.
  std::string text() const;
};

}  // namespace camshaft::cuda
