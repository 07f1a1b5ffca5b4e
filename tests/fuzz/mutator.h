// What changes the inputs of a fuzzer so that most stay readable: bytes changed anywhere are
// refused by the first check, and nothing behind it is tried.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft::fuzz {

using Bytes = std::string;
using Random = std::mt19937_64;

class Mutator {
 public:
  virtual ~Mutator() = default;
  // Remembers parts of an input, to put them into others.
  virtual void learn(std::string_view input) = 0;
  // Inputs to begin with besides those of the corpus.
  virtual std::vector<Bytes> seeds() const { return {}; }
  // The input with a few changes.
  virtual Bytes mutated(Bytes input, Random& random) const = 0;
};

// Of the fuzzer that is linked.
std::unique_ptr<Mutator> makeMutator();

inline uint64_t below(Random& random, uint64_t end) { return end == 0 ? 0 : random() % end; }
inline bool oneIn(Random& random, uint64_t n) { return below(random, n) == 0; }

// Small numbers, negative ones, and those that break arithmetic.
uint64_t interesting(Random& random);
// One byte, a few bytes or eight of them changed, left out or doubled.
Bytes changedBytes(Bytes bytes, Random& random);

}  // namespace camshaft::fuzz
