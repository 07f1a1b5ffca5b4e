#include <algorithm>

#include "backends/cuda/libraries/problems.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

bool is16Bit(DataType type) { return type == DataType::kF16 || type == DataType::kBF16; }

std::string refusalOfTypes(const GemmProblem& p) {
  const DataType a = p.typeA, d = p.typeD;
  if (isFloat8(a) && isFloat8(p.typeB)) {
    if (a == DataType::kF8E5M2 && p.typeB == a) return "cuBLASLt does not multiply two f8e5m2";
    return is16Bit(d) || d == DataType::kF32 ? ""
                                             : str("cuBLASLt makes no ", d, " of 8-bit floats");
  }
  if (a != p.typeB) return str("cuBLASLt does not multiply ", a, " by ", p.typeB);
  if (is16Bit(a))
    return d == a || d == DataType::kF32 ? "" : str("cuBLASLt makes no ", d, " of ", a);
  if (a == DataType::kI8) return d == DataType::kI32 ? "" : str("cuBLASLt makes no ", d, " of i8");
  if (a == DataType::kF32 || a == DataType::kF64)
    return d == a ? "" : str("cuBLASLt makes no ", d, " of ", a);
  return str("cuBLASLt multiplies no ", a);
}

}  // namespace

std::string refusal(const GemmProblem& p) {
  if (std::string reason = refusalOfTypes(p); !reason.empty()) return reason;
  const bool isNarrow = isFloat8(p.typeA) || p.typeA == DataType::kI8;
  if (isNarrow && (p.transposeA || !p.transposeB))
    return "cuBLASLt reads 8-bit operands along K only";
  const int64_t unit = isFloat8(p.typeA) ? 16 : 4;
  if (isNarrow &&
      (p.sizes.k % unit != 0 || p.sizes.n % unit != 0 || (unit == 4 && p.sizes.m % unit != 0)))
    return str("cuBLASLt needs 8-bit matrices with sizes that are multiples of ", unit);
  const bool hasEpilogue = p.hasBias || p.activation != GemmActivation::kNone;
  if (hasEpilogue && (p.typeD == DataType::kI32 || p.typeD == DataType::kF64))
    return str("cuBLASLt has no epilogues on ", p.typeD);
  if (p.sizes.k == 0) return "cuBLASLt needs something to add up";
  return {};
}

std::string refusal(const ConvProblem& p) {
  const DataType in = p.inputType, out = p.outputType;
  const bool isFloating = is16Bit(in) || in == DataType::kF32;
  if (!isFloating && in != DataType::kI8)
    return str("cuDNN convolves f16, bf16, f32 and i8, not ", in);
  if (isFloating && out != in && out != DataType::kF32)
    return str("cuDNN makes no ", out, " of ", in);
  if (in == DataType::kI8) {
    if (!is16Bit(out) && out != DataType::kF32)
      return str("cuDNN does not round sums of i8 to ", out);
    if (p.epilogue.nodes.empty()) return "cuDNN scales sums of i8 in an epilogue";
    if (!p.channelsLast || p.inChannels / p.groups % 4 != 0)
      return "cuDNN needs i8 in four channels side by side";
  }
  if (p.image.empty() || p.image.size() > 3) return "cuDNN convolves one to three dimensions";
  const auto isNegative = [](int64_t pad) { return pad < 0; };
  if (std::any_of(p.padsBegin.begin(), p.padsBegin.end(), isNegative) ||
      std::any_of(p.padsEnd.begin(), p.padsEnd.end(), isNegative))
    return "cuDNN cannot crop by negative padding";
  for (const int64_t size : outputImage(p))
    if (size < 1) return "cuDNN makes no empty images";
  for (const EpilogueTensor& tensor : p.epilogue.tensors)
    if (!is16Bit(tensor.type) && tensor.type != DataType::kF32)
      return str("cuDNN's epilogues read no ", tensor.type);
  return {};
}

std::string refusal(const AttentionProblem& p) {
  if (!is16Bit(p.type)) return str("cuDNN attends in f16 and bf16, not ", p.type);
  if (p.headSize % 8 != 0 || p.valueSize % 8 != 0 || p.headSize > 256 || p.valueSize > 256)
    return "cuDNN needs head sizes that are multiples of 8, up to 256";
  // Operands are read 16 bytes at a time; misaligned ones give wrong results rather than errors.
  const AttentionSizes& s = p.sizes;
  for (const AttentionOperand* operand : {&s.q, &s.k, &s.v, &s.o})
    for (const int64_t place :
         {operand->offset, operand->strideBatch, operand->strideHead, operand->strideLength})
      if (place % 8 != 0)
        return "cuDNN needs rows of q, k, v and the result at multiples of 16 bytes";
  if (p.causal == CausalMask::kBottomRight && p.hasBias)
    return "cuDNN has no bias beside a causal mask aligned to the last key";
  if (p.causal == CausalMask::kBottomRight && s.queryLength > s.keyLength)
    return "cuDNN needs as many keys as queries for a causal mask aligned to the last key";
  if (p.hasBias && !is16Bit(p.biasType) && p.biasType != DataType::kF32)
    return str("cuDNN adds no ", p.biasType, " to scores");
  return {};
}

}  // namespace camshaft::cuda
