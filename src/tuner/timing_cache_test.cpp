#include "tuner/timing_cache.h"

#include <gtest/gtest.h>

#include "support/error.h"

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

TEST(TimingCache, DamageIsAnError) {
  TimingCache cache;
  cache.insert("key", 1);
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
