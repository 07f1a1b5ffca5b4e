// Barriers in shared memory (sm_90 and later): their phases end with as many arrivals as they were
// made for, and with the bytes of the copies that were announced. Follows the prelude.

#ifdef CAMSHAFT_EMULATOR
// A copy is there at once: lanes meet between every copy and what waits for it.
inline void initBarrier(const void*, unsigned) {}
inline void publishBarriers() {}
inline void expectBytes(const void*, unsigned) {}
inline void wait(const void*, unsigned) {}
#else
__device__ __forceinline__ void initBarrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// After the last one: for the blocks of the cluster, and for copies.
__device__ __forceinline__ void publishBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  showToAsync();
}
// An arrival, with the bytes of copies that are to follow.
__device__ __forceinline__ void expectBytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ bool isPast(unsigned barrier, unsigned phase) {
  unsigned done;
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(phase)
      : "memory");
  return done;
}
__device__ __forceinline__ void wait(unsigned barrier, unsigned phase) {
#ifdef CAMSHAFT_HANG_GUARD
  const long long start = clock64();
  while (!isPast(barrier, phase))
    if (clock64() - start > CAMSHAFT_HANG_GUARD) __trap();
#else
  while (!isPast(barrier, phase)) {
  }
#endif
}
#endif
