// Every case again with sizes that its author did not think of: dimensions of its inputs become
// run-time sizes of their own, and get values in and out of what the operators allow. Each run must
// be right, or refused where inference refuses these sizes as numbers. Cases whose graphs define
// sizes themselves are left out: the bounds they declare hold for the shapes they were written for.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "conformance/run.h"
#include "ops/symbols.h"
#include "support/error.h"

namespace camshaft::conformance {
namespace {

constexpr int kRuns = 16;

// The case's graph with as many dimensions of its inputs as possible as symbols of their own, and
// what these were. An input whose elements are listed keeps its shape.
struct Loosened {
  Graph graph;
  std::map<std::string, int64_t> sizes;
};

bool infers(Graph& graph) {
  try {
    graph.inferAllTypes();
    return true;
  } catch (const Error&) {
    return false;
  }
}

Loosened loosen(const Case& c) {
  const Run& run = c.runs.front();
  Loosened loose{c.graph(), run.sizes};
  Graph& graph = loose.graph;
  std::set<std::string> seen;  // symbols stay what they are where they first appear
  for (Value* input : graph.inputs) {
    if (run.values.contains(input->name)) continue;
    for (size_t d = 0; d < input->type.shape.size(); ++d) {
      Dim& dim = input->type.shape[d];
      const Dim before = dim;
      if (!dim.isConstant() && (!dim.isSymbol() || seen.insert(dim.symbolName()).second)) continue;
      const int64_t size = dim.isConstant() ? dim.value() : run.sizes.at(dim.symbolName());
      dim = graph.newSymbol("any");
      const std::string name = dim.symbolName();
      loose.sizes[name] = size;
      if (infers(graph)) continue;
      dim = before;
      graph.symbols.erase(name);
      loose.sizes.erase(name);
      graph.inferAllTypes();
    }
  }
  return loose;
}

std::vector<ShapeProfile> profileOf(const Loosened& loose) {
  const auto sizeAt = [&](const Dim& dim, int64_t more) {
    return evaluate(dim, [&](const std::string& name) { return loose.sizes.at(name) + more; });
  };
  ShapeProfile profile;
  for (const Value* input : loose.graph.inputs) {
    InputRange range;
    for (const Dim& dim : input->shape()) {
      const bool isFree = dim.isSymbol();
      const DimRange known = isFree ? loose.graph.symbolRange()(dim.symbolName()) : DimRange{};
      range.min.push_back(isFree ? known.min : sizeAt(dim, 0));
      range.opt.push_back(sizeAt(dim, 0));
      range.max.push_back(std::min(sizeAt(dim, isFree ? 3 : 0), known.max));
    }
    profile.inputs[input->name] = range;
  }
  return {profile};
}

Run randomRun(const Case& c, const Loosened& loose, const ShapeProfile& profile,
              std::mt19937& random) {
  Run run{loose.sizes, c.runs.front().values};
  std::set<std::string> fixed;  // by elements that are listed
  for (const Value* input : loose.graph.inputs)
    if (run.values.contains(input->name))
      for (const Dim& dim : input->shape()) collectSymbols(dim, fixed);
  for (const Value* input : loose.graph.inputs) {
    const InputRange& range = profile.inputs.at(input->name);
    for (size_t d = 0; d < range.max.size(); ++d) {
      const Dim& dim = input->shape()[d];
      if (!dim.isSymbol() || fixed.contains(dim.symbolName()) || random() % 2 == 0) continue;
      std::uniform_int_distribution<int64_t> any(range.min[d], range.max[d]);
      // 1 broadcasts and 0 is empty: where things go wrong.
      const int64_t size = random() % 3 == 0 ? static_cast<int64_t>(random() % 2) : any(random);
      run.sizes[dim.symbolName()] = std::clamp(size, range.min[d], range.max[d]);
    }
  }
  return run;
}

// Why inference refuses the graph at these sizes, or "".
std::string refusalAt(const Graph& graph, const Run& run) {
  try {
    Graph fixed = graph.clone();
    substituteSymbols(fixed, [&](const std::string& name) {
      const auto size = run.sizes.find(name);
      return size == run.sizes.end() ? Dim::symbol(name) : Dim(size->second);
    });
    for (const Value* value : fixed.values())
      for (const Dim& dim : value->shape())
        if (dim.isConstant() && dim.value() < 0) return str("'", value->name, "' has size ", dim);
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

// What the evaluation gives; nothing where it refuses the elements, as an index out of range.
std::optional<Problem> problemAt(const Case& c, const Graph& graph, const Run& run) {
  try {
    return Problem(graph, c.inputs(graph, run), 0);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string refusalOf(Context& context, const Graph& graph, const Case& c, const Run& run) {
  try {
    const std::vector<HostTensor> inputs = c.inputs(graph, run);
    for (size_t i = 0; i < inputs.size(); ++i) {
      context.setInputShape(static_cast<int>(i), inputs[i].dims);
      context.setInputAddress(static_cast<int>(i), inputs[i].bytes.data());
    }
    std::vector<HostTensor> outputs;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      Dims dims = context.outputShape(static_cast<int>(i));
      for (int64_t& size : dims) size = std::max<int64_t>(size, 0);
      outputs.emplace_back(graph.outputs[i].value->dataType(), dims);
      context.setOutputAddress(static_cast<int>(i), outputs.back().bytes.data());
    }
    context.run();
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

// What is wrong with the run, or "".
std::string wrongAt(const Case& c, const Graph& graph, Context& context, const Run& run) {
  const std::string refusal = refusalAt(graph, run);
  if (!refusal.empty()) {
    if (context.engine().device()) return "";  // its memory is not ours to give
    return refusalOf(context, graph, c, run).empty()
               ? str("computed where it should refuse: ", refusal)
               : "";
  }
  const std::optional<Problem> problem = problemAt(c, graph, run);
  if (!problem) return "";
  try {
    return runOn(context, *problem, c.tolerance);
  } catch (const Error& error) {
    return error.message();
  }
}

class AnySizes : public ::testing::TestWithParam<const Case*> {};

TEST_P(AnySizes, AreRightOrRefused) {
  const Case& c = *GetParam();
  const Graph graph = c.graph();
  for (const auto& node : graph.nodes())
    if (!symbolsDefined(*node).empty() || !bodiesOf(*node).empty()) return;
  const Loosened loose = loosen(c);
  const std::vector<ShapeProfile> profiles = profileOf(loose);
  for (const Device& device : allDevices()) {
    if (device.skips.contains(c.name)) continue;
    for (int level : allLevels()) {
      SCOPED_TRACE(str(device.name, " at optimisation level ", level));
      Context context(build(loose.graph, device.name, level, profiles), 2);
      std::mt19937 random(static_cast<uint32_t>(c.name.size()) * 131 +
                          static_cast<uint32_t>(level));
      for (int i = 0; i < kRuns; ++i) {
        const conformance::Run run = randomRun(c, loose, profiles.front(), random);
        std::string sizes;
        for (const auto& [name, size] : run.sizes) sizes += str(name, "=", size, " ");
        SCOPED_TRACE(sizes);
        EXPECT_EQ(wrongAt(c, loose.graph, context, run), "") << toText(loose.graph);
      }
    }
  }
}

std::vector<const Case*> pointersToCases() {
  std::vector<const Case*> all;
  for (const Case& c : allCases()) all.push_back(&c);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AnySizes, ::testing::ValuesIn(pointersToCases()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace camshaft::conformance
