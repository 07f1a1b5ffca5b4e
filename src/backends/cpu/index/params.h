#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"

namespace camshaft::cpu::index {

struct OneHotParams {
  int64_t axis;
  bool isValid() const { return isAxis(axis); }
};

// Gather, GatherElements, and the batch dimensions of GatherND.
struct GatherParams {
  int64_t axis;
  int64_t zeroOutside;
  bool isValid() const { return isAxis(axis); }
};

// What becomes of an element and its update; as ops/index.h has them.
enum class Scatter : int64_t { kNone, kAdd, kMul, kMin, kMax };
inline bool isScatter(Scatter reduction) {
  return reduction >= Scatter::kNone && reduction <= Scatter::kMax;
}

struct ScatterElementsParams {
  int64_t axis;
  Scatter reduction;
  bool isValid() const { return isAxis(axis) && isScatter(reduction); }
};

struct ScatterNDParams {
  int64_t skipsOutside;
  Scatter reduction;
  bool isValid() const { return isScatter(reduction); }
};

struct TopKParams {
  int32_t axis;
  int32_t largest;
  bool isValid() const { return isAxis(axis); }
};

}  // namespace camshaft::cpu::index
