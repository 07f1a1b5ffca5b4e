#include <gtest/gtest.h>

#include "backends/cuda/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

// Two heads of `size` rotated, and one of values, of rows [n, s, 3 * size].
std::string rotation(const std::string& type, int64_t size) {
  const int64_t width = 3 * size, half = size / 2;
  const std::string heads = str(width, "*s, ", width, ", ", size, ", 1"),
                    angles = str("0, ", half, "*s, ", half, ", 0, 1"),
                    box = str("[n, s, 2, ", half, "]"),
                    places = str("[0, ", heads, ", ", angles, ", ", half, ", ", heads, ", ", angles,
                                 "]");
  const auto product = [&](int a, int b) {
    return str("mul(x", a, ":", type, ", x", b, ":", type, ")");
  };
  return str("symbols n, s graph g(%x: ", type, "[n, s, ", width, "], %c: ", type, "[n, s, 1, ",
             half, "], %d: ", type, "[n, s, 1, ", half,
             "]) { %q, %v = PointwiseParts(%x, %c, %d) {outputs = 2, shape0 = [n, s, 2, ", size,
             "], shape1 = [n, 1, s, ", size,
             "], parts = 3, output0 = 0, begin0 = [0, 0, 0, 0], "
             "size0 = ",
             box, ", expr0 = sub(", product(0, 1), ", ", product(2, 3),
             "), inputs0 = [0, 1, 0, 2], places0 = ", places, ", output1 = 0, begin1 = [0, 0, 0, ",
             half, "], size1 = ", box, ", expr1 = add(", product(0, 1), ", ", product(2, 3),
             "), inputs1 = [0, 2, 0, 1], places1 = ", places,
             ", output2 = 1, begin2 = [0, 0, 0, 0], size2 = [n, 1, s, ", size,
             "], expr2 = x0:", type, ", inputs2 = [0], places2 = [", 2 * size, ", ", width,
             "*s, 0, ", width, ", 1]} return %q, %v }");
}

TEST(CudaPointwiseParts, RotationsAndValues) {
  for (const char* type : {"f16", "f32"})
    for (const int64_t size : {6, 64})  // in vectors and not
      expectKernelsMatch(rotation(type, size), {{{"n", 1}, {"s", 1}}, {{"n", 2}, {"s", 5}}});
}

}  // namespace
}  // namespace camshaft::cuda
