// cuDNN's plans as engines store them.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include "backends/cuda/runtime/libraries/cudnn_plan.h"

namespace camshaft {
class ByteReader;
class ByteWriter;
}  // namespace camshaft

namespace camshaft::cuda {

// The plan is kept for a while, for the readers in this process: a tuner builds plans to run them.
void writeStoredPlan(ByteWriter& writer, std::shared_ptr<const CudnnPlan> plan);
// Those that were kept are loaded after all; for checks of loading.
void forgetWrittenPlans();

// A plan that is being loaded, or was. Equal plans of a device are loaded once, while any is alive.
class StoredPlan {
 public:
  // Starts loading on another thread, for the calling thread's device: an engine's plans load side
  // by side, and the first run finds them there.
  static StoredPlan read(ByteReader& reader);

  // Waits for it. Null where it cannot be used: it is another version's or another device's, or
  // needs more than the workspace.
  std::shared_ptr<const CudnnPlan> get(int64_t workspaceBytes) const;

 private:
  using Loading = std::shared_future<std::shared_ptr<const CudnnPlan>>;
  std::shared_ptr<const Loading> loading_;  // null: it was not even tried
};

}  // namespace camshaft::cuda
