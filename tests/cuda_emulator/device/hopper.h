// The instructions of backends/cuda/device/hopper.cuh on the host, for clusters of one block.
// Copies and products are done at once, by the thread that asks for them; barriers count, so that
// one that is waited for in vain is seen.
#pragma once

// ---- Shared memory ---------------------------------------------------------------------------

// Addresses in shared memory are the low halves of the host's.
inline char* emulatedShared(u32 address) {
  char* const start = static_cast<char*>(camshaftThread.dynamicShared);
  return start + static_cast<int>(address - static_cast<u32>(reinterpret_cast<size_t>(start)));
}
template <class T>
T& inShared(u32 address) {
  return *reinterpret_cast<T*>(emulatedShared(address));
}
template <class T>
u32 bitsOf(T x) {
  return __builtin_bit_cast(u32, x);
}
template <class T>
void storeShared(u32 address, T x, T y) {
  inShared<T>(address) = x;
  inShared<T>(address + 4) = y;
}
template <class T>
void loadShared(u32 address, T* x) {
  for (int i = 0; i < 4; ++i) x[i] = inShared<T>(address + 4 * i);
}
template <int kSize>
u32 loadBits(u32 address) {
  u32 bits = 0;
  __builtin_memcpy(&bits, emulatedShared(address), kSize);
  return bits;
}

// Lane i gives the address of row i % 8 of matrix i / 8, and has two neighbours of row i / 4 of
// each.
template <int kMatrices>
void emulatedStoreMatrices(u32 address, const u32 (&pairs)[kMatrices]) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < kMatrices; ++i) {
    const u32 row = __shfl_sync(~0u, address, i * 8 + lane / 4);
    inShared<u32>(row + lane % 4 * 4) = pairs[i];
  }
}
inline void storeMatrices(u32 address, u32 a, u32 b, u32 c, u32 d) {
  emulatedStoreMatrices<4>(address, {a, b, c, d});
}
inline void storeMatrices(u32 address, u32 a, u32 b) { emulatedStoreMatrices<2>(address, {a, b}); }

inline void hide(int&) {}
inline void hide(long long&) {}

// ---- Global memory ---------------------------------------------------------------------------

inline void storeIf(bool condition, void* to, const float (&x)[4]) {
  if (condition) __builtin_memcpy(to, x, sizeof x);
}
template <class T>
void storeIf(bool condition, T* to, u32 bits) {
  if (condition) __builtin_memcpy(to, &bits, sizeof(T));
}

// ---- Barriers --------------------------------------------------------------------------------

// A phase ends when all have arrived and no byte is awaited.
struct EmulatedBarrier {
  short pending, arrivals;
  int bytes : 31;
  u32 phase : 1;
  void endPhaseIfDone() {
    if (pending != 0 || bytes != 0) return;
    pending = arrivals;
    phase ^= 1;
  }
};
static_assert(sizeof(EmulatedBarrier) == 8);

inline void initBarrier(u32 barrier, u32 arrivals) {
  const auto count = static_cast<short>(arrivals);
  inShared<EmulatedBarrier>(barrier) = {count, count, 0, 0};
}
inline void arrive(u32 barrier) {
  auto& state = inShared<EmulatedBarrier>(barrier);
  if (state.pending == 0) camshaftThread.hooks->trap("more arrivals at a barrier than it awaits");
  --state.pending;
  state.endPhaseIfDone();
}
inline void arriveIf(bool condition, u32 barrier) {
  if (condition) arrive(barrier);
}
inline void expectBytes(u32 barrier, u32 bytes) {
  inShared<EmulatedBarrier>(barrier).bytes += static_cast<int>(bytes);
  arrive(barrier);
}
inline void emulatedComplete(u32 barrier, u32 bytes) {
  auto& state = inShared<EmulatedBarrier>(barrier);
  state.bytes -= static_cast<int>(bytes);
  if (state.bytes < 0) camshaftThread.hooks->trap("more bytes copied than a barrier awaits");
  state.endPhaseIfDone();
}
inline void wait(u32 barrier, u32 phase) {
  while (inShared<EmulatedBarrier>(barrier).phase == phase) emulatedYield();
}
inline void syncNamed(int number, int threads) { emulatedBarrierSync(number, threads); }
inline void arriveNamed(int number, int threads) { emulatedBarrierArrive(number, threads); }

// ---- Clusters --------------------------------------------------------------------------------

[[noreturn]] inline void emulatedCluster() {
  camshaftThread.hooks->trap("clusters of several blocks are not emulated");
}
inline u32 clusterRank() { return 0; }
inline void arriveCluster() {}
inline void waitCluster() {}
inline u32 inPeer(u32, u32) { emulatedCluster(); }
inline void arriveAtPeer(u32, u32) { emulatedCluster(); }
template <class T>
void storePeer(u32, T, T, u32) {
  emulatedCluster();
}

// ---- Copies ----------------------------------------------------------------------------------

// Where the swizzle puts what would be at an address: words of 16 bytes change places.
inline u32 emulatedSwizzle(u32 address, u32 lineBytes) {
  return lineBytes == 0 ? address : address ^ (address >> 7 & (lineBytes / 16 - 1)) << 4;
}

// Calls move(shared memory, global memory) for each element of a box, null where the tensor ends.
// Returns the box's bytes.
template <class Move>
u32 emulatedBox(u32 shared, const TensorMap& map, int x, int y, int z, Move move) {
  const auto& tensor = reinterpret_cast<const camshaft::emulator::TensorMap&>(map);
  u32 at = shared;
  for (u32 k = 0; k < tensor.box[2]; ++k)
    for (u32 j = 0; j < tensor.box[1]; ++j)
      for (u32 i = 0; i < tensor.box[0]; ++i, at += tensor.elementBytes) {
        const long long column = x + static_cast<int>(i), row = y + static_cast<int>(j),
                        matrix = z + static_cast<int>(k);
        const auto isInside = [&](long long index, int axis) {
          return index >= 0 && index < static_cast<long long>(tensor.sizes[axis]);
        };
        char* const global = static_cast<char*>(tensor.address) + column * tensor.elementBytes +
                             row * static_cast<long long>(tensor.strides[0]) +
                             matrix * static_cast<long long>(tensor.strides[1]);
        const bool exists = isInside(column, 0) && isInside(row, 1) && isInside(matrix, 2);
        move(emulatedShared(emulatedSwizzle(at, tensor.swizzleBytes)), exists ? global : nullptr,
             tensor.elementBytes);
      }
  return at - shared;
}
inline void copyBox(u32 to, const TensorMap& map, u32 barrier, int x, int y, int z) {
  const u32 bytes = emulatedBox(to, map, x, y, z, [](char* shared, const char* global, int size) {
    if (global)
      __builtin_memcpy(shared, global, size);
    else
      __builtin_memset(shared, 0, size);
  });
  emulatedComplete(barrier, bytes);
}
inline void copyBox(u32, const TensorMap&, u32, int, int, int, u16) { emulatedCluster(); }
inline void storeBoxIf(bool condition, const TensorMap& map, u32 from, int x, int y, int z) {
  if (!condition) return;
  emulatedBox(from, map, x, y, z, [](const char* shared, char* global, int size) {
    if (global) __builtin_memcpy(global, shared, size);
  });
}
inline void closeStores() {}
inline void waitStoresRead() {}
inline void waitStores() {}
inline void prefetchMap(const TensorMap&) {}

inline void copyPixels(u32 to, const TensorMap& map, u32 barrier, int c, int x, int y, int n,
                       u16 offsetX, u16 offsetY) {
  const auto& images = reinterpret_cast<const camshaft::emulator::TensorMap&>(map);
  const auto last = [&](int axis) {
    return static_cast<int>(images.sizes[axis]) - 1 + images.upper[axis - 1];
  };
  u32 at = to;
  for (u32 pixel = 0; pixel < images.box[1]; ++pixel) {
    for (u32 i = 0; i < images.box[0]; ++i, at += images.elementBytes) {
      const long long index[] = {c + static_cast<int>(i), x + offsetX, y + offsetY, n};
      const char* from = static_cast<const char*>(images.address);
      bool exists = true;
      for (int axis = 0; axis < 4; ++axis) {
        exists =
            exists && index[axis] >= 0 && index[axis] < static_cast<long long>(images.sizes[axis]);
        const long long stride =
            axis == 0 ? images.elementBytes : static_cast<long long>(images.strides[axis - 1]);
        from += index[axis] * stride;
      }
      char* const shared = emulatedShared(emulatedSwizzle(at, images.swizzleBytes));
      if (exists)
        __builtin_memcpy(shared, from, images.elementBytes);
      else
        __builtin_memset(shared, 0, images.elementBytes);
    }
    x += images.steps[0];
    if (x <= last(1)) continue;
    x = images.lower[0];
    y += images.steps[1];
    if (y <= last(2)) continue;
    y = images.lower[1];
    ++n;
  }
  emulatedComplete(barrier, at - to);
}
inline void copyPixels(u32, const TensorMap&, u32, int, int, int, int, u16, u16, u16) {
  emulatedCluster();
}

// ---- Matrix products -------------------------------------------------------------------------

template <int kRegisters>
void takeRegisters() {}
template <int kRegisters>
void leaveRegisters() {}
inline void fenceMultiply() {}
inline void commitMultiply() {}
template <int kPending>
void waitMultiply() {}

// Of f32 its leading bits are multiplied.
struct EmulatedTf32 {
  u32 bits;
};
inline float emulatedFactor(EmulatedTf32 x) { return __uint_as_float(x.bits & 0xffffe000u); }
inline int emulatedFactor(signed char x) { return x; }
inline int emulatedFactor(unsigned char x) { return x; }
template <class T>
float emulatedFactor(T x) {
  return toCompute(x);
}

// Element (line, depth) of an operand that is described as describe() of hopper.cuh does it.
template <class T, bool kAlongK>
auto emulatedOperand(u64 description, int line, int depth) {
  const u32 start = (description & 0x3fff) << 4, across = (description >> 16 & 0x3fff) << 4,
            next = (description >> 32 & 0x3fff) << 4;
  const u32 lineBytes = 256 >> (description >> 62);  // 1, 2, 3: lines of 128, 64, 32 bytes
  constexpr int kElement = sizeof(T);
  const u32 at =
      kAlongK ? line / 8 * next + line % 8 * lineBytes + depth * kElement
              : line / 64 * across + line % 64 * kElement + depth / 8 * next + depth % 8 * 128;
  // A description has the low 18 bits of an address, as shared memory has them.
  const u32 base = static_cast<u32>(reinterpret_cast<size_t>(camshaftThread.dynamicShared));
  const u32 address = base + ((start - base) & 0x3ffff) + at;
  return emulatedFactor(inShared<T>(emulatedSwizzle(address, lineBytes)));
}

// One thread's part of a wgmma: rows lane / 4 and the eighth after it of its warp's 16.
template <class A, class B, bool kAlongA, bool kAlongB, class Accumulator, int kCount>
void emulatedMultiply(Accumulator (&d)[kCount], u64 a, u64 b, int add) {
  constexpr int kDepth = 32 / sizeof(A);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  Accumulator rows[2][kDepth];
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < kDepth; ++k)
      rows[half][k] = emulatedOperand<A, kAlongA>(a, warp * 16 + half * 8 + lane / 4, k);
  for (int pair = 0; pair < kCount / 2; ++pair) {
    const int half = pair % 2;
    for (int i = 0; i < 2; ++i) {
      const int column = pair / 2 * 8 + lane % 4 * 2 + i;
      Accumulator sum = add ? d[pair * 2 + i] : 0;
      for (int k = 0; k < kDepth; ++k)
        sum += rows[half][k] * emulatedOperand<B, kAlongB>(b, column, k);
      d[pair * 2 + i] = sum;
    }
  }
}
