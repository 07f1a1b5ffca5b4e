// Build half: which products may be computed in bf16, and their weights.
#pragma once

#include <vector>

#include "backend/kernel.h"
#include "backends/cpu/gemm/bf16_gemm.h"
#include "backends/cpu/simd/bf16_rows.h"

namespace camshaft::cpu {

inline Verdict mayRoundToBf16(const Node& node, const BuildContext& context) {
  if (!hasBf16Gemm()) return Verdict::no("needs a CPU that multiplies bf16 matrices");
  if (node.inputs[0]->dataType() == DataType::kBF16) return Verdict::yes();
  if (!context.bf16Products)
    return Verdict::no("rounds its operands to bf16, and the build allows no 16-bit types");
  if (node.precision.compute == DataType::kF32)
    return Verdict::no("rounds its operands to bf16, and the layer is asked to compute in f32");
  return Verdict::yes();
}

// The elements of a constant of f32 or bf16.
class ConstantInF32 {
 public:
  explicit ConstantInF32(const Value& value) {
    const ConstTensorView view = value.view();
    if (view.type == DataType::kF32) {
      data_ = view.as<float>();
      return;
    }
    widened_.resize(static_cast<size_t>(view.count()));
    widenRow(view.as<BFloat16>(), view.count(), widened_.data());
    data_ = widened_.data();
  }
  const float* data() const { return data_; }

 private:
  std::vector<float> widened_;
  const float* data_;
};

}  // namespace camshaft::cpu
