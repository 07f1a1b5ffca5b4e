// Every case on every device, through compiler, engine file and runtime, against the operators'
// own evaluation. A new backend passes this suite: a line in devices.list turns it on.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "conformance/run.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft::conformance {
namespace {

// All runs one after the other, forwards and back, on one context.
std::string runAll(const std::shared_ptr<const LoadedEngine>& engine, std::vector<Problem> problems,
                   int threads, double tolerance) {
  try {
    Context context(engine, threads);
    for (size_t i = 0; i < 2 * problems.size(); ++i) {
      const size_t run = i < problems.size() ? i : 2 * problems.size() - 1 - i;
      const std::string wrong = runOn(context, problems[run], tolerance);
      if (!wrong.empty()) return str("run ", run, " with ", threads, " threads: ", wrong);
    }
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

struct Cell {
  Device device;
  const Case* problem;
};

std::vector<Cell> allCells() {
  std::vector<Cell> cells;
  for (const Device& device : allDevices())
    for (const Case& c : allCases()) cells.push_back({device, &c});
  return cells;
}

class Conformance : public ::testing::TestWithParam<Cell> {};

TEST_P(Conformance, Agrees) {
  const Device& device = GetParam().device;
  const Case* c = GetParam().problem;
  if (const auto skip = device.skips.find(c->name); skip != device.skips.end())
    GTEST_SKIP() << skip->second;
  const Graph graph = c->graph();
  std::vector<Problem> problems;
  for (size_t i = 0; i < c->runs.size(); ++i)
    problems.emplace_back(graph, c->inputs(graph, c->runs[i]), c->profileOf(i));

  for (int level : allLevels()) {
    SCOPED_TRACE(str("optimisation level ", level));
    const auto engine = build(graph, device.name, level, c->profiles(graph));
    EXPECT_EQ(runAll(engine, problems, 1, c->tolerance), "");
    std::string other;
    std::thread second([&] { other = runAll(engine, problems, 2, c->tolerance); });
    EXPECT_EQ(runAll(engine, problems, 2, c->tolerance), "") << "beside another context";
    second.join();
    EXPECT_EQ(other, "") << "beside another context";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, ::testing::ValuesIn(allCells()), [](const auto& info) {
  return str(info.param.device.name, "_", info.param.problem->name);
});

TEST(ConformanceCases, UseEveryOperator) {
  std::set<std::string> missing;
  for (Op op : allOps())
    if (op->evaluate) missing.emplace(op->name);  // what else a plugin computes, its user knows
  for (const Case& c : allCases()) {
    const Graph graph = c.graph();
    for (const auto& node : graph.nodes()) missing.erase(std::string(node->op->name));
  }
  EXPECT_TRUE(missing.empty()) << "no case has " << join(missing, ", ");
}

TEST(ConformanceCases, HaveNamesOfTheirOwnAndSkipsThatExist) {
  std::set<std::string> names;
  for (const Case& c : allCases())
    EXPECT_TRUE(names.insert(c.name).second) << c.name << " in " << c.file;
  for (const Device& device : allDevices())
    for (const auto& [name, reason] : device.skips) EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace camshaft::conformance
