#include <algorithm>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/params.h"
#include "backends/cpu/gemm/prepare16.h"
#include "backends/cpu/gemm/prepare_epilogue.h"
#include "backends/cpu/gemm/split_gemm.h"
#include "backends/cpu/gemm/weights_in_f32.h"
#include "ops/gemm.h"

namespace camshaft::cpu::gemm {
namespace {

Verdict supportsAny(const Node& node) {
  if (node.inputs[0]->dataType() != DataType::kF32 || node.inputs[1]->dataType() != DataType::kF32)
    return Verdict::no(str("multiplies f32, not ", node.inputs[0]->dataType(), " by ",
                           node.inputs[1]->dataType()));
  return Verdict{fuseEpilogue(node).refusal};
}

bool isOneMatrix(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end() - 2,
                     [](const Dim& dim) { return dim.isConstant(1); });
}

Verdict mayPack(const Value& b) {
  if (!b.isConstant())
    return Verdict::no("needs a constant second operand, to pack it when building");
  if (!isOneMatrix(b.shape()))
    return Verdict::no("needs one matrix as second operand, not a batch of them");
  return Verdict::yes();
}

Verdict supportsPacked(const Node& node, const BuildContext&) {
  if (Verdict verdict = mayPack(*node.inputs[1]); !verdict) return verdict;
  return supportsAny(node);
}

Verdict supportsBatched(const Node& node, const BuildContext& context) {
  if (supportsPacked(node, context))
    return Verdict::no("would pack at each run what is packed when building");
  return supportsAny(node);
}

Verdict supportsSplit(const Node& node, const BuildContext& context) {
  if (!hasSplitGemm()) return Verdict::no("needs a CPU with bf16 tiles (AMX)");
  return supportsPacked(node, context);
}

template <Type16 kType>
Verdict supports16(const Node& node, const BuildContext& context) {
  if (Verdict verdict = mayRoundTo16(kType, node, context); !verdict) return verdict;
  if (node.inputs[0]->dataType() != DataType::kBF16) return supportsPacked(node, context);
  if (node.inputs[1]->dataType() != DataType::kBF16)
    return Verdict::no(str("multiplies bf16 by bf16, not by ", node.inputs[1]->dataType()));
  if (Verdict verdict = mayPack(*node.inputs[1]); !verdict) return verdict;
  return Verdict{fuseEpilogue(node).refusal};
}

PackedParams packedParams(const Node& node) {
  const Shape& b = node.inputs[1]->shape();
  const int64_t rows = b[b.size() - 2].value(), columns = b.back().value();
  const auto& attrs = node.as<MatMulAttrs>();
  return {.k = attrs.transposeB ? columns : rows,
          .n = attrs.transposeB ? rows : columns,
          .transposeA = attrs.transposeA};
}

Dim rowMajorABytes(const Node& node) {
  if (!node.as<MatMulAttrs>().transposeA) return 0;
  // In whole floats, as what follows them in the workspace.
  return numElements(node.inputs[0]->shape()) * static_cast<int64_t>(sizeof(float));
}

using Pack = void (*)(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed,
                      float* packed);

StepInput packSecondOperand(const Node& node, int64_t floats, Pack pack) {
  const Value& b = *node.inputs[1];
  const PackedParams params = packedParams(node);
  return packedInput(floats, [&](float* packed) {
    pack(params.k, params.n, WeightsInF32(node, 1).data(), b.shape().back().value(),
         node.as<MatMulAttrs>().transposeB, packed);
  });
}

// Of kernels whose weights are packed for one instruction set.
void writeMarkedParams(const Node& node, const PackedParams& params, Prepared& prepared) {
  ByteWriter writer;
  writeIsa(writer);
  writer.write(params);
  writeEpilogue(fuseEpilogue(node), prepared, writer);
  prepared.params = writer.take();
}

// Of kernels whose weights need no mark of it.
void writeParams(const Node& node, const PackedParams& params, Prepared& prepared) {
  ByteWriter writer;
  writer.write(params);
  writeEpilogue(fuseEpilogue(node), prepared, writer);
  prepared.params = writer.take();
}

template <Type16 kType>
void packB16AsFloats(int64_t k, int64_t n, const float* b, int64_t ldb, bool transposed,
                     float* packed) {
  packB16(kType, k, n, b, ldb, transposed, reinterpret_cast<uint16_t*>(packed));
}

template <Type16 kType>
Prepared prepare16(const Node& node, const BuildContext& context, int64_t) {
  const PackedParams params = packedParams(node);
  // Blocks of rows are never higher than this, however many there are.
  const int64_t rows = blockRows16(params.k);
  Prepared prepared;
  prepared.inputs.push_back(StepInput::fromNode(0));
  prepared.inputs.push_back(
      packSecondOperand(node, packedB16Floats(kType, params.k, params.n), packB16AsFloats<kType>));
  prepared.workspaceBytes =
      rowMajorABytes(node) + gemm16WorkspaceFloats(kType, rows, params.k, context.threads) *
                                 static_cast<int64_t>(sizeof(float));
  writeMarkedParams(node, params, prepared);
  return prepared;
}

Prepared prepareSplit(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared;
  if (!context.allowTf32)
    return Prepared::no("splits f32 into bf16 pairs, and the build does not allow TF32");
  const PackedParams params = packedParams(node);
  const Shape& result = node.output()->shape();
  const int64_t rows = context.max(numElements(Shape(result.begin(), result.end() - 1)));
  if (rows == DimRange::kUnbounded)
    return Prepared::no(
        "splits its first operand into workspace, which needs an upper bound on its rows");
  prepared.inputs.push_back(StepInput::fromNode(0));
  prepared.inputs.push_back(
      packSecondOperand(node, splitPackedBFloats(params.k, params.n), splitPackB));
  prepared.workspaceBytes = rowMajorABytes(node) + splitGemmWorkspaceFloats(rows, params.k) *
                                                       static_cast<int64_t>(sizeof(float));
  writeParams(node, params, prepared);
  return prepared;
}

Prepared preparePacked(const Node& node, const BuildContext&, int64_t) {
  const PackedParams params = packedParams(node);
  Prepared prepared;
  prepared.inputs.push_back(StepInput::fromNode(0));
  prepared.inputs.push_back(packSecondOperand(node, packedBFloats(params.k, params.n), packB));
  prepared.workspaceBytes = rowMajorABytes(node);
  writeMarkedParams(node, params, prepared);
  return prepared;
}

// The largest product of the profile, as far as its workspace is concerned.
std::optional<BatchedGemm> largestProduct(const Node& node, const BuildContext& context) {
  const auto& attrs = node.as<MatMulAttrs>();
  const Shape& a = node.inputs[0]->shape();
  const Shape& result = node.output()->shape();
  BatchedGemm product;
  product.m = context.max(result[result.size() - 2]);
  product.n = context.max(result.back());
  product.k = context.max(a[a.size() - (attrs.transposeA ? 2 : 1)]);
  product.a.transposed = attrs.transposeA;
  product.b.transposed = attrs.transposeB;
  if (std::max({product.m, product.n, product.k}) == DimRange::kUnbounded) return std::nullopt;
  return product;
}

Prepared prepareBatched(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<MatMulAttrs>();
  Prepared prepared;
  const std::optional<BatchedGemm> largest = largestProduct(node, context);
  if (!largest)
    return Prepared::no(
        "packs its second operand into workspace, which needs an upper bound on its sizes");
  prepared.workspaceBytes =
      batchedGemmWorkspaceFloats(*largest, context.threads) * static_cast<int64_t>(sizeof(float));
  prepared.inputs = {StepInput::fromNode(0), StepInput::fromNode(1)};
  ByteWriter writer;
  writer.write(BatchedParams{attrs.transposeA, attrs.transposeB});
  writeEpilogue(fuseEpilogue(node), prepared, writer);
  prepared.params = writer.take();
  return prepared;
}

bool inPlace(const Node& node, int input) { return overwritesResidual(node, input); }

constexpr Kernel kKernels[] = {
    {.name = kBf16,
     .supports = supports16<Type16::kBf16>,
     .prepare = prepare16<Type16::kBf16>,
     .inPlace = inPlace},
    {.name = kF16,
     .supports = supports16<Type16::kF16>,
     .prepare = prepare16<Type16::kF16>,
     .inPlace = inPlace},
    {.name = kPacked, .supports = supportsPacked, .prepare = preparePacked, .inPlace = inPlace},
    {.name = kSplit, .supports = supportsSplit, .prepare = prepareSplit, .inPlace = inPlace},
    {.name = kBatched, .supports = supportsBatched, .prepare = prepareBatched, .inPlace = inPlace},
};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::gemm
