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

// Rows of two caches, one of them outside of its cache, and a tensor beside them.
TEST(CudaPointwiseParts, WritesIntoCaches) {
  for (const char* type : {"f16", "f32"})
    for (const int64_t size : {3, 8, 128})
      for (const int64_t room : {4, 700}) {
        const std::string cache = str(type, "[2, 1, ", room, ", ", size, "]"),
                          box = str("[2, 1, 1, ", size, "]"), places = str(3 * size, ", 0, 0, 1]");
        const auto part = [&](int64_t i) {
          return str("output", i, " = ", i, ", begin", i, " = [0, 0, 0, 0], size", i, " = ", box,
                     ", expr", i, " = neg(x0:", type, "), inputs", i, " = [0], places", i, " = [",
                     i * size, ", ", places);
        };
        expectKernelsMatch(
            str("graph g(%x: ", type, "[2, ", 3 * size, "], %k: ", cache, ", %v: ", cache,
                ") { %p: i64[2, 1, 1, 3] = constant [0, 0, 2, 1, 0, ", room, "] ",
                "%r: i64[2, 1, 1, 3] = constant [1, 0, ", room - 1, ", 0, 0, 0] ",
                "%q, %kk, %vv = PointwiseParts(%x, %k, %p, %v, %r) {outputs = 3, shape0 = ", box,
                ", shape1 = ", box, ", shape2 = ", box, ", parts = 3, ", part(0), ", ", part(1),
                ", ", part(2), ", caches = [-1, 1, 3], rows = [-1, 2, 4]} return %q, %kk, %vv }"));
      }
}

}  // namespace
}  // namespace camshaft::cuda
