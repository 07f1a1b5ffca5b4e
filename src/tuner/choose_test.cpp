#include "tuner/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::HasSubstr;

// Kernels under the reference backend's launcher, so that they can be timed.
Verdict anything(const Node&) { return Verdict::yes(); }
Verdict noEpilogue(const Node& node) {
  return node.epilogue ? Verdict::no("takes no epilogue") : Verdict::yes();
}
Prepared referencePrepared(const Node& node, const PrepareOptions& options) {
  Prepared prepared = reference::buildBackend().kernelsFor(node)[0].prepare(node, options);
  prepared.runtimeKernel = "reference/evaluate";
  return prepared;
}
Prepared hungryPrepared(const Node& node, const PrepareOptions& options) {
  Prepared prepared = referencePrepared(node, options);
  prepared.workspaceBytes = 1 << 20;
  return prepared;
}
Prepared failing(const Node&, const PrepareOptions&) { fail(ErrorKind::kInternal, "it broke"); }

const Kernel kHungry{"test/hungry", anything, hungryPrepared};
const Kernel kFirst{"test/first", noEpilogue, referencePrepared};
const Kernel kSecond{"test/second", noEpilogue, referencePrepared};
const Kernel kFailing{"test/failing", anything, failing};

const Kernel kTwo[] = {kFirst, kSecond};
const Kernel kHungryFirst[] = {kHungry, kFirst};
const Kernel kFailingFirst[] = {kFailing, kFirst};
const Kernel kOnlyFailing[] = {kFailing};
template <const auto& kKernels>
KernelList listOf(const Node&) { return kKernels; }
const BuildBackend kTwoBackend{"test", listOf<kTwo>, false};
const BuildBackend kHungryBackend{"test", listOf<kHungryFirst>, false};
const BuildBackend kFailingBackend{"test", listOf<kFailingFirst>, false};
const BuildBackend kOnlyFailingBackend{"test", listOf<kOnlyFailing>, false};

std::vector<int64_t> threeConfigurations(const Node&) { return {0, 1, 2}; }
std::vector<int64_t> prefetched;  // configurations
void notePrefetched(std::span<const Preparation> preparations, const PrepareOptions&) {
  for (const Preparation& each : preparations) prefetched.push_back(each.config);
}
const Kernel kUsuallyTwo[] = {{.name = "test/first",
                               .supports = anything,
                               .prepare = referencePrepared,
                               .configurations = threeConfigurations,
                               .usualConfigurations = 2}};
const BuildBackend kPrefetchBackend{.name = "test",
                                    .kernelsFor = listOf<kUsuallyTwo>,
                                    .prefersChannelsLast = false,
                                    .prefetch = notePrefetched};

int preparedCount = 0;
Prepared countedPrepared(const Node& node, const PrepareOptions& options) {
  ++preparedCount;
  return referencePrepared(node, options);
}
const Kernel kCounted[] = {{"test/first", anything, countedPrepared}, {"test/second", anything, countedPrepared}};
const BuildBackend kCountedBackend{"test", listOf<kCounted>, false};

Graph softmax() {
  return parseGraph("graph g(%x: f32[4, 8]) { %y = Softmax(%x) {axis = 1} \"layer\" return %y }", findOp);
}

std::vector<ChosenKernel> choose(Graph& graph, const BuildBackend& backend, ChooseOptions options = {}) {
  TimingCache own;
  if (!options.timings) options.timings = &own;
  options.backends = {&backend};
  std::vector<std::string> guessed;
  return chooseKernels(graph, resolveProfile(graph, {}, guessed), options);
}

TEST(Choose, LevelZeroTakesTheFirstAndTimesNothing) {
  Graph graph = softmax();
  TimingCache timings;
  const auto chosen = choose(graph, kTwoBackend, {.optimizationLevel = 0, .timings = &timings});
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  EXPECT_EQ(timings.size(), 0u);
  EXPECT_LT(chosen[0].info.milliseconds, 0);
  EXPECT_THAT(chosen[0].info.why, HasSubstr("nothing was timed"));
}

TEST(Choose, TimesCandidatesAndRemembers) {
  Graph graph = softmax();
  TimingCache timings;
  const auto chosen = choose(graph, kTwoBackend, {.timings = &timings});
  EXPECT_EQ(timings.size(), 2u);
  EXPECT_GE(chosen[0].info.milliseconds, 0);
  ASSERT_EQ(chosen[0].info.alternatives.size(), 1u);
  // Within the noise the first of the list is taken, so it may be a little slower.
  EXPECT_GE(chosen[0].info.alternatives[0].milliseconds * 1.06, chosen[0].info.milliseconds);
}

TEST(Choose, OfLayersThatRepeatOneIsPreparedInEveryWay) {
  Graph graph = parseGraph(R"(
graph g(%x: f32[4, 8]) {
  %a = Softmax(%x) {axis = 1} "first"
  %b = Softmax(%a) {axis = 1} "again"
  %c = Softmax(%b) {axis = 0} "other"
  return %c
})", findOp);
  preparedCount = 0;
  const auto chosen = choose(graph, kCountedBackend);
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_EQ(preparedCount, 2 + 1 + 2);
  EXPECT_EQ(chosen[0].kernel, chosen[1].kernel);
  EXPECT_EQ(chosen[1].info.alternatives.size(), 1u);
  EXPECT_THAT(chosen[1].info.why, HasSubstr("timing cache"));
}

TEST(Choose, KnownTimesDecideWithoutMeasuring) {
  Graph graph = softmax();
  TimingCache timings;
  choose(graph, kTwoBackend, {.timings = &timings});
  // The same keys with other times: the choice follows them.
  const std::vector<std::byte> bytes = timings.serialize();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::string winner : {"test/first", "test/second"}) {
    TimingCache known;
    for (const std::string name : {"test/first", "test/second"}) {
      const size_t at = text.find(name), begin = text.rfind("|1|", at), end = text.find("f32[4, 8]", at);
      ASSERT_NE(end, std::string::npos);
      known.insert(text.substr(begin, end + 9 - begin), name == winner ? 0.001 : 5.0);
    }
    Graph again = softmax();
    const auto chosen = choose(again, kTwoBackend, {.timings = &known});
    EXPECT_EQ(chosen[0].kernel->name, winner);
    EXPECT_EQ(chosen[0].info.milliseconds, 0.001);
    EXPECT_EQ(known.size(), 2u);
  }
}

TEST(Choose, WorkspaceBeyondTheLimitIsRefusedWithTheReason) {
  Graph graph = softmax();
  const auto chosen = choose(graph, kHungryBackend, {.optimizationLevel = 0, .workspaceLimit = 1000});
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  EXPECT_THAT(chosen[0].info.alternatives[0].note, HasSubstr("needs 1048576 bytes of workspace and the limit is 1000"));
  Graph other = softmax();
  EXPECT_EQ(choose(other, kHungryBackend, {.optimizationLevel = 0})[0].kernel->name, "test/hungry");
}

TEST(Choose, EpiloguesNoKernelTakesAreSplitOff) {
  Graph graph = parseGraph(R"(
graph g(%x: f32[4, 8], %z: f32[8]) {
  %y = Softmax(%x) {axis = 1} epilogue(%z) {add(x0:f32, x1:f32)} "layer"
  %t = Softmax(%y) {axis = 0} "after"
  return %t, %y
})", findOp);
  const auto chosen = choose(graph, kTwoBackend, {.optimizationLevel = 0});
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_EQ(chosen[1].node->op, &ops::Pointwise);
  EXPECT_EQ(graph.nodeCount(), 3u);
  verify(graph, "splitting");
  EXPECT_EQ(graph.outputs[1].value, chosen[1].node->output());
  EXPECT_EQ(chosen[2].node->input(0), chosen[1].node->output());
}

TEST(Choose, BackendsAreToldWhatWillBePrepared) {
  using ::testing::ElementsAre;
  TimingCache timings;
  const auto prefetchedAt = [&](int level) {
    prefetched.clear();
    Graph graph = softmax();
    choose(graph, kPrefetchBackend, {.optimizationLevel = level, .timings = &timings});
    return prefetched;
  };
  EXPECT_THAT(prefetchedAt(3), ElementsAre(0, 1));
  EXPECT_EQ(prefetchedAt(3).size(), 1u);  // the timing cache decides
  EXPECT_THAT(prefetchedAt(4), ElementsAre(0, 1, 2));
}

TEST(Choose, CandidatesThatFailAreDropped) {
  Graph graph = softmax();
  const auto chosen = choose(graph, kFailingBackend);
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  EXPECT_THAT(chosen[0].info.alternatives[0].note, HasSubstr("it broke"));
  Graph other = softmax();
  try {
    choose(other, kOnlyFailingBackend);
    ADD_FAILURE() << "a kernel that fails was chosen";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.message(), HasSubstr("node 'layer' (Softmax) has no kernel: test/failing: it broke"));
  }
}

}  // namespace
}  // namespace camshaft
