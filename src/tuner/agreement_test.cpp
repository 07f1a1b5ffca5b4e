#include "tuner/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/ops.h"
#include "support/half.h"
#include "tuner/bench.h"

namespace camshaft {
namespace {

using testing::HasSubstr;

const SymbolValue kNoSymbols = [](const std::string&) -> int64_t { return 1; };

template <class T>
std::vector<std::byte> bytesOfValues(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

template <class T>
std::string difference(const Graph& graph, const std::vector<T>& got, const std::vector<T>& wanted,
                       ProductPrecision products = ProductPrecision::kF32) {
  const Node& node = *graph.nodes().front();
  return differenceBetween(node, kNoSymbols, {bytesOfValues(got)}, {bytesOfValues(wanted)},
                           toleranceFor(node, products));
}

Graph product() {
  return parseGraph("graph g(%a: f32[1, 64], %b: f32[64, 1000]) { %y = MatMul(%a, %b) return %y }",
                    findOp);
}

std::vector<float> waves(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i));
  return values;
}

TEST(Agreement, RoundingIsNoDifference) {
  const std::vector<float> wanted = waves(1000);
  std::vector<float> got = wanted;
  for (float& value : got) value += 1e-4f;
  EXPECT_EQ(difference(product(), got, wanted), "");
}

TEST(Agreement, OneWrongElementIsADifference) {
  const std::vector<float> wanted = waves(1000);
  std::vector<float> got = wanted;
  got[999] += 0.1f;
  EXPECT_THAT(difference(product(), got, wanted),
              HasSubstr("1 of 1000 elements of output 0 (f32[1, 1000]) are off"));
  got[999] = std::nanf("");  // as where nothing was written
  EXPECT_THAT(difference(product(), got, wanted), HasSubstr("instead of"));
}

TEST(Agreement, ProductsMayBeLessPrecise) {
  const std::vector<float> wanted = waves(1000);
  std::vector<float> got = wanted;
  for (float& value : got) value += 6e-3f;
  EXPECT_NE(difference(product(), got, wanted, ProductPrecision::kF32), "");
  EXPECT_EQ(difference(product(), got, wanted, ProductPrecision::kTf32), "");
}

TEST(Agreement, TiesMayBeRoundedEitherWay) {
  const auto graph = [](const std::string& expr) {
    return parseGraph(
        "graph g(%a: u8[1, 100]) { %y = Pointwise(%a) {expr = " + expr + "} return %y }", findOp);
  };
  const std::vector<uint8_t> wanted(100, 7);
  std::vector<uint8_t> got = wanted;
  got[3] = got[5] = 8;
  EXPECT_EQ(difference(graph("cast(round(mul(cast(x0:u8, f32), 0.3:f32)), u8)"), got, wanted), "");
  EXPECT_NE(difference(graph("add(x0:u8, 1:u8)"), got, wanted), "");
}

TEST(Agreement, HalfsAreWiderAndOverflowAlike) {
  const Graph graph = parseGraph(
      "graph g(%a: f16[1, 64], %b: f16[64, 4]) { %y = MatMul(%a, %b) return %y }", findOp);
  const std::vector<Half> wanted = {Half(1.0f), Half(2.0f), Half(65000.0f), Half(0.5f)};
  std::vector<Half> got = wanted;
  got[0] = Half(1.01f), got[2] = Half(INFINITY);
  EXPECT_EQ(difference(graph, got, wanted), "");
  got[2] = Half(-INFINITY);
  EXPECT_NE(difference(graph, got, wanted), "");
}

TEST(Agreement, IntegersOfIntegersAreExact) {
  const Graph graph = parseGraph(
      "graph g(%x: i32[200]) { %y = Pointwise(%x) {expr = neg(x0:i32)} return %y }", findOp);
  std::vector<int32_t> wanted(200, 3), got = wanted;
  EXPECT_EQ(difference(graph, got, wanted), "");
  got[7] = 4;
  EXPECT_THAT(difference(graph, got, wanted), HasSubstr("the worst is 4 instead of 3"));
}

TEST(Agreement, WhereRoundingDecidesAFewMayDiffer) {
  const Graph graph = parseGraph(
      "graph g(%x: f32[200]) { %y = Pointwise(%x) {expr = floor(x0:f32)} return %y }", findOp);
  std::vector<float> wanted(200, 3), got = wanted;
  got[7] = got[8] = 4;
  EXPECT_EQ(difference(graph, got, wanted), "");
  got[9] = 4;
  EXPECT_THAT(difference(graph, got, wanted), HasSubstr("3 of 200"));
}

TEST(Operands, IndicesExist) {
  const Graph graph =
      parseGraph("graph g(%x: f32[7, 3], %i: i64[1000]) { %y = Gather(%x, %i) return %y }", findOp);
  const TrialOperands operands = operandsOf(*graph.nodes().front(), kNoSymbols);
  const std::vector<std::byte> bytes = fillingOf(operands.inputs[1]).whole();
  const auto* indices = reinterpret_cast<const int64_t*>(bytes.data());
  EXPECT_EQ(*std::min_element(indices, indices + 1000), 0);
  EXPECT_EQ(*std::max_element(indices, indices + 1000), 6);
}

Graph attentionTo(const std::string& stored) {
  const std::string cache = stored + "[1, 2, 40, 64]";
  return parseGraph("graph g(%q: f16[1, 4, 1, 64], %k: " + cache + ", %v: " + cache +
                        ") { %y = Attention(%q, %k, %v) {scale = 0.125} return %y }",
                    findOp);
}

TEST(Agreement, CachesOf8BitsAreExact) {
  const auto relative = [](const Graph& graph) {
    return toleranceFor(*graph.nodes().front(), ProductPrecision::kF32).relative;
  };
  for (const char* stored : {"i8", "f8e4m3"})
    EXPECT_EQ(relative(attentionTo(stored)), relative(attentionTo("f16"))) << stored;
}

TEST(Operands, CachesOf8BitsHoldNumbersThatDiffer) {
  const Graph graph = attentionTo("i8");
  const TrialOperands operands = operandsOf(*graph.nodes().front(), kNoSymbols);
  for (size_t input : {1, 2}) {
    const std::vector<std::byte> bytes = fillingOf(operands.inputs[input]).whole();
    EXPECT_GT(std::set(bytes.begin(), bytes.end()).size(), 10u) << input;
  }
}

TEST(Operands, EveryTypeIsFilledWithNumbersThatDiffer) {
  for (const DataType type : {DataType::kF64, DataType::kBF16, DataType::kF8E4M3, DataType::kI8,
                              DataType::kU8, DataType::kBool, DataType::kI4}) {
    TrialInput input;
    input.tensor = {.type = type, .rank = 1, .dims = {300000}};
    if (!isFloat(type)) input.low = 0, input.high = 1;
    const std::vector<std::byte> bytes = fillingOf(input).whole();
    EXPECT_EQ(bytes.size(), bytesOf(type, 300000));
    EXPECT_NE(std::count(bytes.begin(), bytes.end(), bytes[0]), static_cast<int64_t>(bytes.size()))
        << static_cast<int>(type);
  }
}

TEST(Trials, LargeResultsAreSampledFromBeginningToEnd) {
  EXPECT_EQ(samplesOf(100).size(), 1u);
  EXPECT_EQ(samplesOf(100)[0].size, 100);
  const int64_t large = kMostCompared * 7 + 48;
  const std::vector<SampledBlock> blocks = samplesOf(large);
  int64_t sum = 0, end = 0;
  for (const auto& [offset, size] : blocks) {
    EXPECT_GE(offset, end);
    EXPECT_EQ(offset % 16, 0);
    end = offset + size, sum += size;
  }
  EXPECT_EQ(blocks[0].offset, 0);
  EXPECT_EQ(end, large);
  EXPECT_EQ(sum, kMostCompared);
}

}  // namespace
}  // namespace camshaft
