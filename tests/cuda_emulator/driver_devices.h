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
    return callDriver("cuDevicePrimaryCtxRetain", "", [&](DriverState& state) {
      *context = &state.context;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuDevicePrimaryCtxRelease(CUdevice) {
    return callDriver("cuDevicePrimaryCtxRelease", "", [](DriverState&) { return CUDA_SUCCESS; });
  }
  static CUresult cuCtxSetCurrent(CUcontext context) {
    return callDriver("cuCtxSetCurrent", "", [&](DriverState&) {
      currentContext = context;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxGetCurrent(CUcontext* context) {
    return callDriver("cuCtxGetCurrent", "", [&](DriverState& state) {
      *context = currentContext == &state.context ? currentContext : nullptr;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxGetDevice(CUdevice* device) {
    return callInContext("cuCtxGetDevice", "", [&](DriverState&) {
      *device = 0;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuCtxSynchronize() {
    return callInContext("cuCtxSynchronize", "", [](DriverState& state) {
      return state.isCaptureHarmed() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
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
      state.deviceMemory[*address] = bytes;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuMemFree(CUdeviceptr address) {
    return callInContext("cuMemFree", "", [&](DriverState& state) {
      if (address == 0) return CUDA_SUCCESS;
      const auto found = state.deviceMemory.find(address);
      if (found == state.deviceMemory.end()) return CUDA_ERROR_INVALID_VALUE;
      if (state.isCaptureHarmed()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      state.usedMemory -= found->second;
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
  // Of all attributes, where the memory is.
  static CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which,
                                        CUdeviceptr address) {
    return callDriver("cuPointerGetAttribute", "", [&](DriverState& state) {
      const auto isIn = [&](CUdeviceptr begin, size_t bytes) {
        return address >= begin && address - begin < bytes;
      };
      const auto answer = [&](CUmemorytype type) {
        *static_cast<CUmemorytype*>(data) = type;
        return CUDA_SUCCESS;
      };
      if (which != CU_POINTER_ATTRIBUTE_MEMORY_TYPE) return CUDA_ERROR_NOT_SUPPORTED;
      for (const auto& [begin, bytes] : state.deviceMemory)
        if (isIn(begin, bytes)) return answer(CU_MEMORYTYPE_DEVICE);
      for (const auto& [begin, bytes] : state.hostMemory)
        if (isIn(reinterpret_cast<CUdeviceptr>(begin), bytes)) return answer(CU_MEMORYTYPE_HOST);
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
    return enqueue(stream, "cuMemcpyAsync", bytesText(bytes), [=] {
      copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                                  CUstream stream) {
    return enqueue(stream, "cuMemsetD8Async", bytesText(bytes), [=] {
      fill(reinterpret_cast<void*>(to), value, bytes);
      return CUDA_SUCCESS;
    });
  }

 private:
  static std::string bytesText(size_t bytes) { return std::to_string(bytes) + " bytes"; }
};

}  // namespace camshaft::emulator
