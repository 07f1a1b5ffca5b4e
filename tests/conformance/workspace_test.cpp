// Every case with little or no workspace: other kernels than usual, or workspace for fewer threads,
// but none that evaluates an element at a time where a fast one does without limits.
#include <gtest/gtest.h>

#include <set>

#include "conformance/run.h"
#include "support/error.h"

namespace camshaft::conformance {
namespace {

std::set<std::string> plainSteps(const Plan& plan) {
  std::set<std::string> names;
  for (const ProfilePlan& profile : plan.profiles)
    for (const Step& step : profile.steps)
      if (step.kernel.starts_with("reference/")) names.insert(step.name);
  for (const auto& body : plan.bodies) names.merge(plainSteps(*body));
  return names;
}

class Workspace : public ::testing::TestWithParam<int64_t> {};

TEST_P(Workspace, OfThatSizeIsEnough) {
  for (const Case& c : allCases()) {
    SCOPED_TRACE(c.name);
    const Graph graph = c.graph();
    const auto usual = build(graph, "cpu", 0, c.profiles(graph));
    const auto engine = build(graph, "cpu", 0, c.profiles(graph), GetParam());
    EXPECT_EQ(plainSteps(engine->plan()), plainSteps(usual->plan()));
    for (const int threads : {1, 2}) {
      Context context(engine, threads);
      for (size_t i = 0; i < c.runs.size(); ++i) {
        const Problem problem(graph, c.inputs(graph, c.runs[i]), c.profileOf(i));
        EXPECT_EQ(runOn(context, problem, c.tolerance), "") << "run " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, Workspace, ::testing::Values(0, 1 << 10, 1 << 20));

}  // namespace
}  // namespace camshaft::conformance
