// What the emulator and the code it compiles agree on. Plain data, no includes: both sides read it.
#pragma once

namespace camshaft::emulator {

// What a lane gets out of a warp collective.
struct WarpResult {
  unsigned long long value;  // of the lane it asked for; all ones when that lane took no part
  unsigned ballot;           // the lanes whose value was not zero
  unsigned active;           // the lanes that took part
};

// How a running thread reaches the scheduler. A hook may switch to other threads before it returns.
struct Hooks {
  // Waits until `threads` threads (0: all that still run) are at barrier `id`; returns how many of
  // them came with `predicate` set.
  unsigned (*barrier)(unsigned id, unsigned threads, int predicate);
  // Counts at the barrier without waiting.
  void (*arrive)(unsigned id, unsigned threads);
  // Waits for the lanes of `mask` that still run. `all` (32 values) may be null.
  WarpResult (*exchange)(unsigned mask, unsigned long long value, unsigned sourceLane,
                         unsigned long long* all);
  // The lanes of this warp that still run.
  unsigned (*liveLanes)();
  // Lets the other threads of the block run.
  void (*yield)();
  // Ends the launch with an error that names this thread.
  __attribute__((noreturn)) void (*trap)(const char* reason);
};

struct ThreadState {
  unsigned thread[3];
  unsigned block[3];
  unsigned blockSize[3];
  unsigned gridSize[3];
  unsigned linearThread;
  void* dynamicShared;
  const Hooks* hooks;
};

// What the emulated driver writes into a CUtensorMap (128 bytes), for device code that emulates
// copies of tiles, or of pixels: then a box has channels and pixels, which are counted in steps
// through the corners of x and y. Strides are in bytes, of the axes from 1 on.
struct TensorMap {
  void* address;
  unsigned long long sizes[5];
  unsigned long long strides[4];
  unsigned box[5];
  unsigned char rank, elementBytes, swizzleBytes;
  unsigned char steps[2];
  int lower[2], upper[2];
};

// One kernel of a module. The table of a module ends with a null name.
struct EntryPoint {
  const char* name;
  void (*invoke)(void** parameters);
  unsigned parameterCount;
  const unsigned* parameterSizes;
};

}  // namespace camshaft::emulator
