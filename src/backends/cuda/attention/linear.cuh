// Linear attention: a thread owns one column of a head's state, [kRows, columns], and walks the
// `length` tokens with it. kShared heads of queries share one of keys. Operands left out are null.
template <class P>
constexpr bool kIsThere = !std::is_same_v<P, decltype(nullptr)>;

template <class Q, class K, class V, class State, class Decay, class Rate, class Y, class L,
          class Real>
__device__ __forceinline__ void linearAttention(const Q* queries, const K* keys, const V* values,
                                                State states, Decay decays, Rate rates, Y* y,
                                                L* last, Index length, Index columns, Real scale) {
  const Index column = Index(blockIdx.y) * kThreads + threadIdx.x;
  if (column >= columns) return;
  const Index row = blockIdx.x, batch = row / kHeads, head = row % kHeads;
  const Index first = row * kRows * columns + column;
  Real state[kRows];
  for (int i = 0; i < kRows; ++i) {
    state[i] = 0;
    if constexpr (kIsThere<State>) state[i] = toCompute(states[first + i * columns]);
  }
  for (Index t = 0; t < length; ++t) {
    const Index token = batch * length + t;
    const K* k = keys + (token * kHeads + head) * kRows;
    Real u = toCompute(values[(token * kHeads + head) * columns + column]);
    if constexpr (kIsThere<Decay>) {
      const auto decay = decays + (token * kHeads + head) * (kDecaysByRow ? kRows : 1);
#pragma unroll 8
      for (int i = 0; i < kRows; ++i) state[i] *= exp(Real(toCompute(decay[kDecaysByRow ? i : 0])));
    }
    if constexpr (kIsThere<Rate>) {
#pragma unroll 8
      for (int i = 0; i < kRows; ++i) u -= state[i] * toCompute(k[i]);
      u *= toCompute(rates[kRatesByHead ? token * kHeads + head : token]);
    }
#pragma unroll 8
    for (int i = 0; i < kRows; ++i) state[i] += toCompute(k[i]) * u;
    for (int shared = 0; shared < kShared; ++shared) {
      const Index query = token * (kHeads * kShared) + head * kShared + shared;
      const Q* q = queries + query * kRows;
      Real sum = 0;
#pragma unroll 8
      for (int i = 0; i < kRows; ++i) sum += state[i] * toCompute(q[i]);
      y[query * columns + column] = toStorage<Y>(sum * scale);
    }
  }
  for (int i = 0; i < kRows; ++i) last[first + i * columns] = toStorage<L>(state[i]);
}
