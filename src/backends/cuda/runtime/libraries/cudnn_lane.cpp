#include "backends/cuda/runtime/libraries/cudnn_lane.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "backends/cuda/runtime/capture_point.h"
#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/libraries/cudnn.h"

namespace camshaft::cuda {
namespace {

// Which capture the stream takes part in; 0: none. The legacy stream takes part in none.
cuuint64_t captureOf(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  const CUresult result =
      driver().cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr);
  return result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? id : 0;
}

void waitFor(CUstream waiting, CUstream awaited, CUevent event) {
  check(driver().cuEventRecord(event, awaited), "record an event");
  check(driver().cuStreamWaitEvent(waiting, event, 0), "wait for an event");
}

}  // namespace

struct CudnnLane::Pool {
  std::mutex mutex;
  std::unordered_map<CUcontext, std::vector<Parts>> idle;
};

CudnnLane::Pool& CudnnLane::pool() {
  static Pool* const instance = new Pool;  // streams and handles outlive everything
  return *instance;
}

CudnnLane::Parts CudnnLane::makeParts() {
  Parts parts;
  check(driver().cuStreamCreate(&parts.stream, CU_STREAM_NON_BLOCKING), "create a CUDA stream");
  for (CUevent* event : {&parts.begin, &parts.end})
    check(driver().cuEventCreate(event, CU_EVENT_DISABLE_TIMING), "create an event");
  cudnn().check(cudnn().create(&parts.handle), "creating a handle");
  cudnn().check(cudnn().setStream(parts.handle, reinterpret_cast<cudaStream_t>(parts.stream)),
                "taking a stream");
  return parts;
}

void CudnnLane::keepOneReady() {
  const CUcontext context = currentContext();
  {
    const std::lock_guard lock(pool().mutex);
    if (!pool().idle[context].empty()) return;
  }
  const Parts parts = makeParts();
  const std::lock_guard lock(pool().mutex);
  pool().idle[context].push_back(parts);
}

CudnnLane::CudnnLane(CUstream caller) : context_(currentContext()), caller_(caller) {
  const RelaxedCapture relaxed;  // a lane may have to be made
  const cuuint64_t capture = captureOf(caller);
  {
    const std::lock_guard lock(pool().mutex);
    std::vector<Parts>& idle = pool().idle[context_];
    // A lane stays in the capture that it was part of until that ends.
    const auto usable = std::find_if(idle.begin(), idle.end(), [&](const Parts& parts) {
      const cuuint64_t own = captureOf(parts.stream);
      return own == 0 || own == capture;
    });
    if (usable != idle.end()) {
      parts_ = *usable;
      idle.erase(usable);
    }
  }
  if (!parts_.handle) parts_ = makeParts();
  waitFor(parts_.stream, caller_, parts_.begin);
  if (capture) CapturePoint::reachedOn(caller_).continueFrom(parts_.stream);
}

void CudnnLane::join() const {
  waitFor(caller_, parts_.stream, parts_.end);
  if (!captureOf(caller_)) return;
  CapturePoint::reachedOn(parts_.stream).continueFrom(caller_);
  CapturePoint().continueFrom(parts_.stream);  // nothing of this lane is left to be waited for
}

CudnnLane::~CudnnLane() {
  const std::lock_guard lock(pool().mutex);
  pool().idle[context_].push_back(parts_);
}

}  // namespace camshaft::cuda
