// Teams of threads that share a row, and the row as they see it: every lane has each kLanes-th
// group of kWidth neighbouring elements.

// A value of any type from the thread `distance` away, whose size is a multiple of 4 bytes.
template <class T>
__device__ __forceinline__ T shuffleXor(const T& value, int distance) {
  static_assert(sizeof(T) % 4 == 0, "values are moved by words");
  union Words {
    T value;
    unsigned words[sizeof(T) / 4];
  };
  Words moved{value};
#pragma unroll
  for (unsigned& word : moved.words) word = __shfl_xor_sync(0xffffffffu, word, distance);
  return moved.value;
}

// The lanes of a row are neighbouring threads: for rows whose elements are neighbours in memory.
// kLanes is a power of two up to a warp, or the whole block.
template <int kThreads, int lanes>
struct LanesTogether {
  static constexpr int kLanes = lanes, kRows = kThreads / lanes;
  static_assert(kLanes <= 32 || kLanes == kThreads, "a team is within a warp or the whole block");
  __device__ static Index block() { return blockIdx.x; }
  __device__ static int row() { return kRows == 1 ? 0 : threadIdx.x / kLanes; }
  __device__ static int lane() { return kRows == 1 ? threadIdx.x : threadIdx.x % kLanes; }

  // Every lane gets the row's result; all threads of the block take part.
  template <class T, class F>
  __device__ __forceinline__ static T reduce(T value, F combine) {
#pragma unroll
    for (int distance = (kLanes < 32 ? kLanes : 32) / 2; distance > 0; distance /= 2)
      value = combine(value, shuffleXor(value, distance));
    if constexpr (kLanes > 32) {
      __shared__ T scratch[kLanes / 32];
      if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
      __syncthreads();
      value = scratch[0];
#pragma unroll
      for (int i = 1; i < kLanes / 32; ++i) value = combine(value, scratch[i]);
      __syncthreads();
    }
    return value;
  }
};

// The rows are neighbouring threads: for rows whose neighbours are neighbours in memory.
template <int kThreads, int lanes>
struct RowsTogether {
  static constexpr int kLanes = lanes, kRows = kThreads / lanes;
  __device__ static Index block() { return blockIdx.x; }
  __device__ static int row() { return threadIdx.x % kRows; }
  __device__ static int lane() { return threadIdx.x / kRows; }

  // Within warps first, where they hold several lanes of a row.
  template <class T, class F>
  __device__ __forceinline__ static T reduce(T value, F combine) {
    static_assert((kRows & (kRows - 1)) == 0, "rows are told apart by bits");
#pragma unroll
    for (int distance = kRows; distance < 32; distance *= 2)
      value = combine(value, shuffleXor(value, distance));
    constexpr int kParts = kRows < 32 ? kThreads / 32 : kLanes;  // of a row, that remain
    if constexpr (kParts > 1) {
      __shared__ T scratch[kParts * kRows];
      const int part = kRows < 32 ? threadIdx.x / 32 : lane();
      if (kRows >= 32 || threadIdx.x % 32 < kRows) scratch[part * kRows + row()] = value;
      __syncthreads();
      value = scratch[row()];
#pragma unroll
      for (int i = 1; i < kParts; ++i) value = combine(value, scratch[i * kRows + row()]);
      __syncthreads();
    }
    return value;
  }
};

// A row read once and kept in registers between passes. `load(column, values)` reads kWidth
// elements from `column` on; visit() calls f(column, values) for the lane's elements. finish() is
// the last pass: write(column, values, make(column, values)), where all is made before it is
// written.
template <class Team, class C, int kWidth, int kVectors>
struct HeldRow {
  C values[kVectors][kWidth];
  const Index size;

  template <class Load>
  __device__ __forceinline__ HeldRow(Index size, Load load) : size(size) {
    visit([&](Index column, C(&part)[kWidth]) { load(column, part); });
  }
  template <class F>
  __device__ __forceinline__ void visit(F f) {
    visitPlaces([&](int i, Index column) { f(column, values[i]); });
  }
  template <class Make, class Write>
  __device__ __forceinline__ void finish(Make make, Write write) {
    decltype(make(size, values[0])) made[kVectors];
    visitPlaces([&](int i, Index column) { made[i] = make(column, values[i]); });
    visitPlaces([&](int i, Index column) { write(column, values[i], made[i]); });
  }

 private:
  template <class F>
  __device__ __forceinline__ void visitPlaces(F f) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const Index column = (i * Team::kLanes + Team::lane()) * kWidth;
      if (column < size) f(i, column);
    }
  }
};

// A row read again in every pass.
template <class Team, class C, int kWidth, class Load>
struct StreamedRow {
  const Index size;
  const Load load;

  template <class F>
  __device__ __forceinline__ void visit(F f) {
#pragma unroll 4
    for (Index column = Team::lane() * kWidth; column < size; column += Team::kLanes * kWidth) {
      C values[kWidth];
      load(column, values);
      f(column, values);
    }
  }
  template <class Make, class Write>
  __device__ __forceinline__ void finish(Make make, Write write) {
    constexpr int kVectors = kWidth > 4 ? 2 : 4;  // at once, so that registers do not spill
    for (Index first = 0; first < size; first += kVectors * Team::kLanes * kWidth) {
      HeldRow<Team, C, kWidth, kVectors> part(
          size - first, [&](Index column, C(&values)[kWidth]) { load(first + column, values); });
      part.finish([&](Index column, C(&values)[kWidth]) { return make(first + column, values); },
                  [&](Index column, C(&values)[kWidth], const auto& made) {
                    write(first + column, values, made);
                  });
    }
  }
};
template <class Team, class C, int kWidth, class Load>
__device__ __forceinline__ StreamedRow<Team, C, kWidth, Load> streamedRow(Index size, Load load) {
  return {size, load};
}
