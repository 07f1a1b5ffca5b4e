// Blocks where four products are added up by vpmaddubsw, two and two in 16 bits, and only then in
// 32. That is exact while the largest byte of the rows times the two weights of a pair stays below
// 2^15: 255 times 128, 160 times 204. Quads with a larger pair are multiplied as 16-bit numbers,
// even and odd bytes apart, by four instructions instead of three.
//
// Before this file, in a namespace of its own, stand CAMSHAFT_TARGET, CAMSHAFT_INLINE, the vector
// Ints with zero(), load(), store() and repeated(), addDots(), addWords(), evenBytes(), oddBytes(),
// evenWeights(), oddWeights(), largerOf() and hasPairBeyond(), and kRows, at a time.
constexpr int64_t kLanes = sizeof(Ints) / 4, kVectors = kBlockColumns / kLanes;

// Quads of a vector of columns in a part of k, by how they are multiplied.
struct Quads {
  uint8_t asPairs[kPartQuads], asWords[kPartQuads];
  int64_t pairs = 0, words = 0;
};
constexpr int64_t rowsPlace(int64_t quad) {
  return quad / kStepQuads * kQuads.stripRows * kQuads.depth + quad % kStepQuads * 4;
}
constexpr int64_t columnsPlace(int64_t quad) {
  return quad / kStepQuads * kBlockColumns * kQuads.depth + quad % kStepQuads * 64;
}

// The bytes of a few rows as 16-bit numbers, [row][even, odd][quad].
using Words = int32_t[kRows][2][kPartQuads];

CAMSHAFT_TARGET void takeApart(const uint8_t* a, int64_t rows, int64_t quads, Words& words) {
  for (int64_t row = 0; row < rows; ++row, a += kQuads.depth)
    for (int64_t q = 0; q < quads; q += kLanes) {
      const Ints bytes = load(a + rowsPlace(q));
      store(words[row][0] + q, evenBytes(bytes));
      store(words[row][1] + q, oddBytes(bytes));
    }
}

CAMSHAFT_TARGET int largestByte(const Block& block, int64_t first, int64_t quads) {
  Ints largest = zero();
  for (int64_t row = 0; row < block.rows; row += kQuads.stripRows) {
    const uint8_t* a = block.a + row / kQuads.stripRows * kQuads.stripBytes(block.k) + first;
    const int64_t bytes = std::min(kQuads.stripRows, block.rows - row) * kQuads.depth;
    for (int64_t q = 0; q < quads; q += kStepQuads, a += kQuads.stripRows * kQuads.depth)
      for (int64_t i = 0; i < bytes; i += sizeof(Ints)) largest = largerOf(largest, load(a + i));
  }
  uint8_t lanes[sizeof(Ints)];
  store(lanes, largest);
  return *std::max_element(std::begin(lanes), std::end(lanes));
}

CAMSHAFT_TARGET Quads quadsOf(const int8_t* b, int64_t quads, int largestPair) {
  Quads found;
  for (int64_t q = 0; q < quads; ++q) {
    const bool isLarge = hasPairBeyond(load(b + columnsPlace(q)), largestPair);
    found.asPairs[found.pairs] = found.asWords[found.words] = static_cast<uint8_t>(q);
    found.pairs += !isLarge;
    found.words += isLarge;
  }
  return found;
}

template <int kCount>
CAMSHAFT_TARGET void multiplyRows(const uint8_t* a, const Words& words, const int8_t* b,
                                  const Quads& quads, bool adds, int32_t* to) {
  Ints sums[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) sums[i] = adds ? load(to + i * kBlockColumns) : zero();
  for (int64_t n = 0; n < quads.words; ++n) {
    const int64_t q = quads.asWords[n];
    const Ints bytes = load(b + columnsPlace(q));
    const Ints even = evenWeights(bytes), odd = oddWeights(bytes);
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      sums[i] = addWords(sums[i], repeated(&words[i][0][q]), even);
      sums[i] = addWords(sums[i], repeated(&words[i][1][q]), odd);
    }
  }
  for (int64_t n = 0; n < quads.pairs; ++n) {
    const int64_t q = quads.asPairs[n];
    const Ints bytes = load(b + columnsPlace(q));
    const uint8_t* from = a + rowsPlace(q);
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i)
      sums[i] = addDots(sums[i], repeated(from + i * kQuads.depth), bytes);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) store(to + i * kBlockColumns, sums[i]);
}

using RowsFunction = void (*)(const uint8_t*, const Words&, const int8_t*, const Quads&, bool,
                              int32_t*);
template <int... kCounts>
constexpr std::array<RowsFunction, kRows> functionsFor(std::integer_sequence<int, kCounts...>) {
  return {multiplyRows<kCounts + 1>...};
}
constexpr auto kRowsFunctions = functionsFor(std::make_integer_sequence<int, kRows>());

// Quads [first, first + count) of k.
void multiplyPart(const Block& block, int64_t first, int64_t count) {
  const int64_t inStrip = rowsPlace(first);
  const int largestPair = 32767 / std::max(1, largestByte(block, inStrip, count));
  const int8_t* columns[kVectors];
  Quads quads[kVectors];
  bool hasWords = false;
  for (int64_t v = 0; v < kVectors; ++v) {
    columns[v] = block.b + columnsPlace(first) + placeOf(v * kLanes);
    quads[v] = quadsOf(columns[v], count, largestPair);
    hasWords |= quads[v].words > 0;
  }
  alignas(64) Words words;
  forRows<kRows>(block, [&](const uint8_t* strip, int64_t rows, int32_t* sums) {
    const uint8_t* a = strip + inStrip;
    if (hasWords) takeApart(a, rows, count, words);
    for (int64_t v = 0; v < kVectors; ++v)
      kRowsFunctions[rows - 1](a, words, columns[v], quads[v], first > 0, sums + v * kLanes);
  });
}

void multiplyParts(const Block& block) {
  const int64_t quads = ceilDiv(block.k, int64_t{4});
  int64_t first = 0;
  do {
    multiplyPart(block, first, std::min(kPartQuads, quads - first));
    first += kPartQuads;
  } while (first < quads);
}
