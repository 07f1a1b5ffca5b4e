// Weights as tiles on tensor cores read them (tile.cuh): chunks of 16 columns by kChunkDepth steps
// of k, chunk after chunk along k, with their scales and offsets behind the numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/graph.h"

namespace camshaft::cuda {

inline constexpr int64_t kChunkColumns = 16, kChunkDepth = 128;

// As in device code.
enum class Zeros { kMiddle, kWhole, kFraction };

// What the chunks of a product's weights look like.
struct ChunkLayout {
  int64_t columns = 0, depth = 0;
  int64_t bits = 4;                  // 16: weights as they are multiplied, without scales
  int64_t blockSize = 128;           // steps of k with one scale in the node
  DataType factor = DataType::kF16;  // what tensor cores multiply: f16 or bf16
  DataType scale = DataType::kF16;
  Zeros zeros = Zeros::kMiddle;
  int64_t halves = 1;  // 2: tiles of the first half of all columns in turn with those of the second

  // Steps of k with one scale in a chunk: whatever the block size, chunks are alike.
  int64_t scaleDepth() const;
  int64_t chunks() const { return (depth + kChunkDepth - 1) / kChunkDepth; }  // along k
  int64_t tiles() const { return (columns + kChunkColumns - 1) / kChunkColumns; }
  int64_t sourceTile(int64_t tile) const {
    return tile % halves * (tiles() / halves) + tile / halves;
  }
  DataType offset() const;
  int64_t numberBytes() const { return kChunkColumns * kChunkDepth * bits / 8; }
  int64_t perScaleBytes(DataType type) const;
  int64_t chunkBytes() const;
  // What is taken from a number whose zero point this is, as stored.
  double offsetOf(double zero) const;
};

// The constants of a MatMulNBits node.
std::vector<std::byte> packChunks(const ChunkLayout& layout, const Node& node);
// A constant matrix of 16-bit numbers, [columns, depth] or transposed.
std::vector<std::byte> packChunks(const ChunkLayout& layout, const Value& matrix,
                                  bool isDepthFirst);

}  // namespace camshaft::cuda
