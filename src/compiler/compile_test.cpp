// Whole networks through compiler, engine file and runtime, against the naive evaluation.
#include "compiler/compile.h"

#include <gmock/gmock.h>
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
  for (int64_t i = 0; i < tensor.count(); ++i)
    writeElement(type, tensor.view().data, i, uniform(random));
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
    inputs.push_back(
        randomTensor(graph.inputs[i]->dataType(), shapes[i], static_cast<uint32_t>(i + 1)));
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
)",
                           findOp);
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

TEST(Compile, SizesThatNoProfileLetsVaryAreNumbers) {
  const Graph graph = smallNetwork();
  CompileOptions options;
  options.profiles.resize(2);
  options.profiles[0].inputs["x"] = options.profiles[1].inputs["x"] = {{4, 8}, {4, 8}, {4, 8}};
  const Plan plan = compile(graph.clone(), options);
  for (const IoTensor& tensor : plan.outputs)
    for (const DimRef& dim : tensor.tensor.dims) EXPECT_TRUE(dim.isConstant()) << tensor.name;
  Context context(build(graph, options), 1);
  expectSame(graph, context, {{4, 8}, {4, 8}});

  options.profiles[1].inputs["y"] = {{1, 8}, {4, 8}, {4, 8}};  // the same dimension
  EXPECT_FALSE(compile(graph.clone(), options).inputs[0].tensor.dims[0].isConstant());
  options.profiles[1].inputs = {{"x", {{5, 8}, {5, 8}, {5, 8}}}};
  EXPECT_FALSE(compile(graph.clone(), options).inputs[0].tensor.dims[0].isConstant());
  options.profiles[1].inputs.clear();
  EXPECT_FALSE(compile(graph.clone(), options).inputs[0].tensor.dims[0].isConstant());
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
)",
                                 findOp);
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

Graph products(std::string_view request) {
  return parseGraph(str(R"(
graph net(%x: f32[2, 4]) {
  %w: f32[4, 4] = constant splat 0.3
  %a = MatMul(%x, %w) )",
                        request, R"(
  %r = Pointwise(%a) {expr = gelu(x0:f32)}
  %y = MatMul(%r, %w)
  return %y
}
)"),
                    findOp);
}

// Types that the products of the network multiply, as the plan's inspection would show them.
std::vector<DataType> typesMultiplied(const Graph& graph, CompileOptions options) {
  std::vector<DataType> types;
  options.dump = [&](std::string_view pass, const Graph& after) {
    if (pass != "lower_precision") return;
    types.clear();
    for (const auto& node : after.nodes())
      if (node->op == &ops::MatMul) types.push_back(node->input(0)->dataType());
  };
  compile(graph.clone(), options);
  return types;
}

using Types = std::vector<DataType>;

TEST(Precision, SixteenBitsWhereTheDeviceGains) {
  const Graph graph = products("");
  EXPECT_EQ(typesMultiplied(graph, {.device = "reference"}), Types(2, DataType::kF32));
  EXPECT_EQ(typesMultiplied(graph, {.device = "reference", .allowF16 = true}),
            Types(2, DataType::kF16));
  EXPECT_EQ(typesMultiplied(graph, {.device = "reference", .allowBF16 = true}),
            Types(2, DataType::kBF16));
  std::vector<std::string> said;
  CompileOptions onCpu;
  onCpu.allowF16 = true;
  onCpu.log = Log([&](Severity, std::string_view message) { said.emplace_back(message); });
  const Types types = typesMultiplied(graph, onCpu);
  ASSERT_FALSE(said.empty());
  if (types == Types(2, DataType::kBF16)) {
    EXPECT_THAT(said[0], testing::StartsWith("16 bits are bf16 on this CPU"));
    return;
  }
  EXPECT_EQ(types, Types(2, DataType::kF32));
  EXPECT_THAT(said[0], testing::AnyOf("products round their operands to bf16 and add up in f32, "
                                      "where that is faster; tensors stay f32",
                                      "products round their operands to f16 and add up in f32, a "
                                      "few at a time in f16 first, where that is faster; tensors "
                                      "stay f32",
                                      "this device computes no faster in 16 bits, so the engine "
                                      "stays f32"));
}

TEST(Precision, RequestsAreIgnoredPreferredOrObeyed) {
  const Graph asks32 = products("precision(f32)");
  const Graph asks16 = products("precision(f16)");
  const auto with = [](PrecisionRequests requests, bool allowF16,
                       std::string device = "reference") {
    CompileOptions options;
    options.device = std::move(device);
    options.allowF16 = allowF16;
    options.precisionRequests = requests;
    return options;
  };
  const Types both16(2, DataType::kF16), both32(2, DataType::kF32);
  const Types first32{DataType::kF32, DataType::kF16}, first16{DataType::kF16, DataType::kF32};
  EXPECT_EQ(typesMultiplied(asks32, with(PrecisionRequests::kIgnore, true)), both16);
  EXPECT_EQ(typesMultiplied(asks32, with(PrecisionRequests::kPrefer, true)), first32);
  EXPECT_EQ(typesMultiplied(asks32, with(PrecisionRequests::kObey, true)), first32);
  EXPECT_EQ(typesMultiplied(asks16, with(PrecisionRequests::kPrefer, false)), both32);
  EXPECT_THROW(typesMultiplied(asks16, with(PrecisionRequests::kObey, false)), Error);
  // bf16 stands for f16 on CPUs that store it.
  const Types onCpu = typesMultiplied(products(""), with(PrecisionRequests::kIgnore, true, "cpu"));
  EXPECT_EQ(typesMultiplied(asks16, with(PrecisionRequests::kPrefer, true, "cpu")), onCpu);
  EXPECT_EQ(typesMultiplied(asks16, with(PrecisionRequests::kObey, true, "cpu")),
            onCpu == both32 ? first16 : onCpu);
}

TEST(Precision, EnginesKeepTheTypesOfInputsAndOutputs) {
  const Graph graph = products("");
  Context context(build(graph, {.device = "reference", .allowF16 = true}), 1);
  const std::vector<float> x{1, 2, -1, 0.5, -2, 1, 0.25, 0};
  std::vector<float> y(8);
  context.setInputAddress(0, x.data());
  context.setOutputAddress(0, y.data());
  context.run();
  const ConstTensorView input{DataType::kF32, {2, 4}, x.data()};
  const HostTensor expected = evaluateGraph(graph, std::span(&input, 1))[0];
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(y[i], readElement(DataType::kF32, expected.bytes.data(), i), 3e-3);
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

TEST(Compile, WarnsOfLayersOnTheReferenceKernel) {
  const Graph graph = parseGraph(R"(
symbols n in [1, 64]
graph g(%x: f32[n, 300], %k: f32[3, 1]) {
  %r = Pointwise(%x) {expr = abs(x0:f32)}
  %c = Trilu(%r)
  %t = Trilu(%k)
  return %c, %t
}
)",
                                 findOp);
  for (const bool timed : {false, true}) {
    std::vector<std::string> warnings;
    CompileOptions options;
    options.optimizationLevel = timed ? 3 : 0;
    options.timeLayers = timed;
    options.log = Log([&](Severity severity, std::string_view message) {
      if (severity == Severity::kWarning) warnings.emplace_back(message);
    });
    options.profiles = {{.inputs = {{"x", {{1, 300}, {8, 300}, {8, 300}}}}}};
    compile(graph.clone(), options);
    ASSERT_EQ(warnings.size(), 1u) << "three elements are not worth one";
    EXPECT_NE(warnings[0].find("(Trilu) has no fast kernel here"), std::string::npos);
    EXPECT_NE(warnings[0].find(timed ? "% of the network's time" : "% of the elements"),
              std::string::npos)
        << warnings[0];
  }
}

}  // namespace
}  // namespace camshaft
