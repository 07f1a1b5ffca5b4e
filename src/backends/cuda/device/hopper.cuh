// What Hopper's instructions are called in our kernels: shared memory of a cluster's blocks,
// barriers in it, copies of boxes of tensors (TMA), and asynchronous matrix products (wgmma).
// Follows barriers.cuh.

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

struct alignas(64) TensorMap {
  char bytes[128];
};

#ifdef CAMSHAFT_EMULATOR
#include CAMSHAFT_EMULATED_HOPPER
#else

// ---- Shared memory ---------------------------------------------------------------------------

// A float or an integer of four bytes as it lies in a register.
template <class T>
__device__ __forceinline__ u32 bitsOf(T x) {
  static_assert(sizeof(T) == 4);
  return reinterpret_cast<const u32&>(x);
}
template <class T>
__device__ __forceinline__ void storeShared(u32 address, T x, T y) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(bitsOf(x)), "r"(bitsOf(y))
               : "memory");
}
// Four of them.
template <class T>
__device__ __forceinline__ void loadShared(u32 address, T* x) {
  static_assert(sizeof(T) == 4);
  u32* bits = reinterpret_cast<u32*>(x);
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
               : "r"(address)
               : "memory");
}
// An element of 1, 2 or 4 bytes in the low bits.
template <int kSize>
__device__ __forceinline__ u32 loadBits(u32 address) {
  u32 bits;
  if constexpr (kSize == 4)
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(bits) : "r"(address) : "memory");
  else if constexpr (kSize == 2)
    asm volatile("ld.shared.u16 %0, [%1];" : "=r"(bits) : "r"(address) : "memory");
  else
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(bits) : "r"(address) : "memory");
  return bits;
}
template <class T>
__device__ __forceinline__ T& inShared(u32 address) {
  return *static_cast<T*>(__cvta_shared_to_generic(address));
}
// Matrices of 8x8 elements of 16 bits, two per register as wgmma leaves them; lane i gives the
// address of row i%8 of matrix i/8.
__device__ __forceinline__ void storeMatrices(u32 address, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
__device__ __forceinline__ void storeMatrices(u32 address, u32 a, u32 b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(a),
               "r"(b)
               : "memory");
}
// The same place in the shared memory of another block of the cluster.
__device__ __forceinline__ u32 inPeer(u32 address, u32 rank) {
  u32 peer;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(address), "r"(rank));
  return peer;
}

// The compiler does not know how the value came to be.
__device__ __forceinline__ void hide(int& value) { asm("" : "+r"(value)); }
__device__ __forceinline__ void hide(long long& value) { asm("" : "+l"(value)); }

// ---- Global memory ---------------------------------------------------------------------------

// Stores without branches, between which nothing could be scheduled.
__device__ __forceinline__ void storeIf(bool condition, void* to, const float (&x)[4]) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n"
      "@p st.global.v4.f32 [%1], {%2, %3, %4, %5};\n}" ::"r"((int)condition),
      "l"(to), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
      : "memory");
}
template <class T>
__device__ __forceinline__ void storeIf(bool condition, T* to, u32 bits) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4);
  constexpr int kSize = sizeof(T);
  if constexpr (kSize == 4)
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n@p st.global.b32 [%1], %2;\n}" ::"r"(
                     (int)condition),
                 "l"(to), "r"(bits)
                 : "memory");
  else if constexpr (kSize == 2)
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n@p st.global.b16 [%1], %2;\n}" ::"r"(
                     (int)condition),
                 "l"(to), "h"((u16)bits)
                 : "memory");
  else
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n@p st.global.b8 [%1], %2;\n}" ::"r"(
                     (int)condition),
                 "l"(to), "r"(bits)
                 : "memory");
}

// ---- Barriers --------------------------------------------------------------------------------

__device__ __forceinline__ void arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Without a branch, behind which products would wait for each other.
__device__ __forceinline__ void arriveIf(bool condition, u32 barrier) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n"
      "@p mbarrier.arrive.shared::cta.b64 _, [%1];\n}" ::"r"((int)condition),
      "r"(barrier)
      : "memory");
}
// Says that reading is over, which needs no fence for other blocks' eyes: at each step of K one
// would cost more than the step.
__device__ __forceinline__ void arriveAtPeer(u32 barrier, u32 rank) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(inPeer(barrier, rank))
               : "memory");
}
// Stores into a block of the cluster, whose barrier is told the bytes; both are inPeer().
template <class T>
__device__ __forceinline__ void storePeer(u32 address, T x, T y, u32 barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::
          "r"(address),
      "r"(bitsOf(x)), "r"(bitsOf(y)), "r"(barrier)
      : "memory");
}
// Blocks of a cluster have got this far; what they stored is not passed on.
__device__ __forceinline__ void arriveCluster() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ __forceinline__ void waitCluster() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ __forceinline__ u32 clusterRank() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Barriers of some warps, by number: the last of `threads` to come lets those in sync on.
__device__ __forceinline__ void syncNamed(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ __forceinline__ void arriveNamed(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// ---- Copies ----------------------------------------------------------------------------------

// The box of a three-dimensional tensor at (x, y, z), which may reach beyond it; zeros come from
// there. The barrier is told its bytes.
__device__ __forceinline__ void copyBox(u32 to, const TensorMap& map, u32 barrier, int x, int y,
                                        int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
// To the same place, with the same barrier, in every block of the cluster whose bit is in `peers`.
__device__ __forceinline__ void copyBox(u32 to, const TensorMap& map, u32 barrier, int x, int y,
                                        int z, u16 peers) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(peers)
      : "memory");
}

// A box at (x, y, z) from shared memory; what is beyond the tensor is left out. It belongs to the
// thread's group that is open.
__device__ __forceinline__ void storeBoxIf(bool condition, const TensorMap& map, u32 from, int x,
                                           int y, int z) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n"
      "@p cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%1, {%3, %4, %5}], [%2];\n}" ::"r"(
          (int)condition),
      "l"(&map), "r"(from), "r"(x), "r"(y), "r"(z)
      : "memory");
}
__device__ __forceinline__ void closeStores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Shared memory of the thread's closed groups has been read.
__device__ __forceinline__ void waitStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void waitStores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ void prefetchMap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Pixels of images [n, y, x, c], as many and as the tensor map says: counted from (n, y, x) on
// through its corners, in its strides, each moved by the offsets; some channels from c on. Zeros
// come from outside. The barrier is told their bytes.
__device__ __forceinline__ void copyPixels(u32 to, const TensorMap& map, u32 barrier, int c, int x,
                                           int y, int n, u16 offsetX, u16 offsetY) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(x), "r"(y), "r"(n), "h"(offsetX), "h"(offsetY)
      : "memory");
}
// To the same place, with the same barrier, in every block of the cluster whose bit is in `peers`.
__device__ __forceinline__ void copyPixels(u32 to, const TensorMap& map, u32 barrier, int c, int x,
                                           int y, int n, u16 offsetX, u16 offsetY, u16 peers) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(x), "r"(y), "r"(n), "h"(offsetX), "h"(offsetY),
      "h"(peers)
      : "memory");
}

// ---- Matrix products -------------------------------------------------------------------------

// Of the registers that all threads of the block have, each of this warpgroup gets so many.
template <int kRegisters>
__device__ __forceinline__ void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void leaveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
__device__ __forceinline__ void fenceMultiply() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commitMultiply() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void waitMultiply() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#endif

constexpr int kAtom = 8 * 128;            // bytes of the 128-byte swizzle's pattern
constexpr int kTransposedBox = 64 * 128;  // 64 elements along M or N times 64 along K

// How wgmma reads an operand from shared memory in the 128-byte swizzle: by rows along K, 8 of them
// in a pattern; transposed, the patterns are 64 elements along M or N times 8 along K. Rows along K
// may be shorter, in the swizzle of their bytes.
template <bool kAlongK, int kLineBytes = 128>
__device__ __forceinline__ u64 describe(u32 address) {
  static_assert(kLineBytes == 128 || (kAlongK && (kLineBytes == 64 || kLineBytes == 32)));
  constexpr u64 kAcross = kAlongK ? 1 : kTransposedBox >> 4, kNext = 8 * kLineBytes >> 4;
  constexpr u64 kSwizzle = kLineBytes == 128 ? 1 : kLineBytes == 64 ? 2 : 3;
  return kSwizzle << 62 | kNext << 32 | kAcross << 16 | (address & 0x3ffff) >> 4;
}
