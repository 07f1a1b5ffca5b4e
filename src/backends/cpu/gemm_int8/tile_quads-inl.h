// Blocks by sums of four products of bytes, a few rows by two vectors of columns at a time. Before
// this file, in a namespace of its own, stand CAMSHAFT_TARGET, the vector Ints with zero(), load(),
// store(), repeated() and addDots(), and kRows, at a time.
template <int kCount>
CAMSHAFT_TARGET void multiplyRows(const uint8_t* a, const int8_t* first, const int8_t* second,
                                  int64_t k, int32_t* toFirst, int32_t* toSecond) {
  constexpr int64_t kDepth = kQuads.depth;
  Ints left[kCount], right[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) left[i] = right[i] = zero();
  for (int64_t done = 0; done < k; done += kDepth) {
    const int64_t quads = std::min<int64_t>(kDepth, k - done + 3) / 4;
    for (int64_t q = 0; q < quads; ++q) {
      const Ints bLeft = load(first + q * 64), bRight = load(second + q * 64);
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) {
        const Ints quad = repeated(a + i * kDepth + q * 4);
        left[i] = addDots(left[i], quad, bLeft);
        right[i] = addDots(right[i], quad, bRight);
      }
    }
    a += kQuads.stripRows * kDepth;
    first += kBlockColumns * kDepth;
    second += kBlockColumns * kDepth;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) {
    store(toFirst + i * kBlockColumns, left[i]);
    store(toSecond + i * kBlockColumns, right[i]);
  }
}

using RowsFunction = void (*)(const uint8_t*, const int8_t*, const int8_t*, int64_t, int32_t*,
                              int32_t*);
template <int... kCounts>
constexpr std::array<RowsFunction, kRows> functionsFor(std::integer_sequence<int, kCounts...>) {
  return {multiplyRows<kCounts + 1>...};
}
constexpr auto kRowsFunctions = functionsFor(std::make_integer_sequence<int, kRows>());

void multiplyQuads(const Block& block) {
  constexpr int64_t kLanes = sizeof(Ints) / 4;
  forRows<kRows>(block, [&](const uint8_t* a, int64_t count, int32_t* sums) {
    for (int64_t column = 0; column < kBlockColumns; column += 2 * kLanes)
      kRowsFunctions[count - 1](a, block.b + placeOf(column), block.b + placeOf(column + kLanes),
                                block.k, sums + column, sums + column + kLanes);
  });
}
