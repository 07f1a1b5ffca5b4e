#include "backends/cuda/attention/flash_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

BuildTarget gpuOf(int computeCapability, int64_t sharedBytes) {
  return {.computeCapability = computeCapability, .sharedBytesPerBlock = sharedBytes};
}

// One query of eight heads that look back at a long cache, on an H200.
FlashSizes longCache() {
  return {.heads = 8, .queries = 1, .keys = 8000, .headSize = 128, .valueSize = 128};
}

int64_t sharedBytesOf(const FlashTile& tile, const FlashSizes& sizes) {
  return FlashKernel{.headSize = sizes.headSize,
                     .valueSize = sizes.valueSize,
                     .singleTile = tile.holds(sizes.mostKeys),
                     .tile = tile}
      .sharedBytes();
}

bool hasCluster(const std::vector<FlashTile>& tiles, int blocks) {
  return std::ranges::count(tiles, blocks, &FlashTile::keyBlocks) > 0;
}

TEST(FlashTiles, FitSharedMemory) {
  for (const BuildTarget& target :
       {gpuOf(80, 163 << 10), gpuOf(86, 99 << 10), gpuOf(90, 227 << 10), gpuOf(120, 99 << 10)})
    for (const int size : {64, 96, 128, 256})
      for (const int64_t keys : {300, 2000, 8000})
        for (const int64_t queries : {1, 100, 2000})
          for (const int64_t heads : {8, 1000})
            for (const bool isFixed : {false, true}) {
              FlashSizes sizes{.target = target,
                               .heads = heads,
                               .queries = queries,
                               .keys = keys,
                               .headSize = size,
                               .valueSize = size};
              if (isFixed) sizes.mostKeys = keys;
              SCOPED_TRACE(str("sm_", target.computeCapability, ", head size ", size, ", ", keys,
                               " keys, ", queries, " queries, ", heads, " heads"));
              const std::vector<FlashTile> tiles = flashTiles(sizes);
              EXPECT_FALSE(tiles.empty());
              for (const FlashTile& tile : tiles)
                EXPECT_LE(sharedBytesOf(tile, sizes), target.sharedBytesPerBlock);
            }
}

TEST(FlashTiles, KeepTheirSizeWhereKeysNeedOneTile) {
  FlashSizes sizes{.target = gpuOf(86, 99 << 10), .keys = 100, .headSize = 128, .valueSize = 128};
  EXPECT_EQ(flashTiles(sizes).front().keys, 16);
  sizes.mostKeys = 100;
  EXPECT_EQ(flashTiles(sizes).front().keys, 32);
}

TEST(FlashTiles, LargeClustersAreForGpusThatAreHere) {
  FlashSizes sizes = longCache();
  EXPECT_EQ(flashTiles(sizes).front().keyBlocks, 16);
  sizes.target.isPresent = false;
  EXPECT_FALSE(hasCluster(flashTiles(sizes), 16));
  EXPECT_EQ(flashTiles(sizes).front().keyBlocks, 8);
}

TEST(FlashTiles, BytesHaveOtherClustersInsteadOfMoreStages) {
  FlashSizes sizes = longCache();
  EXPECT_FALSE(hasCluster(flashTiles(sizes), 4));
  sizes.readsBytes = true;
  EXPECT_TRUE(hasCluster(flashTiles(sizes), 4));
}

TEST(FlashTiles, AreNumbered) {
  for (const int64_t queries : {1, 100, 2000})
    for (const FlashTile& tile : flashTiles({.heads = 1000, .queries = queries, .keys = 2000})) {
      EXPECT_EQ(unpackFlash(pack(tile)), tile);
      EXPECT_GT(pack(tile), 0);
    }
}

TEST(PlainAttention, StagesWhatABlockHasRoomFor) {
  PlainKernel kernel{.headSize = 192, .valueSize = 192};  // 78,336 bytes
  EXPECT_TRUE(kernel.isStaged());
  kernel.sharedBytesPerBlock = 64 << 10;
  EXPECT_FALSE(kernel.isStaged());
  EXPECT_EQ(kernel.sharedBytes(), 0);
}

}  // namespace
}  // namespace camshaft::cuda
