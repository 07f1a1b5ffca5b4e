#include "backends/cuda/attention/flash_text.h"

#include <algorithm>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

int ceilDiv(int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); }
int padded(int size) { return ceilDiv(size, 16) * 16; }

std::string_view deviceType(DataType type) {
  switch (type) {
    case DataType::kF16:
      return "f16";
    case DataType::kBF16:
      return "bf16";
    case DataType::kBool:
      return "bool";
    case DataType::kF64:
      return "double";
    default:
      return "float";
  }
}

std::string types(DataType element, std::optional<DataType> bias) {
  return str("using Element = ", deviceType(element),
             ";\nusing BiasElement = ", deviceType(bias.value_or(DataType::kF32)), ";\n");
}
std::string number(std::string_view name, int value) {
  return str("constexpr int ", name, " = ", value, ";\n");
}
std::string flag(std::string_view name, bool value) {
  return str("constexpr bool ", name, " = ", value, ";\n");
}
std::string real(std::string_view name, double value) {
  return str("constexpr double ", name, " = ", value, ";\n");
}

// The largest equal share of `total` that stays within `most`, in steps of 16.
int fitted(int64_t total, int most) {
  const int parts = std::max(1, ceilDiv(total, most));
  return std::max(16, padded(ceilDiv(total, parts)));
}

}  // namespace

std::vector<FlashTile> flashTiles(const FlashSizes& sizes) {
  std::vector<FlashTile> tiles;
  const int size = std::max(sizes.headSize, sizes.valueSize);
  const int64_t queries = sizes.queries, keys = sizes.keys;
  const auto add = [&](FlashTile tile) {
    const bool isOversized =
        tile.rows() >= 2 * padded(static_cast<int>(std::min<int64_t>(queries, 256)));
    const bool isIdle = tile.keyWarps * tile.keyBlocks > 1 && keys <= 32;
    if (!isOversized && !isIdle) tiles.push_back(tile);
  };
  if (sizes.sm == 90 && size <= 128 && queries >= 128) {
    for (int warps : {8, 12}) {
      add({.rowWarps = warps, .keys = 64, .stages = 3, .warpgroups = true, .overlaps = true});
      if (size <= 64 && warps == 8)
        add({.rowWarps = warps, .keys = 128, .stages = 3, .warpgroups = true, .overlaps = true});
    }
    add({.rowWarps = 8, .keys = 64, .warpgroups = true});
    add({.rowWarps = 8, .keys = 128, .warpgroups = true});
    add({.rowWarps = 12, .keys = 64, .warpgroups = true});
    if (size <= 64) add({.rowWarps = 12, .keys = 128, .warpgroups = true});
  }
  // Short sequences, without remainders.
  const int fittedWarps = fitted(queries, 128) / 16;
  if (fittedWarps > 2 && size <= 128) {
    add({.rowWarps = fittedWarps, .keys = fitted(keys, 64)});
    if (keys > 64) add({.rowWarps = fittedWarps, .keys = fitted(keys, 128)});
  }
  // Long sequences: warps with more rows read keys and values less often.
  if (size <= 64 && !sizes.hasBias) add({.rowWarps = 4, .warpRows = 32, .keys = 64});
  if (size <= 128) add({.rowWarps = 4, .warpRows = 32, .keys = 32, .stages = 3});
  add({.rowWarps = 4, .warpRows = 16, .keys = size <= 128 ? 64 : 32});
  // Few rows: warps share the keys, then blocks do.
  if (size <= 128) add({.rowWarps = 2, .keyWarps = 2, .keys = 64});
  add({.rowWarps = 2, .keyWarps = 4, .keys = size <= 128 ? 32 : 16});
  add({.rowWarps = 1, .keyWarps = 4, .keys = 32});
  add({.rowWarps = 1, .keyWarps = 8, .keys = size <= 128 ? 32 : 16});
  if (sizes.sm >= 90 && keys >= 512)
    add({.rowWarps = 1, .keyWarps = 4, .keyBlocks = 4, .keys = 32});
  if (sizes.sm >= 90 && keys >= 1024)
    add({.rowWarps = 1, .keyWarps = 4, .keyBlocks = 8, .keys = 32});
  return tiles;
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
  return str(types(element, bias), number("kHeadSize", headSize), number("kValueSize", valueSize),
             number("kRowWarps", tile.rowWarps), number("kKeyWarps", tile.keyWarps),
             number("kKeyBlocks", tile.keyBlocks), number("kWarpRows", tile.warpRows),
             number("kKeys", tile.keys), number("kStages", singleTile ? 1 : tile.stages),
             flag("kSingleTile", singleTile), flag("kWarpgroups", tile.warpgroups),
             flag("kOverlaps", tile.overlaps && !singleTile), flag("kCausal", causal),
             flag("kHasBias", bias.has_value()), flag("kBiasPairs", biasPairs),
             real("kScale", scale), real("kSoftcap", softcap));
}

int PlainKernel::stagedBytes() const {
  const int bytes = element == DataType::kF64 ? 8 : 4;
  return bytes * (32 * (headSize | 1) + 32 * valueSize + rows() * headSize);
}

std::string PlainKernel::constants() const {
  return str(types(element, bias), number("kHeadSize", headSize), number("kValueSize", valueSize),
             number("kRowWarps", kRowWarps), number("kWarpRows", warpRows()),
             flag("kCausal", causal), flag("kHasBias", bias.has_value()),
             flag("kTransposedKeys", transposedKeys), flag("kStaged", isStaged()),
             real("kScale", scale), real("kSoftcap", softcap));
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
  return text;
}

}  // namespace camshaft::cuda
