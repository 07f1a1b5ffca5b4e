#pragma once

#include <cstdint>

namespace camshaft::cpu::index {

// Gather, GatherElements, ScatterElements, OneHot.
struct AxisParams {
  int64_t axis;
};

struct GatherNDParams {
  int64_t batchDims;
};

struct TopKParams {
  int32_t axis;
  int32_t largest;
};

}  // namespace camshaft::cpu::index
