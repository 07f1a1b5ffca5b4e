// One dimension of a resize. Rules, printed with the kernel, hold the operator's attributes.
enum class ResizeMode { kNearest, kLinear, kCubic };
enum class ResizeCoordinates {
  kHalfPixel,
  kAsymmetric,
  kAlignCorners,
  kPytorchHalfPixel,
  kHalfPixelSymmetric,
  kCropAndResize,
};
enum class ResizeNearest { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResizeAxis {
  Index in, out;
  double scale, roiStart, roiEnd;
};

// Where output element `x` lies among the input elements. Positions are double, or nearest
// neighbours would differ from the CPU's.
template <class Rules>
__device__ __forceinline__ double sourcePosition(const ResizeAxis& axis, Index x) {
  const double halfPixel = (x + 0.5) / axis.scale - 0.5;
  const double last = axis.in - 1, resizedSize = axis.scale * axis.in;
  if (Rules::kCoordinates == ResizeCoordinates::kAsymmetric) return x / axis.scale;
  if (Rules::kCoordinates == ResizeCoordinates::kAlignCorners)
    return resizedSize == 1 ? 0 : x * last / (resizedSize - 1);
  if (Rules::kCoordinates == ResizeCoordinates::kPytorchHalfPixel)
    return axis.out > 1 ? halfPixel : 0;
  if (Rules::kCoordinates == ResizeCoordinates::kHalfPixelSymmetric)
    return axis.in / 2.0 * (1 - axis.out / resizedSize) + halfPixel;
  if (Rules::kCoordinates == ResizeCoordinates::kCropAndResize) {
    const double width = (axis.roiEnd - axis.roiStart) * last;
    return axis.roiStart * last + (resizedSize == 1 ? width / 2 : x * width / (resizedSize - 1));
  }
  return halfPixel;
}

__device__ __forceinline__ Index clampedTo(long long at, Index size) {
  return at < 0 || size <= 0 ? Index(0) : at >= size ? size - 1 : Index(at);
}

// What one output element is made of along the dimension: samples firstTap() to endTap() - 1.
template <class Rules>
struct ResizeTaps {
  using Sum = typename Rules::Sum;
  bool isOutside;  // takes the extrapolation value
  Index in;
  long long left;  // the last element strictly left of the position,
  double ratio;    // which lies (0, 1] after it
  Sum narrowing = 1, factor = 1;
  int first = Rules::kMode == ResizeMode::kLinear ? 0 : -1;

  __device__ __forceinline__ ResizeTaps(const ResizeAxis& axis, Index x) : in(axis.in) {
    const double position = sourcePosition<Rules>(axis, x);
    isOutside = Rules::kCoordinates == ResizeCoordinates::kCropAndResize &&
                (position < 0 || position > axis.in - 1);
    left = static_cast<long long>(ceil(position)) - 1;
    ratio = position - left;
    if (Rules::kAntialias) {  // widened when shrinking, so that every element is covered
      const double narrow = axis.scale < 1 ? axis.scale : 1;
      const double support = Rules::kMode == ResizeMode::kLinear ? 1 : 2;
      first = static_cast<int>(floor(-support / narrow)) + 1;
      narrowing = Sum(narrow);
    }
    if (Rules::kAntialias || Rules::kExcludeOutside) {
      Sum sum = 0;
      for (int i = firstTap(); i < endTap(); ++i) sum += weight(i);
      if (sum != 0) factor = 1 / sum;
    }
  }
  __device__ __forceinline__ int firstTap() const {
    return Rules::kAntialias ? first : Rules::kMode == ResizeMode::kLinear ? 0 : -1;
  }
  __device__ __forceinline__ int endTap() const { return 2 - firstTap(); }
  __device__ __forceinline__ Index at(int i) const { return clampedTo(left + i, in); }
  __device__ __forceinline__ Sum weight(int i) const {
    if (Rules::kExcludeOutside && (left + i < 0 || left + i >= in)) return 0;
    const Sum signedDistance = (Sum(i) - Sum(ratio)) * narrowing;
    const Sum x = signedDistance < 0 ? -signedDistance : signedDistance;
    constexpr Sum a = Sum(Rules::kCubic);
    if (Rules::kMode == ResizeMode::kLinear) return x < 1 ? (1 - x) * factor : Sum(0);
    if (x <= 1) return (((a + 2) * x - (a + 3)) * x * x + 1) * factor;
    return x < 2 ? (((a * x - 5 * a) * x + 8 * a) * x - 4 * a) * factor : Sum(0);
  }
  __device__ __forceinline__ Index nearest() const {
    const bool picksRight = Rules::kNearest == ResizeNearest::kRoundPreferFloor  ? ratio > 0.5
                            : Rules::kNearest == ResizeNearest::kRoundPreferCeil ? ratio >= 0.5
                            : Rules::kNearest == ResizeNearest::kFloor           ? ratio == 1
                                                                                 : true;
    return at(picksRight);
  }
};

// A dimension as the sums see it: its taps, each with the place it has in memory and a weight.
template <class Rules>
struct ResizedDim {
  ResizeTaps<Rules> taps;
  Index stride;
  __device__ __forceinline__ bool isOutside() const { return taps.isOutside; }
  __device__ __forceinline__ int first() const { return taps.firstTap(); }
  __device__ __forceinline__ int end() const { return taps.endTap(); }
  __device__ __forceinline__ Index at(int i) const { return taps.at(i) * stride; }
  __device__ __forceinline__ typename Rules::Sum weight(int i) const { return taps.weight(i); }
  __device__ __forceinline__ Index nearest() const { return taps.nearest() * stride; }
};
// One that keeps its size, or repeats its elements.
template <class Rules>
struct KeptDim {
  Index place, stride;
  __device__ __forceinline__ bool isOutside() const { return false; }
  __device__ __forceinline__ int first() const { return 0; }
  __device__ __forceinline__ int end() const { return 1; }
  __device__ __forceinline__ Index at(int) const { return place * stride; }
  __device__ __forceinline__ typename Rules::Sum weight(int) const { return 1; }
  __device__ __forceinline__ Index nearest() const { return place * stride; }
};

// f(position, weight) for every tap of these dimensions. A weight of 0 is skipped, so that an
// infinite neighbour does no harm.
template <class Sum, class F>
__device__ __forceinline__ void visitSamples(Index position, Sum weight, const F& f) {
  f(position, weight);
}
template <class Sum, class F, class D, class... Rest>
__device__ __forceinline__ void visitSamples(Index position, Sum weight, const F& f, const D& dim,
                                             const Rest&... rest) {
  for (int i = dim.first(); i < dim.end(); ++i) {
    const Sum own = dim.weight(i);
    if (own == 0) continue;
    visitSamples(position + dim.at(i), weight * own, f, rest...);
  }
}

// kWidth neighbouring outputs. inner(lane) is the last dimension: the same for all lanes, which are
// then neighbours in memory, or kPerLane.
template <class Rules, class T, int kWidth, bool kPerLane>
struct Resizing {
  using Sum = typename Rules::Sum;
  static constexpr bool kIsNearest = Rules::kMode == ResizeMode::kNearest;
  static constexpr bool kExtrapolates = Rules::kCoordinates == ResizeCoordinates::kCropAndResize;

  // Integers round to even and saturate.
  __device__ __forceinline__ static Compute<T> rounded(Sum sum) {
    if constexpr (std::is_floating_point_v<Compute<T>>)
      return sum;
    else
      return op::convert<Compute<T>>(rint(sum));
  }

  template <class Store, class Inner, class... Dims>
  __device__ __forceinline__ static void run(const T* x, double extrapolation, Index first,
                                             Store store, Inner inner, const Dims&... dims) {
    if constexpr (kIsNearest && !kExtrapolates) {
      T results[kWidth];
      nearest(x, results, inner, dims...);
      store(first, results);
    } else {
      Compute<T> results[kWidth];
      if constexpr (kIsNearest) {
        T moved[kWidth];
        nearest(x, moved, inner, dims...);
#pragma unroll
        for (int lane = 0; lane < kWidth; ++lane) results[lane] = toCompute(moved[lane]);
      } else {
        sums(x, results, inner, dims...);
      }
      if constexpr (kExtrapolates) {
#pragma unroll
        for (int lane = 0; lane < kWidth; ++lane)
          if ((dims.isOutside() || ... || inner(lane).isOutside()))
            results[lane] = op::convert<Compute<T>>(extrapolation);
      }
      store(first, results);
    }
  }

  template <class Inner, class... Dims>
  __device__ __forceinline__ static void nearest(const T* x, T (&results)[kWidth], Inner inner,
                                                 const Dims&... dims) {
    const Index row = (Index(0) + ... + dims.nearest());
    if constexpr (kPerLane) {
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) results[lane] = x[row + inner(lane).nearest()];
    } else {
      const auto moved = loadVector<kWidth>(x + row + inner(0).nearest());
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) results[lane] = moved.v[lane];
    }
  }

  template <class Inner, class... Dims>
  __device__ __forceinline__ static void sums(const T* x, Compute<T> (&results)[kWidth],
                                              Inner inner, const Dims&... dims) {
    if constexpr (kPerLane) {
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        Sum sum = 0;
        const auto add = [&](Index position, Sum weight) {
          sum += weight * Sum(toCompute(x[position]));
        };
        visitSamples(Index(0), Sum(1), add, dims..., inner(lane));
        results[lane] = rounded(sum);
      }
    } else {
      Sum sums[kWidth] = {};
      const auto add = [&](Index position, Sum weight) {
        const auto part = loadVector<kWidth>(x + position);
#pragma unroll
        for (int lane = 0; lane < kWidth; ++lane)
          sums[lane] += weight * Sum(toCompute(part.v[lane]));
      };
      visitSamples(Index(0), Sum(1), add, dims..., inner(0));
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) results[lane] = rounded(sums[lane]);
    }
  }
};
