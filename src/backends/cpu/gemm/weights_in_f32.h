// Build half: weights as products take them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "backend/kernel.h"
#include "backends/cpu/simd/bf16_rows.h"

namespace camshaft::cpu {

// Constant weights of f32 or bf16, with zeros for denormal numbers, which training leaves in
// channels that it gives up: x86 takes some 150 cycles for an instruction that meets one, for
// products that no activation makes large enough to count.
class WeightsInF32 {
 public:
  WeightsInF32(const Node& node, int input) {
    const ConstTensorView view = node.input(input)->view();
    const int64_t count = view.count();
    if (view.type == DataType::kBF16) {
      own_.resize(static_cast<size_t>(count));
      widenRow(view.as<BFloat16>(), count, own_.data());
    } else {
      data_ = view.as<float>();
      if (std::none_of(data_, data_ + count, isDenormal)) return;
      own_.assign(data_, data_ + count);
    }
    std::ranges::replace_if(own_, isDenormal, 0.0f);
    data_ = own_.data();
  }
  const float* data() const { return data_; }

 private:
  static bool isDenormal(float number) {
    const uint32_t bits = std::bit_cast<uint32_t>(number);
    return (bits & 0x7f800000) == 0 && (bits & 0x007fffff) != 0;
  }

  std::vector<float> own_;
  const float* data_ = nullptr;
};

}  // namespace camshaft::cpu
