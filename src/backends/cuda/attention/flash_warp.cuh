namespace attention {

// The part of a warp. Lane 4 i + j holds rows i and i + 8 of each 16, columns 2 j and 2 j + 1 of
// each 8, as the matrix units leave them.
class Warp {
 public:
  __device__ __forceinline__ Warp(const Problem& p, const Place& place, char* memory)
      : p_(p), memory_(memory) {
    const int warp = threadIdx.x / 32;
    lane_ = threadIdx.x % 32;
    keyWarp_ = warp / kRowWarps;
    blockRow_ = warp % kRowWarps * kWarpRows;
    row_ = place.firstRow + blockRow_;
    lastRow_ = (kWarpgroups ? row_ / 64 * 64 + 64 : row_ + kWarpRows) - 1;
    queries_ = sharedAddress(memory);
    const SharedAddress stages = queries_ + kRows * kQueryPitch;
    if (kWarpgroups) {
      keyAddress_ = stages;
      valueAddress_ = stages + kKeyBytes;
    } else {
      keyAddress_ =
          stages + (keyWarp_ * kKeys + lane_ % 8 + lane_ / 16 * 8) * kKeyPitch + lane_ / 8 % 2 * 16;
      valueAddress_ =
          stages + kKeyBytes + (keyWarp_ * kKeys + lane_ % 16) * kValuePitch + lane_ / 16 * 16;
    }
    if (kHasBias) {
      const BiasElement* bias = p.bias + place.batch / p.biasDivisor % p.biasModulo * p.biasBatch +
                                place.head * p.biasHead;
#pragma unroll
      for (int m = 0; m < 2 * kRowTiles; ++m)
        biasRows_[m] = bias + smaller(row_ + m * 8 + lane_ / 4, p.queries - 1) * p.biasRow;
    }
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m) peaks_[m] = negativeInfinity(), sums_[m] = 0;
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int n = 0; n < kValuePadded / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) results_[m][n][i] = 0;
  }

  __device__ __forceinline__ void loadQueries() {
    if (kKeepsQueries) loadAllQueries();
  }

  // Scores and weights of a tile; false when the warp sees none of its keys.
  __device__ __forceinline__ bool weigh(int tile, int stage) {
    const int firstKey = tile * kTileKeys + keyWarp_ * kKeys;
    const int end = kCausal ? smaller(p_.keys, lastRow_ + 1 + p_.causalOffset) : p_.keys;
    if (firstKey >= end) return false;
    fetchBias(firstKey);
    multiplyKeys(stage);
    finishWeights(firstKey);
    return true;
  }

  // The same in two halves, for all tiles: products, which go on after the call, and weights.
  __device__ __forceinline__ void startKeys(int stage) {
    startKeysTogether(next_, keyAddress_ + stage * kStageBytes);
  }
  __device__ __forceinline__ void takeScores() {
    waitForProducts();
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) scores_[0][n][i] = next_[n][i];
  }
  __device__ __forceinline__ void weighTaken(int tile) {
    const int firstKey = tile * kTileKeys;
    fetchBias(firstKey);
    finishWeights(firstKey);
  }

  __device__ __forceinline__ void multiplyValues(int stage) {
    const SharedAddress address = valueAddress_ + stage * kStageBytes;
    if constexpr (kWarpgroups) return multiplyValuesTogether(address);
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k) {
      unsigned weights[kRowTiles][4];
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) weights[m][i] = weightsOf(m, k, i);
#pragma unroll
      for (int n = 0; n < kValuePadded / 16; ++n) {
        unsigned v[4];
        loadTransposed(v, address + k * 16 * kValuePitch + n * 32);
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
          multiply(Element{}, results_[m][2 * n], weights[m], v[0], v[1]);
          multiply(Element{}, results_[m][2 * n + 1], weights[m], v[2], v[3]);
        }
      }
    }
  }

  // Lanes of a row add up what each has summed.
  __device__ __forceinline__ void finishSums() {
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m) {
      sums_[m] += fromLane(sums_[m], 1);
      sums_[m] += fromLane(sums_[m], 2);
    }
  }

  // Results of a warp that saw all keys, through the place of its queries to get whole words.
  __device__ __forceinline__ void store(const Place& place) {
    // The place of the warp's own queries, or when all are done with it that of the block's.
    constexpr int kPitch = kWarpgroups ? kOutPitch : kQueryPitch;
    char* own = memory_ + blockRow_ * kPitch;
    __syncwarp();
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m) {
      const float scale = sums_[m] > 0 ? 1 / sums_[m] : 0;
#pragma unroll
      for (int n = 0; n < kValuePadded / 8; ++n) {
        const float* pair = &results_[m / 2][n][m % 2 * 2];
        *reinterpret_cast<unsigned*>(own + (m * 8 + lane_ / 4) * kPitch + n * 16 + lane_ % 4 * 4) =
            packed(Element{}, pair[0] * scale, pair[1] * scale);
      }
    }
    __syncwarp();
    const Tokens<Output> out(p_.out, p_.outStride, place.batch, place.head);
    constexpr int kWords = kValueSize / 8;
#pragma unroll
    for (int base = 0; base < kWarpRows * kWords; base += 32) {
      const int i = base + lane_, row = i / kWords, word = i % kWords;
      if (row >= kWarpRows || row_ + row >= p_.queries) break;
      storeResults<8>(
          out.at(row_ + row) + word * 8,
          loadVector<8>(reinterpret_cast<const Element*>(own + row * kPitch) + word * 8), p_);
    }
  }

  // Parts of the keys to a common peak, in shared memory: per part, row by row, results, and the
  // block's own peaks and sums of weights.
  __device__ __forceinline__ void storePart(float* parts, float* peaks, float* sums) {
    float* ownPeaks = peaks + keyWarp_ * kRows + blockRow_ + lane_ / 4;
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m)
      if (lane_ % 4 == 0) ownPeaks[m * 8] = peaks_[m];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m) {
      const int row = blockRow_ + m * 8 + lane_ / 4;
      float peak = negativeInfinity();
#pragma unroll
      for (int part = 0; part < kKeyWarps; ++part) peak = fmaxf(peak, peaks[part * kRows + row]);
      const float scale = peaks_[m] == negativeInfinity() ? 0 : exp2Fast(peaks_[m] - peak);
      if (lane_ % 4 == 0) sums[keyWarp_ * kRows + row] = sums_[m] * scale;
      float* own = parts + (keyWarp_ * kRows + row) * kPartPitch + lane_ % 4 * 2;
#pragma unroll
      for (int n = 0; n < kValuePadded / 8; ++n) {
        own[n * 8] = results_[m / 2][n][m % 2 * 2] * scale;
        own[n * 8 + 1] = results_[m / 2][n][m % 2 * 2 + 1] * scale;
      }
    }
    __syncthreads();
  }

 private:
  __device__ __forceinline__ int keyOf(int firstKey, int n) const {
    return firstKey + n * 8 + lane_ % 4 * 2;
  }

  __device__ __forceinline__ void loadAllQueries() {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int k = 0; k < kQueryTiles; ++k) loadQuery(q_[m][k], m, k);
  }
  __device__ __forceinline__ void loadQuery(unsigned (&to)[4], int m, int k) const {
    loadMatrices(to, queries_ + wordOffset<kRows, kQueryPitch>(blockRow_ + m * 16 + lane_ % 16,
                                                               2 * k + lane_ / 16));
  }

  __device__ __forceinline__ unsigned weightsOf(int m, int k, int i) const {
    const float* pair = &scores_[m][2 * k + i / 2][i % 2 * 2];
    return packed(Element{}, pair[0], pair[1]);
  }

  // The products by four warps at once, 64 columns at a time.
  __device__ __forceinline__ void startKeysTogether(float (&scores)[kKeyTiles][4],
                                                    SharedAddress address) {
    beginProducts();
#pragma unroll
    for (int k = 0; k < kHeadPadded / 16; ++k)
#pragma unroll
      for (int n = 0; n < kKeys / 64; ++n)
        multiplyTogether<false>(Element{}, &scores[8 * n], q_[0][k],
                                address + k / 4 * kTileKeys * 128 + n * 64 * 128 + k % 4 * 32,
                                k > 0);
    endProducts();
  }
  __device__ __forceinline__ void multiplyKeysTogether(SharedAddress address) {
    if (!kKeepsQueries) loadAllQueries();
    startKeysTogether(scores_[0], address);
    waitForProducts();
  }
  __device__ __forceinline__ void multiplyValuesTogether(SharedAddress address) {
    unsigned weights[kKeys / 16][4];
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) weights[k][i] = weightsOf(0, k, i);
    beginProducts();
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k)
#pragma unroll
      for (int n = 0; n < kValuePadded / 64; ++n)
        multiplyTogether<true>(Element{}, &results_[0][8 * n], weights[k],
                               address + n * kTileKeys * 128 + k * 16 * 128, true);
    endProducts();
    if (!kOverlaps) waitForProducts();
  }

  // Early, so that they arrive during the products.
  __device__ __forceinline__ void fetchBias(int firstKey) {
    if constexpr (kHasBias) {
#pragma unroll
      for (int m = 0; m < 2 * kRowTiles; ++m)
#pragma unroll
        for (int n = 0; n < kKeyTiles; ++n) {
          const int key = keyOf(firstKey, n);
          if constexpr (kBiasPairs) {
            bias_[m][n] = loadVector<2>(biasRows_[m] + smaller(key, (p_.keys - 1) & ~1));
          } else {
            bias_[m][n].v[0] = biasRows_[m][smaller(key, p_.keys - 1) * p_.biasKey];
            bias_[m][n].v[1] = biasRows_[m][smaller(key + 1, p_.keys - 1) * p_.biasKey];
          }
        }
    }
  }

  __device__ __forceinline__ void multiplyKeys(int stage) {
    const SharedAddress address = keyAddress_ + stage * kStageBytes;
    if constexpr (kWarpgroups) return multiplyKeysTogether(address);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) scores_[m][n][i] = 0;
#pragma unroll
    for (int k = 0; k < kHeadPadded / 16; ++k) {
      if (!kKeepsQueries)
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) loadQuery(q_[m][0], m, k);
#pragma unroll
      for (int n = 0; n < kKeyTiles / 2; ++n) {
        unsigned keys[4];
        loadMatrices(keys, address + n * 16 * kKeyPitch + k * 32);
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
          const unsigned (&q)[4] = q_[m][kKeepsQueries ? k : 0];
          multiply(Element{}, scores_[m][2 * n], q, keys[0], keys[1]);
          multiply(Element{}, scores_[m][2 * n + 1], q, keys[2], keys[3]);
        }
      }
    }
  }

  __device__ __forceinline__ void finishWeights(int firstKey) {
    finishScores();
    if (firstKey + kKeys > p_.keys) hideBeyond(firstKey);
    if (kCausal && firstKey + kKeys - 1 > row_ + p_.causalOffset) hideFuture(firstKey);
    raisePeaks();
    exponentiate();
  }

  // To powers of two: scale, soft cap, bias.
  __device__ __forceinline__ void finishScores() {
    if constexpr (!kRawScores) {
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
        for (int n = 0; n < kKeyTiles; ++n)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            float& score = scores_[m][n][i];
            if constexpr (kSoftcap != 0) {
              // tanh(x) = 1 - 2 / (1 + e^2x)
              const float power = exp2Fast(score * float(2 * kLog2e * kScale / kSoftcap));
              score = float(kSoftcap * kLog2e) * (1 - 2 / (1 + power));
            } else {
              score *= float(kScale * kLog2e);
            }
            if constexpr (kHasBias) score += scaledBias(bias_[2 * m + i / 2][n].v[i % 2]);
          }
    }
  }

  template <class F>
  __device__ __forceinline__ void hideWhere(F isHidden) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (isHidden(m * 16 + i / 2 * 8, n * 8 + i % 2)) scores_[m][n][i] = negativeInfinity();
  }
  __device__ __forceinline__ void hideBeyond(int firstKey) {
    const int end = p_.keys - keyOf(firstKey, 0);
    hideWhere([=](int, int key) { return key >= end; });
  }
  __device__ __forceinline__ void hideFuture(int firstKey) {
    const int last = row_ + lane_ / 4 + p_.causalOffset - keyOf(firstKey, 0);
    hideWhere([=](int row, int key) { return key > row + last; });
  }

  __device__ __forceinline__ void raisePeaks() {
    float found[2 * kRowTiles];
    bool isHigher = false;
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m) {
      float peak = negativeInfinity();
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n) {
        const float* pair = &scores_[m / 2][n][m % 2 * 2];
        peak = fmaxf(peak, fmaxf(pair[0], pair[1]));
      }
      peak = fmaxf(peak, fromLane(peak, 1));
      found[m] = fmaxf(peak, fromLane(peak, 2)) * kFactor;
      isHigher |= found[m] > peaks_[m] + kSlack;
    }
    if (!kOverlaps && !anyLane(isHigher)) return;  // no branches while products go on
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m) {
      const float peak = fmaxf(peaks_[m], found[m]);
      if (!kSingleTile) {
        const float scale = peak == negativeInfinity() ? 1 : exp2Fast(peaks_[m] - peak);
        sums_[m] *= scale;
#pragma unroll
        for (int n = 0; n < kValuePadded / 8; ++n) {
          results_[m / 2][n][m % 2 * 2] *= scale;
          results_[m / 2][n][m % 2 * 2 + 1] *= scale;
        }
      }
      peaks_[m] = peak;
    }
  }

  __device__ __forceinline__ void exponentiate() {
#pragma unroll
    for (int m = 0; m < 2 * kRowTiles; ++m) {
      const float base = peaks_[m] == negativeInfinity() ? 0 : -peaks_[m];
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& score = scores_[m / 2][n][m % 2 * 2 + i];
          score = exp2Fast(fmaf(score, kFactor, base));
          sums_[m] += score;
        }
    }
  }

  const Problem& p_;
  char* memory_;
  int lane_, keyWarp_;
  int blockRow_, row_, lastRow_;  // first row in the block, of all queries; last it computes with
  SharedAddress queries_, keyAddress_, valueAddress_;
  const BiasElement* biasRows_[2 * kRowTiles];
  unsigned q_[kRowTiles][kQueryTiles][4];
  float scores_[kRowTiles][kKeyTiles][4], next_[kKeyTiles][4];
  float results_[kRowTiles][kValuePadded / 8][4];
  float peaks_[2 * kRowTiles], sums_[2 * kRowTiles];
  Vector<BiasElement, 2> bias_[2 * kRowTiles][kKeyTiles];
};

}  // namespace attention
