#include <gmock/gmock.h>

#include <mutex>
#include <optional>

#include "backends/cuda/attention/cudnn_attention.h"
#include "backends/cuda/conv/cudnn_conv.h"
#include "backends/cuda/gemm/cublaslt.h"
#include "backends/cuda/libraries/prefetch.h"
#include "backends/cuda/libraries/problems.h"
#include "backends/cuda/load_library.h"
#include "backends/cuda/services.h"
#include "ops/ops.h"
#include "support/text.h"
#include "support/version.h"

namespace camshaft::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Offers one plan for whatever is asked, and remembers what was.
class OnePlan : public Services {
 public:
  BuildTarget currentTarget() override { return {}; }
  std::vector<CompiledCode> compile(std::span<const std::string>, const BuildTarget&) override {
    return {};
  }
  std::vector<LibraryPlan> gemmPlans(const GemmProblem& problem, int) override {
    gemm = problem;
    return {plan()};
  }
  std::optional<LibraryPlan> convPlan(const ConvProblem& problem, int number) override {
    const std::lock_guard lock(mutex_);
    asked.push_back(number);
    conv = problem;
    return number == 0 ? std::optional(plan()) : std::nullopt;
  }
  std::optional<LibraryPlan> attentionPlan(const AttentionProblem& problem, int) override {
    attention = problem;
    return plan();
  }

  GemmProblem gemm;
  ConvProblem conv;
  AttentionProblem attention;
  std::vector<int> asked;  // for which plans of convolutions

 private:
  static LibraryPlan plan() { return {"the one", {std::byte{42}}, 4096}; }
  std::mutex mutex_;
};

class LibraryRows : public testing::Test {
 protected:
  LibraryRows() { replaceLibrary(&library_); }
  ~LibraryRows() override { replaceLibrary(nullptr); }

  // Symbols count as 3, and may become `least`.
  Prepared prepare(const Kernel& kernel, const std::string& text, int64_t config = 0,
                   int64_t least = 1) {
    graph_ = parseGraph(text, findOp);
    const Node& node = *graph_.nodes().back();
    const Verdict verdict = kernel.supports(node, context());
    EXPECT_TRUE(verdict) << verdict.reason;
    Prepared prepared = kernel.prepare(node, context(least), config);
    packNow(prepared);
    return prepared;
  }

  std::string refused(const Kernel& kernel, const std::string& text) {
    graph_ = parseGraph(text, findOp);
    return kernel.supports(*graph_.nodes().back(), context()).reason;
  }

  BuildContext context(int64_t least = 1) const {
    const auto sizeOf = [](int64_t symbol) {
      return
          [=](const Dim& dim) { return evaluate(dim, [&](const std::string&) { return symbol; }); };
    };
    return {.target = {.name = target_}, .opt = sizeOf(3), .min = sizeOf(least), .max = sizeOf(3)};
  }

  static std::string freshName() {
    static int count = 0;  // plans are remembered by target
    return "target " + std::to_string(++count);
  }

  const std::string target_ = freshName();
  OnePlan services_;
  const CudaLibrary library_{kVersion, nullptr, &services_, nullptr};
  Graph graph_;
};

TEST_F(LibraryRows, AProductTakesItsEpilogueApart) {
  const Prepared prepared = prepare(
      cublasLtKernel(),
      "graph g(%x: f16[2, 64, 128], %w: f16[128, 64], %b: f16[64], %r: f16[2, 64, 64]) {"
      " %y = MatMul(%x, %w) epilogue(%r, %b) {relu(add(add(x0:f16, x1:f16), x2:f16))} return %y }");
  EXPECT_EQ(prepared.verdict.reason, "");
  EXPECT_EQ(prepared.runtimeKernel, kGemmKernel);
  EXPECT_EQ(prepared.variant, "the one");
  const GemmProblem& p = services_.gemm;
  EXPECT_TRUE(p.hasBias);
  EXPECT_EQ(p.beta, 1);
  EXPECT_EQ(p.activation, GemmActivation::kRelu);
  EXPECT_EQ(p.sizes.m, 128);
  EXPECT_EQ(p.sizes.ldb, 64);
  ASSERT_EQ(prepared.inputs.size(), 4u);
  EXPECT_EQ(prepared.inputs[2].nodeInput, 3);  // the bias comes before the residual
  EXPECT_EQ(prepared.inputs[3].nodeInput, 2);
  EXPECT_TRUE(prepared.dimArgs.empty());
  EXPECT_TRUE(cublasLtKernel().inPlace(*graph_.nodes().back(), 2));
  EXPECT_FALSE(cublasLtKernel().inPlace(*graph_.nodes().back(), 3));
}

TEST_F(LibraryRows, PlansThatAreNotThereAreRefused) {
  const std::string text =
      "graph g(%x: f16[8, 8], %w: f16[8, 8]) { %y = MatMul(%x, %w) return %y }";
  EXPECT_EQ(prepare(cublasLtKernel(), text, 0).verdict.reason, "");
  EXPECT_THAT(prepare(cublasLtKernel(), text, 1).verdict.reason, HasSubstr("no further plan"));
}

TEST_F(LibraryRows, SizesThatChangeArePassed) {
  const Prepared prepared =
      prepare(cublasLtKernel(),
              "symbols b graph g(%x: f16[b, 4, 16, 32], %w: f16[b, 4, 32, 16]) {"
              " %y = MatMul(%x, %w) return %y }");
  ASSERT_EQ(prepared.dimArgs.size(), static_cast<size_t>(kGemmSizeCount));
  EXPECT_EQ(toString(prepared.dimArgs[3]), "4*b");
  EXPECT_EQ(services_.gemm.sizes.batch, 12);
  EXPECT_EQ(services_.gemm.sizes.strideB, 512);
}

// The build looks at the profile's opt; a run may bring any of its sizes.
TEST_F(LibraryRows, SizesOfTheProfileThatLibrariesLackAreRefused) {
  const std::string product =
      "symbols k graph g(%x: f16[16, k], %w: f16[k, 16]) { %y = MatMul(%x, %w) return %y }";
  EXPECT_EQ(prepare(cublasLtKernel(), product, 0, 1).verdict.reason, "");
  EXPECT_THAT(prepare(cublasLtKernel(), product, 0, 0).verdict.reason,
              HasSubstr("something to add up"));
  EXPECT_THAT(refused(cublasLtKernel(),
                      "symbols m graph g(%x: i8[m, 16], %w: i8[8, 16]) { %y = MatMul(%x, %w) "
                      "{transpose_b = true} return %y }"),
              HasSubstr("multiples of 4"));
  const std::string attention =
      "symbols t graph g(%q: f16[2, 4, 8, 64], %k: f16[2, 4, t, 64]) { %y = Attention(%q, %k, %k) "
      "{scale = 0.125} return %y }";
  EXPECT_EQ(prepare(cudnnAttentionKernel(), attention, 0, 1).verdict.reason, "");
  EXPECT_THAT(prepare(cudnnAttentionKernel(), attention, 0, 0).verdict.reason,
              HasSubstr("needs keys"));
  EXPECT_THAT(refused(cudnnAttentionKernel(),
                      "symbols s, t graph g(%q: f16[2, 4, s, 64], %k: f16[2, 4, t, 64]) { %y = "
                      "Attention(%q, %k, %k) {scale = 0.125, causal = true, align_end = true} "
                      "return %y }"),
              HasSubstr("as many keys as queries"));
}

TEST_F(LibraryRows, EpiloguesOutsideTheFormAreRefused) {
  EXPECT_THAT(refused(cublasLtKernel(),
                      "graph g(%x: f16[8, 8], %w: f16[8, 8]) { %y = MatMul(%x, %w) epilogue() "
                      "{tanh(x0:f16)} return %y }"),
              HasSubstr("activation(scale * x"));
}

// Libraries are told while building along which dimensions operands are repeated.
TEST_F(LibraryRows, OperandsThatMayTurnOutToBeRepeatedAreRefused) {
  EXPECT_THAT(refused(cublasLtKernel(),
                      "symbols n graph g(%x: f16[8, 8], %w: f16[8, 8], %b: f16[n]) { %y = "
                      "MatMul(%x, %w) epilogue(%b) {add(x0:f16, x1:f16)} return %y }"),
              HasSubstr("one row and one tensor of the result's shape"));
  EXPECT_THAT(refused(cublasLtKernel(),
                      "symbols n graph g(%x: f16[4, 8, 8], %w: f16[n, 8, 8]) { %y = MatMul(%x, %w) "
                      "return %y }"),
              HasSubstr("some dimensions of the batch only"));
  for (const char* operand : {"[n, 1, 1, 1]", "[1, n, 4, 1]", "[1, n, n, 1]", "[n]"})
    EXPECT_THAT(
        refused(cudnnConvKernel(),
                str("symbols n graph g(%x: f16[2, 4, 4, 2], %r: f16", operand,
                    ") { %w: f16[2, 2, 1, 1] = constant [1, 2, 3, 4] %y = Conv(%x, %w) {strides = "
                    "[1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], "
                    "channels_last = true} epilogue(%r) {add(x0:f16, x1:f16)} return %y }")),
        HasSubstr("not before the sizes are known"))
        << operand;
  for (const char* mask : {"[n, 1, 1, 16]", "[1, n, 8, 16]", "[n, 16]"})
    EXPECT_THAT(
        refused(cudnnAttentionKernel(),
                str("symbols n graph g(%q: f16[2, 4, 8, 64], %k: f16[2, 4, 16, 64], %m: "
                    "f16",
                    mask, ") { %y = Attention(%q, %k, %k, %m) {scale = 0.125} return %y }")),
        HasSubstr("along which dimensions a mask is repeated"))
        << mask;
}

TEST_F(LibraryRows, ConvolutionsPackTheirWeightsAndRoundTheirBias) {
  const Prepared prepared =
      prepare(cudnnConvKernel(),
              "symbols n graph g(%x: f16[n, 4, 4, 2], %r: f16[n, 4, 4, 1]) {"
              " %w: f16[1, 2, 1, 2] = constant [1, 2, 3, 4] %b: f32[1] = constant [0.5]"
              " %y = Conv(%x, %w, %b) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], "
              "pads_end = [0, 1],"
              " channels_last = true} epilogue(%r) {relu(add(x0:f16, x1:f16))} return %y }");
  EXPECT_EQ(prepared.verdict.reason, "");
  const ConvProblem& p = services_.conv;
  EXPECT_EQ(p.batch, 3);
  EXPECT_THAT(p.image, ElementsAre(4, 4));
  EXPECT_THAT(p.padsEnd, ElementsAre(0, 1));
  ASSERT_EQ(p.epilogue.tensors.size(), 2u);
  EXPECT_TRUE(p.epilogue.tensors[0].hasBatch && p.epilogue.tensors[0].hasSpatial);
  EXPECT_EQ(p.epilogue.tensors[1].type, DataType::kF16);
  EXPECT_EQ(p.epilogue.nodes.size(), 3u);
  ASSERT_EQ(prepared.inputs.size(), 4u);
  const auto* weights = reinterpret_cast<const uint16_t*>(prepared.inputs[1].packed.data());
  EXPECT_THAT(std::span(weights, 4), ElementsAre(0x3c00, 0x4200, 0x4000, 0x4400));  // 1, 3, 2, 4
  EXPECT_EQ(prepared.inputs[2].nodeInput, 3);
  EXPECT_EQ(*reinterpret_cast<const uint16_t*>(prepared.inputs[3].packed.data()), 0x3800);
}

TEST_F(LibraryRows, PlansAreFetchedAheadOncePerProblem) {
  const std::string text =
      "graph g(%x: f16[1, 8, 8, 2]) { %w: f16[2, 2, 1, 3] = constant [1, 2, 3, 4, 5, 6, 7, 8, 9, "
      "10, 11, 12] %y = Conv(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 1], "
      "pads_end = [0, 1], channels_last = true} %z = Conv(%y, %w) {strides = [1, 1], dilations = "
      "[1, 1], pads_begin = [0, 1], pads_end = [0, 1], channels_last = true} return %z }";
  graph_ = parseGraph(text, findOp);
  std::vector<Preparation> preparations;
  for (const Node* node : graph_.nodeList())
    for (const int64_t config : {0, 1}) preparations.push_back({node, &cudnnConvKernel(), config});
  prefetchPlans(preparations, context());
  EXPECT_THAT(services_.asked, testing::UnorderedElementsAre(0, 1));
  EXPECT_EQ(prepare(cudnnConvKernel(), text, 0).verdict.reason, "");
  EXPECT_THAT(prepare(cudnnConvKernel(), text, 1).verdict.reason, HasSubstr("no further plan"));
  EXPECT_EQ(services_.asked.size(), 2u);
}

TEST_F(LibraryRows, OurOwnKernelTakesDepthwiseConvolutions) {
  EXPECT_THAT(refused(cudnnConvKernel(),
                      "graph g(%x: f16[1, 8, 8, 2]) { %w: f16[2, 1, 1, 3] = constant [1, 2, 3, 4, "
                      "5, 6] %y = Conv(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = "
                      "[0, 1], pads_end = [0, 1], groups = 2, channels_last = true} return %y }"),
              HasSubstr("depthwise"));
}

TEST_F(LibraryRows, AttentionOfPackedTokensReadsOneTensor) {
  const Prepared prepared =
      prepare(cudnnAttentionKernel(),
              "symbols b graph g(%t: f16[b, 16, 768]) { %y = Attention(%t, %t, %t) "
              "{scale = 0.125, heads = 4, kv_heads = 4, size = 64, value_size = 64, "
              "offsets = [0, 256, 512]} return %y }");
  EXPECT_EQ(prepared.verdict.reason, "");
  const AttentionSizes& s = services_.attention.sizes;
  EXPECT_EQ(s.batch, 3);
  EXPECT_EQ(s.k, (AttentionOperand{256, 16 * 768, 64, 768}));
  EXPECT_EQ(s.o, (AttentionOperand{0, 16 * 256, 64, 256}));
  EXPECT_EQ(prepared.dimArgs.size(), static_cast<size_t>(kAttentionSizeCount));
}

TEST_F(LibraryRows, AttentionRefusesWhatCudnnLacks) {
  EXPECT_THAT(refused(cudnnAttentionKernel(),
                      "graph g(%q: f32[1, 2, 8, 64], %k: f32[1, 2, 8, 64], %v: f32[1, 2, 8, 64]) {"
                      " %y = Attention(%q, %k, %v) {scale = 0.125} return %y }"),
              HasSubstr("not f32"));
}

}  // namespace
}  // namespace camshaft::cuda
