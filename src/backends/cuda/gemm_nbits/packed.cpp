#include "backends/cuda/gemm_nbits/packed.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "ops/evaluate.h"
#include "ops/gemm_nbits.h"
#include "support/cpu_info.h"
#include "support/thread_pool.h"

namespace camshaft::cuda {
namespace {

// Calls f(tile, chunk, bytes of the chunk) for all of them, on all cores.
template <class F>
std::vector<std::byte> forEachChunk(const ChunkLayout& layout, F f) {
  const int64_t tileBytes = layout.chunks() * layout.chunkBytes();
  std::vector<std::byte> packed(layout.tiles() * tileBytes);
  ThreadPool threads(usableCores());
  threads.parallelFor(layout.tiles(), 1, [&](int64_t begin, int64_t end, int) {
    std::byte* to = packed.data() + begin * tileBytes;
    for (int64_t tile = begin; tile < end; ++tile)
      for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk, to += layout.chunkBytes())
        f(layout.sourceTile(tile), chunk, to);
  });
  return packed;
}

// Writes the numbers of a chunk: number(column, k) of those that are there. A word of a lane holds
// neighbours of its order in pairs, 16 bits apart. Sizes are constants here because a language
// model's numbers are billions.
template <int64_t kBits, int64_t kOwn, class F>
void packNumbers(const ChunkLayout& layout, int64_t tile, int64_t chunk, std::byte* to, F number) {
  constexpr int64_t kLanes = 32, kPerWord = 32 / kBits, kWords = kChunkDepth / 4 / kPerWord;
  const int64_t columns = std::min(kChunkColumns, layout.columns - tile * kChunkColumns),
                depth = std::min(kChunkDepth, layout.depth - chunk * kChunkDepth);
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t part = 0; part < 4; ++part) {  // lane % 4
      std::byte* const lane = to + (column % 8 * 4 + part) * 16 + column / 8 * 8;
      for (int64_t word = 0; word < kWords; ++word) {
        uint32_t packed = 0;
        for (int64_t i = 0; i < kPerWord; ++i) {
          const int64_t at = word * kPerWord + i,
                        k = at / kOwn * kOwn * 4 + part * kOwn + at % kOwn;
          if (k < depth)
            packed |= number(tile * kChunkColumns + column, chunk * kChunkDepth + k)
                      << (i / 2 * kBits + i % 2 * 16);
        }
        std::memcpy(lane + word / 2 * kLanes * 16 + word % 2 * 4, &packed, sizeof packed);
      }
    }
}

// f(bits, neighbours along k that a lane has of a group), both as constants.
template <class F>
void withConstants(const ChunkLayout& layout, F f) {
  const auto withBits = [&](auto own) {
    switch (layout.bits) {
      case 2:
        return f(std::integral_constant<int64_t, 2>{}, own);
      case 4:
        return f(std::integral_constant<int64_t, 4>{}, own);
      case 8:
        return f(std::integral_constant<int64_t, 8>{}, own);
      default:
        return f(std::integral_constant<int64_t, 16>{}, own);
    }
  };
  if (layout.scaleDepth() < 32) return withBits(std::integral_constant<int64_t, 4>{});
  withBits(std::integral_constant<int64_t, 8>{});
}

// Writes value(column, block) for each scale of a chunk.
template <class F>
void packPerScale(const ChunkLayout& layout, int64_t tile, int64_t chunk, DataType type,
                  std::byte* to, F value) {
  const int64_t parts = kChunkDepth / layout.scaleDepth();
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t column = 0; column < kChunkColumns; ++column) {
      const int64_t n = tile * kChunkColumns + column,
                    k = chunk * kChunkDepth + part * layout.scaleDepth();
      if (n >= layout.columns || k >= layout.depth) continue;
      writeElement(type, to, column * parts + part, value(n, k / layout.blockSize));
    }
}

}  // namespace

int64_t ChunkLayout::scaleDepth() const { return std::gcd(blockSize, kChunkDepth); }

DataType ChunkLayout::offset() const {
  return factor == DataType::kBF16 && bits == 8 ? DataType::kF32 : factor;
}

int64_t ChunkLayout::perScaleBytes(DataType type) const {
  return kChunkDepth / scaleDepth() * kChunkColumns * bitsOf(type) / 8;
}

int64_t ChunkLayout::chunkBytes() const {
  return numberBytes() + (bits < 16 ? perScaleBytes(scale) : 0) +
         (zeros == Zeros::kMiddle ? 0 : perScaleBytes(offset()));
}

double ChunkLayout::offsetOf(double zero) const {
  if (zeros == Zeros::kFraction) return -zero;
  const double power = offset() == DataType::kF32 ? 1 << 23 : factor == DataType::kF16 ? 1024 : 128;
  return -(power + zero);
}

std::vector<std::byte> packChunks(const ChunkLayout& layout, const Node& node) {
  const ConstTensorView packed = node.inputs[1]->view(), scales = node.inputs[2]->view();
  const int64_t blocks = packed.dims[1], pitch = blocks * packed.dims[2];
  const auto* bytes = packed.as<uint8_t>();
  return forEachChunk(layout, [&](int64_t tile, int64_t chunk, std::byte* to) {
    withConstants(layout, [&](auto bits, auto own) {
      constexpr int64_t kBits = bits, kOwn = own;
      packNumbers<kBits, kOwn>(layout, tile, chunk, to, [&](int64_t n, int64_t k) -> uint32_t {
        return bytes[n * pitch + k * kBits / 8] >> (k * kBits % 8) & ((1u << kBits) - 1);
      });
    });
    to += layout.numberBytes();
    packPerScale(layout, tile, chunk, layout.scale, to, [&](int64_t n, int64_t block) {
      return readElement(scales.type, scales.data, n * blocks + block);
    });
    if (layout.zeros == Zeros::kMiddle) return;
    const ConstTensorView zeros = node.inputs[3]->view();
    to += layout.perScaleBytes(layout.scale);
    packPerScale(layout, tile, chunk, layout.offset(), to, [&](int64_t n, int64_t block) {
      return layout.offsetOf(readElement(zeros.type, zeros.data, n * blocks + block));
    });
  });
}

std::vector<std::byte> packChunks(const ChunkLayout& layout, const Value& matrix,
                                  bool isDepthFirst) {
  const auto* from = matrix.view().as<uint16_t>();
  const int64_t columnStride = isDepthFirst ? 1 : layout.depth,
                depthStride = isDepthFirst ? layout.columns : 1;
  return forEachChunk(layout, [&](int64_t tile, int64_t chunk, std::byte* to) {
    packNumbers<16, 8>(layout, tile, chunk, to, [&](int64_t n, int64_t k) -> uint32_t {
      return from[n * columnStride + k * depthStride];
    });
  });
}

}  // namespace camshaft::cuda
