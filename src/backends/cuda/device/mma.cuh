// The instructions that products of a warp on tensor cores are made of: asynchronous copies to
// shared memory, matrix loads, matrix products, and what blocks of a cluster say to one another.
#ifndef CAMSHAFT_EMULATOR
namespace attention {

using SharedAddress = unsigned;

__device__ __forceinline__ SharedAddress sharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void storeShared(SharedAddress to, const Vector<unsigned, 4>& words) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words.v[0]),
               "r"(words.v[1]), "r"(words.v[2]), "r"(words.v[3])
               : "memory");
}

// 16 bytes, or 16 zeros when there is nothing to copy.
__device__ __forceinline__ void copyAsync(SharedAddress to, const void* from, bool isThere) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(isThere ? 16 : 0)
               : "memory");
#else
  storeShared(to,
              isThere ? loadVector<4>(static_cast<const unsigned*>(from)) : Vector<unsigned, 4>{});
#endif
}
// Into the L2 cache.
__device__ __forceinline__ void fetchRow(const void* from, int bytes) {
  constexpr int kLine = 128;
  for (int i = 0; i < bytes; i += kLine)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const char*>(from) + i));
}
__device__ __forceinline__ void commitCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int kPending>
__device__ __forceinline__ void waitForCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

// Four 8x8 matrices of 16-bit elements; lane i gives the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void loadMatrices(unsigned (&to)[4], SharedAddress address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void loadTransposed(unsigned (&to)[4], SharedAddress address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// c += a b: 16x8 += 16x16 16x8, spread over the warp.
__device__ __forceinline__ void multiply(f16, float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(bf16, float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <class E>
__device__ __forceinline__ void multiply(E, E, float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
  multiply(E{}, c, a, b0, b1);
}

// The same of bytes: 16x8 += 16x32 32x8. Their rows are as many bytes, and lie in registers alike.
#if __CUDA_ARCH__ >= 800
#define ATTENTION_BYTES(A, B, types)                                                               \
  __device__ __forceinline__ void multiply(A, B, int (&c)[4], const unsigned (&a)[4], unsigned b0, \
                                           unsigned b1) {                                          \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." types                                             \
        ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                     \
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                           \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                           \
  }
#else
#define ATTENTION_BYTES(A, B, types)                                                               \
  __device__ __forceinline__ void multiply(A, B, int (&c)[4], const unsigned (&a)[4], unsigned b0, \
                                           unsigned b1) {                                          \
    const unsigned b[2] = {b0, b1};                                                                \
    for (int i = 0; i < 4; ++i)                                                                    \
      asm("mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"     \
          : "+r"(c[i % 2 * 2]), "+r"(c[i % 2 * 2 + 1])                                             \
          : "r"(a[i]), "r"(b[i / 2]));                                                             \
  }
#endif
ATTENTION_BYTES(unsigned char, unsigned char, "u8.u8")
ATTENTION_BYTES(unsigned char, signed char, "u8.s8")
ATTENTION_BYTES(signed char, unsigned char, "s8.u8")
ATTENTION_BYTES(signed char, signed char, "s8.s8")
#undef ATTENTION_BYTES

// Matrix products of four warps, which read b from shared memory: c += a b, 64x64 += 64x16 16x64,
// each warp having 16 rows of a and c as above. b is 64 columns of 128 bytes (rows of 16 elements
// of depth among them) or, when its rows are the depth, 16 rows of 128 bytes; words of 16 bytes in
// a row are exchanged by the low three bits of the row's number. The products between
// beginProducts() and endProducts() go on until waitForProducts(), and their operands stay.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ __forceinline__ void beginProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void endProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void waitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
// Eight rows are 1024 bytes; the pattern repeats with them.
__device__ __forceinline__ unsigned long long describe(SharedAddress address) {
  constexpr unsigned long long kSwizzle128 = 1ull << 62, kEightRows = 1024 >> 4;
  return kSwizzle128 | kEightRows << 32 | 1ull << 16 | (address & 0x3ffff) >> 4;
}
#define ATTENTION_FOUR(row) "+f"(c[row][0]), "+f"(c[row][1]), "+f"(c[row][2]), "+f"(c[row][3])
#define ATTENTION_PRODUCT(Element, types)                                                          \
  template <bool kRowsAreDepth>                                                                    \
  __device__ __forceinline__ void multiplyTogether(Element, float (*c)[4], const unsigned (&a)[4], \
                                                   SharedAddress b, bool adds) {                   \
    asm volatile(                                                                                  \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %37, 0;\n"                                         \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." types                                        \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                 \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "        \
        "{%32, %33, %34, %35}, %36, adds, 1, 1, %38;\n}"                                           \
        : ATTENTION_FOUR(0), ATTENTION_FOUR(1), ATTENTION_FOUR(2), ATTENTION_FOUR(3),              \
          ATTENTION_FOUR(4), ATTENTION_FOUR(5), ATTENTION_FOUR(6), ATTENTION_FOUR(7)               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(describe(b)), "r"(int(adds)),            \
          "n"(kRowsAreDepth ? 1 : 0));                                                             \
  }
ATTENTION_PRODUCT(f16, "f16.f16")
ATTENTION_PRODUCT(bf16, "bf16.bf16")
#undef ATTENTION_PRODUCT
#undef ATTENTION_FOUR
#else
__device__ __forceinline__ void beginProducts() {}
__device__ __forceinline__ void endProducts() {}
__device__ __forceinline__ void waitForProducts() {}
template <bool kRowsAreDepth, class E>
__device__ __forceinline__ void multiplyTogether(E, float (*)[4], const unsigned (&)[4],
                                                 SharedAddress, bool) {}
#endif

__device__ __forceinline__ unsigned packed(f16, float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ __forceinline__ unsigned packed(bf16, float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
// Sums of pairs.
__device__ __forceinline__ unsigned addPairs(f16, unsigned a, unsigned b) {
  unsigned sum;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
__device__ __forceinline__ unsigned addPairs(bf16, unsigned a, unsigned b) {
  unsigned sum;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(0x3f803f80u), "r"(b));
  return sum;
}

__device__ __forceinline__ float exp2Fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float fromLane(float value, int distance) {
  return __shfl_xor_sync(0xffffffffu, value, distance);
}
__device__ __forceinline__ bool anyLane(bool value) { return __any_sync(0xffffffffu, value); }

// Blocks of a cluster: all wait for all, and one reads the shared memory of another.
__device__ __forceinline__ void syncCluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
#endif
}
__device__ __forceinline__ float readFromBlock(const float* place, int rank) {
  float value = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .u32 remote;\nmapa.shared::cluster.u32 remote, %1, %2;\n"
      "ld.shared::cluster.f32 %0, [remote];\n}"
      : "=f"(value)
      : "r"(sharedAddress(place)), "r"(rank)
      : "memory");
#endif
  return value;
}
// Four, from a multiple of 16 bytes on.
__device__ __forceinline__ Vector<float, 4> readFourFromBlock(const float* place, int rank) {
  Vector<float, 4> values = {};
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .u32 remote;\nmapa.shared::cluster.u32 remote, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];\n}"
      : "=f"(values.v[0]), "=f"(values.v[1]), "=f"(values.v[2]), "=f"(values.v[3])
      : "r"(sharedAddress(place)), "r"(rank)
      : "memory");
#endif
  return values;
}

}  // namespace attention
#else
// The same for the emulator: lanes show one another what they hold.
namespace attention {

using SharedAddress = char*;

inline SharedAddress sharedAddress(const void* pointer) {
  return static_cast<char*>(const_cast<void*>(pointer));
}
inline void storeShared(SharedAddress to, const Vector<unsigned, 4>& words) {
  storeVector<4>(reinterpret_cast<unsigned*>(to), words);
}
inline void copyAsync(SharedAddress to, const void* from, bool isThere) {
  for (int i = 0; i < 16; ++i) to[i] = isThere ? static_cast<const char*>(from)[i] : 0;
}
inline void fetchRow(const void*, int) {}
inline void commitCopies() {}
template <int kPending>
inline void waitForCopies() {}

template <class T>
inline T shownBy(int lane, T value) {
  return __shfl_sync(0xffffffffu, value, lane);
}
inline unsigned elementAt(const char* place) {
  return *reinterpret_cast<const unsigned short*>(place);
}

template <bool kIsTransposed>
inline void loadMatricesAs(unsigned (&to)[4], SharedAddress address) {
  const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
  for (int m = 0; m < 4; ++m) {
    to[m] = 0;
    for (int i = 0; i < 8; ++i) {
      const char* place = reinterpret_cast<const char*>(
          shownBy(m * 8 + i, reinterpret_cast<unsigned long long>(address)));
      for (int j = 0; j < 2; ++j)
        if (i == (kIsTransposed ? column + j : row))
          to[m] |= elementAt(place + 2 * (kIsTransposed ? row : column + j)) << (16 * j);
    }
  }
}
inline void loadMatrices(unsigned (&to)[4], SharedAddress address) {
  loadMatricesAs<false>(to, address);
}
inline void loadTransposed(unsigned (&to)[4], SharedAddress address) {
  loadMatricesAs<true>(to, address);
}

template <class E>
inline float half(unsigned pair, int index) {
  return toCompute(E{static_cast<unsigned short>(pair >> (16 * index))});
}
// Rows lane / 4 and lane / 4 + 8 of a matrix of 16 rows that the lanes hold.
template <class E>
inline void gatherRows(float (&rows)[2][16], const unsigned (&a)[4]) {
  for (int i = 0; i < 16; ++i) {
    const unsigned pair = shownBy(threadIdx.x % 32 / 4 * 4 + i % 4, a[i / 4]);
    for (int j = 0; j < 2; ++j) rows[i / 4 % 2][i / 8 * 8 + i % 4 * 2 + j] = half<E>(pair, j);
  }
}

template <class E>
inline void multiply(E, float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  float rows[2][16];
  gatherRows<E>(rows, a);
  for (int i = 0; i < 16; ++i) {
    const int column = i % 2, k = i / 8 * 8 + i / 2 % 4 * 2;
    const unsigned pair = shownBy((threadIdx.x % 4 * 2 + column) * 4 + i / 2 % 4, i < 8 ? b0 : b1);
    for (int upper = 0; upper < 2; ++upper)
      for (int j = 0; j < 2; ++j) c[upper * 2 + column] += rows[upper][k + j] * half<E>(pair, j);
  }
}

template <class E>
inline void multiply(E, E, float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  multiply(E{}, c, a, b0, b1);
}

template <class A, class B>
inline void multiply(A, B, int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 8; ++i) {  // four of k each
    const int from = i % 4;
    const unsigned rows[2] = {shownBy(lane / 4 * 4 + from, a[i / 4 * 2]),
                              shownBy(lane / 4 * 4 + from, a[i / 4 * 2 + 1])};
    for (int column = 0; column < 2; ++column) {
      const unsigned other = shownBy((lane % 4 * 2 + column) * 4 + from, i < 4 ? b0 : b1);
      for (int row = 0; row < 2; ++row)
        for (int shift = 0; shift < 32; shift += 8)
          c[row * 2 + column] +=
              static_cast<A>(rows[row] >> shift) * static_cast<B>(other >> shift);
    }
  }
}

inline void beginProducts() {}
inline void endProducts() {}
inline void waitForProducts() {}
template <bool kRowsAreDepth, class E>
inline void multiplyTogether(E, float (*c)[4], const unsigned (&a)[4], SharedAddress b, bool adds) {
  float rows[2][16];
  gatherRows<E>(rows, a);
  for (int n = 0; n < 8; ++n)
    for (int i = 0; i < 4; ++i) {
      const int column = n * 8 + threadIdx.x % 4 * 2 + i % 2;
      if (!adds) c[n][i] = 0;
      for (int k = 0; k < 16; ++k) {
        unsigned long long place = reinterpret_cast<unsigned long long>(
            b + (kRowsAreDepth ? k * 128 + column * 2 : column * 128 + k * 2));
        place ^= (place >> 7 & 7) << 4;
        c[n][i] += rows[i / 2][k] * half<E>(elementAt(reinterpret_cast<const char*>(place)), 0);
      }
    }
}

template <class E>
inline unsigned packed(E, float low, float high) {
  return toStorage<E>(low).bits | static_cast<unsigned>(toStorage<E>(high).bits) << 16;
}
template <class E>
inline unsigned addPairs(E, unsigned a, unsigned b) {
  return packed(E{}, half<E>(a, 0) + half<E>(b, 0), half<E>(a, 1) + half<E>(b, 1));
}
inline float exp2Fast(float x) { return exp2f(x); }
inline float fromLane(float value, int distance) {
  return __shfl_xor_sync(0xffffffffu, value, distance);
}
inline bool anyLane(bool value) { return __any_sync(0xffffffffu, value); }

// One block after the other: no clusters.
inline void syncCluster() { __trap(); }
inline float readFromBlock(const float* place, int) { return *place; }
inline Vector<float, 4> readFourFromBlock(const float* place, int) { return loadVector<4>(place); }

}  // namespace attention
#endif
