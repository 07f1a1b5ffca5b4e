// Moments of rows (ops/norm.h): what kMomentColumns neighbours have for a mean, and for squares of
// what they are away from it.
constexpr int kMomentColumns = 32;

template <class X>
__device__ __forceinline__ void writeMoments(const X* of, float* to) {
  float mean = 0, squares = 0;
  for (int i = 0; i < kMomentColumns; ++i) mean += float(toCompute(of[i])) / kMomentColumns;
  for (int i = 0; i < kMomentColumns; ++i) {
    const float away = float(toCompute(of[i])) - mean;
    squares += away * away;
  }
  to[0] = mean, to[1] = squares;
}
