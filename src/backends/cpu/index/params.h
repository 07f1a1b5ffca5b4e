#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::index {

// ScatterElements, OneHot.
struct AxisParams {
  int64_t axis;
  bool isValid() const { return isAxis(axis); }
};

// Gather, GatherElements, and the batch dimensions of GatherND.
struct GatherParams {
  int64_t axis;
  int64_t zeroOutside;
  bool isValid() const { return isAxis(axis); }
};

struct ScatterNDParams {
  int64_t skipsOutside;
  bool isValid() const { return true; }
};

struct TopKParams {
  int32_t axis;
  int32_t largest;
  bool isValid() const { return isAxis(axis); }
};

}  // namespace camshaft::cpu::index
