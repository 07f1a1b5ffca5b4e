// What all attention kernels are asked: out = softmax(scale q kT + bias) v, head by head.
// Before this file stand Element and BiasElement.
namespace attention {

struct Strides {
  long long batch, head, token;  // in elements
};

struct Problem {
  const Element *q, *k, *v;
  Element* out;
  const BiasElement* bias;
  int batches, queries, keys;
  int group;         // query heads per key head
  int causalOffset;  // query i sees keys up to i + causalOffset
  Strides qStride, kStride, vStride, outStride;
  long long kFeature;  // stride between the features of a key; those of the others lie together
  long long biasBatch, biasHead, biasRow, biasKey;  // strides; batch b reads (b / divisor) % modulo
  int biasDivisor, biasModulo;
};

__device__ __forceinline__ int smaller(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ float negativeInfinity() { return __int_as_float(0xff800000); }

}  // namespace attention
