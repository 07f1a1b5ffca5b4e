// How the Hopper matrix product writes its tiles: sums pass through the epilogue, before or after
// they are rows in shared memory, and leave in vectors or, where a residual was, in boxes. Follows
// moments.cuh.

// Columns of a row and tile. A place beyond the matrix stands for the last one in it, so that the
// epilogue can read its operands without asking.
template <int kWidth>
__device__ __forceinline__ Place placeOf(const Tile& tile, int row, int column,
                                         const GemmParams& p) {
  Place place = {tile.batch, min(tile.row + row, p.m - 1), tile.column + column, kWidth};
  if (!kWholeTiles) place.column = min(place.column, (p.n - 1) & ~(kWidth - 1));
  if (!kWholeColumns) place.columns = min(kWidth, p.n - place.column);
  place.start = ((long long)place.batch * p.m + place.row) * p.n + place.column;
  return place;
}

// What the epilogue of a row's sums normalises them by, once the tile's products are done.
__device__ __forceinline__ void readMoments(Place& place, int row) {
  if constexpr (kNormalises) {
    place.mean = __uint_as_float(loadBits<4>(momentsOf(row)));
    place.factor = __uint_as_float(loadBits<4>(momentsOf(row) + 4));
  }
}

// Where pair j of a thread's sums begins in a row of the tile: wgmma gives it columns
// 8j + 2(lane%4) and the next. With kQuads B's columns are packed so that pairs 2i and 2i + 1 are
// four neighbours.
__device__ __forceinline__ constexpr int columnOf(int j, int lane) {
  return kQuads ? j / 2 * 16 + lane % 4 * 4 + j % 2 * 2 : j * 8 + lane % 4 * 2;
}

// Loads operands of the epilogue while the first stages are on their way, so that they are in the
// first cache when they are needed. Only what fits there with the stages beside it. Bytes are taken
// to lie beside bytes, of which 32 come at once.
__device__ __forceinline__ u32 touchTile(const Tile& tile, const GemmParams& p, const Role& role) {
  constexpr int kColumns = kOutputBytes == 1 ? 32 : 8;
  constexpr int kRows = kSplitK > 1 ? kRowsPerSplit : kTileM;
  constexpr int kGroups = (kTileN + kColumns - 1) / kColumns;
  constexpr int kThreadsHere = kPingPong ? 128 : kMultiplyThreads;
  constexpr int kMost = kMovesRegisters || kBlocksPerSm > 1 ? 1 : 4;
  constexpr int kAll = (kRows * kGroups + kThreadsHere - 1) / kThreadsHere;
  constexpr int kTurns = kAll < kMost ? kAll : kMost;
  const int thread = threadIdx.x % kThreadsHere, firstRow = kSplitK > 1 ? role.split * kRows : 0;
  u32 touched[kTurns] = {};
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    const int item = thread + i * kThreadsHere;
    if (item < kRows * kGroups)
      touched[i] = touchOperands(
          placeOf<8>(tile, firstRow + item / kGroups, item % kGroups * kColumns, p), p);
  }
  u32 all = 0;
#pragma unroll
  for (int i = 0; i < kTurns; ++i) all ^= touched[i];
  return all;
}

// Eight columns of a row on their way out; only the store asks whether they exist.
struct Finished {
  Elements<Output, 8> values;
  Output* to;
  int columns;
  bool isInside = false;

  __device__ __forceinline__ void compute(const Accumulator (&sum)[8], const Tile& tile, int row,
                                          int column, const GemmParams& p) {
    isInside = tile.row + row < p.m && (kWholeTiles || tile.column + column < p.n);
    Place place = placeOf<8>(tile, row, column, p);
    readMoments(place, row);
    values = epilogue(sum, place, p);
    if constexpr (kKeepsMoments) {
      float stored[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) stored[i] = elementAt(values, i);
      storeMoments(stored, isInside, tile.row + row, tile.column + column, p);
    }
    columns = place.columns;
    to = p.out + place.start;
  }
  __device__ __forceinline__ void store() const {
    if constexpr (!kWholeColumns) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (isInside && i < columns) to[i] = storedAt(values, i);
    } else if constexpr (sizeof values % 16 == 0) {
#pragma unroll
      for (int i = 0; i < sizeof values / 16; ++i)
        storeIf(
            isInside, reinterpret_cast<char*>(to) + i * 16,
            reinterpret_cast<const float (&)[4]>(reinterpret_cast<const char*>(&values)[i * 16]));
    } else if (isInside) {
      writeElements<8>(to, values);
    }
  }
};

// Eight sums of a row; half of the lanes read the second four first, which spreads the banks.
__device__ __forceinline__ void loadEight(u32 address, Accumulator (&x)[8]) {
  const bool swap = threadIdx.x & 4;
  Accumulator low[4], high[4];
  loadShared(address + (swap ? 16 : 0), low);
  loadShared(address + (swap ? 0 : 16), high);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[i] = swap ? high[i] : low[i];
    x[4 + i] = swap ? low[i] : high[i];
  }
}

// Rows that begin anywhere: a warp's 16 finished rows of kColumns columns go out element by
// element, neighbours side by side. Eight columns take kGroupBytes of a row of kPitch bytes.
template <int kColumns, int kPitch, int kGroupBytes>
__device__ __forceinline__ void storeElements(u32 rows, const Tile& tile, int firstRow,
                                              int firstColumn, const GemmParams& p) {
  constexpr int kItems = kColumns / 2, kTogether = kItems < 16 ? kItems : 16;
  constexpr bool kIsNarrow = kColumns < 32;  // a warp has several rows at a time
  const int lane = threadIdx.x % 32;
  const int row = kIsNarrow ? lane / kColumns : 0, column = kIsNarrow ? lane % kColumns : lane;
  const int rowsLeft = p.m - tile.row - firstRow - row;
  const int columnsLeft = p.n - tile.column - firstColumn - column;
  const u32 from = rows + row * kPitch + column / 8 * kGroupBytes + column % 8 * sizeof(Output);
  Output* const to = p.out + ((long long)tile.batch * p.m + tile.row + firstRow + row) * p.n +
                     tile.column + firstColumn + column;
#pragma unroll
  for (int first = 0; first < kItems; first += kTogether) {
    u32 bits[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int item = (first + i) * 32;
      bits[i] = loadBits<sizeof(Output)>(from + item / kColumns * kPitch +
                                         item % kColumns / 8 * kGroupBytes);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int down = (first + i) * 32 / kColumns, right = (first + i) * 32 % kColumns;
      storeIf(down < rowsLeft && right < columnsLeft, to + (long long)down * p.n + right, bits[i]);
    }
  }
}

// Sums of which a thread gets eight columns of a row to finish, for operands that lie like D. A
// warp holds 16 rows of each 64: it passes them through its own shared memory chunk by chunk.
// Element 4j+e of `sums` is row lane/4 (+8 for e >= 2), column columnOf(j, lane) + e%2.
__device__ __forceinline__ void storeByRows(const Sums& sums, const Tile& tile, int firstRow,
                                            const GemmParams& p) {
  constexpr int kPitch = kChunkPitch, kGroups = kChunk / 8, kTurns = (16 * kGroups + 31) / 32;
  constexpr int kTogether = kUnrollEpilogue < kTurns ? kUnrollEpilogue : kTurns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u32 rows = sumsBase() + warp * 16 * kPitch;
  const u32 mine = rows + lane / 4 * kPitch;
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) {
#pragma unroll
    for (int chunk = 0; chunk < kTileN / kChunk; ++chunk) {
      __syncwarp();
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
        const Accumulator* sum = &sums[i][(chunk * kGroups + j) * 4];
        storeShared(mine + columnOf(j, lane) * 4, sum[0], sum[1]);
        storeShared(mine + columnOf(j, lane) * 4 + 8 * kPitch, sum[2], sum[3]);
      }
      __syncwarp();
#pragma unroll 1
      for (int turn = 0; turn < kTurns; turn += kTogether) {
        Finished finished[kTogether];
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          const int item = lane + (turn + t) * 32, row = item / kGroups, group = item % kGroups;
          if (row >= 16) continue;
          Accumulator sum[8];
          loadEight(rows + row * kPitch + group * 32, sum);
          finished[t].compute(sum, tile, firstRow + i * 64 + warp % 4 * 16 + row,
                              chunk * kChunk + group * 8, p);
        }
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          if constexpr (kWholeColumns) {
            finished[t].store();
          } else {
            const int item = lane + (turn + t) * 32;
            if (item < 16 * kGroups)
              inShared<Elements<Output, 8>>(rows + item / kGroups * kPitch + item % kGroups * 32) =
                  finished[t].values;
          }
        }
      }
      if constexpr (!kWholeColumns) {
        __syncwarp();
        storeElements<kChunk, kPitch, 32>(rows, tile, firstRow + i * 64 + warp % 4 * 16,
                                          chunk * kChunk, p);
      }
    }
  }
}

// Puts what a thread has finished, pairs of columns or fours, into its warp's 16 rows of shared
// memory.
template <int kGroups>
__device__ __forceinline__ void putRows(u32 rows, const Held (&held)[kGroups][2]) {
  const int lane = threadIdx.x % 32;
  if constexpr (kOutputBytes != 2) {
    const u32 mine = rows + lane / 4 * kRowPitch + lane % 4 * sizeof(Held);
#pragma unroll
    for (int j = 0; j < kGroups; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        inShared<Held>(mine + j * 4 * sizeof(Held) + half * 8 * kRowPitch) = held[j][half];
  } else {
    const u32 mine = rows + lane % 16 * kRowPitch + lane / 16 * 16;
    const auto bits = [&](int j, int half) { return reinterpret_cast<const u32&>(held[j][half]); };
#pragma unroll
    for (int j = 0; j + 1 < kGroups; j += 2)
      storeMatrices(mine + j * 16, bits(j, 0), bits(j, 1), bits(j + 1, 0), bits(j + 1, 1));
    if constexpr (kGroups % 2 == 1)
      storeMatrices(mine + (kGroups - 1) * 16, bits(kGroups - 1, 0), bits(kGroups - 1, 1));
  }
}

// A warp's 16 finished rows of kRowChunk columns, in vectors of 16 bytes.
__device__ __forceinline__ void storeVectors(u32 rows, const Tile& tile, int firstRow,
                                             int firstColumn, const GemmParams& p) {
  constexpr int kPerVector = 16 / sizeof(Output), kVectors = kRowChunk / kPerVector;
  constexpr int kTurns = (16 * kVectors + 31) / 32;
  const int lane = threadIdx.x % 32, row = lane / kVectors, column = lane % kVectors * kPerVector;
  const int rowsLeft = min(p.m - tile.row - firstRow, 16) - row;
  const bool hasColumns = kWholeTiles || tile.column + firstColumn + column < p.n;
  const u32 from = rows + row * kRowPitch + column * sizeof(Output);
  Output* const to = p.out + ((long long)tile.batch * p.m + tile.row + firstRow + row) * p.n +
                     tile.column + firstColumn + column;
  float vectors[kTurns][4];
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn)
    if (kTurns > 1 || row < 16) loadShared(from + turn * 32 / kVectors * kRowPitch, vectors[turn]);
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int down = turn * 32 / kVectors;
    storeIf(hasColumns && down < rowsLeft, to + (long long)down * p.n, vectors[turn]);
  }
}

// A warp's 16 rows of each 64 of a column of the tile, as soon as they are finished.
template <class Maps>
__device__ __forceinline__ void sendRows(const Maps& maps, u32 column, const Tile& tile,
                                         int firstRow, int number, const GemmParams& p) {
  if constexpr (kResidualTiles > 0) {
    const int x = tile.column * kOutputBytes + number * kLine;
    const bool isOne = threadIdx.x % 32 == 0 && (kWholeTiles || x < p.n * kOutputBytes);
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) {
      const int row = firstRow + i * 64;
      storeBoxIf(isOne && tile.row + row < p.m, maps.out, column + row * kLine, x, tile.row + row,
                 tile.batch);
    }
  }
}

// Where a thread has its words of a column of the residual's tile, or of results in their place,
// for its first row: neighbours of eight rows, as the copies' swizzle spreads them over all banks.
struct TileWords {
  u32 at[kLine / 16];
  __device__ __forceinline__ TileWords(u32 tile, int row) {
    const int lane = threadIdx.x % 32, swizzle = kLine == 128 ? lane / 4 : lane / 8;
#pragma unroll
    for (int j = 0; j < kLine / 16; ++j)
      at[j] = tile + (row + lane / 4) * kLine + ((j ^ swizzle) * 16 + lane % 4 * 4);
  }
  __device__ __forceinline__ u32 of(int j, int column, int down) const {
    return at[j] + column * kLineColumnBytes + down * kLine;
  }
};

// Sums that are finished where they are, for operands that are the same for all rows, and others
// where a thread has four neighbours: only what is stored passes through shared memory. It is the
// residual's tile there, where there is one.
__device__ __forceinline__ void storeInRegisters(const Sums& sums, const Tile& tile, int firstRow,
                                                 u32 residual, const GemmParams& p) {
  constexpr int kGroups = kRowChunk / 4 / kHeld;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u32 rows = sumsBase() + warp * 16 * kRowPitch;
  firstRow += warp % 4 * 16;
  const TileWords words(residual, firstRow);
  Tile own = tile;  // from this thread's first column on
  own.column += lane % 4 * kHeld;
  const auto rowOf = [&](int i) { return firstRow + i / 2 * 64 + i % 2 * 8 + lane / 4; };
  // What lies ahead of a place is a constant part of an address, if the compiler does not know what
  // else to add it to.
  hide(own.column);
  Place places[kBlocksM * 2];
#pragma unroll
  for (int i = 0; i < kBlocksM * 2; ++i) {
    places[i] = placeOf<kHeld>(own, rowOf(i), 0, p);
    readMoments(places[i], rowOf(i));
    hide(places[i].start);
  }
#pragma unroll
  for (int chunk = 0; chunk < kTileN / kRowChunk; ++chunk) {
    Held finished[kBlocksM][kGroups][2];
    if constexpr (kResidualTiles > 0) {
#pragma unroll
      for (int j = 0; j < kGroups; ++j)
#pragma unroll
        for (int i = 0; i < kBlocksM * 2; ++i)
          reinterpret_cast<u32&>(finished[i / 2][j][i % 2]) =
              loadBits<4>(words.of(j, chunk, i / 2 * 64 + i % 2 * 8));
    }
#pragma unroll
    for (int j = 0; j < kGroups; ++j)
#pragma unroll
      for (int i = 0; i < kBlocksM * 2; ++i) {
        const Accumulator* sum =
            &sums[i / 2][(chunk * kGroups + j) * 2 * kHeld + i % 2 * 2];  // four for each pair
        Accumulator held[kHeld];
#pragma unroll
        for (int e = 0; e < kHeld; ++e) held[e] = sum[e / 2 * 4 + e % 2];
        const int column = chunk * kRowChunk + j * 4 * kHeld;
        Place place = places[i];
        if constexpr (kWholeTiles) {
          place.ahead = column;
        } else {
          place = placeOf<kHeld>(own, rowOf(i), column, p);
          place.mean = places[i].mean, place.factor = places[i].factor;
        }
        if constexpr (kResidualTiles > 0)
          place.residual = reinterpret_cast<const u32&>(finished[i / 2][j][i % 2]);
        finished[i / 2][j][i % 2] = epilogue(held, place, p);
      }
    if constexpr (kKeepsMoments) {
      constexpr int kPairs = kMomentColumns / 8;  // of a thread, in a block of columns
#pragma unroll
      for (int j = 0; j < kGroups; j += kPairs)
#pragma unroll
        for (int i = 0; i < kBlocksM * 2; ++i) {
          float stored[kPairs * 2];
#pragma unroll
          for (int e = 0; e < kPairs * 2; ++e)
            stored[e] = elementAt(finished[i / 2][j + e / 2][i % 2], e % 2);
          const int row = tile.row + rowOf(i), column = tile.column + chunk * kRowChunk + j * 8;
          storeMoments(stored, row < p.m && (kWholeTiles || column < p.n), row, column, p);
        }
    }
    if constexpr (kResidualTiles > 0) {
#pragma unroll
      for (int j = 0; j < kGroups; ++j)
#pragma unroll
        for (int i = 0; i < kBlocksM * 2; ++i)
          inShared<Held>(words.of(j, chunk, i / 2 * 64 + i % 2 * 8)) = finished[i / 2][j][i % 2];
      showToAsync();
      __syncwarp();
      sendRows(p.maps, residual + chunk * kLineColumnBytes, tile, firstRow, chunk, p);
    } else {
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) {
        __syncwarp();
        putRows(rows, finished[i]);
        __syncwarp();
        if constexpr (kWholeColumns)
          storeVectors(rows, tile, firstRow + i * 64, chunk * kRowChunk, p);
        else
          storeElements<kRowChunk, kRowPitch, 8 * sizeof(Output)>(rows, tile, firstRow + i * 64,
                                                                  chunk * kRowChunk, p);
      }
    }
  }
}

// The tiles of the residual as a warp takes them one after the other.
struct ResidualTiles {
  ResidualRing ring;
  int last = -1;  // whose results may still be on their way out

  // Waits for the next one; the last is free for copies when it has left.
  __device__ __forceinline__ u32 take() {
    waitStoresRead();
    arriveIf(threadIdx.x % 32 == 0 && last >= 0, residualEmpty(last));
    wait(residualFull(ring.stage), ring.phase);
    return residualTile(ring.stage);
  }
  __device__ __forceinline__ void leave() {
    closeStores();
    last = ring.stage;
    ring.skip(kPingPong ? kConsumers : 1);
  }
};

__device__ __forceinline__ void storeTile(const Sums& sums, const Tile& tile, int firstRow,
                                          ResidualTiles& tiles, const GemmParams& p) {
  if constexpr (kResidualTiles > 0) {
    storeInRegisters(sums, tile, firstRow, tiles.take(), p);
    tiles.leave();
  } else if constexpr (kFinishesInRegisters) {
    storeInRegisters(sums, tile, firstRow, 0, p);
  } else {
    storeByRows(sums, tile, firstRow, p);
  }
}

// Every block of the cluster owns some rows of the tile and gets all sums for them, its own too.
__device__ __forceinline__ int countOwnRows(const Tile& tile, const GemmParams& p,
                                            const Role& role) {
  const int first = role.split * kRowsPerSplit;
  return max(min(min(kRowsPerSplit, kTileM - first), p.m - tile.row - first), 0);
}
__device__ __forceinline__ void sendSums(const Sums& sums, const Tile& tile, int firstRow,
                                         const GemmParams& p, const Role& role) {
  constexpr int kPitch = kTilePitch;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < kBlocksM * 2; ++i) {
    const int row = firstRow + i / 2 * 64 + warp % 4 * 16 + i % 2 * 8 + lane / 4;
    if (tile.row + row >= p.m) continue;
    const int owner = row / kRowsPerSplit;
    const int slot = role.split * kRowsPerSplit + row - owner * kRowsPerSplit;
    const int rank = owner + role.member * kSplitK;
    const u32 to = inPeer(sumsBase() + slot * kPitch, rank);
    const u32 barrier = inPeer(sumsBarrier(), rank);
#pragma unroll
    for (int j = 0; j < kTileN / 8; ++j)
      storePeer(to + columnOf(j, lane) * 4, sums[i / 2][j * 4 + i % 2 * 2],
                sums[i / 2][j * 4 + i % 2 * 2 + 1], barrier);
  }
}

__device__ __forceinline__ void storeSplitTile(const Tile& tile, const GemmParams& p,
                                               const Role& role) {
  constexpr int kPitch = kTilePitch, kGroups = kTileN / 8;
  const int firstRow = role.split * kRowsPerSplit, rows = countOwnRows(tile, p, role);
  wait(sumsBarrier(), 0);
#pragma unroll 1
  for (int item = threadIdx.x; item < rows * kGroups; item += kMultiplyThreads) {
    const int row = item / kGroups, group = item % kGroups;
    Accumulator sum[8] = {};
#pragma unroll
    for (int split = 0; split < kSplitK; ++split) {
      Accumulator part[8];
      loadEight(sumsBase() + (split * kRowsPerSplit + row) * kPitch + group * 32, part);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] += part[i];
    }
    Finished finished;
    finished.compute(sum, tile, firstRow + row, group * 8, p);
    finished.store();
  }
}
