// Elements of tensors: how large they are and what they say.
#pragma once

#include <cstring>
#include <string>

#include "NvInfer.h"

namespace trtexec {

#ifdef __aarch64__
using Float16 = __fp16;  // GCC 12 has no _Float16 in C++ there
#else
using Float16 = _Float16;
#endif

// Upper half of an f32.
struct Bfloat16 {
  uint16_t bits;
  explicit Bfloat16(float value = 0) {
    uint32_t all;
    std::memcpy(&all, &value, sizeof all);
    bits = static_cast<uint16_t>(all >> 16);
  }
  explicit operator double() const {
    const uint32_t all = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &all, sizeof value);
    return value;
  }
};

// "fp32"; numbers for types without a name.
std::string nameOf(nvinfer1::DataType type);
// "1x3x224", or "scalar".
std::string textOf(const nvinfer1::Dims& dims, const char* separator = "x");
size_t elementsOf(const nvinfer1::Dims& dims);
size_t bytesOf(nvinfer1::DataType type, const nvinfer1::Dims& dims);
// Whether elements fill bytes of their own, so that each has a value to show.
bool hasWholeBytes(nvinfer1::DataType type);
double valueAt(nvinfer1::DataType type, const char* data, size_t index);

}  // namespace trtexec
