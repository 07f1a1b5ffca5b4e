#include "elements.h"

#include <algorithm>

#include "options/values.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

size_t bitsOf(DataType type) {
  switch (type) {
    case DataType::kDOUBLE:
    case DataType::kINT64:
    case DataType::kUINT64:
      return 64;
    case DataType::kFLOAT:
    case DataType::kINT32:
    case DataType::kUINT32:
      return 32;
    case DataType::kHALF:
    case DataType::kBF16:
    case DataType::kINT16:
    case DataType::kUINT16:
      return 16;
    case DataType::kINT4:
    case DataType::kUINT4:
    case DataType::kFP4:
      return 4;
    case DataType::kINT2:
    case DataType::kUINT2:
      return 2;
    default:
      return 8;
  }
}

}  // namespace

std::string nameOf(DataType type) {
  for (const auto& [word, meaning] : kTypeWords)
    if (meaning == type) return std::string(word);
  return "type" + std::to_string(static_cast<int32_t>(type));
}

std::string textOf(const Dims& dims, const char* separator) {
  std::string text;
  for (int32_t i = 0; i < dims.nbDims; ++i)
    text += (i ? separator : "") + std::to_string(dims.d[i]);
  return text.empty() ? "scalar" : text;
}

size_t elementsOf(const Dims& dims) {
  size_t count = 1;
  for (int32_t i = 0; i < dims.nbDims; ++i)
    count *= static_cast<size_t>(std::max<int64_t>(dims.d[i], 0));
  return count;
}

size_t bytesOf(DataType type, const Dims& dims) {
  return (elementsOf(dims) * bitsOf(type) + 7) / 8;
}

bool hasWholeBytes(DataType type) { return bitsOf(type) >= 8; }

double valueAt(DataType type, const char* data, size_t index) {
  const auto read = [&](auto value) {
    std::memcpy(&value, data + index * sizeof value, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case DataType::kFLOAT:
      return read(float{});
    case DataType::kDOUBLE:
      return read(double{});
    case DataType::kHALF:
      return read(Float16{});
    case DataType::kBF16:
      return read(Bfloat16{});
    case DataType::kINT64:
      return read(int64_t{});
    case DataType::kUINT64:
      return read(uint64_t{});
    case DataType::kINT32:
      return read(int32_t{});
    case DataType::kUINT32:
      return read(uint32_t{});
    case DataType::kINT16:
      return read(int16_t{});
    case DataType::kUINT16:
      return read(uint16_t{});
    case DataType::kINT8:
      return read(int8_t{});
    default:
      return read(uint8_t{});
  }
}

}  // namespace trtexec
