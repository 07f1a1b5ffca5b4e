#include "backends/cuda/attention/flash_text.h"

#include <algorithm>

#include "backends/cuda/codegen/kernel_text.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

int ceilDiv(int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); }
int padded(int size) { return ceilDiv(size, 16) * 16; }

std::string number(std::string_view name, int value) {
  return str("constexpr int ", name, " = ", value, ";\n");
}
std::string flag(std::string_view name, bool value) {
  return str("constexpr bool ", name, " = ", value, ";\n");
}
// `output`: of results with an epilogue applied.
std::string types(DataType element, DataType stored, std::optional<DataType> bias,
                  std::optional<DataType> output) {
  return str("using Element = ", storageType(element), ";\nusing Stored = ", storageType(stored),
             ";\nusing BiasElement = ", storageType(bias.value_or(DataType::kF32)),
             ";\nusing Output = ", output ? storageType(*output) : "Element", ";\n",
             flag("kHasEpilogue", output.has_value()));
}
std::string real(std::string_view name, double value) {
  return str("constexpr double ", name, " = ", value, ";\n");
}
std::string places(const TokenWindows& windows) {
  const auto size = [](std::string_view name, int64_t value) {
    return number(name, static_cast<int>(value));
  };
  return str(size("kImageHeight", windows.height), size("kImageWidth", windows.width),
             size("kWindowHeight", windows.windowHeight), size("kWindowWidth", windows.windowWidth),
             size("kShiftY", windows.shiftY), size("kShiftX", windows.shiftX));
}

// The largest equal share of `total` that stays within `most`, in steps of 16.
int fitted(int64_t total, int most) {
  const int parts = std::max(1, ceilDiv(total, most));
  return std::max(16, padded(ceilDiv(total, parts)));
}

// Blocks enough for the device: what counts is how often keys and values are read.
std::vector<FlashTile> tilesForManyRows(const FlashSizes& sizes, int size) {
  if (sizes.target.computeCapability == 90 && size <= 128 && sizes.queries >= 128)
    return {{.rowWarps = 8, .keys = 64, .warpgroups = true},
            {.rowWarps = 8,
             .keys = 128,
             .stages = size <= 64 ? 3 : 2,
             .warpgroups = true,
             .overlaps = size <= 64},
            {.rowWarps = 8, .keys = 64, .stages = 3, .warpgroups = true, .overlaps = true},
            {.rowWarps = 4, .warpRows = 32, .keys = 32, .stages = 3}};
  std::vector<FlashTile> tiles;
  if (size <= 128)
    tiles.push_back({.rowWarps = fitted(sizes.queries, 128) / 16, .keys = fitted(sizes.keys, 64)});
  if (size <= 64 && !sizes.hasBias) tiles.push_back({.rowWarps = 4, .warpRows = 32, .keys = 64});
  if (size <= 128) tiles.push_back({.rowWarps = 4, .warpRows = 32, .keys = 32, .stages = 3});
  tiles.push_back({.rowWarps = 4, .keys = size <= 128 ? 64 : 32});
  tiles.push_back({.rowWarps = 2, .keyWarps = 4, .keys = size <= 128 ? 32 : 16});
  return tiles;
}

// Few blocks: warps share the keys.
std::vector<FlashTile> tilesForFewRows(const FlashSizes& sizes, int size) {
  std::vector<FlashTile> tiles = {{.rowWarps = 2, .keyWarps = 4, .keys = size <= 128 ? 32 : 16}};
  if (size <= 128) tiles.push_back({.rowWarps = 2, .keyWarps = 2, .keys = 64});
  tiles.push_back({.rowWarps = 1, .keyWarps = 4, .keys = 32});
  const std::vector<FlashTile> large = tilesForManyRows(sizes, size);
  tiles.insert(tiles.end(), large.begin(), large.begin() + std::min<size_t>(2, large.size()));
  return tiles;
}

// One tile of rows: blocks share the keys too.
std::vector<FlashTile> tilesForDecoding(const FlashSizes& sizes, int size) {
  const BuildTarget& target = sizes.target;
  std::vector<FlashTile> tiles;
  if (target.computeCapability >= 90 && sizes.keys >= 512) {
    if (sizes.keys <= 1024 && 4 * sizes.heads <= target.multiprocessors)
      tiles.push_back({.rowWarps = 1, .keyWarps = 4, .keyBlocks = 8, .keys = 16});
    // Alone 16x128 may be as fast; among the kernels of a step it took 5.2 us where this takes 3.7.
    if (!tiles.empty() && 8 * sizes.heads <= target.multiprocessors) return tiles;
    // From this compute capability on clusters have 8 blocks at most; a slice of a GPU, which one
    // that is not here may be, may have no place for 16 side by side.
    constexpr int kSmallClusters = 120, kWholeGpu = 100;
    const bool isLong = sizes.keys >= 4096 && size <= 128;
    if (isLong && target.computeCapability < kSmallClusters && target.isPresent &&
        target.multiprocessors >= kWholeGpu && 16 * sizes.heads <= target.multiprocessors)
      for (int warps : {4, 8})
        tiles.push_back({.rowWarps = 1, .keyWarps = warps, .keyBlocks = 16, .keys = 128 / warps});
    if (isLong)  // more of them on their way, unless they are bytes
      tiles.push_back({.rowWarps = 1, .keyWarps = 4, .keyBlocks = 8, .keys = 32, .stages = 3});
    if (!isLong || sizes.readsBytes)
      tiles.push_back({.rowWarps = 1, .keyWarps = 4, .keyBlocks = 4, .keys = 32});
    tiles.push_back({.rowWarps = 1, .keyWarps = 4, .keyBlocks = 8, .keys = 32});
  }
  tiles.push_back({.rowWarps = 1, .keyWarps = 4, .keys = 32});
  tiles.push_back({.rowWarps = 1, .keyWarps = 8, .keys = size <= 128 ? 32 : 16});
  return tiles;
}

// Fewer keys at a time, then fewer warps to share them, until a block has the shared memory. Tiles
// of warpgroups always fit.
FlashTile shrunk(FlashTile tile, const FlashSizes& sizes) {
  const auto fits = [&] {
    const FlashKernel kernel{.headSize = sizes.headSize,
                             .valueSize = sizes.valueSize,
                             .singleTile = tile.holds(sizes.mostKeys),
                             .tile = tile};
    return kernel.sharedBytes() <= sizes.target.sharedBytesPerBlock;
  };
  while (!tile.warpgroups && !fits() && (tile.keys % 32 == 0 || tile.keyWarps > 1))
    (tile.keys % 32 == 0 ? tile.keys : tile.keyWarps) /= 2;
  return tile;
}

}  // namespace

int64_t pack(const FlashTile& t) {
  int64_t packed = 0;
  for (int field : {t.rowWarps, t.keyWarps, t.keyBlocks, t.warpRows, t.keys / 16, t.stages,
                    int{t.warpgroups}, int{t.overlaps}})
    packed = packed << 6 | field;
  return packed;
}

FlashTile unpackFlash(int64_t packed) {
  const auto field = [&](int place) { return static_cast<int>(packed >> 6 * place & 63); };
  return {.rowWarps = field(7),
          .keyWarps = field(6),
          .keyBlocks = field(5),
          .warpRows = field(4),
          .keys = 16 * field(3),
          .stages = field(2),
          .warpgroups = field(1) != 0,
          .overlaps = field(0) != 0};
}

std::vector<FlashTile> flashTiles(const FlashSizes& sizes) {
  const int size = std::max(sizes.headSize, sizes.valueSize);
  const bool isSpread = sizes.heads * ceilDiv(sizes.queries, 128) >= sizes.target.multiprocessors;
  std::vector<FlashTile> tiles = sizes.queries <= 16 ? tilesForDecoding(sizes, size)
                                 : isSpread          ? tilesForManyRows(sizes, size)
                                                     : tilesForFewRows(sizes, size);
  const int rows = padded(static_cast<int>(std::min<int64_t>(sizes.queries, 256)));
  std::vector<FlashTile> kept;
  for (FlashTile tile : tiles) {
    if (sizes.readsBytes) tile.stages = 2, tile.overlaps = false;  // registers hold the next tile
    tile = shrunk(tile, sizes);
    if (tile.rows() < 2 * rows && std::find(kept.begin(), kept.end(), tile) == kept.end())
      kept.push_back(tile);
  }
  return kept;
}

int FlashKernel::sharedBytes() const {
  const int step = tile.warpgroups ? 64 : 16, padding = tile.warpgroups ? 0 : 16;
  const auto pitchOf = [&](int size) { return 2 * (ceilDiv(size, step) * step) + padding; };
  const int keyPitch = pitchOf(headSize), valuePitch = pitchOf(valueSize);
  const int queryPitch = tile.warpgroups ? keyPitch : std::max(keyPitch, valuePitch);
  const int stages = (singleTile ? 1 : tile.stages) * tile.tileKeys() * (keyPitch + valuePitch);
  const bool splitsKeys = tile.keyWarps > 1 || tile.keyBlocks > 1;
  // A part's results, peaks and sums.
  const int parts = splitsKeys ? tile.keyWarps * tile.rows() * (padded(valueSize) + 8 + 2) * 4 : 0;
  const int results = tile.rows() * (valuePitch + 16);
  return std::max(tile.rows() * queryPitch + std::max(stages, parts), results);
}

std::string FlashKernel::constants() const {
  return str(types(element, stored, bias, output), number("kHeadSize", headSize),
             number("kValueSize", valueSize), number("kRowWarps", tile.rowWarps),
             number("kKeyWarps", tile.keyWarps), number("kKeyBlocks", tile.keyBlocks),
             number("kWarpRows", tile.warpRows), number("kKeys", tile.keys),
             number("kStages", singleTile ? 1 : tile.stages), flag("kSingleTile", singleTile),
             flag("kWarpgroups", tile.warpgroups), flag("kOverlaps", tile.overlaps && !singleTile),
             flag("kCausal", causal), flag("kHasBias", bias.has_value()),
             flag("kBiasPairs", biasPairs), real("kScale", scale), real("kSoftcap", softcap),
             places(windows));
}

int PlainKernel::stagedBytes() const {
  const int bytes = element == DataType::kF64 ? 8 : 4;
  return bytes * (32 * (headSize + 4) + 32 * valueSize + rows() * (headSize + 32));
}

std::string PlainKernel::constants() const {
  return str(types(element, stored, bias, output), number("kHeadSize", headSize),
             number("kValueSize", valueSize), number("kRowWarps", kRowWarps),
             number("kWarpRows", warpRows()), flag("kCausal", causal),
             flag("kHasBias", bias.has_value()), flag("kTransposedKeys", transposedKeys),
             flag("kStaged", isStaged()), real("kScale", scale), real("kSoftcap", softcap),
             places(windows));
}

std::string AttentionText::text() const {
  std::string text = "  attention::Problem p;\n";
  const auto set = [&](std::string_view field, std::string_view value) {
    text += str("  p.", field, " = ", value, ";\n");
  };
  const auto setStrides = [&](std::string_view field, const StridesText& strides) {
    set(str(field, ".batch"), strides.batch);
    set(str(field, ".head"), strides.head);
    set(str(field, ".token"), strides.token);
  };
  set("q", str("q + ", qOffset));
  set("k", str("k + ", kOffset));
  set("v", str("v + ", vOffset));
  set("out", str("y + ", outOffset));
  set("bias", hasBias ? "bias" : "nullptr");
  set("batches", batches);
  set("queries", queries);
  set("keys", keys);
  set("group", group);
  set("causalOffset", causalOffset);
  setStrides("qStride", q);
  setStrides("kStride", k);
  setStrides("vStride", v);
  setStrides("outStride", out);
  set("kFeature", kFeature);
  set("biasBatch", biasBatch);
  set("biasHead", biasHead);
  set("biasRow", biasRow);
  set("biasKey", biasKey);
  set("biasDivisor", biasDivisor);
  set("biasModulo", biasModulo);
  for (size_t i = 0; i < numbers.size(); ++i) set(str("numbers[", i, "]"), numbers[i]);
  return text;
}

}  // namespace camshaft::cuda
