// The CUDA driver, opened when it is first needed: nothing links to it.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

namespace camshaft::cuda {

// Functions this backend calls. The header's macros add the version suffixes.
// clang-format off
#define CAMSHAFT_CUDA_DRIVER_FUNCTIONS(X)                                                         \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorString) X(cuGetErrorName)                           \
  X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetAttribute)                   \
  X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuCtxGetCurrent)           \
  X(cuCtxGetDevice) X(cuCtxCreate) X(cuCtxPushCurrent) X(cuCtxPopCurrent)                         \
  X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemGetInfo)                   \
  X(cuPointerGetAttribute)                                                                        \
  X(cuMemcpyAsync) X(cuMemsetD8Async)                                                             \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamIsCapturing)              \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuThreadExchangeStreamCaptureMode)              \
  X(cuStreamGetCaptureInfo) X(cuStreamUpdateCaptureDependencies) X(cuStreamWaitEvent)             \
  X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphDestroy) X(cuGraphExecDestroy)         \
  X(cuGraphCreate) X(cuGraphAddNode) X(cuGraphGetNodes) X(cuGraphGetEdges) X(cuGraphNodeGetType)  \
  X(cuGraphKernelNodeGetParams) X(cuGraphMemcpyNodeGetParams) X(cuGraphMemsetNodeGetParams)       \
  X(cuGraphKernelNodeGetAttribute) X(cuGraphKernelNodeSetAttribute)                               \
  X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventElapsedTime)                       \
  X(cuLibraryLoadData) X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuKernelGetFunction)            \
  X(cuKernelSetAttribute) X(cuKernelGetParamInfo) X(cuFuncGetAttribute) X(cuFuncSetAttribute)     \
  X(cuLaunchKernelEx) X(cuTensorMapEncodeTiled) X(cuTensorMapEncodeIm2col)                         \
  X(cuOccupancyMaxActiveClusters)
// clang-format on

struct Driver {
#define CAMSHAFT_MEMBER(name) decltype(&::name) name = nullptr;
  CAMSHAFT_CUDA_DRIVER_FUNCTIONS(CAMSHAFT_MEMBER)
#undef CAMSHAFT_MEMBER
};

inline constexpr const char* kDriverNames[] = {"libcuda.so.1"};

// Throws Error saying what is missing when there is no driver, or one too old.
const Driver& driver();
// For tests: this one instead of the machine's; null: the machine's again.
void replaceDriver(const Driver* replacement);

// Throws Error with the driver's words when `result` is not success; `what` continues "could not".
void check(CUresult result, std::string_view what);

}  // namespace camshaft::cuda
