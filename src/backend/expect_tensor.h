// For tests: a kernel's result against the operator's own evaluate().
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/dispatch.h"
#include "ops/evaluate.h"

namespace camshaft {

inline double defaultTolerance(DataType type) {
  switch (type) {
    case DataType::kF16:
      return 2e-3;
    case DataType::kBF16:
      return 2e-2;
    case DataType::kF8E4M3:
    case DataType::kF8E5M2:
      return 0.3;
    case DataType::kF64:
      return 1e-12;
    default:
      return 1e-5;
  }
}

inline bool matches(double got, double want, double tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= tolerance * (1 + std::fabs(want));
}

// `got` is of want's type. A negative tolerance is that of the type.
inline void expectTensor(const HostTensor& want, const void* got, double tolerance) {
  if (tolerance < 0) tolerance = defaultTolerance(want.type);
  if (isPacked(want.type)) {
    ASSERT_EQ(std::memcmp(got, want.view().data, want.bytes.size()), 0);
    return;
  }
  for (int64_t i = 0; i < want.count(); ++i) {
    if (!isFloat(want.type)) {
      ASSERT_EQ(readInteger(want.type, got, i), readInteger(want.type, want.view().data, i))
          << "element " << i;
      continue;
    }
    const double a = readElement(want.type, got, i),
                 b = readElement(want.type, want.view().data, i);
    ASSERT_TRUE(matches(a, b, tolerance))
        << "element " << i << " is " << a << " and should be " << b;
  }
}

}  // namespace camshaft
