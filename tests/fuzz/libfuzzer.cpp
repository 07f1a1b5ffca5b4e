// libFuzzer's mutations, and every other time ours.
#include <algorithm>

#include "fuzz/mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize,
                                          unsigned seed) {
  using namespace camshaft::fuzz;
  static ModelMutator mutator;
  Random random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, maxSize);
  const Bytes model(reinterpret_cast<const char*>(data), size);
  mutator.learn(model);
  const Bytes changed = mutator.mutated(model, random);
  const size_t kept = std::min(changed.size(), maxSize);
  std::copy_n(changed.begin(), kept, data);
  return kept;
}
