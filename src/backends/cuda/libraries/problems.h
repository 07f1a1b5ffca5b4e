// Matrix products, convolutions and attention as the vendor's libraries are asked for them: plain
// data that both halves of the backend see. A problem and the plan chosen for it are the
// parameters of a step; everything is row-major here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/data_type.h"

namespace camshaft {
class ByteReader;
class ByteWriter;
}  // namespace camshaft

namespace camshaft::cuda {

// One way to run a problem. `bytes` are the parameters of the run-time kernel, problem included.
struct LibraryPlan {
  std::string name;  // "algorithm 3", "engine 17": for logs and timing caches
  std::vector<std::byte> bytes;
  int64_t workspaceBytes = 0;
};

// How many of a library's plans are timed, unless a build asks for more effort.
inline constexpr int kUsualPlans = 4;

// Run-time kernels; their step inputs are listed with each problem.
inline constexpr const char* kGemmKernel = "cuda/gemm_cublaslt";
inline constexpr const char* kConvKernel = "cuda/conv_cudnn";
inline constexpr const char* kAttentionKernel = "cuda/attention_cudnn";

// What of a matrix product may change from run to run. A step with dimArgs passes all of these in
// this order, one without runs the sizes of its problem.
struct GemmSizes {
  int64_t m = 1, n = 1, k = 1, batch = 1;
  int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;                  // elements between stored rows
  int64_t strideA = 0, strideB = 0, strideC = 0, strideD = 0;  // between batches; 0: the same one
  friend bool operator==(const GemmSizes&, const GemmSizes&) = default;
};
inline constexpr int kGemmSizeCount = sizeof(GemmSizes) / sizeof(int64_t);

enum class GemmActivation : uint8_t { kNone, kRelu, kGeluTanh };

// D = activation(alpha·A·B + beta·C + bias), A [m, k], B [k, n], C and D [m, n], bias [n].
// A transposed operand is stored with its two sizes exchanged. C and the bias have D's type.
// Step inputs: A, B, then the bias, then C, where there are such; output: D, which may be C.
struct GemmProblem {
  GemmSizes sizes;
  DataType typeA = DataType::kF16, typeB = DataType::kF16, typeD = DataType::kF16;
  bool allowTf32 = true;
  bool transposeA = false, transposeB = false;
  bool hasBias = false;
  GemmActivation activation = GemmActivation::kNone;
  float alpha = 1, beta = 0;
  int64_t workspaceLimit = int64_t{32} << 20;
  friend bool operator==(const GemmProblem&, const GemmProblem&) = default;
};

// Sizes of contiguous operands: leading dimensions and batch strides follow from the shape.
GemmSizes contiguousGemm(const GemmProblem& problem, int64_t m, int64_t n, int64_t k,
                         int64_t batch = 1);

// Pointwise work after a convolution, in f32.
enum class EpilogueOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kClip,  // min(max(a, lower), upper); relu is clip(0, infinity)
  kSigmoid,
  kTanh,
  kSwish,
  kGelu,
  kGeluTanh,
  kSoftplus,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kAbs,
  kNeg,
  kErf,
  kReciprocal,
};
inline constexpr int kEpilogueOpCount = static_cast<int>(EpilogueOp::kReciprocal) + 1;
bool isBinary(EpilogueOp op);

struct EpilogueOperand {
  enum class Kind : uint8_t { kAccumulator, kNode, kTensor, kScalar };
  Kind kind = Kind::kAccumulator;
  int32_t index = 0;  // of an earlier node, or of a tensor
  float scalar = 0;
  friend bool operator==(const EpilogueOperand&, const EpilogueOperand&) = default;
};

struct EpilogueNode {
  EpilogueOp op = EpilogueOp::kAdd;
  EpilogueOperand a, b;  // b of binary operations
  float lower = 0, upper = 0;
  friend bool operator==(const EpilogueNode&, const EpilogueNode&) = default;
};

// An extra operand: which axes of the result it has; along the others it is repeated.
struct EpilogueTensor {
  DataType type = DataType::kF16;
  bool hasBatch = false, hasChannels = true, hasSpatial = false;
  friend bool operator==(const EpilogueTensor&, const EpilogueTensor&) = default;
};

// The last node is the result; no nodes: the accumulator is.
struct ConvEpilogue {
  std::vector<EpilogueTensor> tensors;
  std::vector<EpilogueNode> nodes;
  friend bool operator==(const ConvEpilogue&, const ConvEpilogue&) = default;
};

// A convolution over one to three spatial dimensions. Weights are [K, kernel..., C/groups] when
// channelsLast, else [K, C/groups, kernel...]. Batch and image sizes are what the step's input has;
// here they are the ones to optimise for. Step inputs: x, weights, the epilogue's tensors.
struct ConvProblem {
  int64_t batch = 1, inChannels = 1, outChannels = 1, groups = 1;
  std::vector<int64_t> image, kernel, strides, dilations, padsBegin,
      padsEnd;  // one per spatial dimension
  DataType inputType = DataType::kF16, outputType = DataType::kF16;
  bool allowTf32 = true;
  bool channelsLast = true;
  ConvEpilogue epilogue;
  int64_t workspaceLimit = int64_t{256} << 20;
  friend bool operator==(const ConvProblem&, const ConvProblem&) = default;
};

// The output's spatial sizes.
std::vector<int64_t> outputImage(const ConvProblem& problem);
// Each pixel by itself, where it is, in one group: a matrix product.
bool isPixelwise(const ConvProblem& problem);

// Where [batch, heads, length, size] lies in a buffer: the size has stride 1. All in elements.
struct AttentionOperand {
  int64_t offset = 0, strideBatch = 0, strideHead = 0, strideLength = 0;
  friend bool operator==(const AttentionOperand&, const AttentionOperand&) = default;
};

// What of an attention may change from run to run, passed as dimArgs like GemmSizes.
struct AttentionSizes {
  int64_t batch = 1, queryLength = 1, keyLength = 1;
  AttentionOperand q, k, v, o, bias;  // the bias's length stride is between queries; 0 repeats it
  friend bool operator==(const AttentionSizes&, const AttentionSizes&) = default;
};
inline constexpr int kAttentionSizeCount = sizeof(AttentionSizes) / sizeof(int64_t);

enum class CausalMask : uint8_t { kNone, kTopLeft, kBottomRight };

// O = softmax(scale·Q·Kᵀ + bias) V. Step inputs: the distinct buffers of q, k, v and the bias,
// which are named by their position, so that one packed buffer can be all three; output: O.
struct AttentionProblem {
  AttentionSizes sizes;
  int64_t heads = 1, keyHeads = 1, headSize = 64, valueSize = 64;
  int32_t inputQ = 0, inputK = 1, inputV = 2, inputBias = 3;
  DataType type = DataType::kF16;
  float scale = 1;
  CausalMask causal = CausalMask::kNone;
  bool hasBias = false;
  bool biasPerBatch = false, biasPerHead = false, biasPerQuery = true;  // otherwise of size 1 there
  DataType biasType = DataType::kF16;
  int64_t workspaceLimit = int64_t{64} << 20;
  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};

// Why the library would not take the problem, as far as its rules are known; empty: ask it.
std::string refusal(const GemmProblem& problem);
std::string refusal(const ConvProblem& problem);
std::string refusal(const AttentionProblem& problem);

// Problems to bytes and back. What is read may come from anywhere: values outside their type, and
// sizes that make no sense, are Error(kInvalidEngine).
void write(ByteWriter& writer, const GemmProblem& problem);
void write(ByteWriter& writer, const ConvProblem& problem);
void write(ByteWriter& writer, const AttentionProblem& problem);
// The bytes of the problem alone in the parameters of a run-time kernel; of kernels that are not a
// library's, all.
std::span<const std::byte> problemOf(std::string_view kernel, std::span<const std::byte> params);

GemmProblem readGemmProblem(ByteReader& reader);
ConvProblem readConvProblem(ByteReader& reader);
AttentionProblem readAttentionProblem(ByteReader& reader);

}  // namespace camshaft::cuda
