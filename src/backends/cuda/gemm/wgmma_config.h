// Shapes that the Hopper matrix product (device/gemm_sm90.cuh) can take, and what each needs.
#pragma once

#include <cstdint>
#include <string>

namespace camshaft::cuda {

// The device code's own words: see its head.
struct WgmmaConfig {
  int tileM = 128, tileN = 128;
  int consumers = 2;
  bool pingPong = false;
  int stages = 4;
  int splitK = 1;
  int shareA = 1, shareB = 1;
  int blocksPerSm = 1;
  friend bool operator==(const WgmmaConfig&, const WgmmaConfig&) = default;
};

int clusterSize(const WgmmaConfig& config);
int threadsOf(const WgmmaConfig& config);
int64_t sharedBytesOf(const WgmmaConfig& config);  // dynamic shared memory

// The same shape with the most stages, at most `most`, that fit in `bytes` of shared memory.
WgmmaConfig withStages(WgmmaConfig config, int64_t bytes, int most = 8);

// Whether the device code takes it, for operands that lie along K or not.
bool isValid(const WgmmaConfig& config, bool transposedA, bool transposedB);

int64_t pack(const WgmmaConfig& config);
WgmmaConfig unpackWgmma(int64_t packed);
std::string toString(const WgmmaConfig& config);  // "128x256_pingpong_splitk4_shareb2_stages5"

}  // namespace camshaft::cuda
