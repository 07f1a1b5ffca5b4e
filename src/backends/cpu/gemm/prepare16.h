// Build half: which products may be computed in 16 bits.
#pragma once

#include "backend/kernel.h"
#include "backends/cpu/gemm/gemm16.h"

namespace camshaft::cpu {

inline Verdict mayRoundTo16(Type16 type, const Node& node, const BuildContext& context) {
  const DataType rounded = type == Type16::kF16 ? DataType::kF16 : DataType::kBF16;
  if (!hasGemm16(type))
    return Verdict::no(str("needs a CPU that multiplies ", rounded, " faster than f32"));
  if (node.inputs[0]->dataType() == DataType::kBF16)
    return type == Type16::kBf16 ? Verdict::yes() : Verdict::no("rounds f32 to f16, not bf16");
  if (context.productType != rounded)
    return Verdict::no(
        str("rounds its operands to ", rounded, ", and the build allows ",
            context.productType == DataType::kF32 ? "no 16-bit types" : "another 16-bit type"));
  if (node.precision.compute == DataType::kF32)
    return Verdict::no(
        str("rounds its operands to ", rounded, ", and the layer is asked to compute in f32"));
  return Verdict::yes();
}

}  // namespace camshaft::cpu
