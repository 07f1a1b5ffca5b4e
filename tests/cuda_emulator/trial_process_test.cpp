// Builds for a GPU whose kernels fault, crash, hang or compute nothing, each in the process where
// kernels are tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>

#include "compiler/compile.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two kernels take it: the depthwise one, in several configurations, and the plain one.
std::string depthwise() {
  std::string weights;
  for (int i = 0; i < 16 * 9; ++i) weights += str(i == 0 ? "" : ", ", 0.25 * (i % 7 - 3));
  return str(R"(
graph net(%x: f32[1, 10, 9, 16]) {
  %w: f32[16, 1, 3, 3] = constant [)",
             weights, R"(]
  %y = Conv(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], groups = 16, channels_last = true} "layer"
  return %y
})");
}

struct Built {
  Plan plan;
  std::vector<std::string> warnings, notes;
  const Step& step() const {
    for (const Step& step : plan.profiles[0].steps)
      if (step.info.layerType == "Conv") return step;
    ADD_FAILURE() << "the plan has no convolution";
    return plan.profiles[0].steps[0];
  }
};

// The library reads the request when a process loads it: this one has none, and those that try
// kernels see what is set now.
Built build(const char* fault, TimingCache* timings = nullptr,
            std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  static std::once_flag once;
  std::call_once(once, [] {
    unsetenv("CAMSHAFT_EMULATED_FAULT");
    setenv("CAMSHAFT_CUDA_LIBRARY", CAMSHAFT_EMULATED_LIBRARY, 1);
    EXPECT_EQ(whyUnusable("cuda"), "");
  });
  setenv("CAMSHAFT_EMULATED_FAULT", fault, 1);
  Built built;
  CompileOptions options;
  options.device = "cuda";
  options.timings = timings;
  options.trialLimit = limit;
  options.log = Log(
      [&](Severity severity, std::string_view text) {
        (severity == Severity::kWarning ? built.warnings : built.notes).emplace_back(text);
      },
      Severity::kVerbose);
  built.plan = compile(parseGraph(depthwise(), findOp), options);
  EXPECT_THAT(built.notes, Not(Contains(HasSubstr("tried in this process"))));
  return built;
}

std::string notesOf(const Step& step) {
  std::string text;
  for (const auto& alternative : step.info.alternatives)
    text += alternative.kernel + ": " + alternative.note + "\n";
  return text;
}

TEST(TrialProcess, SoundKernelsAreTimedAndChecked) {
  const Built built = build("");
  EXPECT_THAT(built.warnings, IsEmpty());
  EXPECT_THAT(built.step().kernel, HasSubstr("cuda/conv_"));
  EXPECT_GT(built.step().info.milliseconds, 0);
  EXPECT_THAT(built.step().info.why, HasSubstr("compared with the operator's definition"));
}

TEST(TrialProcess, AKernelThatFaultsIsDroppedAndTheBuildGoesOn) {
  TimingCache timings;
  const Built built = build("depthwise:716", &timings);
  EXPECT_THAT(built.step().kernel, Not(HasSubstr("depthwise")));
  EXPECT_THAT(notesOf(built.step()), AllOf(HasSubstr("depthwise"), HasSubstr("(CUDA error 716)")));
  EXPECT_THAT(built.warnings, Contains(AllOf(HasSubstr("node 'layer'"), HasSubstr("depthwise"),
                                             HasSubstr("is not used"), HasSubstr("716"))));
  // A later build does not try it again, though it is sound now.
  const Built again = build("", &timings);
  EXPECT_THAT(again.step().kernel, Not(HasSubstr("depthwise")));
  EXPECT_THAT(again.warnings, IsEmpty());
}

TEST(TrialProcess, AKernelThatCrashesIsDropped) {
  const Built built = build("depthwise:crash");
  EXPECT_THAT(built.step().kernel, Not(HasSubstr("depthwise")));
  EXPECT_THAT(notesOf(built.step()), HasSubstr("the process that ran it ended by signal 11"));
}

// But for the first, which the build compiles itself.
TEST(TrialProcess, KernelsWhoseCompilerCrashesAreDropped) {
  const Built built = build("depthwise:compile");
  EXPECT_THAT(notesOf(built.step()), HasSubstr("the process that compiled it ended by signal 11"));
  EXPECT_THAT(built.step().kernel, HasSubstr("cuda/conv_"));
}

TEST(TrialProcess, AKernelThatHangsIsDropped) {
  const Built built = build("depthwise:hang", nullptr, std::chrono::milliseconds(1500));
  EXPECT_THAT(built.step().kernel, Not(HasSubstr("depthwise")));
  EXPECT_THAT(notesOf(built.step()), HasSubstr("did not end within 1.5 s"));
}

// All of them, whichever is timed as the fastest.
TEST(TrialProcess, KernelsThatWriteNothingAreDropped) {
  const Built built = build("conv:nothing");
  EXPECT_THAT(built.step().kernel, Not(HasSubstr("cuda/conv")));
  EXPECT_THAT(notesOf(built.step()), HasSubstr("its results are wrong"));
  EXPECT_THAT(built.warnings, Contains(HasSubstr("elements of output 0")));
}

TEST(TrialProcess, WhereEveryKernelFaultsTheHostTakesTheLayer) {
  const Built built = build("conv:716");
  EXPECT_THAT(built.step().kernel, HasSubstr("cpu/"));
}

// What a build with another program says.
std::vector<std::string> notesWith(const char* program) {
  setenv("CAMSHAFT_TRIALS", program, 1);
  std::vector<std::string> notes;
  CompileOptions options;
  options.device = "cuda";
  options.log =
      Log([&](Severity, std::string_view text) { notes.emplace_back(text); }, Severity::kVerbose);
  const Plan plan = compile(parseGraph(depthwise(), findOp), options);
  unsetenv("CAMSHAFT_TRIALS");
  EXPECT_FALSE(plan.profiles[0].steps.empty());
  return notes;
}

TEST(TrialProcess, WithoutTheProgramKernelsAreTriedAndCompiledHereAndTheLogSaysSo) {
  const std::vector<std::string> notes = notesWith("/nowhere/camshaft-trials");
  for (const char* what : {"tried in this process", "compiled in this process"})
    EXPECT_THAT(notes, Contains(AllOf(HasSubstr(what),
                                      HasSubstr("/nowhere/camshaft-trials could not be started"))));
}

TEST(TrialProcess, AProgramThatEndsAtOnceIsNoFaultOfTheKernels) {
  const std::vector<std::string> notes = notesWith("/bin/false");
  EXPECT_THAT(notes, Contains(HasSubstr("compiled in this process")));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("that compiled it ended"))));
}

}  // namespace
}  // namespace camshaft
