#include "ops/random.h"

#include <cmath>
#include <numbers>

#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

std::array<uint32_t, 4> philox(uint64_t counter, uint64_t key) {
  constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kStep0 = 0x9E3779B9, kStep1 = 0xBB67AE85;
  std::array<uint32_t, 4> word{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                               0, 0};
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{kMultiplier0} * word[0], b = uint64_t{kMultiplier1} * word[2];
    word = {static_cast<uint32_t>(b >> 32) ^ word[1] ^ key0, static_cast<uint32_t>(b),
            static_cast<uint32_t>(a >> 32) ^ word[3] ^ key1, static_cast<uint32_t>(a)};
    key0 += kStep0;
    key1 += kStep1;
  }
  return word;
}

int uniformDigits(DataType type) {
  switch (type) {
    case DataType::kF64:
      return 53;
    case DataType::kF32:
      return 24;
    case DataType::kF16:
      return 11;
    default:
      return 8;
  }
}

namespace {

std::vector<TensorType> inferRandom(const Node& node) {
  const auto& attrs = node.as<RandomAttrs>();
  if (!isFloat(attrs.type))
    fail(ErrorKind::kInvalidModel, describe(node), " draws numbers of type ", attrs.type,
         ", which must be floating");
  return {{attrs.type, attrs.shape}};
}

// In [0, 1), a multiple of 2^-bits.
double fractionOf(uint32_t high, uint32_t low, int bits) {
  const uint64_t wide = uint64_t{high} << 32 | low;
  return std::ldexp(static_cast<double>(wide >> (64 - bits)), -bits);
}

void evaluateRandom(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<RandomAttrs>();
  std::vector<double> values(evaluation.outputs[0].count());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::array<uint32_t, 4> word = philox(i, static_cast<uint64_t>(attrs.seed));
    if (attrs.kind == RandomKind::kUniform) {
      values[i] = attrs.low + (attrs.high - attrs.low) *
                                  fractionOf(word[0], word[1], uniformDigits(attrs.type));
    } else {  // Box and Muller: a direction and a distance
      const double distance = std::sqrt(-2 * std::log(1 - fractionOf(word[0], word[1], 53)));
      const double direction = 2 * std::numbers::pi * fractionOf(word[2], word[3], 53);
      values[i] = attrs.low + attrs.high * distance * std::cos(direction);
    }
  }
  writeReals(evaluation.outputs[0], values);
}

}  // namespace

const OpInfo ops::Random = {"Random",      0, 0, 1, makeAttrsOf<RandomAttrs>, inferRandom,
                            evaluateRandom};

}  // namespace camshaft
