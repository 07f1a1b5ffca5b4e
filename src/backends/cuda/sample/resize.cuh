// One dimension of a resize. Rules, printed with the kernel, hold what the operator's attributes say.
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
