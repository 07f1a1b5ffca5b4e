// The row that an element's index leads to, or -1.
template <int kAxis, unsigned kShorter, int kRank, class I>
__device__ __forceinline__ Index rowOfElement(const I* indices, Index element,
                                              const Index (&counts)[kRank],
                                              const Index (&sizes)[kRank],
                                              const Index (&strides)[kRank]) {
  Coordinates<kRank> at = coordinatesOf(element, counts);
  at.c[kAxis] = positionOf(indices[element], sizes[kAxis]);
  return isInside<kAxis, kShorter>(at, sizes) ? positionAt(at, strides) : Index(-1);
}

// Which of the next updates go to a block's rows, found by all threads and then known to all, in
// the order of the updates: sums of floats depend on it.
template <int kThreads, int kEach>
struct ScatterHits {
  static constexpr int kWarps = kThreads / 32;
  unsigned short rows[kThreads * kEach], updates[kThreads * kEach];
  unsigned inWarp[kEach * kWarps];

  // own[i] is the row of update i * kThreads + threadIdx.x, or -1; returns how many have one.
  __device__ __forceinline__ unsigned collect(const int (&own)[kEach]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned votes[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      votes[i] = __ballot_sync(0xffffffffu, own[i] >= 0);
      if (lane == 0) inWarp[i * kWarps + warp] = __popc(votes[i]);
    }
    __syncthreads();  // nobody reads what was found before any more
    unsigned before = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      for (int w = 0; w < kWarps; ++w) {
        if (w == warp && own[i] >= 0) {
          const unsigned place = before + __popc(votes[i] & ((1u << lane) - 1));
          rows[place] = own[i];
          updates[place] = i * kThreads + threadIdx.x;
        }
        before += inWarp[i * kWarps + w];
      }
    __syncthreads();
    return before;
  }
};

// The rows and columns of the output that one block owns. rowOf(tuple) is the row that update
// `tuple` goes to, or -1.
template <int kThreads, int kRows, int kColumns, int kWidth>
struct ScatterTile {
  Index rows, columns, tuples;
  Index block = blockIdx.x;  // among those of the same columns

  __device__ __forceinline__ Index row0() const { return block * kRows; }
  __device__ __forceinline__ static Index column0() { return Index(blockIdx.y) * kColumns; }

  // f(row, column, first): over the block's elements in vectors from `first` on.
  template <class F>
  __device__ __forceinline__ void visit(F f) const {
    for (int i = threadIdx.x; i < kRows * (kColumns / kWidth); i += kThreads) {
      const int row = i / (kColumns / kWidth), column = i % (kColumns / kWidth) * kWidth;
      if (row0() + row >= rows || column0() + column >= columns) continue;
      f(row, column, (row0() + row) * columns + column0() + column);
    }
  }

  // The last update of each row, or -1.
  template <class RowOf>
  __device__ __forceinline__ void findWinners(Index (&winners)[kRows], RowOf rowOf) const {
    for (int i = threadIdx.x; i < kRows; i += kThreads) winners[i] = -1;
    __syncthreads();
    for (Index tuple = threadIdx.x; tuple < tuples; tuple += kThreads) {
      const Index row = rowOf(tuple) - row0();
      if (row >= 0 && row < kRows) atomicMax(&winners[row], tuple);
    }
    __syncthreads();
  }

  // Rows without an update.
  template <class T, class RowOf>
  __device__ __forceinline__ void copyOthers(const T* data, T* y, RowOf rowOf) const {
    __shared__ Index winners[kRows];
    findWinners(winners, rowOf);
    visit([&](int row, int, Index first) {
      if (winners[row] < 0) storeVector<kWidth>(y + first, loadVector<kWidth>(data + first));
    });
  }

  // The last update of a row wins, as if they were made in order. In place, other rows are left
  // alone.
  template <class T, class RowOf, class Store>
  __device__ __forceinline__ void replace(const T* data, const T* updates, bool isInPlace,
                                          RowOf rowOf, Store store) const {
    __shared__ Index winners[kRows];
    findWinners(winners, rowOf);
    visit([&](int row, int column, Index first) {
      const Index winner = winners[row];
      if (winner < 0 && isInPlace) return;
      const T* from = winner < 0 ? data + first : updates + winner * columns + column0() + column;
      const auto moved = loadVector<kWidth>(from);
      store(first, moved.v);
    });
  }

  // Every row has a team of threads, which takes its updates one after the other and in order, so
  // that results are the same in every run. Narrow floats are summed as float and rounded once.
  template <class T, class RowOf, class Combine, class Store>
  __device__ __forceinline__ void combine(const T* data, const T* updates, RowOf rowOf,
                                          Combine combine, Store store) const {
    constexpr int kEach = 4, kTeam = teamSize();
    __shared__ Compute<T> slots[kRows * kColumns];
    __shared__ ScatterHits<kThreads, kEach> hits;
    visit([&](int row, int column, Index first) {
      for (int lane = 0; lane < kWidth; ++lane)
        slots[row * kColumns + column + lane] = toCompute(data[first + lane]);
    });
    __syncthreads();
    const Index end = columns - column0() < kColumns ? columns - column0() : Index(kColumns);
    for (Index tuple0 = 0; tuple0 < tuples; tuple0 += kThreads * kEach) {
      int own[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const Index tuple = tuple0 + i * kThreads + threadIdx.x;
        const Index row = tuple < tuples ? rowOf(tuple) - row0() : Index(-1);
        own[i] = row >= 0 && row < kRows ? int(row) : -1;
      }
      const unsigned count = hits.collect(own);
      for (unsigned hit = 0; hit < count; ++hit) {
        const int row = hits.rows[hit];
        if (row % (kThreads / kTeam) != threadIdx.x / kTeam) continue;
        const T* from = updates + (tuple0 + hits.updates[hit]) * columns + column0();
        for (int column = threadIdx.x % kTeam; column < end; column += kTeam) {
          auto& slot = slots[row * kColumns + column];
          slot = combine(slot, toCompute(from[column]));
        }
      }
    }
    __syncthreads();
    visit([&](int row, int column, Index first) {
      Compute<T> results[kWidth];
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane)
        results[lane] = slots[row * kColumns + column + lane];
      store(first, results);
    });
  }

  __device__ static constexpr int teamSize() {
    int size = 1;
    while (size < kColumns && size < kThreads) size *= 2;
    return size;
  }
};
