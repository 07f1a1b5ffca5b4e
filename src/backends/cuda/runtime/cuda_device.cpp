#include "backends/cuda/runtime/cuda_device.h"

#include <memory>
#include <vector>

#include "backends/cuda/runtime/graph_builder.h"
#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/queue.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }
CUstream asStream(void* stream) { return static_cast<CUstream>(stream); }

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device), "ask the GPU for its properties");
  return value;
}

BuildTarget describeTarget(CUdevice device) {
  char name[256] = "";
  check(driver().cuDeviceGetName(name, sizeof name, device), "ask the GPU for its name");
  int version = 0;
  driver().cuDriverGetVersion(&version);
  BuildTarget target;
  target.computeCapability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) +
                             attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  target.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  target.sharedBytesPerBlock =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  target.name = str(name, ", sm_", target.computeCapability, ", ", target.multiprocessors,
                    " SMs, CUDA ", version / 1000, ".", version % 1000 / 10);
  return target;
}

}  // namespace

CudaDevice::CudaDevice(int ordinal) {
  check(driver().cuDeviceGet(&device_, ordinal), str("open GPU ", ordinal));
  target_ = describeTarget(device_);
  reachesHostMemory_ = attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device_) != 0;
  check(driver().cuDevicePrimaryCtxRetain(&context_, device_), str("start GPU ", ordinal));
}

void CudaDevice::makeCurrent() {
  CUcontext current = nullptr;
  driver().cuCtxGetCurrent(&current);
  if (current != context_) check(driver().cuCtxSetCurrent(context_), "switch to the GPU");
}

// Allocations of ours are no part of what another thread may be capturing, so they need not be
// refused for it, nor break it.
void* CudaDevice::allocate(int64_t bytes) {
  const RelaxedCapture relaxed;
  CUdeviceptr memory = 0;
  const CUresult result = driver().cuMemAlloc(&memory, static_cast<size_t>(bytes));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t available = 0, total = 0;
    driver().cuMemGetInfo(&available, &total);
    fail(ErrorKind::kOutOfMemory, "could not allocate ", bytes >> 20, " MiB on ", target_.name,
         ": ", available >> 20, " of ", total >> 20, " MiB are free");
  }
  check(result, "allocate GPU memory");
  return reinterpret_cast<void*>(memory);
}

int64_t CudaDevice::freeBytes() {
  size_t available = 0, total = 0;
  check(driver().cuMemGetInfo(&available, &total), "ask for the GPU's free memory");
  return static_cast<int64_t>(available);
}

void CudaDevice::release(void* memory) noexcept {
  const RelaxedCapture relaxed;
  driver().cuMemFree(address(memory));
}

void* CudaDevice::allocateHost(int64_t bytes) {
  const RelaxedCapture relaxed;
  void* memory = nullptr;
  check(driver().cuMemHostAlloc(&memory, static_cast<size_t>(bytes), CU_MEMHOSTALLOC_PORTABLE),
        str("allocate ", bytes >> 20, " MiB of pinned host memory"));
  return memory;
}

void CudaDevice::releaseHost(void* memory) noexcept {
  const RelaxedCapture relaxed;
  driver().cuMemFreeHost(memory);
}

bool CudaDevice::canReach(const void* memory) {
  CUmemorytype type{};
  return reachesHostMemory_ ||
         driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(memory)) !=
             CUDA_ERROR_INVALID_VALUE;
}

void* CudaDevice::createStream() {
  CUstream stream = nullptr;
  check(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "create a CUDA stream");
  return stream;
}

void CudaDevice::destroyStream(void* stream) noexcept {
  driver().cuStreamDestroy(asStream(stream));
}

void CudaDevice::copy(void* to, const void* from, int64_t bytes, void* stream) {
  queueCopy(to, from, static_cast<size_t>(bytes), stream);
}

void CudaDevice::synchronize(void* stream) {
  check(driver().cuStreamSynchronize(asStream(stream)), "finish work on the GPU");
}

bool CudaDevice::isRecording(void* stream) {
  if (GraphBuilder::of(stream)) return true;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // The legacy stream says so by an error when another stream is being captured.
  if (driver().cuStreamIsCapturing(asStream(stream), &status) != CUDA_SUCCESS) return false;
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::unique_ptr<Recording> CudaDevice::record(void* stream, const std::function<void()>& enqueue) {
  const RelaxedCapture relaxed;
  GraphBuilder graph;
  {
    const GraphBuilder::Recording recording(graph, stream);
    enqueue();
  }
  return graph.finish();
}

std::unique_ptr<Recording> CudaDevice::recordBranches(void* stream,
                                                      const std::vector<std::vector<size_t>>& after,
                                                      const std::function<void(size_t)>& enqueue) {
  return record(stream, [&] {
    GraphBuilder& graph = *GraphBuilder::of(stream);
    std::vector<GraphPoint> ends;  // of the pieces so far
    for (const std::vector<size_t>& waited : after) {
      GraphPoint begin;
      for (size_t piece : waited) begin.add(ends[piece]);
      graph.continueFrom(std::move(begin));
      enqueue(ends.size());
      ends.push_back(graph.point());
    }
  });
}

void CudaDevice::signal(void* event, void* stream) {
  check(driver().cuEventRecord(static_cast<CUevent>(event), asStream(stream)), "record an event");
}

std::shared_ptr<void> CudaDevice::mark(void* stream) {
  CUevent event = nullptr;
  check(driver().cuEventCreate(&event, CU_EVENT_DEFAULT), "create an event");
  std::shared_ptr<void> owner(event,
                              [](void* e) { driver().cuEventDestroy(static_cast<CUevent>(e)); });
  signal(event, stream);
  return owner;
}

double CudaDevice::millisecondsBetween(const void* begin, const void* end) {
  float milliseconds = 0;
  check(driver().cuEventElapsedTime(&milliseconds, static_cast<CUevent>(const_cast<void*>(begin)),
                                    static_cast<CUevent>(const_cast<void*>(end))),
        "read the time between two events");
  return milliseconds;
}

std::string describeGpu(int ordinal) {
  CUdevice device = 0;
  check(driver().cuDeviceGet(&device, ordinal), str("open GPU ", ordinal));
  size_t bytes = 0;
  check(driver().cuDeviceTotalMem(&bytes, device), "ask the GPU for its memory");
  return str(describeTarget(device).name, ", ", bytes >> 20, " MiB");
}

CudaDevice& currentDevice() {
  // Never destroyed: contexts outlive us, and threads may run while the process ends.
  static auto& mutex = *new std::mutex;
  static auto& devices = *new std::vector<std::unique_ptr<CudaDevice>>;
  CUdevice ordinal = 0;
  CUcontext context = nullptr;
  driver().cuCtxGetCurrent(&context);
  if (context) check(driver().cuCtxGetDevice(&ordinal), "ask for the current GPU");
  const std::lock_guard lock(mutex);
  int count = 0;
  check(driver().cuDeviceGetCount(&count), "count the GPUs");
  if (count == 0)
    fail(ErrorKind::kUnsupported,
         "the CUDA driver is here but shows no GPU to this process; check "
         "nvidia-smi and CUDA_VISIBLE_DEVICES");
  devices.resize(static_cast<size_t>(count));
  std::unique_ptr<CudaDevice>& device = devices[static_cast<size_t>(ordinal)];
  if (!device) device = std::make_unique<CudaDevice>(ordinal);
  return *device;
}

}  // namespace camshaft::cuda
