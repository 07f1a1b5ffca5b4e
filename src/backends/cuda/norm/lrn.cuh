// x / (bias + alpha * s)^beta at kWidth neighbouring positions of a channel, where s is the sum of
// squares of the kBefore channels before it, its own and the kAfter after it.
template <int kWidth, int kBefore, int kAfter, class C, class Load, class Store>
__device__ __forceinline__ void lrn(Index channel, Index channels, C bias, C alpha, C beta,
                                    Index first, Load load, Store store) {
  C values[kWidth], squares[kWidth] = {};
#pragma unroll
  for (int offset = -kBefore; offset <= kAfter; ++offset) {
    const Index other = channel + offset;
    if (other < 0 || other >= channels) continue;
    load(other, values);
    for (int i = 0; i < kWidth; ++i) squares[i] += values[i] * values[i];
  }
  load(channel, values);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values[i] /= pow(bias + alpha * squares[i], beta);
  store(first, values);
}
