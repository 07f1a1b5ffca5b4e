// exp(x - largest) / sum, its logarithm, or 1 at the first of the largest elements and 0 elsewhere.
enum class SoftmaxKind { kSoftmax, kLogSoftmax, kHardmax };

template <class Team, class C, int kWidth, class Row, class Store>
__device__ __forceinline__ void hardmaxRow(Row& row, bool isRow, Store store) {
  using First = ArgReducer<C, true, false>;
  typename First::State peak = First::identity();
  row.visit([&](Index column, C(&values)[kWidth]) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) peak = First{}(peak, First::element(values[i], column + i));
  });
  peak = Team::reduce(peak, First{});
  if (!isRow) return;
  row.visit([&](Index column, C(&)[kWidth]) {
    C results[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) results[i] = column + i == peak.index ? C(1) : C(0);
    store(column, results);
  });
}

template <SoftmaxKind kKind, class Team, class C, int kWidth, class Row, class Store>
__device__ __forceinline__ void softmaxRow(Row& row, bool isRow, Store store) {
  if constexpr (kKind == SoftmaxKind::kHardmax) {
    hardmaxRow<Team, C, kWidth>(row, isRow, store);
    return;
  }
  C largest = -infinity<C>();
  row.visit([&](Index, C(&values)[kWidth]) {
#pragma unroll
    for (C value : values) largest = Largest{}(value, largest);
  });
  largest = Team::reduce(largest, Largest{});
  C sum = 0;
  row.visit([&](Index, C(&values)[kWidth]) {
#pragma unroll
    for (C value : values) sum += exp(value - largest);
  });
  sum = Team::reduce(sum, Sum{});
  if (!isRow) return;
  const C shift = log(sum), factor = C(1) / sum;
  const auto make = [&](Index column, const C(&values)[kWidth]) {
    C results[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if constexpr (kKind == SoftmaxKind::kLogSoftmax)
        results[i] = values[i] - largest - shift;
      else
        results[i] = exp(values[i] - largest) * factor;
    }
    return store.elementsOf(column, results);
  };
  row.finish(make, [&](Index column, const C(&)[kWidth], const auto& elements) {
    store.write(column, elements);
  });
}
