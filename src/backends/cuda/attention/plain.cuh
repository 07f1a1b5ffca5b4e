// Attention without matrix units, for element types and head sizes of all kinds.
//
// A warp owns kWarpRows queries. Of each 32 keys, lane i computes the scores of key i; then lane i
// adds the weighted values to columns i, i + 32, ... of the results. Keys and values are shared by
// the block through shared memory, and weights by the warp, unless a head is too large for it.
//
// Before this file stand problem.cuh and: kHeadSize, kValueSize, kRowWarps, kWarpRows,
// kCausal, kHasBias, kTransposedKeys, kStaged, kScale, kSoftcap.
namespace attention {

using Real = Compute<Element>;

constexpr int kRows = kRowWarps * kWarpRows;
constexpr int kThreads = 32 * kRowWarps;
constexpr int kColumns = (kValueSize + 31) / 32;  // of a lane
// Features are read by vectors where that many are whole; lanes read from different banks.
constexpr int kVector = kHeadSize % 4 == 0 && sizeof(Real) == 4 ? 4 : 1;
constexpr int kKeyPitch = kVector == 1 ? kHeadSize | 1 : kHeadSize + 4 - kHeadSize % 8;
constexpr Real kLog2e = Real(1.4426950408889634);

__device__ __forceinline__ float power2(float x) { return exp2f(x); }
__device__ __forceinline__ double power2(double x) { return exp2(x); }
__device__ __forceinline__ Real lowest() { return Real(negativeInfinity()); }

__device__ __forceinline__ Real scaledBias(bool isSeen) { return isSeen ? Real(0) : lowest(); }
template <class T>
__device__ __forceinline__ Real scaledBias(T bias) {
  const Real value = toCompute(bias);
  return value == lowest() ? value : Largest{}(value * kLog2e, Real(-3e38f));
}

// Element i of the tile in memory order, so that neighbouring threads read neighbours.
__device__ __forceinline__ void stageKeys(Real* to, const Tokens<const Stored>& k, const Problem& p,
                                          int first) {
  for (int i = threadIdx.x; i < 32 * kHeadSize; i += kThreads) {
    const int key = kTransposedKeys ? i % 32 : i / kHeadSize;
    const int feature = kTransposedKeys ? i / 32 : i % kHeadSize;
    if (first + key < p.keys)
      to[key * kKeyPitch + feature] = Real(toCompute(k.at(first + key)[feature * p.kFeature]));
  }
}
// Zeros behind the last one: weights of zero do not hide what is no number.
__device__ __forceinline__ void stageValues(Real* to, const Tokens<const Stored>& v,
                                            const Problem& p, int first) {
  for (int i = threadIdx.x; i < 32 * kValueSize; i += kThreads) {
    const int key = first + i / kValueSize;
    to[i] = key < p.keys ? Real(toCompute(v.at(key)[i % kValueSize])) : Real(0);
  }
}

// The dot products of the lane's key with the warp's queries.
__device__ __forceinline__ void addScores(Real (&scores)[kWarpRows], const Real* key,
                                          const Real* queries) {
#pragma unroll 4
  for (int i = 0; i < kHeadSize; i += kVector) {
    const auto features = loadVector<kVector>(key + i);
#pragma unroll
    for (int r = 0; r < kWarpRows; ++r) {
      const auto query = loadVector<kVector>(queries + r * kHeadSize + i);
#pragma unroll
      for (int j = 0; j < kVector; ++j) scores[r] += features.v[j] * query.v[j];
    }
  }
}

// The values of 32 keys, weighted by [kWarpRows][32].
__device__ __forceinline__ void addValues(Real (&results)[kWarpRows][kColumns], const Real* weights,
                                          const Real* values, int lane) {
  constexpr int kTogether = sizeof(Real) == 4 ? 4 : 2;
#pragma unroll 2
  for (int j = 0; j < 32; j += kTogether) {
    Vector<Real, kTogether> weight[kWarpRows];
#pragma unroll
    for (int r = 0; r < kWarpRows; ++r) weight[r] = loadVector<kTogether>(weights + r * 32 + j);
#pragma unroll
    for (int t = 0; t < kTogether; ++t)
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int column = lane + 32 * c;
        if (column >= kValueSize) break;
        const Real value = values[(j + t) * kValueSize + column];
#pragma unroll
        for (int r = 0; r < kWarpRows; ++r) results[r][c] += weight[r].v[t] * value;
      }
  }
}

// The score of a query and the lane's key as a power of two; the lowest where it is not seen.
__device__ __forceinline__ Real finished(Real score, const Problem& p, const BiasElement* bias,
                                         int row, int key) {
  if (key >= p.keys || (kCausal && key > row + p.causalOffset)) return lowest();
  score *= Real(kScale);
  if constexpr (kSoftcap != 0) score = Real(kSoftcap) * tanh(score / Real(kSoftcap));
  score *= kLog2e;
  if constexpr (kHasBias)
    score += scaledBias(bias[smaller(row, p.queries - 1) * p.biasRow + key * p.biasKey]);
  return score;
}

__device__ __forceinline__ void attend(const Problem& p, char* memory) {
  const int blocks = (p.queries + kRows - 1) / kRows;
  const int batch = blockIdx.x / blocks, head = blockIdx.y, lane = threadIdx.x % 32;
  const int row = blockIdx.x % blocks * kRows + threadIdx.x / 32 * kWarpRows;
  const Tokens<const Element> q(p.q, p.qStride, batch, head);
  const Tokens<const Stored> k(p.k, p.kStride, batch, head / p.group);
  const Tokens<const Stored> v(p.v, p.vStride, batch, head / p.group);
  const BiasElement* bias =
      p.bias + batch / p.biasDivisor % p.biasModulo * p.biasBatch + head * p.biasHead;
  Real* keys = reinterpret_cast<Real*>(memory);
  Real* values = keys + 32 * kKeyPitch;
  Real* queries = values + 32 * kValueSize + threadIdx.x / 32 * kWarpRows * kHeadSize;
  Real* weights = values + 32 * kValueSize + kRows * kHeadSize + threadIdx.x / 32 * kWarpRows * 32;
  const Element* rows[kWarpRows];
#pragma unroll
  for (int r = 0; r < kWarpRows; ++r) rows[r] = q.at(smaller(row + r, p.queries - 1));
  if (kStaged)
    for (int i = lane; i < kWarpRows * kHeadSize; i += 32)
      queries[i] = toCompute(q.at(smaller(row + i / kHeadSize, p.queries - 1))[i % kHeadSize]);

  Real results[kWarpRows][kColumns] = {}, peaks[kWarpRows], sums[kWarpRows] = {};
#pragma unroll
  for (int r = 0; r < kWarpRows; ++r) peaks[r] = lowest();
  int end = p.keys;
  if (kCausal) end = smaller(end, row - threadIdx.x / 32 * kWarpRows + kRows + p.causalOffset);
  for (int first = 0; first < end; first += 32) {
    if (kStaged) {
      __syncthreads();
      stageKeys(keys, k, p, first);
      stageValues(values, v, p, first);
      __syncthreads();
    }
    const int key = first + lane;
    Real scores[kWarpRows] = {};
    if constexpr (kStaged) {
      addScores(scores, keys + lane * kKeyPitch, queries);
    } else if (key < p.keys) {
      const Stored* own = k.at(key);
      for (int i = 0; i < kHeadSize; ++i) {
        const Real feature = Real(toCompute(own[i * p.kFeature]));
#pragma unroll
        for (int r = 0; r < kWarpRows; ++r) scores[r] += feature * Real(toCompute(rows[r][i]));
      }
    }
#pragma unroll
    for (int r = 0; r < kWarpRows; ++r) {
      scores[r] = finished(scores[r], p, bias, row + r, key);
      const Real peak = Largest{}(peaks[r], warpReduce(scores[r], Largest{}));
      const Real scale = peak == lowest() ? Real(1) : power2(peaks[r] - peak);
      scores[r] = peak == lowest() ? Real(0) : power2(scores[r] - peak);
      sums[r] = sums[r] * scale + scores[r];
      peaks[r] = peak;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) results[r][c] *= scale;
    }
    if constexpr (kStaged) {
#pragma unroll
      for (int r = 0; r < kWarpRows; ++r) weights[r * 32 + lane] = scores[r];
      __syncwarp();
      addValues(results, weights, values, lane);
      continue;
    }
    for (int j = 0; j < 32 && first + j < end; ++j) {
      Real weight[kWarpRows];
#pragma unroll
      for (int r = 0; r < kWarpRows; ++r) weight[r] = __shfl_sync(0xffffffffu, scores[r], j);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int column = lane + 32 * c;
        if (column >= kValueSize) break;
        const Real value = Real(toCompute(v.at(first + j)[column]));
#pragma unroll
        for (int r = 0; r < kWarpRows; ++r) results[r][c] += weight[r] * value;
      }
    }
  }
  const Tokens<Output> out(p.out, p.outStride, batch, head);
#pragma unroll
  for (int r = 0; r < kWarpRows; ++r) {
    const Real sum = warpReduce(sums[r], Sum{});
    const Real scale = sum > 0 ? 1 / sum : Real(0);
    if (row + r >= p.queries) break;
#pragma unroll
    for (int c = 0; c < kColumns; ++c)
      if (lane + 32 * c < kValueSize)
        storeResults<1>(out.at(row + r) + lane + 32 * c,
                        {{toStorage<Element>(results[r][c] * scale)}}, p);
  }
}

}  // namespace attention
