// libFuzzer's mutations, and every other time ours.
#include <algorithm>

#include "fuzz/mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize,
                                          unsigned seed) {
  using namespace camshaft::fuzz;
  static const std::unique_ptr<Mutator> mutator = makeMutator();
  Random random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, maxSize);
  Bytes input(reinterpret_cast<const char*>(data), size);
  if (size <= 1) {  // an empty corpus
    static const std::vector<Bytes> seeds = mutator->seeds();
    if (!seeds.empty()) input = seeds[below(random, seeds.size())];
  }
  mutator->learn(input);
  const Bytes changed = mutator->mutated(std::move(input), random);
  const size_t kept = std::min(changed.size(), maxSize);
  std::copy_n(changed.begin(), kept, data);
  return kept;
}
