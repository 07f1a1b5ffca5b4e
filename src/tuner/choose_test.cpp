#include "tuner/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <new>

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::HasSubstr;

// Kernels under the reference backend's launcher, so that they can be timed.
Verdict anything(const Node&, const BuildContext&) { return Verdict::yes(); }
Verdict noEpilogue(const Node& node, const BuildContext&) {
  return node.epilogue ? Verdict::no("takes no epilogue") : Verdict::yes();
}
Prepared referencePrepared(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared = reference::buildBackend().kernelsFor(node)[0].prepare(node, context, 0);
  prepared.runtimeKernel = "reference/evaluate";
  return prepared;
}
Prepared hungryPrepared(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared = referencePrepared(node, context, 0);
  prepared.workspaceBytes = 1 << 20;
  return prepared;
}
Prepared hungrierPrepared(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared = referencePrepared(node, context, 0);
  prepared.workspaceBytes = 2 << 20;
  return prepared;
}
// A kilobyte for each thread.
Prepared sharingPrepared(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared = referencePrepared(node, context, 0);
  prepared.workspaceBytes = context.threads << 10;
  return prepared;
}
Prepared failing(const Node&, const BuildContext&, int64_t) {
  fail(ErrorKind::kInternal, "it broke");
}
Prepared starving(const Node&, const BuildContext&, int64_t) { throw std::bad_alloc(); }
// Computes along the other axis of a matrix.
Prepared wrongPrepared(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared = referencePrepared(node, context, 0);
  std::string text(reinterpret_cast<const char*>(prepared.params.data()), prepared.params.size());
  text.replace(text.find("axis = 1"), 8, "axis = 0");
  std::memcpy(prepared.params.data(), text.data(), text.size());
  return prepared;
}
// Does not load.
Prepared damagedPrepared(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared = referencePrepared(node, context, 0);
  prepared.params.resize(prepared.params.size() / 2);
  return prepared;
}

const Kernel kHungry{"test/hungry", anything, hungryPrepared};
const Kernel kFirst{"test/first", noEpilogue, referencePrepared};
const Kernel kSecond{"test/second", noEpilogue, referencePrepared};
const Kernel kFailing{"test/failing", anything, failing};

const Kernel kWrong{"test/wrong", anything, wrongPrepared};
const Kernel kDamaged{"test/damaged", anything, damagedPrepared};
const Kernel kStarving{"test/starving", anything, starving};

const Kernel kTwo[] = {kFirst, kSecond};
const Kernel kWrongFirst[] = {kWrong, kFirst};
const Kernel kOnlyWrong[] = {kWrong};
const Kernel kDamagedFirst[] = {kDamaged, kFirst};
const Kernel kStarvingFirst[] = {kStarving, kFirst};
const Kernel kHungryFirst[] = {kHungry, kFirst};
const Kernel kOnlyHungry[] = {{"test/hungrier", anything, hungrierPrepared}, kHungry};
const Kernel kSharing[] = {{"test/sharing", anything, sharingPrepared}};
const Kernel kFailingFirst[] = {kFailing, kFirst};
const Kernel kOnlyFailing[] = {kFailing};
template <const auto& kKernels>
KernelList listOf(const Node&) {
  return kKernels;
}
BuildTarget thisMachine(int) { return {}; }
constexpr BuildBackend backendOf(KernelList (*kernels)(const Node&)) {
  return {
      .name = "test", .kernelsFor = kernels, .target = thisMachine, .prefersChannelsLast = false};
}
const BuildBackend kTwoBackend = backendOf(listOf<kTwo>);
const BuildBackend kHungryBackend = backendOf(listOf<kHungryFirst>);
const BuildBackend kOnlyHungryBackend = backendOf(listOf<kOnlyHungry>);
const BuildBackend kSharingBackend = backendOf(listOf<kSharing>);
const BuildBackend kFailingBackend = backendOf(listOf<kFailingFirst>);
const BuildBackend kWrongBackend = backendOf(listOf<kWrongFirst>);
const BuildBackend kOnlyWrongBackend = backendOf(listOf<kOnlyWrong>);
const BuildBackend kDamagedBackend = backendOf(listOf<kDamagedFirst>);
const BuildBackend kStarvingBackend = backendOf(listOf<kStarvingFirst>);
const BuildBackend kOnlyFailingBackend = backendOf(listOf<kOnlyFailing>);

std::vector<int64_t> threeConfigurations(const Node&, const BuildContext&) { return {0, 1, 2}; }
std::vector<int64_t> prefetched;  // configurations
void notePrefetched(std::span<const Preparation> preparations, const BuildContext&) {
  for (const Preparation& each : preparations) prefetched.push_back(each.config);
}
const Kernel kUsuallyTwo[] = {{.name = "test/first",
                               .supports = anything,
                               .prepare = referencePrepared,
                               .configurations = threeConfigurations,
                               .usualConfigurations = 2}};
const BuildBackend kPrefetchBackend{.name = "test",
                                    .kernelsFor = listOf<kUsuallyTwo>,
                                    .target = thisMachine,
                                    .prefersChannelsLast = false,
                                    .prefetch = notePrefetched};

int preparedCount = 0;
Prepared countedPrepared(const Node& node, const BuildContext& context, int64_t) {
  ++preparedCount;
  return referencePrepared(node, context, 0);
}
const Kernel kCounted[] = {{"test/first", anything, countedPrepared},
                           {"test/second", anything, countedPrepared}};
const BuildBackend kCountedBackend = backendOf(listOf<kCounted>);

Graph softmax() {
  return parseGraph("graph g(%x: f32[4, 8]) { %y = Softmax(%x) {axis = 1} \"layer\" return %y }",
                    findOp);
}

std::vector<ChosenKernel> choose(Graph& graph, const BuildBackend& backend, TuneOptions tuning = {},
                                 std::vector<const BuildBackend*> after = {}) {
  TimingCache own;
  if (!tuning.timings) tuning.timings = &own;
  if (tuning.threads == 0) tuning.threads = 1;
  after.insert(after.begin(), &backend);
  const ChooseOptions options{.tuning = tuning, .backends = after, .target = {}};
  std::vector<std::string> guessed;
  WeightsBuilder weights;
  return chooseKernels(graph, resolveProfile(graph, {}, guessed), options, weights);
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
  EXPECT_EQ(timings.size(), 2u + 1u);  // two times, and that the winner was checked
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
})",
                           findOp);
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
      const size_t at = text.find(name), begin = text.rfind("|1|", at),
                   end = text.find("f32[4, 8]", at);
      ASSERT_NE(end, std::string::npos);
      known.insert(text.substr(begin, end + 9 - begin), name == winner ? 0.001 : 5.0);
    }
    Graph again = softmax();
    const auto chosen = choose(again, kTwoBackend, {.timings = &known});
    EXPECT_EQ(chosen[0].kernel->name, winner);
    EXPECT_EQ(chosen[0].info.milliseconds, 0.001);
    EXPECT_EQ(known.size(), 2u + 1u);
  }
}

TEST(Choose, WorkspaceBeyondTheLimitIsRefusedWithTheReason) {
  Graph graph = softmax();
  const auto chosen =
      choose(graph, kHungryBackend, {.optimizationLevel = 0, .workspaceLimit = 1000});
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  EXPECT_THAT(chosen[0].info.alternatives[0].note,
              HasSubstr("needs 1048576 bytes of workspace and the limit is 1000"));
  Graph other = softmax();
  EXPECT_EQ(choose(other, kHungryBackend, {.optimizationLevel = 0})[0].kernel->name, "test/hungry");
}

TEST(Choose, EpiloguesNoKernelTakesAreSplitOff) {
  Graph graph = parseGraph(R"(
graph g(%x: f32[4, 8], %z: f32[8]) {
  %y = Softmax(%x) {axis = 1} epilogue(%z) {add(x0:f32, x1:f32)} "layer"
  %t = Softmax(%y) {axis = 0} "after"
  return %t, %y
})",
                           findOp);
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
    EXPECT_THAT(error.message(),
                HasSubstr("node 'layer' (Softmax) has no kernel: test/failing: it broke"));
  }
}

Graph softmaxOf(int64_t rows) {
  return parseGraph(
      str("graph g(%x: f32[", rows, ", 512]) { %y = Softmax(%x) {axis = 1} \"layer\" return %y }"),
      findOp);
}

// Warnings of a build.
struct Warnings {
  std::vector<std::string> texts;
  Log log() {
    return Log([this](Severity, std::string_view text) { texts.emplace_back(text); },
               Severity::kWarning);
  }
};

TEST(Choose, WhereAFastKernelWantsTooMuchWorkspaceAWarningSaysSo) {
  Graph graph = softmax();
  Warnings warnings;
  TimingCache timings;
  const auto chosen = choose(graph, kHungryBackend,
                             {.workspaceLimit = 1000, .timings = &timings, .log = warnings.log()});
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0],
              testing::AllOf(HasSubstr("node 'layer' (Softmax)"), HasSubstr("test/hungry"),
                             HasSubstr("1048576 bytes"), HasSubstr("limit is 1000")));
  const std::vector<std::byte> bytes = timings.serialize();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find("hungry"),
            std::string::npos)
      << "a build with more workspace would not try it";
}

TEST(Choose, WhereAllWantTooMuchWorkspaceTheOneThatWantsLeastGetsIt) {
  for (const int level : {0, 3}) {
    Graph graph = softmax();
    Warnings warnings;
    const auto chosen =
        choose(graph, kOnlyHungryBackend,
               {.optimizationLevel = level, .workspaceLimit = 0, .log = warnings.log()},
               {&reference::buildBackend()});
    EXPECT_EQ(chosen[0].kernel->name, "test/hungry");
    EXPECT_TRUE(chosen[0].prepared.workspaceBytes.isConstant(1 << 20));
    ASSERT_EQ(warnings.texts.size(), 1u);
    EXPECT_THAT(warnings.texts[0], HasSubstr("wants 1048576 bytes"));
    ASSERT_EQ(chosen[0].info.alternatives.size(), 1u);
    EXPECT_EQ(chosen[0].info.alternatives[0].kernel, "test/hungrier");
  }
}

TEST(Choose, WorkspaceIsPlannedForAsManyThreadsAsItHasRoomFor) {
  const auto planned = [](int64_t limit) {
    Graph graph = softmax();
    Warnings warnings;
    const auto chosen = choose(
        graph, kSharingBackend,
        {.optimizationLevel = 0, .threads = 8, .workspaceLimit = limit, .log = warnings.log()});
    EXPECT_EQ(warnings.texts.size(), limit < 1 << 10 ? 1u : 0u);
    return chosen[0].prepared.workspaceBytes.value() >> 10;
  };
  EXPECT_EQ(planned(8 << 10), 8);
  EXPECT_EQ(planned((8 << 10) - 1), 7);
  EXPECT_EQ(planned(3500), 3);
  EXPECT_EQ(planned(1024), 1);
  EXPECT_EQ(planned(100), 1) << "with a warning";
}

TEST(Choose, ResultsAreComparedWithTheDefinition) {
  Graph graph = softmax();
  EXPECT_THAT(choose(graph, kTwoBackend)[0].info.why,
              HasSubstr("compared with the operator's definition"));
}

TEST(Choose, AKernelWithWrongResultsIsDroppedWithAWarning) {
  for (const int64_t rows : {4, 8192}) {  // against the definition, and against the plainest kernel
    TimingCache timings;
    Warnings warnings;
    // The wrong one is as fast, and first in the list.
    const auto build = [&] {
      Graph graph = softmaxOf(rows);
      const auto chosen =
          choose(graph, kWrongBackend, {.timings = &timings, .log = warnings.log()});
      EXPECT_EQ(chosen[0].kernel->name, "test/first");
      return chosen[0].info;
    };
    const StepInfo info = build();
    const std::string judge =
        rows == 4 ? "compared with the operator's definition" : "compared with test/first";
    ASSERT_EQ(info.alternatives.size(), 1u);
    // The second may have been so much faster that the first was never looked at.
    if (info.alternatives[0].note == "slower") continue;
    EXPECT_THAT(info.alternatives[0].note, HasSubstr(str("its results are wrong, ", judge)));
    ASSERT_EQ(warnings.texts.size(), 1u);
    EXPECT_THAT(warnings.texts[0],
                testing::AllOf(HasSubstr("node 'layer' (Softmax): kernel test/wrong is not used"),
                               HasSubstr("elements of output 0 (f32["), HasSubstr("instead of")));
    build();  // the timing cache knows
    EXPECT_EQ(warnings.texts.size(), 1u);
  }
}

TEST(Choose, WhereTheOnlyKernelIsWrongTheNextBackendTakesTheNode) {
  Graph graph = softmax();
  Warnings warnings;
  const auto chosen =
      choose(graph, kOnlyWrongBackend, {.log = warnings.log()}, {&reference::buildBackend()});
  EXPECT_EQ(chosen[0].kernel->name, "reference/evaluate");
  EXPECT_THAT(chosen[0].info.alternatives[0].note, HasSubstr("its results are wrong"));
  EXPECT_EQ(warnings.texts.size(), 1u);
  Graph alone = softmax();
  EXPECT_THROW(choose(alone, kOnlyWrongBackend), Error);
}

TEST(Choose, LayersThatRepeatAreCheckedOnce) {
  Graph graph = parseGraph(R"(
graph g(%x: f32[4, 8]) {
  %a = Softmax(%x) {axis = 1} "first"
  %b = Softmax(%a) {axis = 1} "again"
  return %b
})",
                           findOp);
  Warnings warnings;
  const auto chosen = choose(graph, kWrongBackend, {.log = warnings.log()});
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  EXPECT_EQ(chosen[1].kernel->name, "test/first");
  EXPECT_LE(warnings.texts.size(), 1u);
}

TEST(Choose, AKernelThatDoesNotRunIsDropped) {
  Graph graph = softmax();
  const auto chosen = choose(graph, kDamagedBackend);
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  EXPECT_FALSE(chosen[0].info.alternatives[0].note.empty());
}

TEST(Choose, LackOfMemoryIsAReasonAndNotRemembered) {
  Graph graph = softmax();
  TimingCache timings;
  const auto chosen = choose(graph, kStarvingBackend, {.timings = &timings});
  EXPECT_EQ(chosen[0].kernel->name, "test/first");
  EXPECT_THAT(chosen[0].info.alternatives[0].note, HasSubstr("out of memory"));
  const std::vector<std::byte> bytes = timings.serialize();
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find("test/starving"),
      std::string::npos);
}

TEST(Choose, RandomNumbersAreNotCompared) {
  Graph graph = parseGraph("graph g() { %y = Random() {shape = [4, 4]} return %y }", findOp);
  EXPECT_THAT(choose(graph, reference::buildBackend())[0].info.why,
              HasSubstr("unchecked: its results are random"));
}

TEST(Choose, KernelsAreNotRunAtSizesThatDoNotFit) {
  Graph graph = parseGraph(
      "graph g(%x: f32[n, 3], %y: f32[m, 3]) { %z = Pointwise(%x, %y) {expr = add(x0:f32, x1:f32)} "
      "return %z }",
      findOp);
  ShapeProfile profile{.inputs = {{"x", {.min = {2, 3}, .opt = {4, 3}, .max = {9, 3}}},
                                  {"y", {.min = {2, 3}, .opt = {5, 3}, .max = {9, 3}}}}};
  TimingCache timings;
  std::vector<std::string> guessed;
  const TuneOptions tuning{.threads = 1, .timings = &timings};
  WeightsBuilder weights;
  const auto chosen =
      chooseKernels(graph, resolveProfile(graph, profile, guessed),
                    {.tuning = tuning, .backends = {&kTwoBackend}, .target = {}}, weights);
  EXPECT_THAT(chosen[0].info.why, HasSubstr("first in the list"));
  EXPECT_EQ(timings.size(), 0u);
}

std::vector<std::string> events;
Prepared notedPrepared(const Node& node, const BuildContext& context, int64_t) {
  events.push_back(str("prepare ", node.name));
  Prepared prepared = referencePrepared(node, context, 0);
  prepared.inputs.push_back(
      StepInput::fromBytes({DataType::kU8, makeShape({3})}, std::vector<std::byte>(3)));
  return prepared;
}
const Kernel kNoted[] = {{"test/noted", anything, notedPrepared}};
const BuildBackend kNotedBackend = backendOf(listOf<kNoted>);

struct NotingSelector : KernelSelector {
  std::vector<size_t> select(const LayerFacts& layer, std::span<const Tactic>) override {
    events.push_back(str("choose ", layer.name));
    return {};
  }
  void report(std::span<const Selected>) override {}
};

// Candidates have packed weights, so that of all nodes at once would be several times the model.
TEST(Choose, NodesOfTheHostAreDecidedBeforeTheNextIsPrepared) {
  Graph graph = parseGraph(
      "graph g(%x: f32[4, 8]) { %a = Softmax(%x) {axis = 1} \"a\" "
      "%b = Softmax(%a) {axis = 0} \"b\" return %b }",
      findOp);
  events.clear();
  NotingSelector selector;
  const auto chosen = choose(graph, kNotedBackend, {.optimizationLevel = 0, .selector = &selector});
  EXPECT_THAT(events, testing::ElementsAre("prepare a", "choose a", "prepare b", "choose b"));
  for (const ChosenKernel& each : chosen) {
    EXPECT_TRUE(each.prepared.inputs.back().packed.empty()) << "it is in the engine's weights";
    EXPECT_EQ(each.packedAt.back(), 0) << "equal blocks are one";
  }
}

}  // namespace
}  // namespace camshaft
