#include "support/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace camshaft {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

// Reversible in `state` and in `word`, so no difference between inputs is lost in one step; the
// shift brings the well-mixed upper bits down to where the next multiplication spreads them.
uint64_t mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * kMultiplier;
  return state ^ (state >> 32);
}

uint64_t wordAt(const std::byte* address) {
  uint64_t word;
  std::memcpy(&word, address, sizeof word);
  return word;
}

}  // namespace

void Hasher::absorb(const std::byte* blocks, size_t count) {
  auto [a, b, c, d] = lanes_;
  for (const std::byte* end = blocks + count * kBlock; blocks != end; blocks += kBlock) {
    // Weights come from memory, not from cache; a prefetch past the end is harmless.
    __builtin_prefetch(blocks + 2048);
    a = mix(a, wordAt(blocks));
    b = mix(b, wordAt(blocks + 8));
    c = mix(c, wordAt(blocks + 16));
    d = mix(d, wordAt(blocks + 24));
  }
  lanes_ = {a, b, c, d};
}

Hasher& Hasher::update(std::span<const std::byte> bytes) {
  if (bytes.empty()) return *this;
  const size_t held = length_ % kBlock;
  length_ += bytes.size();
  if (held > 0) {
    const auto head = bytes.first(std::min(bytes.size(), kBlock - held));
    std::ranges::copy(head, tail_.begin() + static_cast<ptrdiff_t>(held));
    bytes = bytes.subspan(head.size());
    if (held + head.size() < kBlock) return *this;
    absorb(tail_.data(), 1);
    tail_.fill(std::byte{0});
  }
  const size_t whole = bytes.size() / kBlock;
  absorb(bytes.data(), whole);
  std::ranges::copy(bytes.subspan(whole * kBlock), tail_.begin());
  return *this;
}

Hasher& Hasher::add(std::string_view text) {
  add(text.size());
  return update(std::as_bytes(std::span(text.data(), text.size())));
}

uint64_t Hasher::digest() const {
  // The length tells a short tail from one that ends in zeros.
  uint64_t state = mix(kMultiplier, length_);
  for (uint64_t lane : lanes_) state = mix(std::rotl(state, 23), lane);
  for (size_t i = 0; i < kLanes; ++i) state = mix(std::rotl(state, 23), wordAt(&tail_[8 * i]));
  return mix(mix(state, 0), 0);
}

uint64_t hashBytes(std::span<const std::byte> bytes) { return Hasher().update(bytes).digest(); }

}  // namespace camshaft
