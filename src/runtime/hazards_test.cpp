#include "runtime/hazards.h"

#include <gmock/gmock.h>

namespace camshaft {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr MemoryRange kA{0, 16}, kB{16, 32}, kC{32, 48}, kD{48, 64};

TEST(HazardsTest, BranchesWaitForTheirCommonInputOnly) {
  const TouchedMemory steps[] = {{{kA}, {kB}}, {{kB}, {kC}}, {{kB}, {kD}}, {{kC, kD}, {kA}}};
  const StepOrder order = orderByMemory(steps);
  EXPECT_THAT(order, ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(2, 1)));
  EXPECT_FALSE(isChain(order));
}

TEST(HazardsTest, MemoryUsedAgainIsWaitedFor) {
  const TouchedMemory overwritesWhatWasRead[] = {{{kA}, {kB}}, {{kC}, {kA}}};
  EXPECT_TRUE(isChain(orderByMemory(overwritesWhatWasRead)));
  const TouchedMemory writesTwice[] = {{{kA}, {kB}}, {{kC}, {{24, 28}}}};
  EXPECT_TRUE(isChain(orderByMemory(writesTwice)));
  const TouchedMemory readsTogether[] = {{{kA}, {kB}}, {{kA}, {kC}}};
  EXPECT_FALSE(isChain(orderByMemory(readsTogether)));
}

TEST(HazardsTest, WhatOthersWaitForIsLeftOut) {
  const TouchedMemory steps[] = {{{kA}, {kB}}, {{kB}, {kC}}, {{kB, kC}, {kD}}};
  EXPECT_THAT(orderByMemory(steps)[2], ElementsAre(1));
}

TEST(HazardsTest, VeryManyStepsAreNotComparedWithEachOther) {
  std::vector<TouchedMemory> steps(kMostOrdered, {{kA}, {}});
  EXPECT_FALSE(isChain(orderByMemory(steps)));
  steps.resize(1'000'000);
  EXPECT_TRUE(isChain(orderByMemory(steps)));
}

TEST(HazardsTest, NeighboursDoNotMeetAndEmptyRangesMeetNothing) {
  const TouchedMemory steps[] = {{{}, {kA}}, {{kB}, {kC}}, {{{8, 8}}, {kD}}};
  EXPECT_THAT(orderByMemory(steps), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

}  // namespace
}  // namespace camshaft
