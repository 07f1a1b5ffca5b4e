// Run half: workspace planned for one number of threads, used with another.
#pragma once

#include <cstdint>

#include "backend/launch.h"
#include "support/error.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

// While it lives, the step uses as many of its threads as the planned workspace has room for.
// Throws when there is none for even one.
class WorkersWithin {
 public:
  template <class FloatsFor>
  WorkersWithin(const LaunchArgs& args, FloatsFor floatsFor)
      : limit_(*args.threads, fitting(args, floatsFor)) {}

 private:
  template <class FloatsFor>
  static int fitting(const LaunchArgs& args, FloatsFor floatsFor) {
    int threads = args.threads->threads();
    while (threads > 0 &&
           static_cast<int64_t>(floatsFor(threads) * sizeof(float)) > args.workspaceBytes)
      --threads;
    if (threads == 0)
      fail(ErrorKind::kInvalidEngine, "the engine plans less workspace than its kernels need");
    return threads;
  }

  ThreadPool::Limit limit_;
};

inline float* workspaceFloats(const LaunchArgs& args) {
  return reinterpret_cast<float*>(args.workspace);
}

}  // namespace camshaft::cpu
