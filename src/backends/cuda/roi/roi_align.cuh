// Samples of a box along one dimension, and the pooling of a bin.
template <class Real>
struct RoiTap {
  Index low, high;
  Real lowWeight, highWeight;
  bool isInside;
};

template <class Real, bool kHalfPixel, int kRatio>
struct RoiAxis {
  Real start, bin;
  int perBin;
  Index size;

  __device__ __forceinline__ RoiAxis(Real from, Real to, int bins, Index size)
      : start(from), size(size) {
    constexpr Real kMostSamples = 4096;
    Real extent = to - from;
    if (!kHalfPixel) extent = extent > 1 ? extent : Real(1);
    bin = extent / Real(bins);
    const Real adaptive = ceil(bin);
    perBin = kRatio > 0     ? kRatio
             : adaptive > 0 ? int(adaptive < kMostSamples ? adaptive : kMostSamples)
                            : 0;
  }
  __device__ __forceinline__ RoiTap<Real> tap(int inBin, Index atBin) const {
    Real position = start + (Real(atBin) + (Real(inBin) + Real(0.5)) / Real(perBin)) * bin;
    if (!(position >= -1 && position <= Real(size))) return {0, 0, 0, 0, false};
    position = position > 0 ? position : Real(0);
    const Index low = Index(position);
    if (low >= size - 1) return {size - 1, size - 1, 1, 0, true};
    const Real ratio = position - Real(low);
    return {low, low + 1, 1 - ratio, ratio, true};
  }
};

// The mean of a bin's samples, or the largest weighted corner of any.
template <bool kMax, class Real, class T, class Axis>
__device__ __forceinline__ Real poolBin(const T* image, Index width, const Axis& rows, Index row,
                                        const Axis& columns, Index column) {
  Real result = 0;
  bool isFirst = true;
  for (int i = 0; i < rows.perBin; ++i) {
    const RoiTap<Real> y = rows.tap(i, row);
    for (int j = 0; j < columns.perBin; ++j) {
      const RoiTap<Real> x = columns.tap(j, column);
      Real corners[4] = {0, 0, 0, 0};
      if (y.isInside && x.isInside) {
        const T *top = image + y.low * width, *bottom = image + y.high * width;
        corners[0] = y.lowWeight * x.lowWeight * toCompute(top[x.low]);
        corners[1] = y.lowWeight * x.highWeight * toCompute(top[x.high]);
        corners[2] = y.highWeight * x.lowWeight * toCompute(bottom[x.low]);
        corners[3] = y.highWeight * x.highWeight * toCompute(bottom[x.high]);
      }
      if (!kMax) {
        result += (corners[0] + corners[1]) + (corners[2] + corners[3]);
        continue;
      }
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if ((isFirst && k == 0) || corners[k] > result) result = corners[k];
      isFirst = false;
    }
  }
  const int samples = rows.perBin * columns.perBin;
  return kMax || samples == 0 ? result : result / Real(samples);
}

// Bin (at[2], at[3]) of box at[0] in channel at[1] of images of these sizes. An image that is not
// there, which ends a run on the CPU, gives zero.
template <bool kMax, class Axis, class Real, class T, class B, class I>
__device__ __forceinline__ Real alignRoi(const T* x, const B* boxes, const I* images,
                                         const Index (&sizes)[4], int binRows, int binColumns,
                                         Real scale, Real shift, const Coordinates<4>& at) {
  const Index image = positionOf(images[at[0]], sizes[0]), height = sizes[2], width = sizes[3];
  const auto edge = [&](int i) { return Real(toCompute(boxes[at[0] * 4 + i])) * scale - shift; };
  const Axis rows(edge(1), edge(3), binRows, height), columns(edge(0), edge(2), binColumns, width);
  if (image < 0 || height == 0 || width == 0) return 0;
  const T* plane = x + (image * sizes[1] + at[1]) * (height * width);
  return poolBin<kMax, Real>(plane, width, rows, at[2], columns, at[3]);
}
