// Engines that were tampered with: read, loaded and run, with nothing but an Error as the outcome
// or a run that stays inside its memory (which the sanitizers watch).
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <map>

#include "backend/device.h"
#include "compiler/compile.h"
#include "conformance/case.h"
#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "fuzz/engine_mutator.h"
#include "fuzz/try_engine.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft {
namespace {

using conformance::Case;
using fuzz::below;
using fuzz::changePlan;
using fuzz::Random;
using fuzz::rehash;
using fuzz::tryEngine;
using fuzz::writeUnchecked;
using Bytes = std::vector<std::byte>;

Plan build(const Case& c, const std::string& device) {
  const Graph graph = c.graph();
  CompileOptions options;
  options.device = device;
  options.optimizationLevel = 0;
  options.threads = 1;
  options.profiles = c.profiles(graph);
  return compile(graph.clone(), options);
}

// Bytes of the case's engine on each device.
const std::vector<Bytes>& goodEngines() {
  static const std::vector<Bytes> engines = [] {
    std::vector<Bytes> all;
    for (const std::string device : {"cpu", "reference"})
      for (const Case& c : conformance::allCases()) all.push_back(writeEngine(build(c, device)));
    return all;
  }();
  return engines;
}

std::vector<Step> stepsOf(const std::vector<Bytes>& engines) {
  std::vector<Step> steps;
  for (const Bytes& bytes : engines) {
    const Plan plan = readEngine(bytes);
    for (const Step& step : plan.profiles[0].steps) steps.push_back(step);
  }
  return steps;
}

// CAMSHAFT_FUZZ_SECONDS turns a test into a longer hunt; CAMSHAFT_FUZZ_SEED moves it elsewhere.
int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

void repeat(int rounds, const std::function<void(Random&, uint32_t seed)>& round) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(setting("CAMSHAFT_FUZZ_SECONDS", 0));
  const auto first = static_cast<uint32_t>(setting("CAMSHAFT_FUZZ_SEED", 0));
  for (uint32_t i = 0; i < static_cast<uint32_t>(rounds) || std::chrono::steady_clock::now() < end;
       ++i) {
    if (std::getenv("CAMSHAFT_FUZZ_TRACE")) fprintf(stderr, "seed %u\n", first + i);
    Random random(first + i);
    round(random, first + i);
  }
}

TEST(HostileEngine, GoodOnesRun) {
  for (const Bytes& bytes : goodEngines()) {
    const std::string message = tryEngine(bytes);
    // Inputs are zeros here: a run may refuse to reshape to nothing, never call its engine damaged.
    EXPECT_EQ(message.find("damaged"), std::string::npos) << message;
  }
}

TEST(HostileEngine, TruncatedAndFlippedBytesAreNoticed) {
  for (size_t e = 0; e < goodEngines().size(); e += 7) {
    const Bytes& good = goodEngines()[e];
    for (size_t length = 0; length < good.size(); length += 1 + good.size() / 40)
      EXPECT_THROW(readEngine(std::span(good).first(length)), Error) << "prefix " << length;
    for (size_t i = 0; i < good.size(); i += 1 + good.size() / 200) {
      Bytes bad = good;
      bad[i] ^= std::byte{0x41};
      EXPECT_THROW(readEngine(bad), Error) << "byte " << i;
    }
  }
}

TEST(HostileEngine, FlippedBytesWithAValidChecksum) {
  repeat(6000, [](Random& random, uint32_t) {
    Bytes bytes = goodEngines()[below(random, goodEngines().size())];
    EngineHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const EngineSection& section = below(random, 8) == 0 ? header.inspection : header.plan;
    for (uint64_t flips = 1 + below(random, 3); flips > 0; --flips) {
      const uint64_t at = below(random, 16) == 0 ? below(random, bytes.size())
                                                 : section.offset + below(random, section.size);
      bytes[at] ^= static_cast<std::byte>(1 << below(random, 8));
    }
    rehash(bytes);
    tryEngine(bytes);
  });
}

TEST(HostileEngine, ChangedPlans) {
  const std::vector<Step> donors = stepsOf(goodEngines());
  int ran = 0, rounds = 0;
  repeat(12000, [&](Random& random, uint32_t) {
    Plan plan = readEngine(goodEngines()[below(random, goodEngines().size())]);
    for (uint64_t changes = 1 + below(random, 2); changes > 0; --changes)
      changePlan(random, plan, donors);
    ++rounds;
    ran += tryEngine(writeUnchecked(plan)).empty();
  });
  // Most changes must be caught; some are harmless. All or none would mean that nothing is tested.
  EXPECT_GT(ran, 0);
  EXPECT_LT(ran, rounds / 2);
}

TEST(HostileEngine, EveryKernelOnEveryOtherKernelsOperands) {
  const std::vector<Step> donors = stepsOf(goodEngines());
  std::map<std::string, const Step*> byKernel;
  for (const Step& step : donors) byKernel.try_emplace(step.kernel, &step);
  for (const Bytes& bytes : goodEngines()) {
    const Plan good = readEngine(bytes);
    for (const auto& [name, donor] : byKernel) {
      Plan plan = good;
      for (Step& step : plan.profiles[0].steps) {
        if (step.kind != StepKind::kKernel) continue;
        step.kernel = donor->kernel;
        step.params = donor->params;
        break;
      }
      tryEngine(writeUnchecked(plan));
    }
  }
}

Plan planOf(const std::string& text) {
  CompileOptions options;
  options.optimizationLevel = 0;
  options.threads = 1;
  return compile(parseGraph(text, findOp), options);
}

// Kernels that follow positions which they keep in their workspace or results.
TEST(HostileEngine, OperandsOfAStepLieApart) {
  const char* const graphs[] = {
      "graph g(%x: f32[2, 40]) { %a = Softmax(%x) {axis = 1} %v, %i = TopK(%a) {k = 20, axis = 1} "
      "%b = Softmax(%v) {axis = 1} %s = Pointwise(%i) {expr = add(x0:i64, x0:i64)} return %b, %s }",
      "graph g(%x: f32[2, 40]) { %a = Softmax(%x) {axis = 1} %p, %c = NonZero(%a) "
      "%s = Pointwise(%p) {expr = add(x0:i64, x0:i64)} return %s, %c }"};
  for (const char* text : graphs) {
    const Plan good = planOf(text);
    EXPECT_EQ(tryEngine(writeUnchecked(good)), "");
    const std::vector<Step>& steps = good.profiles[0].steps;
    int moved = 0;
    for (size_t s = 0; s < steps.size(); ++s) {
      std::vector<Operand> all = steps[s].inputs;
      all.insert(all.end(), steps[s].outputs.begin(), steps[s].outputs.end());
      all.push_back(steps[s].workspace);
      for (size_t o = 0; o <= steps[s].outputs.size(); ++o)
        for (const Operand& there : all) {
          Plan plan = good;
          Step& step = plan.profiles[0].steps[s];
          Operand& written = o < step.outputs.size() ? step.outputs[o] : step.workspace;
          if (written.place != Place::kArena || there.place != Place::kArena ||
              written.offset == there.offset || step.kernel.starts_with("cpu/softmax") ||
              step.kernel.starts_with("cpu/pointwise"))  // these work in place
            continue;
          written.offset = there.offset;
          EXPECT_NE(tryEngine(writeUnchecked(plan)), "") << step.kernel;
          ++moved;
        }
    }
    EXPECT_GE(moved, 4);
  }
}

constexpr const char* kLoop = R"(graph g(%x: f32[4]) {
  %m: i64[] = constant [3]
  %last, %all = Loop(%m, _, %x) {body = {
    graph body(%i: i64[], %c: bool[], %v: f32[4]) {
      %w = Pointwise(%v) {expr = add(x0:f32, x0:f32)}
      %s = Pointwise(%w) {expr = mul(x0:f32, x0:f32)}
      return %c as "go", %w as "v", %s as "all"
    }}, carried = 1, sizes = [4, t, 4], symbols = [t]}
  return %last, %all
})";

// A body says how large its results are, and what it writes is another thing.
TEST(HostileEngine, BodiesThatLieAboutTheirResults) {
  const Bytes good = writeEngine(planOf(kLoop));
  EXPECT_EQ(tryEngine(good), "");
  for (size_t output = 0; output < 2; ++output)
    for (int64_t size : {int64_t{1}, int64_t{5}, int64_t{1} << 20}) {
      Plan plan = readEngine(good);
      ProfilePlan& body = plan.bodies[0]->profiles[0];
      body.outputs[output].dims[0] = {.constant = size};
      for (IoTensor* io : {&plan.bodies[0]->outputs[output], &plan.bodies[0]->inputs[2]})
        io->tensor.dims[0] = {.constant = size};
      body.inputs[2] = {{1}, {4}, {1 << 20}};
      EXPECT_NE(tryEngine(writeUnchecked(plan)), "") << output << ": " << size;
    }
  // A result that nothing writes.
  for (size_t s = 0; s < readEngine(good).bodies[0]->profiles[0].steps.size(); ++s) {
    Plan plan = readEngine(good);
    std::vector<Step>& steps = plan.bodies[0]->profiles[0].steps;
    steps.erase(steps.begin() + static_cast<int64_t>(s));
    EXPECT_NE(tryEngine(writeUnchecked(plan)), "") << "without step " << s;
  }
}

TEST(HostileEngine, KernelsCheckTheirOperands) {
  for (const Step& step : stepsOf(goodEngines())) {
    if (step.kind != StepKind::kKernel) continue;
    const RuntimeKernel* kernel = findRuntimeKernel(step.kernel);
    ASSERT_NE(kernel, nullptr) << step.kernel;
    EXPECT_NE(kernel->fits, nullptr) << step.kernel;
  }
}

TEST(HostileEngine, ForeignFilesAreNamed) {
  const auto messageOf = [](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return tryEngine(Bytes(bytes.begin(), bytes.end()));
  };
  EXPECT_NE(messageOf("").find("0 bytes long"), std::string::npos);
  const std::string onnx = "\x08\x07\x12\x07pytorch" + std::string(200, 'o');
  EXPECT_NE(messageOf(onnx).find("not a Camshaft engine"), std::string::npos);
  const std::string tensorrt = "ftrt" + std::string(300, '\0');
  EXPECT_NE(messageOf(tensorrt).find("not a Camshaft engine"), std::string::npos);
}

}  // namespace
}  // namespace camshaft
