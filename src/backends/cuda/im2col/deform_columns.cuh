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
