// One dimension of GridSample. Rules hold what the attributes say.
enum class GridMode { kLinear, kNearest, kCubic };
enum class GridPadding { kZeros, kBorder, kReflection };
template <class S, GridMode mode, GridPadding padding, bool alignCorners>
struct GridRules {
  using Sum = S;
  static constexpr GridMode kMode = mode;
  static constexpr GridPadding kPadding = padding;
  static constexpr bool kAlignCorners = alignCorners;
};

// The elements that a coordinate in [-1, 1] stands for: taps kFirst to kEnd - 1.
template <class Rules>
struct GridTaps {
  using Sum = typename Rules::Sum;
  static constexpr int kFirst = Rules::kMode == GridMode::kCubic ? -1 : 0;
  static constexpr int kEnd = Rules::kMode == GridMode::kCubic    ? 3
                              : Rules::kMode == GridMode::kLinear ? 2
                                                                  : 1;
  Index size;
  float low, high;  // outermost positions, between which reflection keeps
  long long left;
  Sum ratio;

  // The roundings are spelled out, or nearest neighbours would differ from the CPU's.
  __device__ __forceinline__ GridTaps(float coordinate, Index size) : size(size) {
    low = Rules::kAlignCorners ? 0 : -0.5f;
    high = size - 1 - low;
    float x = Rules::kAlignCorners
                  ? __fmul_rn(__fadd_rn(coordinate, 1) / 2, float(size - 1))
                  : __fsub_rn(__fmul_rn(__fadd_rn(coordinate, 1), float(size)), 1) / 2;
    x = x != x ? -1 : x < -1e9f ? -1e9f : x > 1e9f ? 1e9f : x;
    if (Rules::kMode == GridMode::kNearest) x = rint(x);
    if (Rules::kPadding == GridPadding::kReflection) x = float(reflected(x));
    left = static_cast<long long>(floor(x));
    ratio = Sum(x - float(left));
  }
  // The element's index, or -1 outside, where the input is zero.
  __device__ __forceinline__ Index at(int i) const {
    long long index = left + i;
    if (index >= 0 && index < size) return Index(index);
    if (Rules::kPadding == GridPadding::kZeros || size <= 0) return -1;
    if (Rules::kPadding == GridPadding::kReflection)
      index = static_cast<long long>(reflected(double(index)));
    return index < 0 ? Index(0) : index >= size ? size - 1 : Index(index);
  }
  __device__ __forceinline__ Sum weight(int i) const {
    if (Rules::kMode == GridMode::kNearest) return 1;
    if (Rules::kMode == GridMode::kLinear) return i == 0 ? 1 - ratio : ratio;
    constexpr Sum a = Sum(-0.75);
    const Sum signedDistance = Sum(i) - ratio,
              x = signedDistance < 0 ? -signedDistance : signedDistance;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  }
  // Mirrored at both borders until inside.
  __device__ __forceinline__ double reflected(double x) const {
    const double range = double(high) - double(low);
    if (range <= 0) return low;
    const double beyond = x < low ? low - x : x > high ? x - high : 0;
    if (beyond == 0) return x;
    const double turns = floor(beyond / range), rest = beyond - turns * range;
    const bool endsLow = (x < low) == (turns - 2 * floor(turns / 2) == 0);
    return endsLow ? low + rest : high - rest;
  }
};

// What a grid point, which names the last dimension first, is made of: the taps of every spatial
// dimension, as positions in memory (-1 outside) and weights.
template <class Rules, int kRank>
struct GridPoint {
  using Sum = typename Rules::Sum;
  using Taps = GridTaps<Rules>;
  static constexpr int kTaps = Taps::kEnd - Taps::kFirst;
  Index positions[kRank][kTaps];
  Sum weights[kRank][kTaps];

  template <class G>
  __device__ __forceinline__ GridPoint(const G* grid, const Index (&sizes)[kRank],
                                       const Index (&strides)[kRank]) {
#pragma unroll
    for (int i = 0; i < kRank; ++i) {
      const Taps taps(static_cast<float>(toCompute(grid[kRank - 1 - i])), sizes[i]);
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const Index at = taps.at(Taps::kFirst + tap);
        positions[i][tap] = at < 0 ? Index(-1) : at * strides[i];
        weights[i][tap] = taps.weight(Taps::kFirst + tap);
      }
    }
  }
  // Adds the taps of dimensions kDim and later; `position` and `weight` are those of the others.
  template <int kDim, class T>
  __device__ __forceinline__ void addTo(Sum& sum, const T* image, Index position,
                                        Sum weight) const {
    if constexpr (kDim == kRank) {
      sum += weight * toCompute(image[position]);
    } else {
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        if (positions[kDim][tap] < 0) continue;
        addTo<kDim + 1>(sum, image, position + positions[kDim][tap], weight * weights[kDim][tap]);
      }
    }
  }
};

// A thread finds what one grid point is made of, then sums it for kChannels channels.
template <class Rules, int kThreads, int kChannels, int kRank, class T, class G, class Store>
__device__ __forceinline__ void gridSample(const T* x, const G* grid, Index items, Index points,
                                           Index channels, const Index (&sizes)[kRank],
                                           const Index (&strides)[kRank], Index imageSize,
                                           Store store) {
  const Index item = Index(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= items) return;
  const Index batch = item / points, point = item % points;
  const GridPoint<Rules, kRank> made(grid + item * kRank, sizes, strides);
  const Index begin = Index(blockIdx.y) * kChannels;
  const Index end = begin + kChannels < channels ? begin + kChannels : channels;
  // Few taps leave room for those of the next channels.
  constexpr int kTaps = GridPoint<Rules, kRank>::kTaps;
  constexpr int kUnroll = kTaps == 1 ? 4 : kTaps == 2 && kRank < 3 ? 2 : 1;
#pragma unroll kUnroll
  for (Index channel = begin; channel < end; ++channel) {
    const Index plane = batch * channels + channel;
    typename Rules::Sum sums[1] = {0};
    made.template addTo<0>(sums[0], x + plane * imageSize, 0, 1);
    store(plane * points + point, sums);
  }
}
