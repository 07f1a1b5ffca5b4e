// Activations in f32 with a few instructions, for epilogues that keep the tensor cores waiting and
// for floats of 16 bits or fewer. Stands behind the scalar functions and replaces some.

#ifdef CAMSHAFT_EMULATOR
inline float fastExp2(float a) { return exp2f(a); }
inline float fastReciprocal(float a) { return 1 / a; }
#else
__device__ __forceinline__ float fastExp2(float a) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}
__device__ __forceinline__ float fastReciprocal(float a) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}

#endif

constexpr float kLog2E = 1.4426950408889634f;

namespace op {

template <>
__device__ __forceinline__ float Sigmoid<float>(float a) {
  return fastReciprocal(1.0f + fastExp2(-kLog2E * a));
}
template <>
__device__ __forceinline__ float Silu<float>(float a) {
  return a * Sigmoid(a);
}

// max(x, 0) - |x|·q(|x|), where q(x) is the weight of the other side, ½ at 0 and falling like a
// normal distribution: its logarithm is close to a polynomial of degree 5, whose coefficients these
// are. So there is one instruction of the special-function unit per element, and no cancellation.
__device__ __forceinline__ float gelu(float a, float c0, float c1, float c2, float c3, float c4,
                                      float c5) {
  const float size = fminf(fabsf(a), 16.0f);  // where q is zero, so that ∞·0 cannot be
  float log2q = fmaf(c5, size, c4);
  log2q = fmaf(log2q, size, c3);
  log2q = fmaf(log2q, size, c2);
  log2q = fmaf(log2q, size, c1);
  log2q = fmaf(log2q, size, c0);
  return fmaf(-size, fastExp2(log2q), camshaft::scalar::maximum(a, 0.0f));
}

template <>
__device__ __forceinline__ float Gelu<float>(float a) {  // off by 1.2e-6 at most
  return gelu(a, -1.00009370f, -1.15034028f, -0.461079089f, -0.0507419585f, 0.00661808205f,
              -0.000402301924f);
}
template <>
__device__ __forceinline__ float GeluTanh<float>(float a) {  // off by 1.4e-5 at most
  return gelu(a, -1.00108313f, -1.14256297f, -0.479292028f, -0.0334270215f, 0.00268334044f,
              -0.00104937962f);
}

}  // namespace op
