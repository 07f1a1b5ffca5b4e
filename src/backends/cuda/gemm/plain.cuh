// A tile of a matrix product on the ordinary cores, exact in the type it adds up in: shared memory
// holds kDepth steps of the tile's rows and columns, each thread adds up kOwnRows x kOwnColumns.
// kRowsTogetherA, kColumnsTogetherB: those are neighbours in memory, not steps.
template <class Sum, int kOwnRows, int kOwnColumns, bool kRowsTogetherA, bool kColumnsTogetherB>
struct PlainTile {
  static constexpr int kSide = 16, kThreads = kSide * kSide, kDepth = 16;
  static constexpr int kRows = kSide * kOwnRows, kColumns = kSide * kOwnColumns;
  struct Memory {
    Sum a[kDepth][kRows + 1];
    Sum b[kDepth][kColumns + 1];
  };

  Memory& memory;
  Index row, column;                // of the tile's first element
  Sum sums[kOwnRows][kOwnColumns];  // of rows thread / 16 + 16 i and columns thread % 16 + 16 j

  __device__ __forceinline__ PlainTile(Memory& memory, Index row, Index column)
      : memory(memory), row(row), column(column) {
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i)
#pragma unroll
      for (int j = 0; j < kOwnColumns; ++j) sums[i][j] = Sum(0);
  }

  // Elements read(first + outer, k + step) of an operand; neighbours in memory by neighbouring
  // threads.
  template <int kCount, bool kOuterTogether, class Read>
  __device__ __forceinline__ static void fetch(Sum (*to)[kCount + 1], const Read& read, Index first,
                                               Index count, Index k, Index depth) {
#pragma unroll
    for (int i = 0; i < kCount * kDepth / kThreads; ++i) {
      const int at = threadIdx.x + i * kThreads;
      const int outer = kOuterTogether ? at % kCount : at / kDepth;
      const int step = kOuterTogether ? at / kCount : at % kDepth;
      const bool isThere = first + outer < count && k + step < depth;
      to[step][outer] = isThere ? Sum(read(first + outer, k + step)) : Sum(0);
    }
  }

  // a(row, k) and b(column, k) read the operands.
  template <class A, class B>
  __device__ __forceinline__ void multiply(const A& a, Index rows, const B& b, Index columns,
                                           Index depth) {
    const int y = threadIdx.x / kSide, x = threadIdx.x % kSide;
    for (Index k = 0; k < depth; k += kDepth) {
      fetch<kRows, kRowsTogetherA>(memory.a, a, row, rows, k, depth);
      fetch<kColumns, kColumnsTogetherB>(memory.b, b, column, columns, k, depth);
      __syncthreads();
#pragma unroll
      for (int step = 0; step < kDepth; ++step) {
        Sum left[kOwnRows], right[kOwnColumns];
#pragma unroll
        for (int i = 0; i < kOwnRows; ++i) left[i] = memory.a[step][y + i * kSide];
#pragma unroll
        for (int j = 0; j < kOwnColumns; ++j) right[j] = memory.b[step][x + j * kSide];
#pragma unroll
        for (int i = 0; i < kOwnRows; ++i)
#pragma unroll
          for (int j = 0; j < kOwnColumns; ++j) sums[i][j] += left[i] * right[j];
      }
      __syncthreads();
    }
  }

  // store(row, column, results) for the thread's sums that are inside the result.
  template <class Store>
  __device__ __forceinline__ void finish(Index rows, Index columns, Store store) const {
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
      const Index y = row + threadIdx.x / kSide + i * kSide;
      if (y >= rows) break;
#pragma unroll
      for (int j = 0; j < kOwnColumns; ++j) {
        const Index x = column + threadIdx.x % kSide + j * kSide;
        const Sum results[1] = {sums[i][j]};
        if (x < columns) store(y, x, results);
      }
    }
  }
};

// The same of few rows: a thread has a column of all of them, and reads it once.
template <class Sum, int kRows_>
struct PlainColumns {
  static constexpr int kRows = kRows_, kColumns = 256;
  struct Memory {};

  Index row, column;
  Sum sums[kRows];

  __device__ __forceinline__ PlainColumns(const Memory&, Index row, Index first)
      : row(row), column(first + threadIdx.x) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) sums[i] = Sum(0);
  }
  template <class A, class B>
  __device__ __forceinline__ void multiply(const A& a, Index rows, const B& b, Index columns,
                                           Index depth) {
    if (column >= columns) return;
#pragma unroll 8
    for (Index k = 0; k < depth; ++k) {
      const Sum right = Sum(b(column, k));
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        if (row + i < rows) sums[i] += Sum(a(row + i, k)) * right;
    }
  }
  template <class Store>
  __device__ __forceinline__ void finish(Index rows, Index columns, Store store) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const Sum results[1] = {sums[i]};
      if (row + i < rows && column < columns) store(row + i, column, results);
    }
  }
};

// An operand of PlainTile that lies in memory by strides.
template <class T>
struct StridedMatrix {
  const T* from;
  Index outerStride, depthStride;
  __device__ __forceinline__ auto operator()(Index outer, Index k) const {
    return toCompute(from[outer * outerStride + k * depthStride]);
  }
};
