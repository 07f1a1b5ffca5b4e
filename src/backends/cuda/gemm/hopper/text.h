// What stands in front of gemm.cuh for one configuration, and the arguments of the
// kernel it makes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cuda/gemm/hopper/config.h"
#include "support/data_type.h"

namespace camshaft::cuda {

struct HopperText {
  HopperConfig config;
  DataType type = DataType::kF16;  // of A and B: f16, bf16, or f32 read as TF32
  std::string_view outputType = "f16";
  bool transposedA = false;  // A lies as [k, m]
  bool transposedB = true;   // B lies as [n, k]
  bool constantB = false;
  bool wholeColumns = true;
  bool columnEpilogue = false;
  int unrollEpilogue = 4;
};

std::string hopperHead(const HopperText& text);

}  // namespace camshaft::cuda
