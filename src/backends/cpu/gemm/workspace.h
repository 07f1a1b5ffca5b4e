// Run half: workspace planned for one number of threads, used with another.
#pragma once

#include <cstdint>

#include "backend/launch.h"
#include "support/error.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

// The step's threads, or the calling thread alone when `floatsFor(threads)` is more than the
// workspace that was planned. Throws when even one thread needs more.
template <class FloatsFor>
ThreadPool& threadsWithin(const LaunchArgs& args, FloatsFor floatsFor) {
  const auto fits = [&](int threads) {
    return static_cast<int64_t>(floatsFor(threads) * sizeof(float)) <= args.workspaceBytes;
  };
  if (fits(args.threads->threads())) return *args.threads;
  if (!fits(1)) fail(ErrorKind::kInvalidEngine, "the engine plans less workspace than its kernels need");
  static thread_local ThreadPool callingThread(1);
  return callingThread;
}

inline float* workspaceFloats(const LaunchArgs& args) { return reinterpret_cast<float*>(args.workspace); }

}  // namespace camshaft::cpu
