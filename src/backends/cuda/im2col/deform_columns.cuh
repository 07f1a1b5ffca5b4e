// An image at a position between pixels; 0 outside.
template <class Real>
struct DeformTaps {
  Index offsets[4];
  Real weights[4];  // 0: does not count, and is not read

  __device__ __forceinline__ DeformTaps(Real y, Real x, Index height, Index width) {
    const bool isInside = y > -1 && x > -1 && y < Real(height) && x < Real(width);
    const Index top = isInside ? Index(floor(y)) : 0, left = isInside ? Index(floor(x)) : 0;
    const Real down = y - Real(top), right = x - Real(left);
#pragma unroll
    for (int corner = 0; corner < 4; ++corner) {
      const Index i = top + corner / 2, j = left + corner % 2;
      const bool counts = isInside && i >= 0 && i < height && j >= 0 && j < width;
      offsets[corner] = i * width + j;
      weights[corner] =
          counts ? (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right) : Real(0);
    }
  }
  template <class T>
  __device__ __forceinline__ Real at(const T* image) const {
    Real sum = 0;
#pragma unroll
    for (int corner = 0; corner < 4; ++corner)
      if (weights[corner] != 0) sum += weights[corner] * toCompute(image[offsets[corner]]);
    return sum;
  }
};

// What one tap of one window of one group sees, in kChannels channels. A set is the windows of one
// tap of one group of one image; offsets are [sets, 2, windows], factors (or null) [sets, windows];
// sizes are [channels, height, width].
template <int kThreads, int kChannels, int kGroups, class Y, class X, class T, class O, class F,
          class Store>
__device__ __forceinline__ void deformColumns(Windows<Y, X>, const T* x, const O* offsets,
                                              F factors, Index items, Index windows,
                                              Index windowColumns, const Index (&sizes)[3],
                                              Store store) {
  using Real = Compute<T>;
  constexpr int kTaps = Y::kKernel * X::kKernel;
  const Index channels = sizes[0], height = sizes[1], width = sizes[2];
  const Index item = Index(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= items) return;
  const Index window = item % windows, set = item / windows, tap = set % kTaps;
  const Index group = set / kTaps % kGroups, batch = set / kTaps / kGroups;
  const O* offset = offsets + set * 2 * windows + window;
  const DeformTaps<Real> taps(
      Real(Y::tapAt(window / windowColumns, tap / X::kKernel)) + toCompute(offset[0]),
      Real(X::tapAt(window % windowColumns, tap % X::kKernel)) + toCompute(offset[windows]), height,
      width);
  Real factor = 1;
  if constexpr (!std::is_same_v<F, decltype(nullptr)>)
    factor = toCompute(factors[set * windows + window]);
  const Index perGroup = channels / kGroups;
  const Index begin = Index(blockIdx.y) * kChannels;
  const Index end = begin + kChannels < perGroup ? begin + kChannels : perGroup;
  for (Index channel = begin; channel < end; ++channel) {
    const Index plane = batch * channels + group * perGroup + channel;
    const Real seen[1] = {taps.at(x + plane * (height * width)) * factor};
    store((plane * kTaps + tap) * windows + window, seen);
  }
}
