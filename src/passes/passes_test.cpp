// The text tests of tests/passes: graph in → graph out, for every pass.
//
// A file holds cases one after the other:
//
//   // pass: fuse_pointwise
//   graph before(...) { ... }
//   ---
//   graph after(...) { ... }
//
// The pass must turn the first into the second, find nothing more to do when run again, and both
// must compute the same on random inputs. Words after the pass's name allow 16-bit types:
// "// pass: lower_precision f16"; "floats" is a backend without products of integers,
// "wide" one that stores no 16-bit tensors, "bytes" one whose kernels all may end in bytes,
// "products" one whose products alone take epilogues, and "x=4" a tensor between -4 and 4 that may
// become bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "ops/evaluate.h"
#include "ops/ops.h"
#include "passes/pipeline.h"

namespace camshaft {
namespace {

struct Case {
  std::string name;  // file and line
  std::string pass, before, after;
  std::set<std::string> allowed;  // 16-bit types
  TensorRanges ranges;
};

void readHeader(std::string_view words, Case& c) {
  std::istringstream stream{std::string(words)};
  stream >> c.pass;
  for (std::string word; stream >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      c.allowed.insert(word);
      continue;
    }
    const float largest = std::stof(word.substr(equals + 1));
    c.ranges[word.substr(0, equals)] = {-largest, largest};
  }
}

std::vector<Case> readCases(const std::filesystem::path& path) {
  static constexpr std::string_view kHeader = "// pass: ";
  std::ifstream file(path);
  std::vector<Case> cases;
  std::string line, *part = nullptr;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with(kHeader)) {
      cases.push_back({.name = str(path.filename().string(), ":", number)});
      readHeader(std::string_view(line).substr(kHeader.size()), cases.back());
      part = &cases.back().before;
    } else if (line == "---" && part) {
      part = &cases.back().after;
    } else if (part) {
      *part += line + "\n";
    }
  }
  return cases;
}

std::vector<Case> allCases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CAMSHAFT_PASS_TESTS))
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const auto& path : paths)
    for (Case& c : readCases(path)) cases.push_back(std::move(c));
  return cases;
}

// Small whole numbers for integers, so that they are valid indices more often than not. Symbols
// get different sizes where their ranges allow it.
std::vector<HostTensor> randomInputs(const Graph& graph) {
  std::mt19937 random(7);
  std::map<std::string, int64_t> sizes;
  const auto sizeOf = [&](const std::string& name) {
    const DimRange range = graph.symbolRange()(name);
    const int64_t size = std::clamp(static_cast<int64_t>(2 + sizes.size()), range.min, range.max);
    return sizes.try_emplace(name, size).first->second;
  };
  std::vector<HostTensor> tensors;
  for (const Value* input : graph.inputs) {
    Dims dims;
    for (const Dim& dim : input->shape()) dims.push_back(evaluate(dim, sizeOf));
    HostTensor tensor(input->dataType(), dims);
    for (int64_t i = 0; i < tensor.count(); ++i) {
      const double value = isFloat(tensor.type) ? std::normal_distribution<>()(random)
                                                : std::uniform_int_distribution<>(0, 1)(random);
      writeElement(tensor.type, tensor.bytes.data(), i, value);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<HostTensor> evaluateOn(const Graph& graph, const std::vector<HostTensor>& inputs) {
  std::vector<ConstTensorView> views;
  for (const HostTensor& input : inputs) views.push_back(input.view());
  return evaluateGraph(graph, views);
}

// Of the largest difference to elements of about one.
double toleranceOf(DataType type) {
  return type == DataType::kF16 || type == DataType::kBF16 ? 1e-2 : 1e-5;
}

void expectClose(const HostTensor& a, const HostTensor& b, double tolerance) {
  ASSERT_EQ(a.type, b.type);
  ASSERT_EQ(a.dims, b.dims);
  tolerance = std::max(tolerance, toleranceOf(a.type));
  for (int64_t i = 0; i < a.count(); ++i) {
    const double x = readElement(a.type, a.bytes.data(), i),
                 y = readElement(b.type, b.bytes.data(), i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;  // infinities among them
    ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::fabs(x))) << "element " << i;
  }
}

void expectSameResults(const Graph& before, const Graph& after, double tolerance = 0) {
  const std::vector<HostTensor> inputs = randomInputs(before);
  const auto expected = evaluateOn(before, inputs);
  const auto actual = evaluateOn(after, inputs);
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(before.outputs[i].name, after.outputs[i].name);
    SCOPED_TRACE(str("output ", before.outputs[i].name));
    expectClose(expected[i], actual[i], tolerance);
  }
}

// ‖actual - expected‖ / ‖expected‖, leaving out what is not finite in both.
double relativeError(const HostTensor& expected, const HostTensor& actual) {
  double difference = 0, size = 1e-30;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double x = readElement(expected.type, expected.bytes.data(), i);
    const double y = readElement(actual.type, actual.bytes.data(), i);
    if (!std::isfinite(x) && !std::isfinite(y)) continue;
    difference += (x - y) * (x - y);
    size += x * x;
  }
  return std::sqrt(difference / size);
}

// Passes that wait for the highest level, or for kernels that fuse more, are tested too.
PassOptions everything() { return {.fusion = kGeneratedKernels, .optimizationLevel = 5}; }

// What a few roundings to the case's 16-bit type or to bytes may change.
double roundingOf(const Case& c) {
  if (!c.ranges.empty()) return 0.1;  // steps of bytes
  if (c.pass != "lower_precision" && c.pass != "widen_types") return 0;
  return c.after.find("bf16") != std::string::npos ? 3e-2 : 4e-3;
}

void runCase(const Case& c) {
  const Pass* pass = findPass(c.pass);
  ASSERT_NE(pass, nullptr) << "there is no pass '" << c.pass << "'";
  const Graph before = parseGraph(c.before, findOp);
  const Graph expected = parseGraph(c.after, findOp);
  Graph graph = before.clone();
  PassOptions options = everything();
  options.allowF16 = c.allowed.contains("f16");
  options.allowBF16 = c.allowed.contains("bf16");
  FusionAbilities& fusion = options.fusion;
  fusion.integerProducts = fusion.activationProducts = fusion.dynamicQuantisation =
      fusion.packedWeights = fusion.float8Products = !c.allowed.contains("floats");
  fusion.attendedBytes =
      c.allowed.contains("floats") ? std::span<const DataType>() : kBytesOfCaches;
  fusion.streamedElements = c.allowed.contains("floats") ? 0 : 1 << 16;
  fusion.normalisedRows = c.allowed.contains("floats") ? 0 : 256;
  fusion.bytesFromAnywhere = c.allowed.contains("bytes");
  options.stores16Bit = !c.allowed.contains("wide");
  if (c.allowed.contains("products")) options.fusion.epilogues = kProducts;
  options.ranges = c.ranges;
  const bool changed = pass->run(graph, options);
  verify(graph, pass->name);
  EXPECT_EQ(toText(graph), toText(expected));
  EXPECT_EQ(changed, toText(before) != toText(graph))
      << "the pass says otherwise about its changes";
  expectSameResults(before, graph, roundingOf(c));
  EXPECT_FALSE(pass->run(graph, options)) << "the second run changes the graph again to\n"
                                          << toText(graph);
}

TEST(Passes, TextTests) {
  const std::vector<Case> cases = allCases();
  ASSERT_FALSE(cases.empty());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    try {
      runCase(c);
    } catch (const Error& error) {
      ADD_FAILURE() << c.name << ": " << error.message();
    }
  }
}

TEST(Passes, EveryPassHasATextTest) {
  std::set<std::string> tested;
  for (const Case& c : allCases()) tested.insert(c.pass);
  for (const Pass& pass : pipeline())
    EXPECT_TRUE(tested.contains(std::string(pass.name))) << pass.name;
}

// Every text test is also a small graph to run the whole pipeline on.
TEST(Pipeline, KeepsResults) {
  for (const Case& c : allCases()) {
    SCOPED_TRACE(c.name);
    try {
      const Graph before = parseGraph(c.before, findOp);
      Graph after = before.clone();
      runPipeline(after, everything());
      expectSameResults(before, after, roundingOf(c));
    } catch (const Error& error) {
      ADD_FAILURE() << c.name << ": " << error.message();
    }
  }
}

// The same graphs with 16-bit products and storage, by the root of the mean square.
TEST(Pipeline, KeepsResultsIn16Bits) {
  for (const Case& c : allCases()) {
    for (const bool bf16 : {false, true}) {
      SCOPED_TRACE(str(c.name, bf16 ? " bf16" : " f16"));
      try {
        const Graph before = parseGraph(c.before, findOp);
        Graph after = before.clone();
        PassOptions options = everything();
        (bf16 ? options.allowBF16 : options.allowF16) = true;
        runPipeline(after, options);
        const std::vector<HostTensor> inputs = randomInputs(before);
        const auto expected = evaluateOn(before, inputs), actual = evaluateOn(after, inputs);
        for (size_t i = 0; i < expected.size(); ++i)
          EXPECT_LT(relativeError(expected[i], actual[i]), bf16 ? 2e-2 : 3e-3)
              << before.outputs[i].name << " of\n"
              << toText(after);
      } catch (const Error& error) {
        ADD_FAILURE() << c.name << ": " << error.message();
      }
    }
  }
}

Graph smallGraph() {
  return parseGraph("graph g(%x: f32[2]) { %y = Pointwise(%x) {expr = relu(x0:f32)} return %y }",
                    findOp);
}

TEST(Pipeline, ReportsEachPass) {
  Graph graph = smallGraph();
  std::vector<std::string> announced, done;
  PipelineHooks hooks;
  hooks.progress = [&](std::string_view pass, int index, int count) {
    EXPECT_EQ(index, static_cast<int>(announced.size()));
    EXPECT_EQ(count, static_cast<int>(pipeline().size()));
    announced.emplace_back(pass);
    return true;
  };
  hooks.passDone = [&](const Graph&, const PassRecord& record) { done.emplace_back(record.name); };
  const auto records = runPipeline(graph, {.disabled = {"merge_common"}}, hooks);
  EXPECT_EQ(announced.size(), pipeline().size());
  EXPECT_EQ(done.size(), records.size());
  EXPECT_LT(done.size(), announced.size());
  EXPECT_EQ(std::count(done.begin(), done.end(), "merge_common"), 0);
}

TEST(Pipeline, StopsWhenCancelled) {
  Graph graph = smallGraph();
  PipelineHooks hooks;
  hooks.progress = [](std::string_view, int index, int) { return index < 1; };
  EXPECT_THROW(runPipeline(graph, {}, hooks), Error);
}

TEST(Pipeline, RefusesUnknownPassNames) {
  Graph graph = smallGraph();
  try {
    runPipeline(graph, {.disabled = {"fuse_pointwize"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        error.message(),
        "there is no pass named 'fuse_pointwize' to switch off; did you mean 'fuse_pointwise'?");
  }
}

}  // namespace
}  // namespace camshaft
