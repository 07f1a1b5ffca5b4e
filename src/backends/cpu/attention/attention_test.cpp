#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/cpu/attention/masked_softmax.h"
#include "backends/cpu/attention/params.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/test_support.h"
#include "backends/cpu/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cpu {
namespace {

class AttentionKernels : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, AttentionKernels, testing::ValuesIn(availableIsas()), isaTestName);

const std::vector<std::map<std::string, int64_t>> kSizes = {{{"b", 2}, {"q", 70}, {"k", 70}},
                                                            {{"b", 1}, {"q", 1}, {"k", 33}},
                                                            {{"b", 2}, {"q", 3}, {"k", 66}},
                                                            {{"b", 1}, {"q", 50}, {"k", 17}},
                                                            {{"b", 3}, {"q", 5}, {"k", 1}}};

std::string attentionText(const std::string& attributes, const std::string& mask = "",
                          int heads = 3, int keyHeads = 3, bool transposed = false) {
  return str("symbols b, q, k graph g(%q: f32[b, ", heads, ", q, 24], %k: f32[b, ", keyHeads,
             transposed ? ", 24, k]" : ", k, 24]", ", %v: f32[b, ", keyHeads, ", k, 37]",
             mask.empty() ? "" : ", %m: ", mask, ") { %y = Attention(%q, %k, %v",
             mask.empty() ? "" : ", %m", ") {", attributes, "} return %y }");
}

// The same graph with queries, keys and values in bf16, and the mask as it is.
std::string inBf16(std::string graph) {
  for (const std::string operand : {"%q: ", "%k: ", "%v: ", "%x: "})
    if (const size_t at = graph.find(operand + "f32"); at != std::string::npos)
      graph.replace(at + operand.size(), 3, "bf16");
  return graph;
}

// Every kernel, to the precision it promises.
void expectAttentionMatches(const std::string& graph, const Sizes& sizes = {{}}) {
  expectKernelsMatch({.graph = graph, .sizes = sizes});
  if (hasGemm16(Type16::kBf16)) {
    HarnessCase bf16{.graph = graph,
                     .sizes = sizes,
                     .tolerance = 3e-2,
                     .only = attention::kBf16,
                     .productType = DataType::kBF16};
    expectKernelsMatch(bf16);
    bf16.graph = inBf16(graph);
    if (attention::takesBf16(Type16::kBf16)) expectKernelsMatch(bf16);
  }
  if (hasGemm16(Type16::kF16))
    expectKernelsMatch({.graph = graph,
                        .sizes = sizes,
                        .tolerance = 5e-3,
                        .only = attention::kF16,
                        .productType = DataType::kF16});
}

TEST_P(AttentionKernels, attend) {
  expectAttentionMatches(attentionText("scale = 0.2"), kSizes);
  expectAttentionMatches(attentionText("scale = 0.2, transposed_keys = true", "", 3, 3, true),
                         kSizes);
  expectAttentionMatches(attentionText("scale = 0.2, softcap = 1.5"), kSizes);
}

TEST_P(AttentionKernels, shareKeyHeads) {
  expectAttentionMatches(attentionText("scale = 0.2", "", 6, 2), kSizes);
  expectAttentionMatches(attentionText("scale = 0.2, causal = true", "f32[1, 6, 1, k]", 6, 1),
                         kSizes);
}

TEST_P(AttentionKernels, lookBackOnly) {
  expectAttentionMatches(attentionText("scale = 0.2, causal = true"), kSizes);
  expectAttentionMatches(attentionText("scale = 0.2, causal = true, align_end = true"), kSizes);
}

TEST_P(AttentionKernels, mask) {
  for (const char* shape :
       {"[b, 3, q, k]", "[q, k]", "[b, 1, 1, k]", "[1, 3, q, 1]", "[b, 1, q, k]", "[1]"})
    for (const char* type : {"f32", "bool"})
      expectAttentionMatches(attentionText("scale = 0.2", str(type, shape)), kSizes);
}

TEST_P(AttentionKernels, readTokens) {
  // All from one product, groups of heads, and keys from a cache.
  expectAttentionMatches(
      "symbols b, q graph g(%x: f32[b, q, 300]) { %y = Attention(%x, %x, %x) {scale = 0.2, "
      "causal = true, heads = 3, kv_heads = 3, size = 24, value_size = 37, "
      "offsets = [2, 75, 150]} return %y }",
      {{{"b", 2}, {"q", 70}}, {{"b", 1}, {"q", 1}}});
  const std::string grouped = "{scale = 0.2, heads = 6, kv_heads = 2, size = 24, value_size = 37}";
  expectAttentionMatches(
      "symbols b, q, k graph g(%q: f32[b, q, 144], %k: f32[b, k, 48], "
      "%v: f32[b, k, 74], %m: f32[b, 6, q, k]) { %y = Attention(%q, %k, %v, %m) " +
          grouped + " return %y }",
      kSizes);
  expectAttentionMatches(
      "symbols b, q, k graph g(%q: f32[b, q, 144], %k: f32[b, 2, k, 24], "
      "%v: f32[b, 2, k, 37]) { %y = Attention(%q, %k, %v) " +
          grouped + " return %y }",
      kSizes);
}

// Also windows of fewer tokens than are packed elsewhere, and of more than a block of queries.
TEST_P(AttentionKernels, readWindowsOfImages) {
  const auto graph = [](const char* windows, int pixels, const char* mask, int masks = 0) {
    return str("symbols n graph g(%x: f32[n, ", pixels, ", 300], %m: ", mask,
               ") { %y = Attention(%x, %x, %x, %m) {scale = 0.2, heads = 3, kv_heads = 3, "
               "size = 24, value_size = 37, offsets = [2, 75, 150], windows = ",
               windows, ", mask_batches = ", masks, "} return %y }");
  };
  const Sizes images = {{{"n", 1}}, {{"n", 3}}};
  expectAttentionMatches(graph("[14, 21, 7, 7, 3, 2]", 294, "f32[3, 49, 49]"), images);
  expectAttentionMatches(graph("[4, 6, 2, 2, 0, 1]", 24, "f32[6, 1, 4, 4]", 6), images);
  expectAttentionMatches(graph("[10, 18, 10, 9, 0, 0]", 180, "bool[1, 90]"), images);
}

// Fewer masks than batches, in order again and again.
TEST_P(AttentionKernels, masksThatRepeat) {
  for (const char* type : {"f32", "bool"})
    expectAttentionMatches(
        str("symbols n, q graph g(%q: f32[3*n, 2, q, 24], %k: f32[3*n, 2, 12, 24], "
            "%v: f32[3*n, 2, 12, 37], %m: ",
            type,
            "[3, 1, q, 12]) { %y = Attention(%q, %k, %v, %m) {scale = 0.2, "
            "mask_batches = 3} return %y }"),
        {{{"n", 2}, {"q", 9}}, {{"n", 1}, {"q", 70}}, {{"n", 4}, {"q", 1}}});
}

TEST_P(AttentionKernels, keepNan) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  for (const float others : {1.0f, kMasked, NAN}) {
    std::vector<float> scores(70, others);
    scores[3] = NAN;
    EXPECT_TRUE(std::isnan(attention::weighRow(scores.data(), 70, {}))) << others;
    EXPECT_TRUE(std::isnan(scores[3])) << others;
  }
  std::vector<float> masked(70, kMasked);
  EXPECT_EQ(attention::weighRow(masked.data(), 70, {}), 0.0f);
  EXPECT_EQ(masked, std::vector<float>(70, 0.0f));
}

// Weights as a row of a panel: bf16's, and zeros behind them.
TEST_P(AttentionKernels, weighIntoPanels) {
  constexpr int64_t kMost = 200, kSteps = (kMost + kDepth16 - 1) / kDepth16;
  const std::vector<float> noise = randomFloats(kMost + kSteps * kDepth16, 1),
                           added = randomFloats(kMost, 2);
  for (const int64_t count : {0, 1, 5, 31, 64, 97, 200})
    for (const bool isMasked : {false, true})
      for (const float softcap : {0.0f, 0.7f}) {
        SCOPED_TRACE(str(count, " weights", isMasked ? ", masked" : "", ", softcap ", softcap));
        const attention::ScoreRule rule{
            .scale = 30, .softcap = softcap, .mask = {.added = isMasked ? added.data() : nullptr}};
        std::vector<float> scores = noise, wanted = noise;
        std::vector<uint16_t> panel(kSteps * kStepHalves16, 0x7fc0);
        const float sum = attention::weighRow(scores.data(), count, rule, panel.data(), kSteps);
        const float wantedSum = attention::weighRow(wanted.data(), count, rule);
        EXPECT_NEAR(sum, wantedSum, 1e-3 * wantedSum);
        for (int64_t i = 0; i < kSteps * kDepth16; ++i) {
          const uint16_t bits = panel[i / kDepth16 * kStepHalves16 + i % kDepth16];
          const float weight = i < count ? wanted[i] : 0;
          ASSERT_NEAR(static_cast<float>(BFloat16::fromBits(bits)), weight, 5e-3 * weight + 1e-30);
        }
      }
}

TEST_P(AttentionKernels, sizesOfTransformers) {
  expectAttentionMatches(
      "graph g(%q: f32[1, 12, 128, 64], %k: f32[1, 12, 128, 64], %v: f32[1, 12, 128, 64], %m: "
      "f32[1, 1, 1, 128]) "
      "{ %y = Attention(%q, %k, %v, %m) {scale = 0.125} return %y }");
  expectAttentionMatches(
      "graph g(%q: f32[1, 2, 197, 64], %k: f32[1, 2, 197, 64], %v: f32[1, 2, 197, 64]) "
      "{ %y = Attention(%q, %k, %v) {scale = 0.125, causal = true} return %y }");
}

HarnessCase deformableCase(int size, int points) {
  return {.graph = str("symbols n, q graph g(%v: f32[n, 41, 3, ", size, "], %l: f32[n, q, 3, 2, ",
                       points, ", 2], %w: f32[n, q, 3, 2, ", points,
                       "]) { %s: i64[2, 2] = constant [5, 7, 2, 3] %b: i64[2] = constant [0, 35] "
                       "%y = DeformableAttention(%v, %s, %b, %l, %w) return %y }"),
          .sizes = {{{"n", 2}, {"q", 37}}, {{"n", 1}, {"q", 1}}, {{"n", 2}, {"q", 0}}},
          .ranges = {{"l", {-0.3, 1.3}}}};
}

TEST(DeformableAttention, HeadsOfEverySizeAndManyPoints) {
  for (int size : {1, 8, 32, 67})
    for (int points : {0, 1, 4, 50}) expectKernelsMatch(deformableCase(size, points));
}

TEST(DeformableAttention, LocationsAndLevelsThatAreNoPlaces) {
  const double inf = std::numeric_limits<double>::infinity();
  expectKernelsMatch(
      {.graph = "graph g(%v: f32[1, 6, 1, 3], %s: i32[3, 2], %b: i32[3], %l: f32[1, 5, 1, 3, 2, "
                "2], %w: f32[1, 5, 1, 3, 2]) { %y = DeformableAttention(%v, %s, %b, %l, %w) return "
                "%y }",
       .values = {{"s", {2, 3, -2, 2147483647, 3, 3}},
                  {"b", {0, 2147483647, 4}},
                  {"l", {0.5, std::nan(""), inf, 0.2, 0.4, 0.9, -inf, 1e30, 0.1, 0.1, 0.7}}}});
}

TEST(DeformableAttention, SaysWhatItDoesNotDo) {
  EXPECT_EQ(
      refusalsOf("graph g(%v: f16[1, 6, 1, 3], %s: i32[1, 2], %b: i32[1], %l: f32[1, 5, 1, 1, 2, "
                 "2], %w: f16[1, 5, 1, 1, 2]) { %y = DeformableAttention(%v, %s, %b, %l, %w) "
                 "return %y }"),
      "cpu/attention_bf16: only for Attention; cpu/attention_f16: only for Attention; "
      "cpu/attention_f32: only for Attention; "
      "cpu/deformable_attention_f32: only f32");
}

}  // namespace
}  // namespace camshaft::cpu
