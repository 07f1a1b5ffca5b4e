#pragma once

#include <cstdint>

#include "backends/cpu/load_params.h"
#include "backends/cpu/reduce/rows.h"

namespace camshaft::cpu::reduce {

struct ReduceParams {
  Kind kind;
  uint32_t axes;  // bit i: dimension i is reduced
  bool isValid() const { return kind >= Kind::kSum && kind <= Kind::kLogSum; }
};

struct ArgReduceParams {
  int32_t axis;
  int32_t largest;
  int32_t selectLast;
  bool isValid() const { return isAxis(axis); }
};

struct CumSumParams {
  int32_t axis;
  int32_t exclusive, reverse, product;
  bool isValid() const { return isAxis(axis); }
};

}  // namespace camshaft::cpu::reduce
