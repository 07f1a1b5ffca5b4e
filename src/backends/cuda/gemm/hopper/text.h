// What stands in front of gemm.cuh for one configuration, and the arguments of the
// kernel it makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/cuda/gemm/hopper/images.h"

namespace camshaft::cuda {

struct HopperText {
  HopperConfig config;
  // f16, bf16, f32 read as TF32, floats of 8 bits, or integers.
  DataType typeA = DataType::kF16, typeB = DataType::kF16;
  std::string_view outputType = "f16";
  bool transposedA = false;  // A lies as [k, m]
  bool transposedB = true;   // B lies as [n, k]
  bool constantB = false;
  bool wholeColumns = true;
  bool wholeTiles = false;
  bool columnEpilogue = false;
  bool quads = false;
  bool keepsMoments = false;  // of rows of D
  int unrollEpilogue = 4;
  std::string entry = "gemm";
  int64_t rowLength = 0;  // of rows of A that are normalised; 0: none are
  bool centres = false;
  double epsilon = 0;
  std::optional<HopperWindows> windows = {};  // A has windows of images
  int64_t channels = 0;                       // of those
};

std::string hopperHead(const HopperText& text);

}  // namespace camshaft::cuda
