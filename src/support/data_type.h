// Element types of tensors, and what is known about each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace camshaft {

enum class DataType : uint8_t {
  kF32, kF16, kBF16, kF64,
  kI8, kI16, kI32, kI64,
  kU8, kU16, kU32, kU64,
  kBool,
  kF8E4M3, kF8E5M2,
  kI4, kU4, kF4E2M1,  // two elements per byte, low nibble first
};
inline constexpr int kDataTypeCount = 18;

int bitsOf(DataType type);
// Bytes that `count` elements take, packed types rounded up.
size_t bytesOf(DataType type, int64_t count);
bool isFloat(DataType type);
bool isInteger(DataType type);  // bool is neither float nor integer
bool isSigned(DataType type);
bool isPacked(DataType type);  // several elements per byte

// "f32", "i64", "bool": the spelling of graph text, logs and messages.
std::string_view toString(DataType type);
std::optional<DataType> parseDataType(std::string_view text);

}  // namespace camshaft
