// Blocks by sums of four products of bytes, a few rows by a few vectors of columns at a time. Rows
// are read wherever they lie. Before this file, in a namespace of its own, stand CAMSHAFT_TARGET,
// the vector Ints with zero(), load(), store(), repeated() and addDots(), and kSums, at a time.
constexpr int64_t kLanes = sizeof(Ints) / 4, kOfBlock = kBlockColumns / kLanes;

// [kCount] rows times the columns of [kVectors] vectors, the first of which begins at `b`.
template <int kVectors, int kCount>
CAMSHAFT_TARGET void multiplyRows(const uint8_t* const* rows, const RowParts& parts,
                                  const int8_t* b, const Block& block, int32_t* to,
                                  Fetch<1> fetch) {
  constexpr int64_t kStep = kStepQuads * 64;
  const int64_t blockBytes = kQuads.blockBytes(block.k);
  const uint8_t* from[kCount];
  Ints sums[kCount][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    from[i] = rows[i];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = zero();
  }
  const auto addQuad = [&](int64_t at, const int8_t* b) CAMSHAFT_TARGET {
    Ints columns[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      columns[v] = load(b + v / kOfBlock * blockBytes + placeOf(v % kOfBlock * kLanes));
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      const Ints quad = repeated(from[i] + at);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = addDots(sums[i][v], quad, columns[v]);
    }
  };
  if (parts.quads % kStepQuads == 0) {  // no step of B ends within a part
    for (int64_t part = 0; part < parts.count; ++part) {
      int64_t at = 2 * parts.at[part];
      for (int64_t left = parts.quads; left > 0; left -= kStepQuads) {
        for (const int8_t* const end = b + kStep; b != end; at += 4, b += 64) addQuad(at, b);
        fetch.step();
        at += parts.betweenSteps;
        b += kStep;
      }
    }
  } else {
    int64_t ofStep = kStepQuads;  // quads until this step of B ends
    for (int64_t part = 0; part < parts.count; ++part) {
      int64_t at = 2 * parts.at[part];
      for (int64_t ofPart = parts.quads; ofPart > 0;) {
        const int64_t quads = std::min(ofPart, ofStep), end = at + 4 * quads;
        for (; at < end; at += 4, b += 64) addQuad(at, b);
        ofPart -= quads;
        ofStep -= quads;
        if (ofStep > 0) continue;
        ofStep = kStepQuads;
        fetch.step();
        at += parts.betweenSteps;
        b += kStep;  // behind those of the other columns
      }
    }
  }
  constexpr int64_t kBlocks = kVectors > kOfBlock ? kVectors / kOfBlock : 1;
  constexpr int64_t kSumsOfBlock = kBlockRows / kBlocks * kBlockColumns;
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      store(to + v / kOfBlock * kSumsOfBlock + i * kBlockColumns + v % kOfBlock * kLanes,
            sums[i][v]);
  }
}

using RowsFunction = void (*)(const uint8_t* const*, const RowParts&, const int8_t*, const Block&,
                              int32_t*, Fetch<1>);
template <int kVectors, int... kCounts>
constexpr std::array<RowsFunction, sizeof...(kCounts)> functionsFor(
    std::integer_sequence<int, kCounts...>) {
  return {multiplyRows<kVectors, kCounts + 1>...};
}

// As many rows at each time, so that the last ones do not read B for themselves.
template <int kVectors>
void multiplyByVectors(const Block& block) {
  constexpr int64_t kRows = kSums / kVectors, kColumns = kVectors * kLanes;
  static constexpr auto kFunctions =
      functionsFor<kVectors>(std::make_integer_sequence<int, kRows>());
  const RowParts parts(block);
  // Divisions of 32 bits, which take a third of the time.
  const auto times = static_cast<uint32_t>(ceilDiv(block.rows, kRows));
  const uint32_t rows = static_cast<uint32_t>(block.rows) / times;
  const int64_t steps = block.k / kQuads.depth;  // and a part of one
  const int64_t columns = block.blocks * kBlockColumns;
  int64_t more = static_cast<uint32_t>(block.rows) % times;
  Fetch<1> fetch(block, times * (columns / kColumns), steps);
  for (int64_t row = 0; row < block.rows; --more) {
    const int64_t count = rows + (more > 0);
    const uint8_t* rowsInTurn[kRows];
    for (int64_t i = 0; !block.scattered && i < count; ++i) rowsInTurn[i] = rowOf(block, row + i);
    const uint8_t* const* from = block.scattered ? block.scattered + row : rowsInTurn;
    for (int64_t column = 0; column < columns; column += kColumns) {
      kFunctions[count - 1](from, parts, block.b + placeOf(column), block,
                            block.sums + row * kBlockColumns + column, fetch);
      fetch.at += steps * fetch.bytes;
    }
    row += count;
  }
}
