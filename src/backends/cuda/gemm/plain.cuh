// A tile of a matrix product on the ordinary cores, exact in the type it adds up in: shared memory
// holds kDepth steps of the tile's rows and columns while those after the next are on their way to
// registers, and each thread adds up kOwnRows x kOwnColumns.
// kRowsTogetherA, kColumnsTogetherB: those are neighbours in memory, not steps.
template <class Sum, int kOwnRows, int kOwnColumns, bool kRowsTogetherA, bool kColumnsTogetherB>
struct PlainTile {
  static constexpr int kSide = 16, kThreads = kSide * kSide, kDepth = sizeof(Sum) > 4 ? 8 : 16;
  static constexpr int kRows = kSide * kOwnRows, kColumns = kSide * kOwnColumns;

  // Rows or columns of a tile. A thread has neighbours, kTogether of them, of every 16 times as
  // many, so that it reads them by vectors.
  template <int kOwn, bool kOuterTogether>
  struct Operand {
    static constexpr int kCount = kSide * kOwn, kTogether = kOwn < 4 ? kOwn : 4;
    static constexpr int kFetched = (kCount * kDepth + kThreads - 1) / kThreads;
    struct alignas(16) Steps {
      Sum v[kDepth][kCount + 4];
    };
    __device__ __forceinline__ static int place(int thread, int i) {
      return (i / kTogether * kSide + thread) * kTogether + i % kTogether;
    }
    __device__ __forceinline__ static int outerOf(int i) {
      const int at = threadIdx.x + i * kThreads;
      return kOuterTogether ? at % kCount : at / kDepth;
    }
    __device__ __forceinline__ static int stepOf(int i) {
      const int at = threadIdx.x + i * kThreads;
      return kOuterTogether ? at / kCount : at % kDepth;
    }

    Sum fetched[kFetched];
    // Elements read(first + outer, k + step); neighbours in memory by neighbouring threads.
    template <class Read>
    __device__ __forceinline__ void fetch(const Read& read, Index first, Index count, Index k,
                                          Index depth) {
#pragma unroll
      for (int i = 0; i < kFetched; ++i) {
        const Index outer = first + outerOf(i), step = k + stepOf(i);
        fetched[i] = outer < count && step < depth ? Sum(read(outer, step)) : Sum(0);
      }
    }
    __device__ __forceinline__ void show(Steps& to) const {
#pragma unroll
      for (int i = 0; i < kFetched; ++i)
        if (outerOf(i) < kCount && stepOf(i) < kDepth) to.v[stepOf(i)][outerOf(i)] = fetched[i];
    }
    __device__ __forceinline__ static void read(const Steps& from, int step, int thread,
                                                Sum (&own)[kOwn]) {
#pragma unroll
      for (int i = 0; i < kOwn; i += kTogether) {
        const auto together = loadVector<kTogether>(&from.v[step][place(thread, i)]);
#pragma unroll
        for (int j = 0; j < kTogether; ++j) own[i + j] = together.v[j];
      }
    }
  };
  using Left = Operand<kOwnRows, kRowsTogetherA>;
  using Right = Operand<kOwnColumns, kColumnsTogetherB>;
  struct Memory {
    typename Left::Steps a[2];
    typename Right::Steps b[2];
  };

  Memory& memory;
  Index row, column;                // of the tile's first element
  Sum sums[kOwnRows][kOwnColumns];  // of the rows and columns that place() names

  __device__ __forceinline__ PlainTile(Memory& memory, Index row, Index column)
      : memory(memory), row(row), column(column) {
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i)
#pragma unroll
      for (int j = 0; j < kOwnColumns; ++j) sums[i][j] = Sum(0);
  }

  // a(row, k) and b(column, k) read the operands.
  template <class A, class B>
  __device__ __forceinline__ void multiply(const A& a, Index rows, const B& b, Index columns,
                                           Index depth) {
    Left left[2];
    Right right[2];
    const auto fetch = [&](int slot, Index k) {
      left[slot].fetch(a, row, rows, k, depth);
      right[slot].fetch(b, column, columns, k, depth);
    };
    const auto show = [&](int slot) {
      left[slot].show(memory.a[slot]);
      right[slot].show(memory.b[slot]);
      __syncthreads();
    };
    fetch(0, 0);
    fetch(1, kDepth);
    show(0);
    for (Index k = 0; k < depth; k += 2 * kDepth) {
      fetch(0, k + 2 * kDepth);
      add(0);
      if (k + kDepth >= depth) break;
      show(1);
      fetch(1, k + 3 * kDepth);
      add(1);
      show(0);
    }
  }

  // Stores the thread's sums that are inside the result (ResultStore), row by row.
  template <class Store>
  __device__ __forceinline__ void finish(Index rows, Index columns, Store store) const {
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
      const Index y = row + Left::place(threadIdx.x / kSide, i);
      if (y >= rows) break;
      const auto columnOf = [&](int j) { return column + Right::place(threadIdx.x % kSide, j); };
      Sum results[1];
      decltype(store.elementsOf(y, column, results)) elements[kOwnColumns];
#pragma unroll
      for (int j = 0; j < kOwnColumns; ++j) {
        results[0] = sums[i][j];
        if (columnOf(j) < columns) elements[j] = store.elementsOf(y, columnOf(j), results);
      }
#pragma unroll
      for (int j = 0; j < kOwnColumns; ++j)
        if (columnOf(j) < columns) store.write(y, columnOf(j), elements[j]);
    }
  }

 private:
  __device__ __forceinline__ void add(int slot) {
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      Sum left[kOwnRows], right[kOwnColumns];
      Left::read(memory.a[slot], step, threadIdx.x / kSide, left);
      Right::read(memory.b[slot], step, threadIdx.x % kSide, right);
#pragma unroll
      for (int i = 0; i < kOwnRows; ++i)
#pragma unroll
        for (int j = 0; j < kOwnColumns; ++j) sums[i][j] += left[i] * right[j];
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
    if (column >= columns) return;
    Sum results[1];
    decltype(store.elementsOf(row, column, results)) elements[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      results[0] = sums[i];
      if (row + i < rows) elements[i] = store.elementsOf(row + i, column, results);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      if (row + i < rows) store.write(row + i, column, elements[i]);
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
