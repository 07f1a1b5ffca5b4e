// Philox4x32-10, as ops/random.cpp has it.
struct PhiloxWords {
  unsigned v[4];
};
__device__ __forceinline__ PhiloxWords philox(unsigned long long counter, unsigned long long key) {
  PhiloxWords word{{unsigned(counter), unsigned(counter >> 32), 0, 0}};
  unsigned key0 = unsigned(key), key1 = unsigned(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * word.v[0], b = 0xCD9E8D57ull * word.v[2];
    word = {{unsigned(b >> 32) ^ word.v[1] ^ key0, unsigned(b),
             unsigned(a >> 32) ^ word.v[3] ^ key1, unsigned(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return word;
}
// In [0, 1), a multiple of 2^-kBits.
template <int kBits>
__device__ __forceinline__ double fractionOf(unsigned high, unsigned low) {
  const unsigned long long wide =
      (static_cast<unsigned long long>(high) << 32 | low) >> (64 - kBits);
  return double(wide) * (1.0 / double(1ull << kBits));
}
template <int kBits>
__device__ __forceinline__ double uniformAt(unsigned long long i, unsigned long long seed) {
  const PhiloxWords word = philox(i, seed);
  return fractionOf<kBits>(word.v[0], word.v[1]);
}
__device__ __forceinline__ double normalAt(unsigned long long i, unsigned long long seed) {
  const PhiloxWords word = philox(i, seed);
  const double distance = sqrt(-2 * log(1 - fractionOf<53>(word.v[0], word.v[1])));
  return distance * cos(6.283185307179586476925 * fractionOf<53>(word.v[2], word.v[3]));
}
