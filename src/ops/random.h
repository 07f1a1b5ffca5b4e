// Random numbers that depend on a seed and a position alone, so that every run draws the same.
#pragma once

#include <array>

#include "ops/ops.h"

namespace camshaft {

enum class RandomKind { kUniform, kNormal };

// Random(): element i is the i-th draw under the seed, uniform in [low, high) or normal with mean
// `low` and deviation `high`.
struct RandomAttrs : AttrsOf<RandomAttrs> {
  RandomKind kind = RandomKind::kUniform;
  Shape shape;
  DataType type = DataType::kF32;
  double low = 0, high = 1;
  int64_t seed = 0;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kKinds[] = {"uniform", "normal"};
    visit("kind", kind, kKinds);
    visit("shape", shape);
    visit("type", type);
    visit("low", low);
    visit("high", high);
    visit("seed", seed);
  }
};

// Binary digits of a uniform draw of that type, as many as its fraction has: it is not rounded up
// to 1.
int uniformDigits(DataType type);

// Philox4x32-10: four words without visible order from a counter and a key.
std::array<uint32_t, 4> philox(uint64_t counter, uint64_t key);

}  // namespace camshaft
