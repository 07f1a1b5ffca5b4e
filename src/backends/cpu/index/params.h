#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::index {

// Gather, GatherElements, ScatterElements, OneHot.
struct AxisParams {
  int64_t axis;
  bool isValid() const { return isAxis(axis); }
};

struct GatherNDParams {
  int64_t batchDims;
  bool isValid() const { return isAxis(batchDims); }
};

struct TopKParams {
  int32_t axis;
  int32_t largest;
  bool isValid() const { return isAxis(axis); }
};

}  // namespace camshaft::cpu::index
