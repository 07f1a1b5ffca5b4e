#include "support/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <unordered_set>
#include <vector>

namespace camshaft {
namespace {

std::vector<std::byte> randomBytes(size_t size) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Hash, PiecesGiveTheHashOfTheWhole) {
  const std::vector<std::byte> bytes = randomBytes(300);
  const std::span<const std::byte> all = bytes;
  for (size_t first = 0; first <= 100; ++first)
    for (size_t second = first; second <= 200; second += 7)
      ASSERT_EQ(Hasher()
                    .update(all.first(first))
                    .update(all.subspan(first, second - first))
                    .update(all.subspan(second))
                    .digest(),
                hashBytes(all));
}

// Engine files and caches store these values: a change here makes all of them foreign.
TEST(Hash, IsStable) {
  EXPECT_EQ(hashBytes({}), 0xd766f24285c96165ull);
  EXPECT_EQ(hashBytes(bytesOf("camshaft")), 0x06657c9d00221b66ull);
  EXPECT_EQ(hashBytes(bytesOf("a text that is longer than one block of the hash")),
            0xfa20210f02a98352ull);
}

TEST(Hash, TellsLengthsOfZerosApart) {
  const std::vector<std::byte> zeros(200);
  std::unordered_set<uint64_t> seen;
  for (size_t size = 0; size <= zeros.size(); ++size)
    EXPECT_TRUE(seen.insert(hashBytes(std::span(zeros).first(size))).second) << size;
}

TEST(Hash, OneBitFlipsAboutHalfOfTheResult) {
  for (size_t size : {1, 8, 31, 32, 33, 64, 100}) {
    std::vector<std::byte> bytes = randomBytes(size);
    const uint64_t before = hashBytes(bytes);
    int flips = 0;
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      const std::byte mask{static_cast<unsigned char>(1 << bit % 8)};
      bytes[bit / 8] ^= mask;
      const int changed = std::popcount(hashBytes(bytes) ^ before);
      bytes[bit / 8] ^= mask;
      EXPECT_GE(changed, 10) << "bit " << bit << " of " << size << " bytes";
      flips += changed;
    }
    const double average = flips / (8.0 * static_cast<double>(size));
    EXPECT_GT(average, 28) << size;
    EXPECT_LT(average, 36) << size;
  }
}

TEST(Hash, SmallNumbersDoNotCollide) {
  std::unordered_set<uint64_t> seen;
  for (int a = 0; a < 300; ++a)
    for (int b = 0; b < 300; ++b) seen.insert(Hasher().add(a).add(b).digest());
  EXPECT_EQ(seen.size(), 300u * 300u);
}

TEST(Hasher, ValuesCountByValueAndTextsByLength) {
  EXPECT_EQ(Hasher().add(-1).digest(), Hasher().add(int64_t{-1}).digest());
  EXPECT_NE(Hasher().add("ab").add("c").digest(), Hasher().add("a").add("bc").digest());
}

}  // namespace
}  // namespace camshaft
