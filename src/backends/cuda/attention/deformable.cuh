// A level of deformable attention: an image of height x width pixels, which are rows `start` and
// later of the values.
struct DeformableLevel {
  long long start, height, width;

  // Sizes that no image has stay small enough for positions to be computed.
  static __device__ __forceinline__ long long bounded(long long size) {
    constexpr long long kFar = 1ll << 30;
    return size < -kFar ? -kFar : size > kFar ? kFar : size;
  }
  template <class S, class B>
  __device__ __forceinline__ DeformableLevel(const S* sizes, const B* starts, Index level)
      : start(bounded(starts[level])),
        height(bounded(sizes[level * 2])),
        width(bounded(sizes[level * 2 + 1])) {}

  // Adds what lies at (x, y) among the pixels, of which there are `pixels`, `stride` elements
  // apart; kWidth neighbouring elements of each.
  template <int kWidth, class C, class T>
  __device__ __forceinline__ void addAt(C x, C y, C weight, const T* values, Index pixels,
                                        Index stride, C (&sums)[kWidth]) const {
    if (!(y > -1 && x > -1 && y < C(height) && x < C(width))) return;
    const C top = floor(y), left = floor(x), down = y - top, right = x - left;
#pragma unroll
    for (int corner = 0; corner < 4; ++corner) {
      const long long i = static_cast<long long>(top) + corner / 2,
                      j = static_cast<long long>(left) + corner % 2;
      const long long pixel = start + i * width + j;
      const C share = (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right);
      const bool isInside =
          i >= 0 && i < height && j >= 0 && j < width && pixel >= 0 && pixel < pixels;
      if (!isInside || share == 0) continue;
      const Vector<T, kWidth> elements = loadVector<kWidth>(values + Index(pixel) * stride);
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane)
        sums[lane] += weight * share * C(toCompute(elements.v[lane]));
    }
  }
};

// kWidth neighbouring results of query at[1] in head at[2], from element at[3] on. `dims` are the
// sizes of the locations but for the last, [N, queries, heads, levels, points].
template <int kWidth, class T, class S, class B, class L, class W, class Store>
__device__ __forceinline__ void attendDeformably(const T* values, const S* sizes, const B* starts,
                                                 const L* locations, const W* weights,
                                                 const Index (&dims)[5], Index pixels, Index size,
                                                 const Coordinates<4>& at, Index first,
                                                 Store store) {
  using C = Compute<T>;
  const Index heads = dims[2], levels = dims[3], points = dims[4];
  const T* mine = values + (at[0] * pixels * heads + at[2]) * size + at[3];
  const Index query = (at[0] * dims[1] + at[1]) * heads + at[2];
  C sums[kWidth] = {};
  for (Index i = 0; i < levels; ++i) {
    const DeformableLevel level(sizes, starts, i);
    for (Index j = 0; j < points; ++j) {
      const Index point = (query * levels + i) * points + j;
      level.addAt(C(toCompute(locations[point * 2])) * C(level.width) - C(0.5),
                  C(toCompute(locations[point * 2 + 1])) * C(level.height) - C(0.5),
                  C(toCompute(weights[point])), mine, pixels, heads * size, sums);
    }
  }
  store(first, sums);
}
