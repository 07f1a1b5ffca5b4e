// Read by g++ before every emulated source: makes CUDA C++ words mean something on the host.
// Light on purpose (no standard headers), since every generated kernel pays for it.
#pragma once

#include "interface.h"

using size_t = decltype(sizeof(0));

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(condition) ((void)0)
#define __assume(condition) ((void)0)
// A block runs on one host thread, so thread-local storage is the block's storage. The emulator
// fills all of it with NaN bits when a block starts.
#define __shared__ thread_local

// The only thread-local variable that is not shared memory.
static thread_local camshaft::emulator::ThreadState camshaftThread;

#include "vector_types.h"
#define threadIdx (reinterpret_cast<const uint3&>(camshaftThread.thread))
#define blockIdx (reinterpret_cast<const uint3&>(camshaftThread.block))
#define blockDim (reinterpret_cast<const dim3&>(camshaftThread.blockSize))
#define gridDim (reinterpret_cast<const dim3&>(camshaftThread.gridSize))
#define warpSize 32

#include "math.h"
#include "intrinsics.h"
#include "narrow_floats.h"
#include "standard.h"
#include "atomics.h"
#include "synchronize.h"
#include "entry_points.h"
