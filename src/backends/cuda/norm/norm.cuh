// (x - mean) / sqrt(variance + epsilon) of a row of `count` elements, without the mean if kRms.
// Mean and variance take a pass each, so that large means cost no digits. finish(column, results)
// makes elements of results, keep(column, values, elements) gets both sides.
template <bool kRms, class Team, class C, int kWidth, class Row, class Finish, class Keep>
__device__ __forceinline__ void normaliseRow(Row& row, bool isRow, Index count, C epsilon,
                                             Finish finish, Keep keep) {
  const C share = C(1) / C(count);
  C mean = 0;
  if constexpr (!kRms) {
    row.visit([&](Index, C(&values)[kWidth]) {
#pragma unroll
      for (C value : values) mean += value;
    });
    mean = Team::reduce(mean, Sum{}) * share;
  }
  C squares = 0;
  row.visit([&](Index, C(&values)[kWidth]) {
#pragma unroll
    for (C value : values) squares += (value - mean) * (value - mean);
  });
  const C scale = rsqrt(Team::reduce(squares, Sum{}) * share + epsilon);
  if (!isRow) return;
  const auto make = [&](Index column, const C(&values)[kWidth]) {
    C results[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) results[i] = (values[i] - mean) * scale;
    return finish(column, results);
  };
  row.finish(make, keep);
}
