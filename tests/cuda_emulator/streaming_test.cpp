// Weight streaming: engines compute the same whatever part of their weights is on the device, and
// budgets hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/run.h"
#include "cuda_emulator/emulated_backend.h"
#include "compiler/refit.h"
#include "engine/engine_file.h"
#include "support/error.h"

namespace camshaft {
namespace {

using conformance::Case;
using conformance::Problem;
using conformance::runOn;
using ::testing::HasSubstr;

const Case& caseNamed(std::string_view name) {
  for (const Case& c : conformance::allCases())
    if (c.name == name) return c;
  throw std::out_of_range(std::string(name));
}

class Streaming : public ::testing::TestWithParam<const char*> {
 protected:
  Streaming() {
    const Graph graph = case_.graph();
    CompileOptions options;
    options.device = "cuda";
    options.optimizationLevel = 0;
    options.profiles = case_.profiles(graph);
    Plan plan = compileRefittable(graph, options,
                                  {.weights = RefitRequest::Weights::kMarked,
                                   .marked = {case_.weights.begin(), case_.weights.end()},
                                   .nameOf = {}});
    plan.streamsWeights = true;
    engine_ = std::make_shared<LoadedEngine>(readEngine(writeEngine(plan)));
    for (size_t i = 0; i < case_.runs.size(); ++i)
      problems_.emplace_back(graph, case_.inputs(graph, case_.runs[i]), case_.profileOf(i));
  }

  void expectRight() {
    Context context(engine_, 1);
    for (int round = 0; round < 3; ++round)  // launched, recorded, replayed
      for (const Problem& problem : problems_)
        EXPECT_EQ(runOn(context, problem, case_.tolerance), "");
  }

  emulator::EmulatedBackend backend_;
  const Case& case_ = caseNamed(GetParam());
  std::shared_ptr<const LoadedEngine> engine_;
  std::vector<Problem> problems_;
};

TEST_P(Streaming, KeepsTheBudgetAndTheResults) {
  DeviceWeights& weights = *engine_->deviceWeights();
  const int64_t all = weights.placement().streamableBytes();
  ASSERT_GT(all, 0);
  EXPECT_EQ(weights.placement().budget(), all);
  for (const int64_t budget : {all, all / 2, int64_t{0}, all}) {
    weights.setBudget(budget);
    const WeightPlacement& placement = weights.placement();
    EXPECT_EQ(placement.isStreaming(), budget < all);
    int64_t kept = 0;
    for (const WeightPlacement::Block& block : placement.blocks())
      if (block.isStreamable && !block.isStreamed) kept += block.bytes;
    EXPECT_LE(kept, budget);
    EXPECT_EQ(placement.scratchBytes() > 0, budget < all);
    expectRight();
  }
}

TEST_P(Streaming, FindsABudgetThatHasRoom) {
  DeviceWeights& weights = *engine_->deviceWeights();
  const int64_t all = weights.placement().streamableBytes();
  const int64_t free = engine_->device()->freeBytes();
  ASSERT_GT(free, 2 * all);
  EXPECT_EQ(weights.automaticBudget(0), all);
  EXPECT_EQ(weights.automaticBudget(free), 0);
  const int64_t some = weights.automaticBudget(free - all + 1);
  EXPECT_LT(some, all);
  weights.setBudget(some);
  const int64_t needed = weights.placement().residentBytes() + weights.placement().scratchBytes();
  EXPECT_TRUE(some == 0 || needed < all) << needed << " of " << all;
  // What is on the device already is not in the way.
  weights.setBudget(all);
  const Context context(engine_, 1);
  EXPECT_EQ(weights.automaticBudget(0), all);
}

TEST_P(Streaming, IsRefitted) {
  engine_->deviceWeights()->setBudget(0);
  const auto weights = remakeWeights(engine_->plan(), *engine_->plan().refit);
  Context context(engine_, 1);
  engine_->replaceWeights(std::vector<std::byte>(weights.bytes.size()),
                          engine_->plan().refit->sources);
  (void)runOn(context, problems_[0], case_.tolerance);
  engine_->replaceWeights(weights.bytes, engine_->plan().refit->sources);
  EXPECT_EQ(runOn(context, problems_[0], case_.tolerance), "");
}

TEST_P(Streaming, RefusesABudgetWhileContextsAreThere) {
  const Context context(engine_, 1);
  try {
    engine_->deviceWeights()->setBudget(0);
    FAIL() << "the budget was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("while there are contexts"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Streaming,
                         ::testing::Values("weights_of_conv_norm_relu_gemm", "weights_of_siblings",
                                           "weights_in_a_loop"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace camshaft
