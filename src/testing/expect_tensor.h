// For tests: a kernel's result against the operator's own evaluate().
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/dispatch.h"
#include "ops/evaluate.h"
#include "ops/select.h"

namespace camshaft {

inline double defaultTolerance(DataType type) {
  switch (type) {
    case DataType::kF16:
      return 2e-3;
    case DataType::kBF16:
      return 2e-2;
    case DataType::kF64:
      return 1e-12;
    default:
      return isFloat(type) && bitsOf(type) == 8 ? 0.3 : 1e-5;
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

// What lies behind the results of an operator that counts them (select.h) is unspecified: `got`,
// output `index`, takes it from what was wanted.
inline void ignoreRest(const Node& node, const std::vector<HostTensor>& wanted, size_t index,
                       void* got) {
  const HostTensor &want = wanted[index], &last = wanted.back();
  if (last.type != DataType::kI64 || last.count() != 1 || want.count() == 0) return;
  const int64_t count = readInteger(last.type, last.view().data, 0);
  const size_t results = bytesOf(want.type, resultElements(node, index, want.count(), count));
  std::memcpy(static_cast<std::byte*>(got) + results, want.bytes.data() + results,
              want.bytes.size() - results);
}

}  // namespace camshaft
