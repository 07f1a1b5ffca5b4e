// Blocks by sums of four products of bytes, a few rows by two vectors of columns at a time. Rows
// are read wherever they lie. Before this file, in a namespace of its own, stand CAMSHAFT_TARGET,
// the vector Ints with zero(), load(), store(), repeated() and addDots(), and kRows, at a time.
constexpr int64_t kLanes = sizeof(Ints) / 4;

// [kCount] rows times the columns of two vectors, the first of which begins at `b`.
template <int kCount>
CAMSHAFT_TARGET void multiplyRows(const uint8_t* const* rows, const RowParts& parts,
                                  const int8_t* b, int32_t* to, Fetch<1> fetch) {
  constexpr int64_t kStep = kStepQuads * 64, kSecond = placeOf(kLanes);
  const uint8_t* from[kCount];
  Ints left[kCount], right[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    from[i] = rows[i];
    left[i] = right[i] = zero();
  }
  int64_t ofStep = kStepQuads;  // quads until this step of B ends
  for (int64_t part = 0; part < parts.count; ++part) {
    int64_t at = 2 * parts.at[part];
    for (int64_t ofPart = parts.quads; ofPart > 0;) {
      const int64_t quads = std::min(ofPart, ofStep), end = at + 4 * quads;
      for (; at < end; at += 4, b += 64) {
        const Ints bLeft = load(b), bRight = load(b + kSecond);
#pragma GCC unroll 16
        for (int i = 0; i < kCount; ++i) {
          const Ints quad = repeated(from[i] + at);
          left[i] = addDots(left[i], quad, bLeft);
          right[i] = addDots(right[i], quad, bRight);
        }
      }
      ofPart -= quads;
      ofStep -= quads;
      if (ofStep > 0) continue;
      ofStep = kStepQuads;
      fetch.step();
      at += parts.betweenSteps;
      b += kStep;  // behind those of the other columns
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    store(to + i * kBlockColumns, left[i]);
    store(to + i * kBlockColumns + kLanes, right[i]);
  }
}

using RowsFunction = void (*)(const uint8_t* const*, const RowParts&, const int8_t*, int32_t*,
                              Fetch<1>);
template <int... kCounts>
constexpr std::array<RowsFunction, kRows> functionsFor(std::integer_sequence<int, kCounts...>) {
  return {multiplyRows<kCounts + 1>...};
}
constexpr auto kRowsFunctions = functionsFor(std::make_integer_sequence<int, kRows>());

// As many rows at each time, so that the last ones do not read B for themselves.
void multiplyQuads(const Block& block) {
  const RowParts parts(block);
  const int64_t times = ceilDiv(block.rows, kRows), rows = block.rows / times;
  const int64_t steps = block.k / kQuads.depth;  // and a part of one
  int64_t more = block.rows % times;
  Fetch<1> fetch(block, times * (kBlockColumns / (2 * kLanes)), steps);
  for (int64_t row = 0; row < block.rows; --more) {
    const int64_t count = rows + (more > 0);
    const uint8_t* from[kRows];
    for (int64_t i = 0; i < count; ++i) from[i] = rowOf(block, row + i);
    for (int64_t column = 0; column < kBlockColumns; column += 2 * kLanes) {
      kRowsFunctions[count - 1](from, parts, block.b + placeOf(column),
                                block.sums + row * kBlockColumns + column, fetch);
      fetch.at += steps * fetch.bytes;
    }
    row += count;
  }
}
