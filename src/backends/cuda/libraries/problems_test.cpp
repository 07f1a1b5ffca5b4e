#include "backends/cuda/libraries/problems.h"

#include <gmock/gmock.h>

#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

ConvProblem convolution() {
  return {.batch = 2,
          .inChannels = 16,
          .outChannels = 32,
          .groups = 2,
          .image = {20, 30},
          .kernel = {3, 5},
          .strides = {2, 1},
          .dilations = {1, 2},
          .padsBegin = {1, 4},
          .padsEnd = {0, 4},
          .epilogue = {{{DataType::kF32}, {DataType::kF16, true, true, true}},
                       {{EpilogueOp::kAdd, {}, {EpilogueOperand::Kind::kTensor, 0}},
                        {EpilogueOp::kClip, {EpilogueOperand::Kind::kNode, 0}, {}, 0, 6}}}};
}

template <class Problem>
std::vector<std::byte> bytesOf(const Problem& problem) {
  ByteWriter writer;
  write(writer, problem);
  return writer.take();
}

// Two plans for one problem, as a library writes them.
TEST(LibraryProblems, AreTheFrontOfParameters) {
  const std::vector<std::byte> problem = bytesOf(convolution());
  std::vector<std::byte> first = problem, second = problem;
  first.resize(problem.size() + 7, std::byte{1});
  second.resize(problem.size() + 300, std::byte{2});
  for (const auto& params : {first, second})
    EXPECT_THAT(problemOf(kConvKernel, params), testing::ElementsAreArray(problem));
  EXPECT_EQ(problemOf("cuda/another", first).size(), first.size());
  EXPECT_THROW(problemOf(kConvKernel, std::span(first).first(5)), Error);
}

TEST(LibraryProblems, RoundTrips) {
  GemmProblem gemm{.typeA = DataType::kF8E4M3,
                   .typeB = DataType::kF8E5M2,
                   .typeD = DataType::kBF16,
                   .transposeB = true,
                   .hasBias = true,
                   .activation = GemmActivation::kGeluTanh,
                   .beta = 1};
  gemm.sizes = contiguousGemm(gemm, 3, 4, 5, 6);
  const AttentionProblem attention{
      .sizes = {.batch = 2, .queryLength = 3, .keyLength = 5, .k = {7, 8, 9, 10}},
      .heads = 4,
      .keyHeads = 2,
      .inputK = 0,
      .causal = CausalMask::kBottomRight,
      .hasBias = true,
      .biasPerQuery = false};
  const auto gemmBytes = bytesOf(gemm), convBytes = bytesOf(convolution()),
             attentionBytes = bytesOf(attention);
  ByteReader gemmReader(gemmBytes), convReader(convBytes), attentionReader(attentionBytes);
  EXPECT_EQ(readGemmProblem(gemmReader), gemm);
  EXPECT_EQ(readConvProblem(convReader), convolution());
  EXPECT_EQ(readAttentionProblem(attentionReader), attention);
  for (const ByteReader* reader : {&gemmReader, &convReader, &attentionReader})
    EXPECT_EQ(reader->remaining(), 0u);
}

TEST(LibraryProblems, ReadsNothingThatMakesNoSense) {
  const auto refuses = [](const ConvProblem& problem) {
    const std::vector<std::byte> bytes = bytesOf(problem);
    ByteReader reader(bytes);
    EXPECT_THROW(readConvProblem(reader), Error);
  };
  ConvProblem p = convolution();
  p.epilogue.nodes[0].a = {EpilogueOperand::Kind::kNode, 1};  // itself or later
  refuses(p);
  p = convolution(), p.epilogue.nodes[0].b.index = 2;
  refuses(p);
  p = convolution(), p.strides = {1};
  refuses(p);
  p = convolution(), p.groups = 3;
  refuses(p);
  p = convolution(), p.kernel = {3, 0};
  refuses(p);
  p = convolution(), p.inputType = static_cast<DataType>(200);
  refuses(p);
}

TEST(LibraryProblems, AnyPrefixIsRefused) {
  const std::vector<std::byte> bytes = bytesOf(convolution());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::span<const std::byte> prefix(bytes.data(), size);
    ByteReader reader(prefix);
    EXPECT_THROW(readConvProblem(reader), Error) << size;
  }
}

TEST(LibraryProblems, OutputImage) {
  EXPECT_THAT(outputImage(convolution()), testing::ElementsAre(10, 30));
}

TEST(LibraryProblems, PixelsByThemselvesAreAProduct) {
  ConvProblem p = convolution();
  EXPECT_FALSE(isPixelwise(p));
  p.kernel = p.strides = {1, 1}, p.padsBegin = p.padsEnd = {0, 0}, p.groups = 1;
  EXPECT_TRUE(isPixelwise(p));
  p.strides[1] = 2;
  EXPECT_FALSE(isPixelwise(p));
}

TEST(LibraryProblems, ContiguousSizesFollowTheTransposes) {
  const GemmSizes plain = contiguousGemm({}, 2, 3, 5, 7);
  EXPECT_EQ(plain.lda, 5);
  EXPECT_EQ(plain.ldb, 3);
  EXPECT_EQ(plain.strideA, 10);
  const GemmSizes turned = contiguousGemm({.transposeA = true, .transposeB = true}, 2, 3, 5);
  EXPECT_EQ(turned.lda, 2);
  EXPECT_EQ(turned.ldb, 5);
}

TEST(LibraryProblems, RefusalsNameTheReason) {
  GemmProblem integers{.typeA = DataType::kI8, .typeB = DataType::kI8, .typeD = DataType::kI32};
  integers.sizes = contiguousGemm(integers, 64, 64, 64);
  EXPECT_THAT(refusal(integers), testing::HasSubstr("along K"));
  integers.transposeB = true;
  EXPECT_EQ(refusal(integers), "");
  integers.hasBias = true;
  EXPECT_THAT(refusal(integers), testing::HasSubstr("no epilogues on i32"));

  ConvProblem conv = convolution();
  EXPECT_EQ(refusal(conv), "");
  conv.padsEnd = {-1, 0};
  EXPECT_THAT(refusal(conv), testing::HasSubstr("crop"));
  conv = convolution(), conv.inputType = DataType::kF64;
  EXPECT_THAT(refusal(conv), testing::HasSubstr("not f64"));

  AttentionProblem attention{.type = DataType::kF32};
  EXPECT_THAT(refusal(attention), testing::HasSubstr("not f32"));
  attention.type = DataType::kF16;
  EXPECT_EQ(refusal(attention), "");
  attention.sizes.q.offset = 4;
  EXPECT_THAT(refusal(attention), testing::HasSubstr("16 bytes"));
}

}  // namespace
}  // namespace camshaft::cuda
