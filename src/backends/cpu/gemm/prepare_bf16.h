// Build half: which f32 products may be computed in bf16.
#pragma once

#include "backend/kernel.h"
#include "backends/cpu/gemm/bf16_gemm.h"

namespace camshaft::cpu {

inline Verdict mayRoundToBf16(const Node& node, const BuildContext& context) {
  if (!hasBf16Gemm()) return Verdict::no("needs a CPU that multiplies bf16 matrices");
  if (!context.bf16Products)
    return Verdict::no("rounds its operands to bf16, and the build allows no 16-bit types");
  if (node.precision.compute == DataType::kF32)
    return Verdict::no("rounds its operands to bf16, and the layer is asked to compute in f32");
  return Verdict::yes();
}

}  // namespace camshaft::cpu
