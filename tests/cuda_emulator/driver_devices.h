// Emulated driver functions about the driver, the device, its context and memory.
#pragma once

#include <algorithm>
#include <cstdio>

#include "cuda_emulator/driver_state.h"

namespace camshaft::emulator {

struct DeviceFunctions {
  static CUresult cuInit(unsigned) {
    return callDriver("cuInit", "", [](DriverState&) { return CUDA_SUCCESS; });
  }
  static CUresult cuDriverGetVersion(int* version) {
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
  }
  static CUresult cuGetErrorString(CUresult error, const char** text) {
    static thread_local std::string words;
    const bool isKernelFailure = error == CUDA_ERROR_LAUNCH_FAILED && activeDriver;
    words = isKernelFailure ? activeDriver->lastFailure
                            : "emulated driver error " + std::to_string(error);
    *text = error == CUDA_SUCCESS               ? "no error"
            : error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
                                                : words.c_str();
    return CUDA_SUCCESS;
  }
  static CUresult cuGetErrorName(CUresult error, const char** text) {
    static thread_local std::string name;
    name = "CUDA_ERROR_" + std::to_string(error);
    *text = name.c_str();
    return CUDA_SUCCESS;
  }

  static CUresult cuDeviceGetCount(int* count) {
    return callDriver("cuDeviceGetCount", "", [&](DriverState&) {
      *count = 1;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return callDriver("cuDeviceGet", std::to_string(ordinal), [&](DriverState&) {
      *device = 0;
      return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    });
  }
  static CUresult cuDeviceGetName(char* name, int length, CUdevice) {
    return callDriver("cuDeviceGetName", "", [&](DriverState&) {
      std::snprintf(name, static_cast<size_t>(length), "emulated GPU");
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    return callDriver("cuDeviceGetAttribute", std::to_string(attribute), [&](DriverState& state) {
      const auto found = state.attributes.find(attribute);
      if (found == state.attributes.end()) return CUDA_ERROR_INVALID_VALUE;
      *value = found->second;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) {
    return callDriver("cuDeviceTotalMem", "", [&](DriverState& state) {
      *bytes = state.totalMemory;
      return CUDA_SUCCESS;
    });
  }

  static CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    return callDriver("cuDevicePrimaryCtxRetain", "", [&](DriverState&) {
      *context = &primaryContext;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuDevicePrimaryCtxRelease(CUdevice) {
    return callDriver("cuDevicePrimaryCtxRelease", "", [](DriverState&) { return CUDA_SUCCESS; });
  }
  static CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned, CUdevice) {
    return callDriver("cuCtxCreate", "", [&](DriverState&) {
      *context = &otherContexts.emplace_back();
      contextStack.push_back(*context);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxPushCurrent(CUcontext context) {
    return callDriver("cuCtxPushCurrent", "", [&](DriverState&) {
      contextStack.push_back(context);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxPopCurrent(CUcontext* context) {
    return callInContext("cuCtxPopCurrent", "", [&](DriverState&) {
      *context = contextStack.back();
      contextStack.pop_back();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxSetCurrent(CUcontext context) {
    return callDriver("cuCtxSetCurrent", "", [&](DriverState&) {
      if (!contextStack.empty()) contextStack.pop_back();
      if (context) contextStack.push_back(context);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxGetCurrent(CUcontext* context) {
    return callDriver("cuCtxGetCurrent", "", [&](DriverState&) {
      *context = currentContext();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxGetDevice(CUdevice* device) {
    return callInContext("cuCtxGetDevice", "", [&](DriverState&) {
      *device = 0;
      return CUDA_SUCCESS;
    });
  }
  // As the driver has it, whatever the mode of the capture: it fails, and the capture too.
  static CUresult cuCtxSynchronize() {
    return callInContext("cuCtxSynchronize", "", [](DriverState& state) {
      bool isCaptured = false;
      state.streams.forEach([&](CUstream_st& stream) {
        if (!stream.isCapturing || stream.context != currentContext()) return;
        isCaptured = stream.isInvalidated = true;
      });
      return isCaptured ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
    });
  }
};

struct MemoryFunctions {
  static CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
    return callInContext("cuMemAlloc", bytesText(bytes), [&](DriverState& state) {
      if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
      if (state.isCaptureHarmed()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      if (state.usedMemory + bytes > state.totalMemory) return CUDA_ERROR_OUT_OF_MEMORY;
      *address = reinterpret_cast<CUdeviceptr>(allocate(bytes));
      state.usedMemory += bytes;
      state.deviceMemory[*address] = {bytes, currentContext()};
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuMemFree(CUdeviceptr address) {
    return callInContext("cuMemFree", "", [&](DriverState& state) {
      if (address == 0) return CUDA_SUCCESS;
      const auto found = state.deviceMemory.find(address);
      if (found == state.deviceMemory.end()) return CUDA_ERROR_INVALID_VALUE;
      if (state.isCaptureHarmed()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      state.usedMemory -= found->second.bytes;
      state.deviceMemory.erase(found);
      release(reinterpret_cast<void*>(address));
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuMemGetInfo(size_t* available, size_t* total) {
    return callInContext("cuMemGetInfo", "", [&](DriverState& state) {
      *available = state.totalMemory - std::min(state.usedMemory, state.totalMemory);
      *total = state.totalMemory;
      return CUDA_SUCCESS;
    });
  }
  // Of all attributes, where the memory is and whose.
  static CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which,
                                        CUdeviceptr address) {
    return callDriver("cuPointerGetAttribute", "", [&](DriverState& state) {
      const auto isIn = [&](CUdeviceptr begin, size_t bytes) {
        return address >= begin && address - begin < bytes;
      };
      const auto answer = [&](CUmemorytype type, CUcontext context) {
        if (which == CU_POINTER_ATTRIBUTE_CONTEXT)
          *static_cast<CUcontext*>(data) = context;
        else
          *static_cast<CUmemorytype*>(data) = type;
        return CUDA_SUCCESS;
      };
      if (which != CU_POINTER_ATTRIBUTE_MEMORY_TYPE && which != CU_POINTER_ATTRIBUTE_CONTEXT)
        return CUDA_ERROR_NOT_SUPPORTED;
      for (const auto& [begin, memory] : state.deviceMemory)
        if (isIn(begin, memory.bytes)) return answer(CU_MEMORYTYPE_DEVICE, memory.context);
      for (const auto& [begin, bytes] : state.hostMemory)
        if (isIn(reinterpret_cast<CUdeviceptr>(begin), bytes))
          return answer(CU_MEMORYTYPE_HOST, &primaryContext);
      return CUDA_ERROR_INVALID_VALUE;
    });
  }
  static CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
    return callInContext("cuMemHostAlloc", bytesText(bytes), [&](DriverState& state) {
      if (state.isCaptureHarmed()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      *address = allocate(bytes);  // guarded like device memory
      state.hostMemory[*address] = bytes;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuMemFreeHost(void* address) {
    return callInContext("cuMemFreeHost", "", [&](DriverState& state) {
      if (state.hostMemory.erase(address) == 0) return CUDA_ERROR_INVALID_VALUE;
      release(address);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CUDA_MEMCPY3D params = {};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    params.srcDevice = from;
    params.dstDevice = to;
    params.srcPitch = params.dstPitch = params.WidthInBytes = bytes;
    params.Height = params.Depth = 1;
    return enqueue(stream, "cuMemcpyAsync", bytesText(bytes), copying(params),
                   [&](CUgraphNode_st& node) {
                     node.type = CU_GRAPH_NODE_TYPE_MEMCPY;
                     node.copy = params;
                   });
  }
  static CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                                  CUstream stream) {
    const CUDA_MEMSET_NODE_PARAMS params{
        .dst = to, .value = value, .elementSize = 1, .width = bytes, .height = 1};
    return enqueue(stream, "cuMemsetD8Async", bytesText(bytes), filling(params),
                   [&](CUgraphNode_st& node) {
                     node.type = CU_GRAPH_NODE_TYPE_MEMSET;
                     node.filling = params;
                   });
  }

  static CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
    return callDriver("cuGraphMemcpyNodeGetParams", "", [&](DriverState&) {
      *params = node->copy;
      return node->type == CU_GRAPH_NODE_TYPE_MEMCPY ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
  }
  static CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
    return callDriver("cuGraphMemsetNodeGetParams", "", [&](DriverState&) {
      *params = node->filling;
      return node->type == CU_GRAPH_NODE_TYPE_MEMSET ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
  }

 protected:
  // Of one row.
  static std::function<CUresult()> copying(const CUDA_MEMCPY3D& copied) {
    return [copied] {
      const bool isFromHost = copied.srcMemoryType == CU_MEMORYTYPE_HOST;
      const bool isToHost = copied.dstMemoryType == CU_MEMORYTYPE_HOST;
      copy(isToHost ? copied.dstHost : reinterpret_cast<void*>(copied.dstDevice),
           isFromHost ? copied.srcHost : reinterpret_cast<const void*>(copied.srcDevice),
           copied.WidthInBytes);
      return CUDA_SUCCESS;
    };
  }
  static std::function<CUresult()> filling(const CUDA_MEMSET_NODE_PARAMS& filled) {
    return [filled] {
      // Of wider elements, only such whose bytes are alike.
      if (filled.elementSize > 1 && filled.value != 0) return CUDA_ERROR_NOT_SUPPORTED;
      fill(reinterpret_cast<void*>(filled.dst), static_cast<unsigned char>(filled.value),
           filled.width * filled.elementSize);
      return CUDA_SUCCESS;
    };
  }
  static std::string bytesText(size_t bytes) { return std::to_string(bytes) + " bytes"; }
};

}  // namespace camshaft::emulator
