#include "backends/cuda/runtime/libraries/libraries.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "backends/cuda/runtime/libraries/attention_graph.h"
#include "backends/cuda/runtime/libraries/conv_graph.h"
#include "backends/cuda/runtime/libraries/cudnn.h"
#include "backends/cuda/runtime/libraries/shape_cache.h"
#include "backends/cuda/runtime/libraries/shared_library.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

using testing::ElementsAre;
using Kind = EpilogueOperand::Kind;

ConvProblem convolution() {
  return {.batch = 2,
          .inChannels = 64,
          .outChannels = 32,
          .image = {14, 12},
          .kernel = {3, 5},
          .strides = {1, 2},
          .dilations = {1, 1},
          .padsBegin = {1, 2},
          .padsEnd = {1, 1}};
}

TEST(SharedLibrary, SaysWhatIsMissingAndWhatToInstall) {
  const char* const names[] = {"libnothing_of_this_name.so.9"};
  try {
    const SharedLibrary library("Nothing 9", "nothing-cu13", names);
    FAIL() << "found a library that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.message(), testing::AllOf(testing::HasSubstr("libnothing_of_this_name.so.9"),
                                                testing::HasSubstr("install nothing-cu13"),
                                                testing::HasSubstr("CAMSHAFT_CUDA_LIBRARIES")));
  }
}

TEST(ShapeCache, MakesEachOnceAndForgetsTheOldest) {
  const ShapeCache<int, int> cache;
  int made = 0;
  const auto square = [&](int key) {
    return *cache.get(key, [&] { return ++made, std::make_shared<const int>(key * key); });
  };
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(made, 1);
  for (int i = 100; i < 100 + static_cast<int>(cache.kMost); ++i) square(i);
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(made, static_cast<int>(cache.kMost) + 2);
}

TEST(ConvGraph, ChannelsLastIsInTheStrides) {
  const OperationGraph graph = convGraph(convolution());
  ASSERT_EQ(graph.tensors.size(), 3u);
  EXPECT_THAT(graph.tensors[0].dims, ElementsAre(2, 64, 14, 12));
  EXPECT_THAT(graph.tensors[0].strides, ElementsAre(14 * 12 * 64, 1, 12 * 64, 64));
  EXPECT_THAT(graph.tensors[1].dims, ElementsAre(32, 64, 3, 5));
  EXPECT_THAT(graph.tensors[1].strides, ElementsAre(15 * 64, 1, 5 * 64, 64));
  EXPECT_THAT(graph.tensors[2].dims, ElementsAre(2, 32, 14, 6));
  ASSERT_EQ(graph.operations.size(), 1u);
  EXPECT_THAT(graph.operations[0].padsBegin, ElementsAre(1, 2));
  EXPECT_THAT(graph.operations[0].padsEnd, ElementsAre(1, 1));
  EXPECT_THAT(graph.operations[0].strides, ElementsAre(1, 2));
}

// Alignments of x, the weights, the result and the epilogue's tensors.
std::vector<int64_t> operandAlignments(const OperationGraph& graph) {
  std::vector<int64_t> alignments;
  for (const GraphTensor& tensor : graph.tensors)
    if (tensor.role == GraphTensor::Role::kOperand) alignments.push_back(alignmentOf(tensor));
  return alignments;
}

TEST(ConvGraph, NoMoreAlignmentIsPromisedThanEveryPixelHas) {
  ConvProblem p = convolution();
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(16, 16, 16));
  p.outChannels = 21;  // pixels of the result are 42 bytes; filters are whole ones
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(16, 16, 2));
  p.inChannels = 3;
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(2, 2, 2));
  p.inChannels = 12, p.outChannels = 20;
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(8, 8, 8));
  p.inputType = p.outputType = DataType::kF32;
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(16, 16, 16));
  p.inChannels = 24, p.groups = 4, p.outChannels = 32;  // 6 channels of a group
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(16, 8, 16));
  p.groups = 1, p.channelsLast = false;  // rows of 12, 5 and 6 elements
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(16, 4, 8));
}

TEST(ConvGraph, AnEpilogueOperandIsAlignedAsItLies) {
  ConvProblem p = convolution();
  p.outChannels = 21;
  p.epilogue.tensors = {{DataType::kF16}, {DataType::kF16, true, true, true}};
  p.epilogue.nodes = {{EpilogueOp::kAdd, {Kind::kAccumulator}, {Kind::kTensor, 0}},
                      {EpilogueOp::kAdd, {Kind::kNode, 0}, {Kind::kTensor, 1}}};
  // The bias is one row, which begins where it begins.
  EXPECT_THAT(operandAlignments(convGraph(p)), ElementsAre(16, 16, 2, 16, 2));
}

TEST(ConvGraph, OneDimensionIsAPictureOfOneRow) {
  ConvProblem p = convolution();
  p.image = {100}, p.kernel = {3}, p.strides = {2}, p.dilations = {1}, p.padsBegin = {1},
  p.padsEnd = {1};
  const OperationGraph graph = convGraph(p);
  EXPECT_THAT(graph.tensors[0].dims, ElementsAre(2, 64, 1, 100));
  EXPECT_THAT(graph.tensors[2].dims, ElementsAre(2, 32, 1, 50));
  EXPECT_THAT(graph.operations[0].strides, ElementsAre(1, 2));
  EXPECT_THAT(graph.operations[0].padsBegin, ElementsAre(0, 1));
}

TEST(ConvGraph, TheEpilogueFollowsInF32) {
  ConvProblem p = convolution();
  p.epilogue = {
      {{DataType::kF16}, {DataType::kF16, true, true, true}},
      {{EpilogueOp::kAdd, {}, {Kind::kTensor, 0}},
       {EpilogueOp::kAdd, {Kind::kNode, 0}, {Kind::kTensor, 1}},
       {EpilogueOp::kMul, {Kind::kNode, 1}, {Kind::kScalar, 0, 0.5f}},
       {EpilogueOp::kClip, {Kind::kNode, 2}, {}, 0, std::numeric_limits<float>::infinity()}}};
  const OperationGraph graph = convGraph(p);
  ASSERT_EQ(graph.operations.size(), 5u);
  const GraphTensor& sum = graph.tensors[graph.operations[0].y];
  EXPECT_EQ(sum.role, GraphTensor::Role::kVirtual);
  EXPECT_EQ(sum.type, CUDNN_DATA_FLOAT);
  const GraphTensor& bias = graph.tensors[graph.operations[1].b];
  EXPECT_EQ(bias.id, kEpilogueId);
  EXPECT_THAT(bias.dims, ElementsAre(1, 32, 1, 1));
  EXPECT_THAT(graph.tensors[graph.operations[2].b].dims, ElementsAre(2, 32, 14, 6));
  const GraphTensor& half = graph.tensors[graph.operations[3].b];
  EXPECT_EQ(half.role, GraphTensor::Role::kScalar);
  EXPECT_EQ(half.real, 0.5f);
  EXPECT_EQ(graph.operations[4].pointwise, CUDNN_POINTWISE_RELU_FWD);
  EXPECT_EQ(graph.operations[4].upperClip, std::numeric_limits<float>::max());
  EXPECT_EQ(graph.tensors[graph.operations[4].y].id, kOutputId);
}

TEST(ConvGraph, SumsOfIntegersAreIntegers) {
  ConvProblem p = convolution();
  p.inputType = DataType::kI8, p.outputType = DataType::kF32;
  p.epilogue = {{{DataType::kF32}}, {{EpilogueOp::kMul, {}, {Kind::kTensor, 0}}}};
  const OperationGraph graph = convGraph(p);
  EXPECT_EQ(graph.operations[0].computeType, CUDNN_DATA_INT32);
  EXPECT_EQ(graph.tensors[graph.operations[0].y].type, CUDNN_DATA_INT32);
}

TEST(ConvRules, F32KeepsItsPrecision) {
  ConvProblem p = convolution();
  EXPECT_TRUE(convRules(p).allowTensorCores);
  p.inputType = DataType::kF32;
  EXPECT_TRUE(convRules(p).allowTensorCores);
  EXPECT_FALSE(convRules(p).allowDownConversion);
  p.allowTf32 = false;
  EXPECT_FALSE(convRules(p).allowTensorCores);
}

TEST(WorthTiming, EnginesThatCompileLateMustBeTheBestGuess) {
  const EngineChoice a{.engine = 1}, b{.engine = 2}, late{.engine = 3, .isCompiledLate = true},
      later{.engine = 4, .isCompiledLate = true};
  EXPECT_THAT(worthTiming({a, late, b}, 3), ElementsAre(a, b));
  EXPECT_THAT(worthTiming({late, a, later, b}, 3), ElementsAre(a, b, late));
  EXPECT_EQ(worthTiming({late, a, a, a, a, a, a}, 3)[kUsualPlans - 1], late);
  EXPECT_THAT(worthTiming({late, later}, 3), ElementsAre(late, later));
  EXPECT_THAT(worthTiming({late, later}, 1), ElementsAre(late));
  EXPECT_TRUE(worthTiming({}, 3).empty());
}

TEST(AttentionGraph, KeysAreReadTransposed) {
  AttentionProblem p{.heads = 4, .keyHeads = 2, .headSize = 64, .valueSize = 32};
  p.sizes = {.batch = 3, .queryLength = 5, .keyLength = 7, .k = {0, 1000, 100, 10}};
  const OperationGraph graph = attentionGraph(p, p.sizes);
  const auto keys = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                 [](const GraphTensor& tensor) { return tensor.id == kKeyId; });
  EXPECT_THAT(keys->dims, ElementsAre(3, 2, 64, 7));
  EXPECT_THAT(keys->strides, ElementsAre(1000, 100, 1, 10));
  const GraphTensor& scores = graph.tensors[graph.operations[0].y];
  EXPECT_THAT(scores.dims, ElementsAre(3, 4, 5, 7));
  EXPECT_EQ(scores.type, CUDNN_DATA_FLOAT);
  const GraphOperation& last = graph.operations.back();
  EXPECT_EQ(last.kind, GraphOperation::Kind::kMatmul);
  EXPECT_EQ(graph.tensors[last.a].type, CUDNN_DATA_HALF);
  EXPECT_EQ(graph.tensors[last.y].id, kAttentionOutputId);
}

TEST(AttentionGraph, MasksAddOperations) {
  AttentionProblem p{.heads = 4, .keyHeads = 4};
  const auto count = [&] { return attentionGraph(p, p.sizes).operations.size(); };
  const size_t plain = count();
  p.causal = CausalMask::kTopLeft;
  EXPECT_EQ(count(), plain + 4);
  p.causal = CausalMask::kBottomRight;
  EXPECT_EQ(count(), plain + 6);
  p.hasBias = true;
  EXPECT_EQ(count(), plain + 7);
}

TEST(LibraryKernels, DamagedParametersAreRefused) {
  const std::vector<std::byte> bytes(20, std::byte{0xff});
  for (const RuntimeKernel* kernel : libraryKernels())
    EXPECT_THROW(kernel->load(bytes), Error) << kernel->name;
}

// An H200 in cuDNN's words: it plans for devices that are not there.
constexpr std::string_view kH200 =
    R"({"deviceVer":900,"cudaDeviceId":0,"driverVer":13000,"maxGridSize":[2147483647,65535,65535],
"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":132,"warpSize":32,
"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,
"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,
"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,"memClockRateKHz":3201000,"l2CacheSize":62914560,
"totalGlobalMem":150000000000,"deviceName":"NVIDIA H200"})";

TEST(CudnnPlan, PlansForADeviceThatIsNotHere) {
  std::optional<Descriptor> device;
  try {
    device.emplace(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    device->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, kH200.size(),
                kH200.data());
    device->finalize("describing a device");
  } catch (const Error& error) {
    GTEST_SKIP() << error.message();
  }
  ConvProblem p = convolution();
  p.epilogue = {{{DataType::kF16}},
                {{EpilogueOp::kAdd, {}, {Kind::kTensor, 0}},
                 {EpilogueOp::kClip, {Kind::kNode, 0}, {}, 0, 1e30f}}};
  const OperationGraph graph = convGraph(p);
  const PlanTarget target{.device = &*device};
  const std::vector<EngineChoice> choices = suggestEngines(graph, target, convRules(p));
  ASSERT_FALSE(choices.empty());
  for (size_t i = 0; i < choices.size(); ++i) {
    EXPECT_EQ(std::count(choices.begin(), choices.end(), choices[i]), 1) << toString(choices[i]);
  }
  const auto ready = std::find_if(choices.begin(), choices.end(),
                                  [](const EngineChoice& c) { return !c.isCompiledLate; });
  ASSERT_NE(ready, choices.end());
  const CudnnPlan plan(graph, target, *ready);
  EXPECT_GE(plan.workspaceBytes(), 0);
  EXPECT_THAT(plan.json(), testing::HasSubstr("{"));
}

}  // namespace
}  // namespace camshaft::cuda
