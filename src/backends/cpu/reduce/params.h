#pragma once

#include <cstdint>

#include "backends/cpu/reduce/rows.h"

namespace camshaft::cpu::reduce {

struct ReduceParams {
  Kind kind;
  uint32_t axes;  // bit i: dimension i is reduced
};

struct ArgReduceParams {
  int32_t axis;
  int32_t largest;
  int32_t selectLast;
};

}  // namespace camshaft::cpu::reduce
