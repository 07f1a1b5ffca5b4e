#include "tuner/timing_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/error.h"
#include "support/hash.h"

namespace camshaft {
namespace {

TEST(TimingCache, RoundTripsAndIsDeterministic) {
  TimingCache cache;
  cache.insert("b", 2.5);
  cache.insert("a", 1.5);
  const auto bytes = cache.serialize();
  const TimingCache copy(bytes);
  EXPECT_EQ(copy.find("a"), 1.5);
  EXPECT_EQ(copy.find("b"), 2.5);
  EXPECT_EQ(copy.find("c"), std::nullopt);
  EXPECT_EQ(copy.serialize(), bytes);
}

TEST(TimingCache, CombineKeepsItsOwnTimesUnlessAsked) {
  TimingCache mine, other;
  mine.insert("a", 1);
  other.insert("a", 9);
  other.insert("b", 2);
  mine.combine(other);
  EXPECT_EQ(mine.find("a"), 1);
  EXPECT_EQ(mine.find("b"), 2);
  mine.combine(other, true);
  EXPECT_EQ(mine.find("a"), 9);
}

TEST(TimingCache, KeepsWhatLayersWereGiven) {
  TimingCache cache;
  cache.insert("a", 1.5);
  const ChoiceKey key{1, 2, 3}, other{4};
  cache.setChoice(key, {0x1234, 0.25f});
  const auto bytes = cache.serialize();
  TimingCache copy(bytes);
  EXPECT_EQ(copy.findChoice(key), (Choice{0x1234, 0.25f}));
  EXPECT_EQ(copy.find("a"), 1.5);
  EXPECT_EQ(copy.findChoice(other), std::nullopt);
  EXPECT_EQ(copy.choiceKeys(), std::vector{key});
  EXPECT_EQ(copy.serialize(), bytes);

  copy.setChoice(key, {0x99, 2});
  copy.setChoice(other, {0x98, 3});
  cache.combine(copy);
  EXPECT_EQ(cache.findChoice(key)->tactic, 0x1234u);
  EXPECT_EQ(cache.findChoice(other)->tactic, 0x98u);
  cache.combine(copy, true);
  EXPECT_EQ(cache.findChoice(key)->tactic, 0x99u);
  cache.forgetChoice(key);
  EXPECT_EQ(cache.choiceKeys(), std::vector{other});
  cache.clear();
  EXPECT_TRUE(cache.choiceKeys().empty());
}

// A cache whose only entry has this time, with a hash that fits.
std::vector<std::byte> cacheWithTime(double milliseconds) {
  TimingCache cache;
  cache.insert("key", 1);
  std::vector<std::byte> bytes = cache.serialize();
  std::memcpy(bytes.data() + bytes.size() - sizeof milliseconds, &milliseconds,
              sizeof milliseconds);
  const uint64_t hash = hashBytes(std::span(bytes).subspan(16));
  std::memcpy(bytes.data() + 8, &hash, sizeof hash);
  return bytes;
}

TEST(TimingCache, WhatIsNoTimeIsLeftOut) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(TimingCache(cacheWithTime(2)).find("key"), 2);
  EXPECT_EQ(TimingCache(cacheWithTime(infinity)).find("key"), infinity);
  for (const double time : {std::nan(""), -std::nan(""), -1.0, -infinity})
    EXPECT_EQ(TimingCache(cacheWithTime(time)).find("key"), std::nullopt) << time;
}

TEST(TimingCache, DamageIsAnError) {
  TimingCache cache;
  cache.insert("key", 1);
  cache.setChoice({7}, {8, 9});
  const auto bytes = cache.serialize();
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{0x10};
    EXPECT_THROW(TimingCache{damaged}, Error) << "byte " << i;
    EXPECT_THROW(TimingCache{std::span(bytes).first(i == 0 ? 1 : i)}, Error) << "prefix " << i;
  }
}

}  // namespace
}  // namespace camshaft
