#include "support/cpu_info.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace camshaft {
namespace {

TEST(CpuInfo, FollowsTheAffinityMask) {
  EXPECT_GE(usableCores(), 1);
  int pinnedCores = 0;
  std::thread([&] {
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    int core = 0;
    while (!CPU_ISSET(core, &mask)) ++core;
    CPU_ZERO(&mask);
    CPU_SET(core, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    pinnedCores = usableCores();
  }).join();
  EXPECT_EQ(pinnedCores, 1);
}

TEST(CpuInfo, CacheSizesAreSane) {
  const CacheSizes sizes = cacheSizes();
  EXPECT_GE(sizes.l1Data, 8u << 10);
  EXPECT_LE(sizes.l1Data, 1u << 20);
  EXPECT_GE(sizes.l2, sizes.l1Data);
  EXPECT_LE(sizes.l2, 1u << 30);
}

TEST(CpuInfo, NamesTheCpuAndItsFeatures) {
  EXPECT_FALSE(cpuModelName().empty());
  const std::string features = "+" + cpuFeatures() + "+";
#if defined(__x86_64__)
  const auto has = [&](const char* name) { return features.find(name) != std::string::npos; };
  EXPECT_EQ(has("+avx2+"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(has("+vnni+"), __builtin_cpu_supports("avx512vnni") != 0);
#elif defined(__aarch64__)
  EXPECT_NE(features.find("+neon+"), std::string::npos);
#endif
  RecordProperty("features", features);
}

}  // namespace
}  // namespace camshaft
