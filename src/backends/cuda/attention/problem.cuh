// What all attention kernels are asked: out = softmax(scale q kT + bias) v, head by head.
// Before this file stand Element, Stored (of keys and values: Element, or numbers of 8 bits),
// BiasElement, Output, kHasEpilogue, and where batches are windows of images (TokenWindows)
// kImageHeight, kImageWidth, kWindowHeight, kWindowWidth, kShiftY and kShiftX; kImageHeight is 0
// where they are not.
namespace attention {

struct Strides {
  long long batch, head, token;  // in elements
};

struct Problem {
  const Element* q;
  const Stored *k, *v;
  Output* out;
  const BiasElement* bias;
  int batches, queries, keys;
  int group;         // query heads per key head
  int causalOffset;  // query i sees keys up to i + causalOffset
  Strides qStride, kStride, vStride, outStride;
  long long kFeature;  // stride between the features of a key; those of the others lie together
  long long biasBatch, biasHead, biasRow, biasKey;  // strides; batch b reads (b / divisor) % modulo
  int biasDivisor, biasModulo;
  float numbers[8];  // of a quantised model, for the epilogue
};

// The tokens of one batch and head: rows of elements.
template <class T>
struct Tokens {
  static constexpr bool kInWindows = kImageHeight > 0;
  static constexpr int kAcross = kInWindows ? kImageWidth / kWindowWidth : 1;  // windows
  static constexpr int kPerImage = kInWindows ? kImageHeight / kWindowHeight * kAcross : 1;

  T* first;
  long long stride;
  int window;  // in its image

  __device__ __forceinline__ Tokens(T* all, const Strides& strides, int batch, int head)
      : first(all + batch / kPerImage * strides.batch + head * strides.head),
        stride(strides.token),
        window(batch % kPerImage) {}
  __device__ __forceinline__ T* at(int token) const {
    if (!kInWindows) return first + token * stride;
    int y = window / kAcross * kWindowHeight + token / kWindowWidth + kShiftY;
    int x = window % kAcross * kWindowWidth + token % kWindowWidth + kShiftX;
    if (y >= kImageHeight) y -= kImageHeight;
    if (x >= kImageWidth) x -= kImageWidth;
    return first + (y * kImageWidth + x) * stride;
  }
};

// Results side by side with the epilogue applied, which is printed for a node that has one.
template <int N>
static __device__ __forceinline__ void storeFinished(Output* to, const Vector<Element, N>& results,
                                                     const Problem& p);
template <int N>
__device__ __forceinline__ void storeResults(Output* to, const Vector<Element, N>& results,
                                             const Problem& p) {
  if constexpr (kHasEpilogue)
    storeFinished<N>(to, results, p);
  else
    storeVector<N>(to, results);
}

__device__ __forceinline__ int smaller(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ float negativeInfinity() { return __int_as_float(0xff800000); }

}  // namespace attention
