// Emulated driver functions about libraries, kernels and tensor maps.
#pragma once

#include <cstring>

#include "cuda_emulator/device/interface.h"
#include "cuda_emulator/driver_state.h"
#include "cuda_emulator/module.h"

namespace camshaft::emulator {

struct LibraryFunctions {
  static CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                                    unsigned, CUlibraryOption*, void**, unsigned) {
    return callDriver("cuLibraryLoadData", "", [&](DriverState& state) {
      auto module = Module::compile(static_cast<const char*>(code));
      *library = state.libraries.create();
      for (const std::string& name : module->kernels()) {
        (*library)->kernels[name].function = module->find(name);
      }
      (*library)->module = std::move(module);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuLibraryUnload(CUlibrary library) {
    return callDriver("cuLibraryUnload", "", [&](DriverState& state) {
      return state.libraries.destroy(library) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
  static CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
    return callDriver("cuLibraryGetKernel", name, [&](DriverState& state) {
      if (!state.libraries.has(library)) return CUDA_ERROR_INVALID_HANDLE;
      const auto found = library->kernels.find(name);
      if (found == library->kernels.end()) return CUDA_ERROR_NOT_FOUND;
      *kernel = &found->second;
      return CUDA_SUCCESS;
    });
  }
};

struct KernelFunctions {
  static CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    return callInContext("cuKernelGetFunction", "", [&](DriverState&) {
      *function = reinterpret_cast<CUfunction>(kernel);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                       CUdevice) {
    return callDriver("cuKernelSetAttribute", kernel->function.name,
                      [&](DriverState&) { return setAttribute(*kernel, attribute, value); });
  }
  static CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                     int value) {
    return callDriver("cuFuncSetAttribute", kernelOf(function)->function.name, [&](DriverState&) {
      return setAttribute(*kernelOf(function), attribute, value);
    });
  }
  static CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                     CUfunction function) {
    const CUkern_st& kernel = *kernelOf(function);
    return callDriver("cuFuncGetAttribute", kernel.function.name, [&](DriverState&) {
      switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
          *value = 1024;
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
          *value = static_cast<int>(kernel.function.module->sharedBytes - sizeof(ThreadState));
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
          *value = 32;
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
          *value = 0;
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
          *value = kernel.maxDynamicShared;
          return CUDA_SUCCESS;
        default:
          return CUDA_ERROR_INVALID_VALUE;
      }
    });
  }

  // As if every multiprocessor held one block.
  static CUresult cuOccupancyMaxActiveClusters(int* count, CUfunction function,
                                               const CUlaunchConfig* config) {
    return callDriver(
        "cuOccupancyMaxActiveClusters", kernelOf(function)->function.name, [&](DriverState& state) {
          int blocks = 1;
          for (unsigned i = 0; i < config->numAttrs; ++i) {
            const CUlaunchAttribute& attribute = config->attrs[i];
            if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
            const auto& size = attribute.value.clusterDim;
            blocks = static_cast<int>(size.x * size.y * size.z);
          }
          if (blocks < 1) return CUDA_ERROR_INVALID_VALUE;
          *count = state.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] / blocks;
          return CUDA_SUCCESS;
        });
  }

  static CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction handle,
                                   void** parameters, void** extra) {
    const CUkern_st& kernel = *kernelOf(handle);
    const Function& function = kernel.function;
    if (extra || config->sharedMemBytes > static_cast<unsigned>(kernel.maxDynamicShared) ||
        !isClusterPossible(*config) || (!parameters && !function.parameterSizes.empty())) {
      return callDriver("cuLaunchKernelEx", function.name + " refused",
                        [](DriverState&) { return CUDA_ERROR_INVALID_VALUE; });
    }
    // The driver copies parameters when it is called: a graph replays these values.
    std::vector<std::vector<char>> values;
    for (size_t i = 0; i < function.parameterSizes.size(); ++i) {
      const char* bytes = static_cast<const char*>(parameters[i]);
      values.emplace_back(bytes, bytes + function.parameterSizes[i]);
    }
    return enqueue(config->hStream, "cuLaunchKernelEx", launchText(function, *config),
                   [function, values = std::move(values), shape = *config]() mutable {
                     std::vector<void*> addresses;
                     for (auto& value : values) addresses.push_back(value.data());
                     const unsigned grid[3] = {shape.gridDimX, shape.gridDimY, shape.gridDimZ};
                     const unsigned block[3] = {shape.blockDimX, shape.blockDimY, shape.blockDimZ};
                     launch(function, grid, block, shape.sharedMemBytes, addresses.data());
                     return CUDA_SUCCESS;
                   });
  }

 private:
  static CUresult setAttribute(CUkern_st& kernel, CUfunction_attribute attribute, int value) {
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
    if (value < 0 || static_cast<size_t>(value) > kMaxSharedBytes) return CUDA_ERROR_INVALID_VALUE;
    kernel.maxDynamicShared = value;
    return CUDA_SUCCESS;
  }

  static bool isClusterPossible(const CUlaunchConfig& config) {
    for (unsigned i = 0; i < config.numAttrs; ++i) {
      if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
      const auto& size = config.attrs[i].value.clusterDim;
      if (size.x == 0 || size.y == 0 || size.z == 0 || size.x * size.y * size.z > 16) return false;
      if (config.gridDimX % size.x || config.gridDimY % size.y || config.gridDimZ % size.z) {
        return false;
      }
    }
    return true;
  }

  static std::string launchText(const Function& function, const CUlaunchConfig& config) {
    const auto size = [](unsigned x, unsigned y, unsigned z) {
      return std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
    };
    std::string text = function.name + " grid " +
                       size(config.gridDimX, config.gridDimY, config.gridDimZ) + " block " +
                       size(config.blockDimX, config.blockDimY, config.blockDimZ) + " shared " +
                       std::to_string(config.sharedMemBytes);
    for (unsigned i = 0; i < config.numAttrs; ++i) {
      const CUlaunchAttribute& attribute = config.attrs[i];
      if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        const auto& cluster = attribute.value.clusterDim;
        text += " cluster " + size(cluster.x, cluster.y, cluster.z);
      } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                 attribute.value.programmaticStreamSerializationAllowed) {
        text += " programmatic";
      }
    }
    return text;
  }
};

struct TensorMapFunctions {
  static CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type,
                                         cuuint32_t rank, void* address, const cuuint64_t* sizes,
                                         const cuuint64_t* strides, const cuuint32_t* box,
                                         const cuuint32_t* elementStrides, CUtensorMapInterleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                         CUtensorMapFloatOOBfill) {
    return callDriver("cuTensorMapEncodeTiled", "", [&](DriverState&) {
      if (rank < 1 || rank > 5) return CUDA_ERROR_INVALID_VALUE;
      TensorMap result{};
      result.address = address;
      result.rank = static_cast<unsigned char>(rank);
      result.elementBytes = static_cast<unsigned char>(elementBytes(type));
      result.swizzleBytes = static_cast<unsigned char>(swizzleBytes(swizzle));
      for (unsigned axis = 0; axis < rank; ++axis) {
        result.sizes[axis] = sizes[axis];
        result.box[axis] = box[axis];
        if (axis > 0) result.strides[axis - 1] = strides[axis - 1];
        if (elementStrides[axis] < 1 || elementStrides[axis] > 8) return CUDA_ERROR_INVALID_VALUE;
      }
      if (!isEncodable(result)) return CUDA_ERROR_INVALID_VALUE;
      static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));
      std::memset(map, 0, sizeof *map);
      std::memcpy(map, &result, sizeof result);
      return CUDA_SUCCESS;
    });
  }

 private:
  // The rules of the driver's documentation for tiles without interleaving.
  static bool isEncodable(const TensorMap& map) {
    if (map.elementBytes == 0 || reinterpret_cast<size_t>(map.address) % 16) return false;
    const unsigned innerBytes = map.box[0] * map.elementBytes;
    if (innerBytes % 16 || (map.swizzleBytes && innerBytes > map.swizzleBytes)) return false;
    for (unsigned axis = 0; axis < map.rank; ++axis) {
      if (map.sizes[axis] == 0 || map.sizes[axis] > (1ull << 32)) return false;
      if (map.box[axis] == 0 || map.box[axis] > 256) return false;
      if (axis == 0) continue;
      const unsigned long long stride = map.strides[axis - 1];
      if (stride % 16 || stride == 0 || stride >= (1ull << 40)) return false;
    }
    return true;
  }

  static unsigned elementBytes(CUtensorMapDataType type) {
    switch (type) {
      case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return 1;
      case CU_TENSOR_MAP_DATA_TYPE_UINT16:
      case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
      case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return 2;
      case CU_TENSOR_MAP_DATA_TYPE_UINT32:
      case CU_TENSOR_MAP_DATA_TYPE_INT32:
      case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
      case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
      case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
        return 4;
      case CU_TENSOR_MAP_DATA_TYPE_UINT64:
      case CU_TENSOR_MAP_DATA_TYPE_INT64:
      case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return 8;
      default:
        return 0;
    }
  }

  static unsigned swizzleBytes(CUtensorMapSwizzle swizzle) {
    switch (swizzle) {
      case CU_TENSOR_MAP_SWIZZLE_32B:
        return 32;
      case CU_TENSOR_MAP_SWIZZLE_64B:
        return 64;
      case CU_TENSOR_MAP_SWIZZLE_NONE:
        return 0;
      default:
        return 128;
    }
  }
};

}  // namespace camshaft::emulator
