// Shapes that the Hopper matrix product (gemm.cuh) can take, and what each needs.
#pragma once

#include <cstdint>
#include <string>

namespace camshaft::cuda {

// The device code's own words: see its head.
struct HopperConfig {
  int tileM = 128, tileN = 128;
  int consumers = 2;
  bool pingPong = false;
  int stages = 4;
  int splitK = 1;
  int shareA = 1, shareB = 1;
  int blocksPerSm = 1;
  int residualTiles = 0, residualBytes = 0;  // the second: of an element, where there are tiles
  bool normalises = false;                   // rows of A
  friend bool operator==(const HopperConfig&, const HopperConfig&) = default;
};

int clusterSize(const HopperConfig& config);
int threadsOf(const HopperConfig& config);
int64_t sharedBytesOf(const HopperConfig& config);  // dynamic shared memory

// The same shape with the most stages, at most `most`, that fit in the shared memory of a block.
HopperConfig withStages(HopperConfig config, int most = 8);

// The same shape with tiles of a residual whose elements have `bytes`, 1 or 2, and as many stages
// as that leaves room for; as it was where it cannot have them.
HopperConfig withResidual(const HopperConfig& config, int bytes);

// Bytes of a line of such a tile, which lies in columns of them.
int residualLine(const HopperConfig& config);

// Whether the device code takes it, for operands that lie along K or not.
bool isValid(const HopperConfig& config, bool transposedA, bool transposedB);

int64_t pack(const HopperConfig& config);
HopperConfig unpackHopper(int64_t packed);
std::string toString(const HopperConfig& config);  // "128x256_pingpong_splitk4_shareb2_stages5"

}  // namespace camshaft::cuda
