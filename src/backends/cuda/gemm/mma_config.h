// Shapes that products on the tensor cores by a warp's instructions (mma.cuh) can take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/strides.h"

namespace camshaft::cuda {

// The device code's own words: see mma::Tiling.
struct MmaConfig {
  int rows = 64, columns = 64, rowBytes = 128;
  int warpsM = 2, warpsN = 2;
  int splits = 1;
  int depth(DataType type) const { return rowBytes * 8 / bitsOf(type); }
  int stages() const;
  int threads() const { return 32 * warpsM * warpsN; }
  int sharedBytes() const;
};

// Sizes of a product of a batch of matrices, or of the groups of a convolution.
struct MmaProblem {
  int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  DataType type = DataType::kF16;
};

// Of 16-bit floats.
inline bool hasMma(const BuildTarget& target) { return target.computeCapability >= 80; }
// Why the target cannot multiply these types so; empty when it can.
std::string whyNoMma(const BuildTarget& target, DataType a, DataType b);

// Rows of packed operands have whole steps.
int64_t mmaPitch(int64_t depth, DataType type);

int64_t pack(const MmaConfig& config);
MmaConfig unpackMma(int64_t packed);

// Microseconds by a simple model: waves of blocks, each bound by the tensor cores or by copies, and
// the latency of a few steps.
double estimateMicros(const MmaConfig& config, const MmaProblem& problem, int multiprocessors);

// The best by that model for the target, best first, packed, without those in `packed`.
void appendPromising(std::vector<int64_t>& packed, const MmaProblem& problem,
                     const BuildTarget& target, size_t most);

// Whether Hopper's own product, which has larger tiles, has one for each multiprocessor: it is then
// faster by a half or more, and nothing else needs to be timed beside it.
bool fillsHopper(const MmaProblem& problem, const BuildTarget& target);

// "u8_64x128x32_split4", for names.
std::string toString(const MmaConfig& config, DataType type);
// Prints, before the kernel waits for others: `memory`, the type Tile, `tile`, which is the block's
// (TilePlace), and its `product`. `steps` is the text of all along k.
void printTile(KernelText& kernel, const MmaConfig& config, DataType a, DataType b,
               const Dim& tilesN, const Dim& tilesM, const std::string& steps);

}  // namespace camshaft::cuda
