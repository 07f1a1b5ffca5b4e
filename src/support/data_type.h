// Element types of tensors, and what is known about each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace camshaft {

enum class DataType : uint8_t {
#define CAMSHAFT_DATA_TYPE(Name, text, bits, kind, Element) k##Name,
#include "support/data_types.def"
#undef CAMSHAFT_DATA_TYPE
};
inline constexpr int kDataTypeCount = 0
#define CAMSHAFT_DATA_TYPE(Name, text, bits, kind, Element) +1
#include "support/data_types.def"
#undef CAMSHAFT_DATA_TYPE
    ;

int bitsOf(DataType type);
// Bytes that `count` elements take, packed types rounded up.
size_t bytesOf(DataType type, int64_t count);
bool isFloat(DataType type);
bool isInteger(DataType type);  // bool is neither float nor integer
bool isSigned(DataType type);
bool isPacked(DataType type);  // several elements per byte
bool isFloat8(DataType type);  // f8e4m3 or f8e5m2, of which there are matrix products

// "f32", "i64", "bool": the spelling of graph text, logs and messages.
std::string_view toString(DataType type);
std::optional<DataType> parseDataType(std::string_view text);

}  // namespace camshaft
