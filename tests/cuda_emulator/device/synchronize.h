// Barriers, warp collectives and whatever else needs the other threads of the block.
#pragma once

inline void __syncthreads() { camshaftThread.hooks->barrier(0, 0, 0); }
inline int __syncthreads_count(int predicate) {
  return static_cast<int>(camshaftThread.hooks->barrier(0, 0, predicate != 0));
}
inline int __syncthreads_and(int predicate) {
  return camshaftThread.hooks->barrier(0, 0, predicate == 0) == 0;
}
inline int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0; }

// bar.sync and bar.arrive, for sources that spell them in PTX on the GPU. 0 threads: all.
inline void emulatedBarrierSync(unsigned id, unsigned threads = 0) {
  camshaftThread.hooks->barrier(id, threads, 0);
}
inline void emulatedBarrierArrive(unsigned id, unsigned threads) {
  camshaftThread.hooks->arrive(id, threads);
}
// To be called in every turn of a loop that waits for another thread of the block.
inline void emulatedYield() { camshaftThread.hooks->yield(); }
inline void __nanosleep(unsigned) { emulatedYield(); }

[[noreturn]] inline void __trap() { camshaftThread.hooks->trap("__trap() was called"); }
inline void __brkpt() { camshaftThread.hooks->trap("__brkpt() was called"); }
#define CAMSHAFT_TEXT2(text) #text
#define CAMSHAFT_TEXT(text) CAMSHAFT_TEXT2(text)
#define assert(condition)                    \
  ((condition) ? (void)0                     \
               : camshaftThread.hooks->trap( \
                     "assertion failed at line " CAMSHAFT_TEXT(__LINE__) ": " #condition))

namespace camshaft::emulator {

inline unsigned laneIndex() { return camshaftThread.linearThread % 32; }

inline WarpResult vote(unsigned mask, bool predicate) {
  return camshaftThread.hooks->exchange(mask, predicate, 0, nullptr);
}

// The value that `source` holds, for any T of up to 8 bytes.
template <class T>
T shuffle(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8);
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = camshaftThread.hooks->exchange(mask, bits, source, nullptr).value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T, class Combine>
T reduce(unsigned mask, T value, Combine combine) {
  unsigned long long all[32];
  const unsigned active =
      camshaftThread.hooks->exchange(mask, static_cast<unsigned>(value), 0, all).active;
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(active >> lane & 1u)) continue;
    const T other = static_cast<T>(all[lane]);
    value = first ? other : combine(value, other);
    first = false;
  }
  return value;
}

}  // namespace camshaft::emulator

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) { camshaft::emulator::vote(mask, false); }
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return camshaft::emulator::vote(mask, predicate != 0).ballot;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
// The lanes that have not ended: right as long as the warp has not branched apart.
inline unsigned __activemask() { return camshaftThread.hooks->liveLanes(); }

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  const unsigned first = camshaft::emulator::laneIndex() & ~(width - 1u);
  return camshaft::emulator::shuffle(mask, value, first + (lane & (width - 1u)));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = 32) {
  const unsigned lane = camshaft::emulator::laneIndex();
  const unsigned source = lane ^ static_cast<unsigned>(laneMask);
  // A lane may read from a group before its own, not from one after it.
  const bool inside = source < (lane & ~(width - 1u)) + width;
  return camshaft::emulator::shuffle(mask, value, inside ? source : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = camshaft::emulator::laneIndex();
  const bool inside = (lane & (width - 1u)) >= delta;
  return camshaft::emulator::shuffle(mask, value, inside ? lane - delta : lane);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = camshaft::emulator::laneIndex();
  const bool inside = (lane & (width - 1u)) + delta < static_cast<unsigned>(width);
  return camshaft::emulator::shuffle(mask, value, inside ? lane + delta : lane);
}

#define CAMSHAFT_REDUCE(name, type, expression)                                           \
  inline type name(unsigned mask, type value) {                                           \
    return camshaft::emulator::reduce(mask, value,                                        \
                                      [](type a, type b) -> type { return expression; }); \
  }
CAMSHAFT_REDUCE(__reduce_add_sync, unsigned, a + b)
CAMSHAFT_REDUCE(__reduce_add_sync, int, a + b)
CAMSHAFT_REDUCE(__reduce_min_sync, unsigned, min(a, b))
CAMSHAFT_REDUCE(__reduce_min_sync, int, min(a, b))
CAMSHAFT_REDUCE(__reduce_max_sync, unsigned, max(a, b))
CAMSHAFT_REDUCE(__reduce_max_sync, int, max(a, b))
CAMSHAFT_REDUCE(__reduce_and_sync, unsigned, a& b)
CAMSHAFT_REDUCE(__reduce_or_sync, unsigned, a | b)
CAMSHAFT_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CAMSHAFT_REDUCE

template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  unsigned long long all[32];
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  const unsigned active = camshaftThread.hooks->exchange(mask, bits, 0, all).active;
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((active >> lane & 1u) && all[lane] == bits) same |= 1u << lane;
  }
  return same;
}
