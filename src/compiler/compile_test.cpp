// Whole networks through compiler, engine file and runtime, against the naive evaluation.
#include "compiler/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/engine_file.h"
#include "ops/evaluate.h"
#include "ops/ops.h"
#include "runtime/context.h"
#include "support/error.h"

namespace camshaft {
namespace {

HostTensor randomTensor(DataType type, Dims dims, uint32_t seed) {
  HostTensor tensor(type, std::move(dims));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.count(); ++i) writeElement(type, tensor.view().data, i, uniform(random));
  return tensor;
}

std::shared_ptr<const LoadedEngine> build(const Graph& graph, CompileOptions options = {}) {
  const Plan plan = compile(graph.clone(), options);
  return std::make_shared<LoadedEngine>(readEngine(writeEngine(plan)));
}

// Runs the engine at these shapes (outputs start poisoned) and compares with evaluateGraph.
void expectSame(const Graph& graph, Context& context, const std::vector<Dims>& shapes) {
  std::vector<HostTensor> inputs;
  std::vector<ConstTensorView> views;
  for (size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(randomTensor(graph.inputs[i]->dataType(), shapes[i], static_cast<uint32_t>(i + 1)));
  for (auto& input : inputs) views.push_back(std::as_const(input).view());
  const std::vector<HostTensor> expected = evaluateGraph(graph, views);
  for (size_t i = 0; i < shapes.size(); ++i) {
    context.setInputShape(static_cast<int>(i), shapes[i]);
    context.setInputAddress(static_cast<int>(i), views[i].data);
  }
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(context.outputShape(static_cast<int>(i)), expected[i].dims);
    outputs.emplace_back(expected[i].type, expected[i].dims);
    std::fill(outputs.back().bytes.begin(), outputs.back().bytes.end(), std::byte{0xff});
    context.setOutputAddress(static_cast<int>(i), outputs.back().view().data);
  }
  context.run();
  for (size_t o = 0; o < expected.size(); ++o)
    for (int64_t i = 0; i < expected[o].count(); ++i)
      ASSERT_NEAR(readElement(outputs[o].type, outputs[o].view().data, i),
                  readElement(expected[o].type, expected[o].view().data, i), 1e-4)
          << "output " << o << " element " << i;
}

Graph smallNetwork() {
  Graph graph = parseGraph(R"(
symbols n in [1, 64]
graph net(%x: f32[n, 8], %y: f32[n, 8]) {
  %sum = Pointwise(%x, %y) {expr = add(x0:f32, x1:f32)}
  %s = Softmax(%sum) {axis = 1}
  %t = Transpose(%s) {order = [1, 0]}
  %m = MatMul(%t, %x)
  return %m as "m", %s as "s", %x as "same"
}
)", findOp);
  return graph;
}

TEST(Compile, DynamicNetworkAtSeveralShapes) {
  const Graph graph = smallNetwork();
  CompileOptions options;
  options.profiles.resize(2);
  options.profiles[0].inputs["x"] = {{1, 8}, {4, 8}, {16, 8}};
  options.profiles[0].inputs["y"] = {{1, 8}, {4, 8}, {16, 8}};
  options.profiles[1].inputs["x"] = {{1, 8}, {32, 8}, {64, 8}};
  for (const std::string device : {"cpu", "reference"}) {
    options.device = device;
    Context context(build(graph, options), 2);
    for (int64_t n : {1, 3, 16}) expectSame(graph, context, {{n, 8}, {n, 8}});
    const int64_t tooLarge[] = {17, 8};
    EXPECT_THROW(context.setInputShape(0, tooLarge), Error);
    context.setProfile(1);
    expectSame(graph, context, {{64, 8}, {64, 8}});
  }
}

TEST(Compile, InputsThatShareADimensionMustAgree) {
  Context context(build(smallNetwork()), 1);
  const int64_t two[] = {2, 8}, three[] = {3, 8};
  const float data[24] = {};
  context.setInputShape(0, two);
  context.setInputShape(1, three);
  context.setInputAddress(0, data);
  context.setInputAddress(1, data);
  EXPECT_THROW(context.run(), Error);
}

TEST(Compile, ShapeValuesReadAtRunTime) {
  const Graph graph = parseGraph(R"(
symbols a in [0, 100], b in [0, 100]
graph net(%x: f32[6, 4], %shape: i64[2]) {
  BindDims(%shape) {symbols = [a, b]}
  %r = Reshape(%x) {shape = [a, b]}
  %e = Pointwise(%r) {expr = exp(x0:f32)}
  return %e as "e"
}
)", findOp);
  Context context(build(graph), 1);
  HostTensor x = randomTensor(DataType::kF32, {6, 4}, 1);
  for (const auto& shape : {std::pair<int64_t, int64_t>{8, 3}, {2, 12}}) {
    const int64_t dims[] = {shape.first, shape.second};
    float result[24];
    context.setInputAddress(0, x.view().data);
    context.setInputAddress(1, dims);
    context.setOutputAddress(0, result);
    EXPECT_EQ(context.outputShape(0).size(), 2u);
    context.run();
    EXPECT_EQ(context.outputShape(0), (std::vector<int64_t>{shape.first, shape.second}));
    for (int i = 0; i < 24; ++i) EXPECT_NEAR(result[i], std::exp(x.view().as<float>()[i]), 1e-5);
  }
}

TEST(Compile, EngineBytesSurviveNoDamage) {
  const std::vector<std::byte> good = writeEngine(compile(smallNetwork(), {}));
  for (size_t length = 0; length < good.size(); length += 37)
    EXPECT_THROW(readEngine(std::span(good).first(length)), Error) << "prefix " << length;
  for (size_t i = 0; i < good.size(); i += 5) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{0x41};
    EXPECT_THROW(readEngine(bad), Error) << "byte " << i;
  }
}

TEST(Compile, ANetworkWithoutOutputsIsRefused) {
  Graph graph;
  graph.addInput("x", {DataType::kF32, {4}});
  EXPECT_THROW(compile(std::move(graph), {}), Error);
}

}  // namespace
}  // namespace camshaft
