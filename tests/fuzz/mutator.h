// Changes models so that they stay readable: what lies in a field changes, the lengths around it
// follow. Bytes changed anywhere are mostly refused by the reader, and never reach the importer.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace camshaft::fuzz {

using Bytes = std::string;
using Random = std::mt19937_64;

class ModelMutator {
 public:
  // Remembers the model's fields, to put them into others.
  void learn(std::string_view model);
  // The model with one to four changes.
  Bytes mutated(Bytes model, Random& random) const;

 private:
  // By the numbers of the fields on the way to it.
  std::unordered_map<uint64_t, std::vector<Bytes>> seen_;

  void learn(std::string_view message, uint64_t path);
  Bytes changed(const Bytes& message, uint64_t path, Random& random) const;
  Bytes changedPayload(const Bytes& payload, uint64_t path, Random& random) const;
};

}  // namespace camshaft::fuzz
