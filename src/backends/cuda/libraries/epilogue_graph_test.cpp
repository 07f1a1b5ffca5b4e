#include "backends/cuda/libraries/epilogue_graph.h"

#include <gmock/gmock.h>

#include <limits>

namespace camshaft::cuda {
namespace {

using Kind = EpilogueOperand::Kind;
constexpr EpilogueOperand kSum{};
constexpr EpilogueOperand node(int i) { return {Kind::kNode, i}; }
constexpr EpilogueOperand tensor(int i) { return {Kind::kTensor, i}; }
constexpr EpilogueOperand scalar(float value) { return {Kind::kScalar, 0, value}; }
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<EpilogueNode> translated(std::string_view text, int tensors = 0) {
  const std::vector<EpilogueTensor> operands(tensors);
  const TranslatedEpilogue result = translateEpilogue(parseExpr(text), operands);
  EXPECT_EQ(result.refusal, "");
  EXPECT_EQ(result.epilogue.tensors.size(), operands.size());
  return result.epilogue.nodes;
}

std::string refused(std::string_view text, int tensors = 0) {
  const std::vector<EpilogueTensor> operands(tensors);
  return translateEpilogue(parseExpr(text), operands).refusal;
}

TEST(EpilogueGraph, BiasResidualRelu) {
  const std::vector<EpilogueNode> expected = {{EpilogueOp::kAdd, kSum, tensor(0)},
                                              {EpilogueOp::kAdd, node(0), tensor(1)},
                                              {EpilogueOp::kClip, node(1), {}, 0, kInfinity}};
  EXPECT_EQ(translated("relu(add(add(x0:f16, x1:f16), x2:f16))", 2), expected);
}

TEST(EpilogueGraph, CastsBetweenFloatsVanish) {
  const std::vector<EpilogueNode> expected = {{EpilogueOp::kAdd, kSum, tensor(0)},
                                              {EpilogueOp::kGelu, node(0)}};
  EXPECT_EQ(translated("cast(gelu(add(cast(x0:f16, f32), cast(x1:f16, f32))), f16)", 1), expected);
}

TEST(EpilogueGraph, BothBoundsAreOneClip) {
  const std::vector<EpilogueNode> expected = {{EpilogueOp::kClip, kSum, {}, 0, 6}};
  EXPECT_EQ(translated("min(max(x0:f32, 0:f32), 6:f32)"), expected);
  EXPECT_EQ(translated("min(relu(x0:f32), 6:f32)"), expected);
}

TEST(EpilogueGraph, ABoundOnWhatOthersReadStaysApart) {
  const std::vector<EpilogueNode> expected = {{EpilogueOp::kClip, kSum, {}, 0, kInfinity},
                                              {EpilogueOp::kMin, node(0), scalar(6)},
                                              {EpilogueOp::kMul, node(1), node(0)}};
  EXPECT_EQ(translated("t0 = relu(x0:f32); mul(min(t0, 6:f32), t0)"), expected);
}

TEST(EpilogueGraph, TheResultOfTheConvolutionComesFirst) {
  EXPECT_EQ(translated("mul(x1:f32, x0:f32)", 1),
            (std::vector<EpilogueNode>{{EpilogueOp::kMul, kSum, tensor(0)}}));
  EXPECT_EQ(translated("sub(1:f32, x0:f32)"),
            (std::vector<EpilogueNode>{{EpilogueOp::kNeg, kSum},
                                       {EpilogueOp::kAdd, node(0), scalar(1)}}));
  EXPECT_EQ(translated("div(x1:f32, x0:f32)", 1),
            (std::vector<EpilogueNode>{{EpilogueOp::kReciprocal, kSum},
                                       {EpilogueOp::kMul, node(0), tensor(0)}}));
}

TEST(EpilogueGraph, HardSwish) {
  const std::vector<EpilogueNode> expected = {{EpilogueOp::kMul, kSum, scalar(1.0f / 6)},
                                              {EpilogueOp::kAdd, node(0), scalar(0.5f)},
                                              {EpilogueOp::kClip, node(1), {}, 0, 1},
                                              {EpilogueOp::kMul, kSum, node(2)}};
  EXPECT_EQ(translated("hard_swish(x0:f32)"), expected);
}

TEST(EpilogueGraph, RefusesInWords) {
  EXPECT_THAT(refused("sin(x0:f32)"), testing::HasSubstr("no sin"));
  EXPECT_THAT(refused("cast(x0:f32, i8)"), testing::HasSubstr("round to i8"));
  EXPECT_THAT(refused("add(x0:f32, relu(x1:f32))", 1), testing::HasSubstr("result alone"));
}

TEST(EpilogueGraph, ABiasGoesInFront) {
  ConvEpilogue epilogue{{{DataType::kF16, true, true, true}},
                        {{EpilogueOp::kAdd, kSum, tensor(0)}, {EpilogueOp::kSwish, node(0)}}};
  addBias(epilogue, DataType::kF16);
  const std::vector<EpilogueNode> expected = {{EpilogueOp::kAdd, kSum, tensor(1)},
                                              {EpilogueOp::kAdd, node(0), tensor(0)},
                                              {EpilogueOp::kSwish, node(1)}};
  EXPECT_EQ(epilogue.nodes, expected);
  ASSERT_EQ(epilogue.tensors.size(), 2u);
  EXPECT_EQ(epilogue.tensors[1], EpilogueTensor{DataType::kF16});
}

TEST(EpilogueGraph, ABiasAloneIsAnEpilogue) {
  ConvEpilogue epilogue;
  addBias(epilogue, DataType::kF32);
  EXPECT_EQ(epilogue.nodes, (std::vector<EpilogueNode>{{EpilogueOp::kAdd, kSum, tensor(0)}}));
}

}  // namespace
}  // namespace camshaft::cuda
