// Scalar functions that one instruction computes, of all arguments as defined. Stands behind them.
#ifndef CAMSHAFT_EMULATOR
namespace camshaft::scalar {

template <>
__device__ __forceinline__ unsigned char convert<unsigned char, float>(float a) {
  unsigned result;
  asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(result) : "f"(a));
  return static_cast<unsigned char>(result);
}
template <>
__device__ __forceinline__ signed char convert<signed char, float>(float a) {
  int result;
  asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(result) : "f"(a));
  return static_cast<signed char>(result);
}

#if __CUDA_ARCH__ >= 800
template <>
__device__ __forceinline__ float minimum<float>(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
template <>
__device__ __forceinline__ float maximum<float>(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#endif

}  // namespace camshaft::scalar

#if __CUDA_ARCH__ >= 800
namespace op {

template <>
__device__ __forceinline__ float Relu<float>(float a) {
  return camshaft::scalar::maximum(a, 0.0f);
}

}  // namespace op
#endif
#endif
