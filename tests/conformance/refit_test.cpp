// Every case with weights, refitted: an engine that was built from zeros, or from ones, computes
// with the weights that it gets later, in contexts that were there before.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/refit.h"
#include "conformance/run.h"
#include "engine/engine_file.h"
#include "support/error.h"

namespace camshaft::conformance {
namespace {

bool isRefittable(const Value& constant) {
  return isFloat(constant.dataType()) ||
         (isInteger(constant.dataType()) && bitsOf(constant.dataType()) <= 8 &&
          constant.rank() >= 2);  // zero points decide how products are computed
}

// The case's weights that engines are refitted with, by name.
std::set<std::string, std::less<>> refittableOf(const Case& c, const Graph& graph) {
  std::set<std::string, std::less<>> names;
  for (const std::string& name : c.weights)
    if (isRefittable(*graph.find(name))) names.insert(name);
  return names;
}

// The graph with other weights, all of one number.
Graph filled(const Graph& graph, const std::set<std::string, std::less<>>& names, double number) {
  Graph other = graph.clone();
  for (const std::string& name : names) {
    Value& weights = *other.find(name);
    std::vector<std::byte> bytes(weights.constant->bytes.size());
    if (!isPacked(weights.dataType()))
      for (int64_t i = 0; i < numElements(weights.shape()).value(); ++i)
        writeElement(weights.dataType(), bytes.data(), i, number);
    weights.constant = ConstantData::own(std::move(bytes));
  }
  return other;
}

std::shared_ptr<const LoadedEngine> buildRefittable(const Graph& graph, const Case& c,
                                                    const std::string& device, int level,
                                                    std::set<std::string, std::less<>> names) {
  CompileOptions options;
  options.device = device;
  options.optimizationLevel = level;
  options.threads = 2;
  options.allowTf32 = device == "cpu";
  options.profiles = c.profiles(graph);
  const Plan plan = compileRefittable(
      graph, options,
      {.weights = RefitRequest::Weights::kMarked, .marked = std::move(names), .nameOf = {}});
  return std::make_shared<LoadedEngine>(readEngine(writeEngine(plan)));
}

void refit(const LoadedEngine& engine, const Graph& graph) {
  RefitRecord record = *engine.plan().refit;
  for (SourceWeights& source : record.sources)
    if (source.isRefittable) {
      source.bytes = graph.find(source.name)->constant->bytes;
      source.owner = graph.find(source.name)->constant;
    }
  const auto weights = remakeWeights(engine.plan(), record);
  engine.replaceWeights(weights.bytes, record.sources);
}

class Refit : public ::testing::TestWithParam<const Case*> {};

TEST_P(Refit, ComputesWithTheNewWeights) {
  const Case& c = *GetParam();
  const Graph graph = c.graph();
  const auto names = refittableOf(c, graph);
  if (names.empty()) GTEST_SKIP() << "its weights are numbers and positions";
  std::vector<Problem> problems;
  for (size_t i = 0; i < c.runs.size(); ++i)
    problems.emplace_back(graph, c.inputs(graph, c.runs[i]), c.profileOf(i));
  for (const Device& device : allDevices()) {
    if (device.skips.contains(c.name)) continue;
    for (const int level : allLevels()) {
      SCOPED_TRACE(str(device.name, " at optimisation level ", level));
      const Graph start = filled(graph, names, level == 0 ? 0 : 1);
      const auto engine = buildRefittable(start, c, device.name, level, names);
      Context context(engine, 1);
      for (int i = 0; i < 2; ++i) (void)runOn(context, problems[0], c.tolerance);
      refit(*engine, graph);
      for (const Problem& problem : problems)
        EXPECT_EQ(runOn(context, problem, c.tolerance), "") << toText(graph);
    }
  }
}

std::vector<const Case*> casesWithWeights() {
  std::vector<const Case*> all;
  for (const Case& c : allCases())
    if (!c.weights.empty()) all.push_back(&c);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Refit, ::testing::ValuesIn(casesWithWeights()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace camshaft::conformance
