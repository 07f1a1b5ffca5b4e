// Emulated driver functions about tensor maps.
#pragma once

#include <algorithm>
#include <cstring>

#include "cuda_emulator/device/interface.h"
#include "cuda_emulator/driver_state.h"

namespace camshaft::emulator {

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

  static CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type,
                                          cuuint32_t rank, void* address, const cuuint64_t* sizes,
                                          const cuuint64_t* strides, const int* lower,
                                          const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                          const cuuint32_t* steps, CUtensorMapInterleave,
                                          CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                          CUtensorMapFloatOOBfill) {
    return callDriver("cuTensorMapEncodeIm2col", "", [&](DriverState&) {
      if (rank < 3 || rank > 5) return CUDA_ERROR_INVALID_VALUE;
      constexpr int kCorners[] = {1 << 15, 1 << 7, 1 << 4};
      const int limit = kCorners[rank - 3];
      const unsigned bytes = channels * elementBytes(type), most = swizzleBytes(swizzle);
      if (channels == 0 || channels > 256 || bytes % 16 || (most && bytes > most) || pixels == 0 ||
          pixels > 1024 || reinterpret_cast<size_t>(address) % 16)
        return CUDA_ERROR_INVALID_VALUE;
      for (unsigned i = 0; i < rank; ++i) {
        if (sizes[i] == 0 || sizes[i] > (1ull << 32)) return CUDA_ERROR_INVALID_VALUE;
        if (i == 0) continue;
        if (strides[i - 1] == 0 || strides[i - 1] % 16 || strides[i - 1] >= (1ull << 40) ||
            steps[i] < 1 || steps[i] > 8)
          return CUDA_ERROR_INVALID_VALUE;
      }
      for (unsigned i = 0; i < rank - 2; ++i) {
        const auto isCorner = [&](int at) { return at >= -limit && at < limit; };
        if (!isCorner(lower[i]) || !isCorner(upper[i]) ||
            static_cast<long long>(sizes[i + 1]) + upper[i] <= lower[i])
          return CUDA_ERROR_INVALID_VALUE;
      }
      TensorMap result{};
      result.address = address;
      result.rank = static_cast<unsigned char>(rank);
      result.elementBytes = static_cast<unsigned char>(elementBytes(type));
      result.swizzleBytes = static_cast<unsigned char>(most);
      result.box[0] = channels;
      result.box[1] = pixels;
      std::copy_n(sizes, rank, result.sizes);
      std::copy_n(strides, rank - 1, result.strides);
      for (int i = 0; i < 2 && rank == 4; ++i) {  // what device code emulates
        result.steps[i] = static_cast<unsigned char>(steps[i + 1]);
        result.lower[i] = lower[i];
        result.upper[i] = upper[i];
      }
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
