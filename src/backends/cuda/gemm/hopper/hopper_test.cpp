#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "backends/cuda/gemm/hopper/byte_weights.h"
#include "backends/cuda/gemm/hopper/choice.h"
#include "backends/cuda/gemm/hopper/operands.h"
#include "backends/cuda/gemm/hopper/product.h"
#include "backends/cuda/gemm/hopper/text.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(HopperConfigTest, EveryListedOneIsValidAndSurvivesPacking) {
  for (const HopperConfig& config : hopperConfigs()) {
    EXPECT_TRUE(isValid(config, false, true)) << toString(config);
    EXPECT_EQ(toString(unpackHopper(pack(config))), toString(config));
  }
}

TEST(HopperConfigTest, ImpossibleOnesAreRefused) {
  EXPECT_FALSE(isValid({.tileM = 96}, false, true));
  EXPECT_FALSE(isValid({.tileM = 256, .tileN = 256}, false, true));
  EXPECT_FALSE(isValid({.tileM = 128, .tileN = 128, .stages = 16}, false, true));
  EXPECT_FALSE(isValid({.tileM = 128, .tileN = 96}, false, false));
  EXPECT_FALSE(isValid({.tileM = 128, .tileN = 64, .pingPong = true, .splitK = 2}, false, true));
  EXPECT_FALSE(isValid(unpackHopper(0), false, true));
  EXPECT_FALSE(isValid(unpackHopper(-1), false, true));
}

TEST(HopperConfigTest, TilesOfAResidualTakeRoomOfStages) {
  const HopperConfig bytes = withResidual({.tileM = 128, .tileN = 256, .stages = 4}, 1);
  EXPECT_EQ(toString(bytes), "128x256_residual2_stages3");
  EXPECT_TRUE(isValid(bytes, false, true));
  EXPECT_EQ(unpackHopper(pack(bytes)), bytes);
  EXPECT_EQ(residualLine(bytes), 128);
  EXPECT_EQ(residualLine(withResidual({.tileM = 128, .tileN = 64, .stages = 4}, 1)), 64);
  EXPECT_EQ(
      withResidual({.tileM = 64, .tileN = 256, .pingPong = true, .stages = 4}, 1).residualTiles, 4);
  // None where lines are not as long as a swizzle, K is split, or there is no room.
  for (const HopperConfig& config :
       {HopperConfig{.tileM = 128, .tileN = 96, .stages = 4},
        HopperConfig{.tileM = 128, .tileN = 128, .stages = 4, .splitK = 2}})
    EXPECT_EQ(withResidual(config, 1), config);
  EXPECT_FALSE(isValid({.tileN = 128, .pingPong = true, .residualTiles = 2, .residualBytes = 1},
                       false, true));
  EXPECT_FALSE(isValid({.residualTiles = 2}, false, true));
  EXPECT_FALSE(isValid({.residualBytes = 1}, false, true));
}

TEST(HopperConfigTest, NormalisedRowsHaveRoomAndWholeSums) {
  HopperConfig config{.tileM = 128, .tileN = 128, .stages = 4, .normalises = true};
  EXPECT_TRUE(isValid(config, false, true));
  EXPECT_FALSE(isValid(config, true, true));
  EXPECT_EQ(unpackHopper(pack(config)), config);
  EXPECT_EQ(toString(config), "128x128_norm_stages4");
  HopperConfig plain = config;
  plain.normalises = false;
  EXPECT_EQ(sharedBytesOf(config) - sharedBytesOf(plain), 128 * 8);
  config.splitK = 2;
  EXPECT_FALSE(isValid(config, false, true));
  const HopperProblem problem{.m = 128, .n = 768, .k = 3072, .normalises = true};
  for (const HopperConfig& c : promisingConfigs(problem, 132, 8)) {
    EXPECT_EQ(c.splitK, 1);
    EXPECT_TRUE(c.normalises);
  }
  EXPECT_THAT(whyNot(plain, {.m = 8, .n = 8, .k = 48}), testing::IsNull());
  plain.normalises = true;
  EXPECT_THAT(whyNot(plain, {.m = 8, .n = 8, .k = 48}), HasSubstr("multiple of 32"));
}

TEST(HopperGeometryTest, BoxesOfAResidualAreLinesOfItsTiles) {
  const HopperConfig config = withResidual({.tileM = 128, .tileN = 128, .stages = 4}, 2);
  const HopperProblem problem{.m = 1000, .n = 136, .k = 64, .batch = 3};
  const BoxedTensor residual = boxedResidual(config, problem);
  EXPECT_THAT(residual.dims, testing::ElementsAre(272, 1000, 3));
  EXPECT_THAT(residual.strides, testing::ElementsAre(272, 272000));
  EXPECT_THAT(residual.box, testing::ElementsAre(128, 128, 1));
  EXPECT_THAT(boxedResult(config, problem).box, testing::ElementsAre(128, 16, 1));
}

TEST(HopperGeometryTest, TilesCoverTheMatrixAndSplitsMakeClusters) {
  const HopperProblem problem{.m = 197, .n = 768, .k = 768};
  const HopperConfig config{.tileM = 128, .tileN = 64, .stages = 4, .splitK = 4};
  const HopperArguments arguments = argumentsOf(config, problem);
  EXPECT_EQ(arguments.tilesM, 2);
  EXPECT_EQ(arguments.tilesN, 12);
  EXPECT_EQ(arguments.steps, 12);
  EXPECT_EQ(gridOf(config, arguments, 10), 24 * 4);
  EXPECT_EQ(gridOf({.tileM = 128, .tileN = 64}, arguments, 10), 10);
}

TEST(HopperGeometryTest, BoxesFollowTheLayout) {
  const HopperConfig config{.tileM = 128, .tileN = 256, .shareB = 2};
  const BoxedTensor along = boxedB(config, {.m = 1, .n = 1000, .k = 512});
  EXPECT_THAT(along.dims, testing::ElementsAre(512, 1000, 1));
  EXPECT_THAT(along.strides, testing::ElementsAre(1024, 1024000));
  EXPECT_THAT(along.box, testing::ElementsAre(64, 128, 1));
  const BoxedTensor across = boxedB(
      config, {.m = 1, .n = 1000, .k = 512, .batch = 3, .batchB = true, .transposedB = false});
  EXPECT_THAT(across.dims, testing::ElementsAre(1000, 512, 3));
  EXPECT_THAT(across.box, testing::ElementsAre(64, 64, 1));
}

TEST(HopperGeometryTest, RefusesWhatCopiesCannotReach) {
  EXPECT_THAT(whyNot({}, {.m = 8, .n = 8, .k = 12}), HasSubstr("16 bytes"));
  EXPECT_THAT(whyNot({.splitK = 4}, {.m = 8, .n = 8, .k = 128}), HasSubstr("splits K"));
  EXPECT_EQ(whyNot({}, {.m = 1, .n = 1, .k = 8}), nullptr);
}

TEST(HopperChoiceTest, SmallProductsSplitKAndLargeOnesDoNot) {
  const auto best = [](HopperProblem problem) { return promisingConfigs(problem, 132, 4); };
  for (const HopperConfig& c : best({.m = 128, .n = 768, .k = 3072})) EXPECT_GT(c.splitK, 1);
  for (const HopperConfig& c : best({.m = 8192, .n = 8192, .k = 8192})) EXPECT_EQ(c.splitK, 1);
}

TEST(HopperChoiceTest, BlocksOfSmallProductsRunAtOnce) {
  for (const HopperProblem& problem :
       {HopperProblem{.m = 128, .n = 2304, .k = 768}, HopperProblem{.m = 384, .n = 768, .k = 768},
        HopperProblem{.m = 197, .n = 768, .k = 3072}}) {
    const HopperConfig best = promisingConfigs(problem, 132, 1).front();
    const int blocks = argumentsOf(best, problem).tiles * clusterSize(best);
    EXPECT_GE(blocks, 72) << toString(best);
    EXPECT_LE(blocks, 132) << toString(best);
  }
}

TEST(HopperChoiceTest, ListsDiffer) {
  for (const HopperProblem& problem : {HopperProblem{.m = 128, .n = 768, .k = 768},
                                       HopperProblem{.m = 4096, .n = 3072, .k = 768}}) {
    const std::vector<HopperConfig> list = promisingConfigs(problem, 132, 12);
    EXPECT_EQ(list.size(), 12u);
    std::set<std::tuple<int, int, bool, int>> kinds;
    for (const HopperConfig& c : list) kinds.emplace(c.tileM, c.tileN, c.pingPong, c.splitK);
    EXPECT_GE(kinds.size(), 8u);
  }
}

HopperProduct productOf(const std::string& text) {
  const Graph graph = parseGraph(text, findOp);
  return hopperProductOf(*graph.nodes().back());
}

TEST(HopperProductTest, LeadingDimensionsBecomeRowsWhenOneMatrixServesAll) {
  const HopperProduct p = productOf(
      "symbols b graph g(%x: f16[b, 128, 768], %w: f16[3072, 768]) {"
      " %y = MatMul(%x, %w) {transpose_b = true} return %y }");
  EXPECT_THAT(p.refusal, IsEmpty());
  EXPECT_EQ(toString(p.m), "128*b");
  EXPECT_EQ(p.n.value(), 3072);
  EXPECT_TRUE(p.transposedB);
  EXPECT_FALSE(p.batchA);
}

TEST(HopperProductTest, BatchesKeepTheirMatrices) {
  const HopperProduct p = productOf(
      "graph g(%x: f16[2, 12, 64, 128], %w: f16[2, 12, 128, 64]) { %y = MatMul(%x, %w) return %y "
      "}");
  EXPECT_THAT(p.refusal, IsEmpty());
  EXPECT_EQ(p.batch.value(), 24);
  EXPECT_TRUE(p.batchA && p.batchB);
  EXPECT_FALSE(p.transposedB);
}

TEST(HopperProductTest, RefusalsSayWhy) {
  EXPECT_THAT(productOf("graph g(%x: f16[4, 12], %w: f16[12, 8]) { %y = MatMul(%x, %w) return %y }")
                  .refusal,
              HasSubstr("16 bytes"));
  EXPECT_THAT(productOf("graph g(%x: f16[3, 2, 4, 16], %w: f16[2, 16, 8]) {"
                        " %y = MatMul(%x, %w) return %y }")
                  .refusal,
              HasSubstr("some dimensions"));
  EXPECT_THAT(productOf("graph g(%x: i32[4, 16], %w: i32[16, 8]) { %y = MatMul(%x, %w) return %y }")
                  .refusal,
              HasSubstr("not i32"));
  EXPECT_THAT(productOf("symbols n graph g(%x: f16[4, 8*n], %w: f16[8, 8*n]) {"
                        " %y = MatMul(%x, %w) {transpose_b = true} return %y }")
                  .refusal,
              HasSubstr("while building"));
}

// MatMulInteger of a and constant weights [3, 16], one row of them as given, all others zero.
HopperProduct integerProductOf(const std::string& zeros, const std::string& type,
                               std::vector<int> firstRow) {
  std::string weights;
  for (int i = 0; i < 16 * 3; ++i)
    weights += str(i ? ", " : "", i < static_cast<int>(firstRow.size()) ? firstRow[i] : 0);
  return productOf(
      str("graph g(%x: u8[4, 16], %z: u8[]) { %w: ", type, "[16, 3] = constant [", weights,
          "] %zw: ", type, "[3] = constant [128, 0, 0]",
          " %za: u8[] = constant [7] %none: u8[] = constant [0] %y = MatMulInteger(%x, %w", zeros,
          ") return %y }"));
}

TEST(HopperProductTest, WeightsAreReadAsTheTypeThatHoldsThemWithoutTheirZeroPoints) {
  const HopperProduct plain = integerProductOf("", "u8", {255, 0, 0});
  EXPECT_THAT(plain.refusal, IsEmpty());
  EXPECT_TRUE(plain.packsB && plain.transposedB);
  EXPECT_EQ(plain.typeB, DataType::kU8);
  EXPECT_EQ(plain.zeroA, ZeroPoint::kNone);
  const HopperProduct shifted = integerProductOf(", %za, %zw", "u8", {255, 3, 127});
  EXPECT_THAT(shifted.refusal, IsEmpty());
  EXPECT_EQ(shifted.typeB, DataType::kI8);
  EXPECT_EQ(shifted.zeroA, ZeroPoint::kConstant);
  EXPECT_EQ(integerProductOf(", %z", "i8", {}).zeroA, ZeroPoint::kRunTime);
  EXPECT_EQ(integerProductOf(", %none", "i8", {}).zeroA, ZeroPoint::kNone);
  EXPECT_THAT(integerProductOf(", %za, %zw", "u8", {0, 255, 0}).refusal,
              HasSubstr("without their zero points"));
}

TEST(HopperProductTest, BytesAreReadAlongKOnly) {
  EXPECT_THAT(productOf("graph g(%x: i8[4, 16], %w: i8[16, 32]) {"
                        " %y = MatMulInteger(%x, %w) return %y }")
                  .refusal,
              HasSubstr("along K only"));
  EXPECT_THAT(productOf("graph g(%x: i8[4, 24], %w: i8[8, 24]) {"
                        " %y = MatMul(%x, %w) {transpose_b = true} return %y }")
                  .refusal,
              HasSubstr("16 bytes"));
}

TEST(HopperByteWeightsTest, AreCentredTransposedAndSummedUp) {
  const Graph graph = parseGraph(
      "graph g() { %w: u8[2, 3] = constant [130, 4, 5, 126, 7, 8] "
      "%z: u8[3] = constant [128, 4, 0] return %w, %z }",
      findOp);
  const ByteWeights weights = byteWeights(*graph.find("w"), graph.find("z"));
  std::vector<int> bytes;
  for (std::byte byte : weights.bytes) bytes.push_back(static_cast<int8_t>(byte));
  EXPECT_THAT(bytes, testing::ElementsAre(2, -2, 0, 3, 5, 8));
  EXPECT_THAT(weights.sums, testing::ElementsAre(0, 3, 13));
}

// Where wgmma's column 8j + 2(lane%4) + e of a tile belongs, by columnOf() of store.cuh.
TEST(HopperByteWeightsTest, ColumnsOfByteResultsArePackedInFours) {
  std::string weights;
  for (int i = 0; i < 16 * 32; ++i) weights += str(i ? ", " : "", i % 32);
  const auto rowsOf = [&](const char* type) {
    const Graph graph = parseGraph(
        str("graph g(%x: u8[4, 16]) { %w: u8[16, 32] = constant [", weights,
            "] %y = MatMulInteger(%x, %w) epilogue() {cast(x0:i32, ", type, ")} return %y }"),
        findOp);
    const Node& node = *graph.nodes().back();
    const std::vector<std::byte> packed = hopperInputs(node, hopperProductOf(node))[1].packed;
    std::vector<int> rows;
    for (size_t i = 0; i < packed.size(); i += 16) rows.push_back(static_cast<int>(packed[i]));
    return rows;
  };
  const std::vector<int> quads = rowsOf("u8"), plain = rowsOf("f32");
  for (int j = 0; j < 4; ++j)
    for (int lane = 0; lane < 4; ++lane)
      for (int e = 0; e < 2; ++e) {
        const int column = 8 * j + 2 * lane + e;
        EXPECT_EQ(quads[column], j / 2 * 16 + lane * 4 + j % 2 * 2 + e);
        EXPECT_EQ(plain[column], column);
      }
}

TEST(HopperEpilogueTest, OperandsAreReadInVectorsWhereRowsDivide) {
  const Graph graph = parseGraph(
      "graph g(%x: f16[2, 64, 128], %w: f16[128, 64], %b: f16[64], %r: f16[2, 64, 64]) {"
      " %y = MatMul(%x, %w) epilogue(%b, %r) {relu(add(add(x0:f16, x1:f16), x2:f16))} return %y }",
      findOp);
  const Node& node = *graph.nodes().back();
  const HopperEpilogue epilogue = hopperEpilogueOf(node, hopperProductOf(node));
  EXPECT_THAT(epilogue.refusal, IsEmpty());
  EXPECT_THAT(epilogue.text, HasSubstr("p.extra[0]) + (at.column)"));
  EXPECT_THAT(epilogue.text, HasSubstr("touchOperands"));
  EXPECT_EQ(workOfEpilogue(node), 3);
  EXPECT_THAT(epilogue.text, HasSubstr("p.extra[1]) + (at.start)"));
  EXPECT_THAT(epilogue.text, HasSubstr("readElements<kWidth>(x2)"));
  EXPECT_FALSE(epilogue.isByColumn);
  EXPECT_TRUE(readsInPlace(node, 3));
  EXPECT_FALSE(readsInPlace(node, 2));
}

TEST(HopperEpilogueTest, TilesAreFetchedOfTheOperandThatLiesLikeTheResult) {
  const auto residualOf = [](const char* type, const char* shape) {
    const Graph graph = parseGraph(
        str("graph g(%x: f16[64, 128], %w: f16[128, 64], %b: f16[64], %r: ", type, shape,
            ") { %y = MatMul(%x, %w) epilogue(%b, %r) {cast(add(cast(add(x0:f16, x1:f16), f32), "
            "cast(x2:",
            type, ", f32)), f16)} return %y }"),
        findOp);
    const Node& node = *graph.nodes().back();
    const HopperEpilogue epilogue =
        hopperEpilogueOf(node, hopperProductOf(node), Residual::kFetched);
    EXPECT_EQ(epilogue.text.find("residualOf<") != std::string::npos, epilogue.residual > 0);
    return epilogue.residual;
  };
  EXPECT_EQ(residualOf("f16", "[64, 64]"), 2);
  EXPECT_EQ(residualOf("bf16", "[64, 64]"), 2);
  EXPECT_EQ(residualOf("u8", "[64, 64]"), 0);
  EXPECT_EQ(residualOf("f16", "[64, 1]"), 0);
}

// So that layers of a quantised network that differ in their scales share their code.
TEST(HopperEpilogueTest, ScalesAreArguments) {
  const auto epilogueOf = [](const char* scale, const char* zero) {
    const Graph graph = parseGraph(
        str("graph g(%x: u8[64, 128], %w: i8[128, 64], %s: f32[64]) { %y = MatMulInteger(%x, %w) "
            "epilogue(%s) {cast(min(max(add(round(div(mul(cast(x0:i32, f32), x1:f32), ",
            scale, ":f32)), ", zero, ":f32), 0:f32), 255:f32), u8)} return %y }"),
        findOp);
    const Node& node = *graph.nodes().back();
    return hopperEpilogueOf(node, hopperProductOf(node));
  };
  const HopperEpilogue one = epilogueOf("0.0371", "114"), other = epilogueOf("0.0253", "96");
  EXPECT_EQ(one.text, other.text);
  EXPECT_NE(one.text, epilogueOf("0.0371", "0").text);
  EXPECT_THAT(one.numbers, testing::SizeIs(3));
  EXPECT_THAT(one.numbers, testing::Contains(114));
  EXPECT_THAT(other.numbers, testing::Contains(96));
}

TEST(HopperEpilogueTest, ABiasIsTheSameForAllRows) {
  const Graph graph = parseGraph(
      "graph g(%x: f16[64, 128], %w: f16[128, 128], %b: f16[128], %s: f16[64, 1]) {"
      " %y = MatMul(%x, %w) epilogue(%b) {gelu(add(x0:f16, x1:f16))}"
      " %z = MatMul(%y, %w) epilogue(%s) {mul(x0:f16, x1:f16)} return %z }",
      findOp);
  const auto isByColumn = [](const Node& node) {
    return hopperEpilogueOf(node, hopperProductOf(node)).isByColumn;
  };
  EXPECT_TRUE(isByColumn(*graph.nodes().front()));
  EXPECT_FALSE(isByColumn(*graph.nodes().back()));
}

// They are read by columns or as one, which has to be known while building.
TEST(HopperEpilogueTest, OperandsThatMayTurnOutToBeRepeatedAreRefused) {
  for (const char* operand : {"[n]", "[n, 1]", "[64, n]", "[n, 64]"}) {
    const Graph graph =
        parseGraph(str("symbols n graph g(%x: f16[64, 128], %w: f16[128, 64], %b: f16", operand,
                       ") { %y = MatMul(%x, %w) epilogue(%b) {add(x0:f16, x1:f16)} return %y }"),
                   findOp);
    const Node& node = *graph.nodes().back();
    EXPECT_THAT(hopperEpilogueOf(node, hopperProductOf(node)).refusal,
                HasSubstr("not before the sizes are known"))
        << operand;
  }
}

TEST(HopperChoiceTest, BlocksThatWaitForTheirFewStagesAreNotTheBestGuess) {
  for (const int64_t m : {512, 4096, 12288})
    EXPECT_GT(promisingConfigs({.m = m, .n = 3072, .k = 768}, 132, 1).front().stages, 2);
}

TEST(HopperTextTest, TheInstructionFollowsTypeAndLayout) {
  EXPECT_THAT(hopperHead({.config = {.tileN = 32}, .transposedB = false}),
              HasSubstr("m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
                        "%12, %13, %14, %15}, %16, %17, p, 1, 1, 0, 1;"));
  const std::string tf32 =
      hopperHead({.config = {.tileN = 8}, .typeA = DataType::kF32, .typeB = DataType::kF32});
  EXPECT_THAT(tf32, HasSubstr("m64n8k8.f32.tf32.tf32"));
  EXPECT_THAT(tf32, Not(HasSubstr("p, 1, 1, ")));
  const auto headOf = [](DataType a, DataType b) {
    return hopperHead({.config = {.tileN = 16}, .typeA = a, .typeB = b});
  };
  const std::string integers = headOf(DataType::kU8, DataType::kI8);
  EXPECT_THAT(integers, HasSubstr("m64n16k32.s32.u8.s8"));
  EXPECT_THAT(integers, HasSubstr("%8, %9, p;"));
  EXPECT_THAT(integers, HasSubstr("using Accumulator = int;"));
  const std::string floats = headOf(DataType::kF8E4M3, DataType::kF8E5M2);
  EXPECT_THAT(floats, HasSubstr("m64n16k32.f32.e4m3.e5m2"));
  EXPECT_THAT(floats, HasSubstr("%8, %9, p, 1, 1;"));
}

}  // namespace
}  // namespace camshaft::cuda
