// Branches and loops through compiler, engine file and runtime, against the naive evaluation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "compiler/compile.h"
#include "engine/engine_file.h"
#include "engine/inspect.h"
#include "engine/tables.h"
#include "ops/evaluate.h"
#include "ops/ops.h"
#include "runtime/context.h"
#include "support/error.h"

namespace camshaft {
namespace {

using ::testing::HasSubstr;

template <class T>
HostTensor tensor(DataType type, Dims dims, std::vector<T> values) {
  HostTensor result(type, std::move(dims));
  std::memcpy(result.view().data, values.data(), values.size() * sizeof(T));
  return result;
}
HostTensor floats(std::vector<float> values) {
  const auto count = static_cast<int64_t>(values.size());
  return tensor(DataType::kF32, {count}, std::move(values));
}
HostTensor integer(int64_t value) { return tensor<int64_t>(DataType::kI64, {}, {value}); }
HostTensor flag(bool value) { return tensor<uint8_t>(DataType::kBool, {}, {value}); }

// An engine that was written and read, its outputs in memory that an allocator gives.
class Machine {
 public:
  explicit Machine(const std::string& text) : graph_(parseGraph(text, findOp)) {
    CompileOptions options;
    options.threads = 2;
    engine_ =
        std::make_shared<LoadedEngine>(readEngine(writeEngine(compile(graph_.clone(), options))));
  }

  std::shared_ptr<const LoadedEngine> engine() const { return engine_; }

  void expectSame(const std::vector<HostTensor>& inputs) const {
    Context context(engine_, 2);
    expectSame(context, inputs);
  }

  void expectSame(Context& context, const std::vector<HostTensor>& inputs) const {
    std::vector<ConstTensorView> views;
    for (const HostTensor& input : inputs) views.push_back(input.view());
    const std::vector<HostTensor> expected = evaluateGraph(graph_, views);
    std::vector<std::vector<std::byte>> memory(expected.size());
    context.setOutputAllocator([&](int output, void*, int64_t bytes, std::span<const int64_t>) {
      memory[output].assign(static_cast<size_t>(bytes) + 1, std::byte{0xff});
      return static_cast<void*>(memory[output].data());
    });
    for (size_t i = 0; i < views.size(); ++i) {
      context.setInputShape(static_cast<int>(i), views[i].dims);
      context.setInputAddress(static_cast<int>(i), views[i].data);
    }
    context.run();
    for (size_t o = 0; o < expected.size(); ++o) {
      ASSERT_EQ(context.outputShape(static_cast<int>(o)), expected[o].dims) << "output " << o;
      for (int64_t i = 0; i < expected[o].count(); ++i)
        ASSERT_NEAR(readElement(expected[o].type, memory[o].data(), i),
                    readElement(expected[o].type, expected[o].view().data, i), 1e-4)
            << "output " << o << " element " << i;
    }
  }

 private:
  Graph graph_;
  std::shared_ptr<const LoadedEngine> engine_;
};

// Grows a list, halves a captured vector, and stops when a sum passes a limit.
constexpr const char* kGrowing = R"(
graph net(%x: f32[n], %count: i64[], %go: bool[]) {
  %empty: f32[0] = constant []
  %limit: f32[] = constant [20]
  %all, %x2, %sums = Loop(%count, %go, %empty, %x, %x, %limit) {body = {
    symbols m, n
    graph body(%i: i64[], %c: bool[], %all: f32[m], %v: f32[n], %x: f32[n], %limit: f32[]) {
      %next = Concat(%all, %v) {axis = 0}
      %w = Pointwise(%v, %x, %i) {expr = add(mul(x0:f32, x1:f32), cast(x2:i64, f32))}
      %sum = Reduce(%next) {kind = sum, axes = [0], keep_dims = false}
      %more = Pointwise(%sum, %limit) {expr = less(x0:f32, x1:f32)}
      return %more as "go", %next as "all", %w as "v", %sum as "sum"
    }}, carried = 2, sizes = [s, n, t], symbols = [s, t]}
  %y = Pointwise(%all) {expr = add(x0:f32, x0:f32)}
  return %y as "y", %x2 as "x2", %sums as "sums"
}
)";

TEST(ControlFlow, LoopsGrowStopAndCapture) {
  const Machine machine(kGrowing);
  Context context(machine.engine(), 2);
  for (const int64_t trips : {5, 1, 0, 40, -2, 3})
    machine.expectSame(context, {floats({1, 0.5f, 2}), integer(trips), flag(true)});
  machine.expectSame(context, {floats({1}), integer(1000), flag(true)});
  machine.expectSame(context, {floats({1, 0.5f, 2}), integer(7), flag(false)});
}

TEST(ControlFlow, ContextsOfOneEngineAreIndependent) {
  const Machine machine(kGrowing);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&machine, t] {
      Context context(machine.engine(), 1);
      for (int i = 0; i < 20; ++i)
        machine.expectSame(context, {floats({0.5f + t, 0.25f}), integer(t + i % 4), flag(true)});
    });
  for (std::thread& thread : threads) thread.join();
}

// An inner loop over the outer's iteration, which captures values of both graphs around it.
TEST(ControlFlow, LoopsNest) {
  const Machine machine(R"(
graph net(%x: f32[n], %count: i64[]) {
  %last, %rows = Loop(%count, _, %x, %x) {body = {
    symbols n
    graph outer(%i: i64[], %c: bool[], %v: f32[n], %x: f32[n]) {
      %w, %scan = Loop(%i, _, %v, %x, %i) {body = {
        symbols n
        graph inner(%j: i64[], %c: bool[], %v: f32[n], %x: f32[n], %i: i64[]) {
          %w = Pointwise(%v, %x, %i, %j)
               {expr = add(add(x0:f32, x1:f32), cast(mul(x2:i64, x3:i64), f32))}
          return %c as "go", %w as "w", %j as "j"
        }}, carried = 1, sizes = [n, t], symbols = [t]}
      %js = Reduce(%scan) {kind = sum, axes = [0], keep_dims = false}
      return %c as "go", %w as "w", %js as "js"
    }}, carried = 1, sizes = [n, t], symbols = [t]}
  return %last as "last", %rows as "rows"
}
)");
  machine.expectSame({floats({1, 2}), integer(5)});
  machine.expectSame({floats({1, 2, 3}), integer(0)});
}

constexpr const char* kBranches = R"(
graph net(%x: f32[n], %count: i64[], %flag: bool[]) {
  %two: i64[] = constant [2]
  %one: f32[] = constant [1]
  %y = If(%flag, %x, %one, %x) {then = {
    symbols n
    graph yes(%x: f32[n], %one: f32[]) {
      %y = Pointwise(%x, %one) {expr = add(x0:f32, x1:f32)}
      return %y
    }}, else = {
    symbols n
    graph no(%x: f32[n]) {
      %y = Concat(%x, %x) {axis = 0}
      return %y
    }}, sizes = [s], symbols = [s]}
  %z = Loop(%count, _, %y, %two) {body = {
    symbols m
    graph body(%i: i64[], %c: bool[], %v: f32[m], %two: i64[]) {
      %early = Pointwise(%i, %two) {expr = less(x0:i64, x1:i64)}
      %w = If(%early, %v, %v) {then = {
        symbols m
        graph yes(%v: f32[m]) {
          %w = Pointwise(%v) {expr = neg(x0:f32)}
          return %w
        }}, else = {
        symbols m
        graph no(%v: f32[m]) {
          %w = Slice(%v) {axes = [0], starts = [1], sizes = [m - 1], steps = [1]}
          return %w
        }}, sizes = [k], symbols = [k]}
      return %c as "go", %w as "w"
    }}, carried = 1, sizes = [e], symbols = [e]}
  return %y as "y", %z as "z"
}
)";

TEST(ControlFlow, BranchesGiveDifferentSizesAlsoInLoops) {
  const Machine machine(kBranches);
  Context context(machine.engine(), 2);
  for (const bool yes : {true, false, true})
    for (const int64_t trips : {0, 1, 2, 4})
      machine.expectSame(context, {floats({1, 2, 3, 4}), integer(trips), flag(yes)});
}

TEST(ControlFlow, LoopsOfConstantsRunWhileBuilding) {
  const Machine machine(R"(
graph net(%x: f32[n]) {
  %trips: i64[] = constant [4]
  %empty: i64[0] = constant []
  %all = Loop(%trips, _, %empty) {body = {
    symbols m
    graph body(%i: i64[], %c: bool[], %all: i64[m]) {
      %one = Reshape(%i) {shape = [1]}
      %next = Concat(%all, %one) {axis = 0}
      return %c as "go", %next as "all"
    }}, carried = 1, sizes = [s], symbols = [s]}
  %y = Gather(%x, %all) {axis = 0}
  return %y
}
)");
  EXPECT_TRUE(machine.engine()->plan().bodies.empty());
  machine.expectSame({floats({5, 6, 7, 8, 9})});
}

TEST(ControlFlow, SizesOfResultsNobodyReadsAreStillDecided) {
  const Machine machine(R"(
graph net(%x: f32[n], %flag: bool[]) {
  %y = If(%flag, %x, %x) {then = {
    symbols n
    graph yes(%x: f32[n]) {
      %y = Pointwise(%x) {expr = neg(x0:f32)}
      return %y
    }}, else = {
    symbols n
    graph no(%x: f32[n]) {
      %y = Concat(%x, %x) {axis = 0}
      return %y
    }}, sizes = [s], symbols = [s]}
  %size = Shape(%y) {begin = 0, end = 1}
  return %size
}
)");
  machine.expectSame({floats({1, 2, 3}), flag(true)});
  machine.expectSame({floats({1, 2, 3}), flag(false)});
}

// `depth` branches, each in the one before.
std::string nestedBranches(int depth) {
  std::string inside = "%y = Pointwise(%x) {expr = add(x0:f32, x0:f32)} return %y";
  for (int i = 0; i < depth; ++i)
    inside = "%y = If(%c, %x, %c, %x) {then = { graph yes(%x: f32[3], %c: bool[]) { " + inside +
             " }}, else = { graph no(%x: f32[3]) { %y = Pointwise(%x) {expr = mul(x0:f32, x0:f32)} "
             "return %y }}, sizes = [3]} return %y";
  return "graph g(%x: f32[3], %c: bool[]) { " + inside + " }";
}

TEST(ControlFlow, WhatIsBuiltLoadsHoweverDeepItNests) {
  const Machine machine(nestedBranches(60));
  machine.expectSame({floats({1, 2, 3}), flag(true)});
  machine.expectSame({floats({1, 2, 3}), flag(false)});
  try {
    writeEngine(compile(parseGraph(nestedBranches(kMaxBodyDepth + 1), findOp), CompileOptions{}));
    ADD_FAILURE() << "not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "the network cannot be made an engine: its branches and loops nest 129 deep, and "
              "engines at most 128");
  }
}

TEST(ControlFlow, TheInspectorShowsBodies) {
  CompileOptions options;
  options.optimizationLevel = 0;
  options.profilingVerbosity = 2;  // detailed
  const Plan plan = compile(parseGraph(kGrowing, findOp), options);
  const std::string text = engineText(plan, plan.profiles[0]);
  EXPECT_THAT(text, HasSubstr("[Loop]"));
  EXPECT_THAT(text, HasSubstr("[Concat]"));
}

TEST(ControlFlow, EngineBytesSurviveNoDamage) {
  const std::vector<std::byte> bytes =
      writeEngine(compile(parseGraph(kBranches, findOp), CompileOptions{}));
  for (size_t at = 0; at < bytes.size(); at += 37) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{0x21};
    EXPECT_THROW(readEngine(damaged), Error) << at;
  }
}

// Plans that do not fit their bodies, as a file with a right checksum might hold.
TEST(ControlFlow, PlansThatDoNotFitTheirBodiesAreRefused) {
  const auto refusalOf = [](const std::function<void(Plan&, Step&)>& spoil) -> std::string {
    Plan plan = compile(parseGraph(kGrowing, findOp), CompileOptions{});
    for (Step& step : plan.profiles[0].steps)
      if (step.kind == StepKind::kLoop) spoil(plan, step);
    try {
      readEngine(assembleEngine(writeTables(plan), plan.weights));
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(refusalOf([](Plan&, Step&) {}), "");
  EXPECT_THAT(refusalOf([](Plan&, Step& s) { s.bodies = {7}; }), HasSubstr("body is not there"));
  EXPECT_THAT(refusalOf([](Plan&, Step& s) { s.bodies.clear(); }), HasSubstr("not one body"));
  EXPECT_THAT(refusalOf([](Plan&, Step& s) { s.carried = 9; }), HasSubstr("lacks operands"));
  EXPECT_THAT(refusalOf([](Plan&, Step& s) { s.inputs.pop_back(); }), HasSubstr("lacks operands"));
  EXPECT_THAT(refusalOf([](Plan&, Step& s) { s.kind = StepKind::kIf; }),
              HasSubstr("not two bodies"));
  EXPECT_THAT(refusalOf([](Plan&, Step& s) { s.inputs[2].tensor.type = DataType::kI64; }),
              HasSubstr("not what the body takes"));
  EXPECT_THAT(refusalOf([](Plan& p, Step&) { p.bodies[0]->profiles.clear(); }),
              HasSubstr("not one profile"));
  EXPECT_THAT(refusalOf([](Plan& p, Step&) {
                p.bodies[0]->device = "cuda";
                p.bodies[0]->hasDeviceMemory = true;
              }),
              HasSubstr("for another device"));
}

}  // namespace
}  // namespace camshaft
