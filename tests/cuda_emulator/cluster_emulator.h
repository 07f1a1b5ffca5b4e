// Runs device code of attention on the host as part of a test, clusters of blocks included: every
// thread is a fiber, and the instructions of device/mma.cuh are whole-warp functions.
//
// Not one with emulator.h, which compiles whole kernels from text when they are launched and runs
// their blocks one after the other, each with the one shared memory that the compiled code names.
// The blocks of a cluster run at the same time and read one another's shared memory; here they are
// plain functions of the test that get theirs as an argument.
#pragma once

#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "support/half.h"

#define CAMSHAFT_EMULATOR
#define __device__
#define __forceinline__ inline

namespace emulated {

struct Index3 {
  int x = 0, y = 0, z = 0;
};

struct Block {
  Index3 index;
  std::unique_ptr<char, decltype(&std::free)> shared{nullptr, std::free};  // aligned to 1024
};

// Threads that wait for one another; a generation ends when all have come.
struct Meeting {
  int members = 0, present = 0, generation = 0;
};

struct Thread {
  Index3 index;
  Block* block = nullptr;
  Meeting *warpMeeting = nullptr, *blockMeeting = nullptr, *clusterMeeting = nullptr;
  uint64_t* slots = nullptr;  // 32 x 4, for what the lanes of a warp show one another
  std::vector<Block>* cluster = nullptr;
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool isDone = false;
  int lane() const { return index.x % 32; }
};

inline Thread* current = nullptr;
inline ucontext_t scheduler;
inline const std::function<void(char*)>* program = nullptr;

inline void meet(Meeting& meeting) {
  const int generation = meeting.generation;
  if (++meeting.present == meeting.members) {
    meeting.present = 0;
    ++meeting.generation;
    return;
  }
  while (meeting.generation == generation) {
    Thread* self = current;
    swapcontext(&self->context, &scheduler);
  }
}

inline void runFiber() {
  (*program)(current->block->shared.get());
  current->isDone = true;
  Thread* self = current;
  swapcontext(&self->context, &scheduler);
}

inline void prepare(Thread& fiber) {
  constexpr size_t kStack = 128 << 10;
  fiber.stack.reset(new char[kStack]);
  getcontext(&fiber.context);
  fiber.context.uc_stack = {fiber.stack.get(), 0, kStack};
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, runFiber, 0);
}

// One cluster of `blocks` blocks along x, from block `first` on.
inline void runCluster(Index3 first, int blocks, int threads, int sharedBytes,
                       const std::function<void(char*)>& kernel) {
  std::vector<Block> cluster(blocks);
  std::vector<Meeting> warps(blocks * threads / 32, Meeting{32}), perBlock(blocks, {threads});
  Meeting all{blocks * threads};
  std::vector<uint64_t> slots(blocks * threads * 4);
  std::vector<Thread> fibers(blocks * threads);
  program = &kernel;
  for (int b = 0; b < blocks; ++b) {
    cluster[b].index = {first.x + b, first.y, first.z};
    cluster[b].shared.reset(
        static_cast<char*>(std::aligned_alloc(1024, (sharedBytes + 1023) / 1024 * 1024)));
    std::memset(cluster[b].shared.get(), 0x7f, sharedBytes);  // NaN, seen when read unwritten
    for (int t = 0; t < threads; ++t) {
      const int id = b * threads + t;
      Thread& fiber = fibers[id];
      fiber.index = {t};
      fiber.block = &cluster[b];
      fiber.warpMeeting = &warps[id / 32];
      fiber.blockMeeting = &perBlock[b];
      fiber.clusterMeeting = &all;
      fiber.slots = &slots[id / 32 * 128];
      fiber.cluster = &cluster;
      prepare(fiber);
    }
  }
  for (bool isRunning = true; isRunning;) {
    isRunning = false;
    for (Thread& fiber : fibers) {
      if (fiber.isDone) continue;
      isRunning = true;
      current = &fiber;
      swapcontext(&scheduler, &fiber.context);
    }
  }
}

inline uint64_t* slotsOf(int lane) { return current->slots + 4 * lane; }

using SharedAddress = char*;
inline SharedAddress sharedAddress(const void* pointer) {
  return static_cast<char*>(const_cast<void*>(pointer));
}
inline void copyAsync(SharedAddress to, const void* from, bool isThere) {
  if (isThere)
    std::memcpy(to, from, 16);
  else
    std::memset(to, 0, 16);
}
inline void fetchRow(const void*, int) {}
inline void commitCopies() {}
template <int>
void waitForCopies() {}

template <bool isTransposed>
void loadMatricesAs(unsigned (&to)[4], SharedAddress address) {
  const int lane = current->lane();
  slotsOf(lane)[0] = reinterpret_cast<uint64_t>(address);
  meet(*current->warpMeeting);
  for (int m = 0; m < 4; ++m) {
    uint16_t pair[2];
    for (int i = 0; i < 2; ++i) {
      int row = lane / 4, column = lane % 4 * 2 + i;
      if (isTransposed) std::swap(row, column);
      std::memcpy(&pair[i], reinterpret_cast<char*>(slotsOf(m * 8 + row)[0]) + column * 2, 2);
    }
    std::memcpy(&to[m], pair, 4);
  }
  meet(*current->warpMeeting);
}
inline void loadMatrices(unsigned (&to)[4], SharedAddress address) {
  loadMatricesAs<false>(to, address);
}
inline void loadTransposed(unsigned (&to)[4], SharedAddress address) {
  loadMatricesAs<true>(to, address);
}

inline float fromLane(float value, int distance) {
  slotsOf(current->lane())[0] = std::bit_cast<uint32_t>(value);
  meet(*current->warpMeeting);
  const auto other = static_cast<uint32_t>(slotsOf(current->lane() ^ distance)[0]);
  meet(*current->warpMeeting);
  return std::bit_cast<float>(other);
}
inline bool anyLane(bool value) {
  slotsOf(current->lane())[0] = value;
  meet(*current->warpMeeting);
  bool any = false;
  for (int i = 0; i < 32; ++i) any |= slotsOf(i)[0] != 0;
  meet(*current->warpMeeting);
  return any;
}

inline void syncCluster() { meet(*current->clusterMeeting); }
inline float readFromBlock(const float* place, int rank) {
  const auto offset = reinterpret_cast<const char*>(place) - current->block->shared.get();
  float value;
  std::memcpy(&value, (*current->cluster)[rank].shared.get() + offset, 4);
  return value;
}
inline float exp2Fast(float x) { return std::exp2(x); }

}  // namespace emulated

#define threadIdx (emulated::current->index)
#define blockIdx (emulated::current->block->index)

inline float __int_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline void __syncthreads() { emulated::meet(*emulated::current->blockMeeting); }
inline void __syncwarp() { emulated::meet(*emulated::current->warpMeeting); }
inline float __shfl_xor_sync(unsigned, float value, int distance) {
  return emulated::fromLane(value, distance);
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const uint64_t bytes = low | static_cast<uint64_t>(high) << 32;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}

#include "backends/cuda/device/prelude.cuh"
#include "backends/cuda/device/bytes.cuh"

inline float halfToFloat(unsigned short bits) {
  return static_cast<float>(camshaft::Half::fromBits(bits));
}
inline unsigned short floatToHalf(float value) { return camshaft::Half(value).bits; }

namespace emulated {

inline void storeShared(SharedAddress to, const Vector<unsigned, 4>& words) {
  std::memcpy(to, &words, 16);
}
inline Vector<float, 4> readFourFromBlock(const float* place, int rank) {
  Vector<float, 4> values;
  for (int i = 0; i < 4; ++i) values.v[i] = readFromBlock(place + i, rank);
  return values;
}

template <class E>
float elementOf(uint64_t word, int index) {
  return toCompute(E{static_cast<uint16_t>(word >> (16 * index))});
}

// c += a b of a warp: lane 4 i + j has rows i and i + 8 of a, columns 2 j.. and 2 j + 8..; column
// i of b, rows 2 j.. and 2 j + 8..; rows i and i + 8 of c, columns 2 j and 2 j + 1.
template <class E>
void multiply(E, float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const int lane = current->lane();
  uint64_t* own = slotsOf(lane);
  own[0] = a[0] | static_cast<uint64_t>(a[1]) << 32;
  own[1] = a[2] | static_cast<uint64_t>(a[3]) << 32;
  own[2] = b0 | static_cast<uint64_t>(b1) << 32;
  meet(*current->warpMeeting);
  for (int i = 0; i < 4; ++i) {
    const int column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 16; ++k)
      c[i] += elementOf<E>(slotsOf(lane / 4 * 4 + k % 8 / 2)[k / 8], i / 2 * 2 + k % 2) *
              elementOf<E>(slotsOf(column * 4 + k % 8 / 2)[2], k / 8 * 2 + k % 2);
  }
  meet(*current->warpMeeting);
}

// The products of warpgroups: b lies in shared memory, rows of 128 bytes with exchanged words.
inline void beginProducts() {}
inline void endProducts() {}
inline void waitForProducts() {}
template <bool kRowsAreDepth, class E>
void multiplyTogether(E, float (*c)[4], const unsigned (&a)[4], SharedAddress b, bool adds) {
  const int lane = current->lane();
  for (int i = 0; i < 4; ++i) slotsOf(lane)[i] = a[i];
  meet(*current->warpMeeting);
  for (int n = 0; n < 8; ++n)
    for (int i = 0; i < 4; ++i) {
      const int column = n * 8 + lane % 4 * 2 + i % 2;
      float sum = adds ? c[n][i] : 0;
      for (int k = 0; k < 16; ++k) {
        auto place = reinterpret_cast<uintptr_t>(
            b + (kRowsAreDepth ? k * 128 + column * 2 : column * 128 + k * 2));
        place ^= (place >> 7 & 7) << 4;
        const uint64_t pair = slotsOf(lane / 4 * 4 + k % 8 / 2)[i / 2 + k / 8 * 2];
        sum += elementOf<E>(pair, k % 2) * toCompute(*reinterpret_cast<const E*>(place));
      }
      c[n][i] = sum;
    }
  meet(*current->warpMeeting);
}

template <class E>
unsigned packed(E, float low, float high) {
  return toStorage<E>(low).bits | static_cast<unsigned>(toStorage<E>(high).bits) << 16;
}
template <class E>
unsigned addPairs(E, unsigned a, unsigned b) {
  return packed(E{}, elementOf<E>(a, 0) + elementOf<E>(b, 0),
                elementOf<E>(a, 1) + elementOf<E>(b, 1));
}

}  // namespace emulated
