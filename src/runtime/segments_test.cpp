#include "runtime/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace camshaft {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Three steps on the device, a copy to the host, a step there that reads it, and one more on the
// device, which writes the output.
Plan mixedPlan() {
  Plan plan;
  plan.device = "cuda";
  std::vector<Step>& steps = plan.profiles.emplace_back().steps;
  const auto at = [](Place place, int64_t offset) {
    return Operand{.place = place, .offset = offset, .index = 0};
  };
  for (int i = 0; i < 3; ++i)
    steps.push_back({.kernel = "cuda/a",
                     .inputs = {at(Place::kArena, 0)},
                     .outputs = {at(Place::kArena, 256)}});
  steps.push_back({.kind = StepKind::kCopy,
                   .inputs = {at(Place::kArena, 256)},
                   .outputs = {at(Place::kHostArena, 0)}});
  steps.push_back({.kernel = "cpu/b",
                   .inputs = {at(Place::kHostArena, 0)},
                   .outputs = {at(Place::kHostArena, 256)}});
  steps.push_back(
      {.kernel = "cuda/c", .inputs = {at(Place::kArena, 256)}, .outputs = {at(Place::kOutput, 0)}});
  return plan;
}

std::vector<std::pair<size_t, size_t>> rangesOf(const std::vector<Segment>& segments) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (const Segment& segment : segments) ranges.emplace_back(segment.begin, segment.end);
  return ranges;
}

TEST(Segments, AreCutAtCopiesAndHostSteps) {
  const Plan plan = mixedPlan();
  const std::vector<Segment> segments = segmentsOf(plan, plan.profiles[0], true);
  EXPECT_THAT(rangesOf(segments), ElementsAre(Pair(0, 3), Pair(3, 4), Pair(4, 5), Pair(5, 6)));
  EXPECT_TRUE(segments[2].onHost);
  EXPECT_TRUE(segments[2].waits) << "the copy may still be under way";
  EXPECT_THAT(segments[3].results, ElementsAre(Pair(5, 0)));
}

TEST(Segments, LeaveOutWhatCannotBeRecorded) {
  const Plan plan = mixedPlan();
  EXPECT_THAT(rangesOf(segmentsOf(plan, plan.profiles[0], true, {1})),
              ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3), Pair(3, 4), Pair(4, 5), Pair(5, 6)));
}

TEST(Segments, AreOneOnTheHost) {
  Plan plan = mixedPlan();
  plan.device = "cpu";
  std::erase_if(plan.profiles[0].steps,
                [](const Step& step) { return step.kind == StepKind::kCopy; });
  EXPECT_THAT(rangesOf(segmentsOf(plan, plan.profiles[0], false)), ElementsAre(Pair(0, 5)));
}

}  // namespace
}  // namespace camshaft
