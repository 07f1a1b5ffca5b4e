#include "support/data_type.h"

#include <array>

namespace camshaft {
namespace {
enum class Class : uint8_t { kFloat, kSigned, kUnsigned, kBool };
struct Info {
  std::string_view name;
  int bits;
  Class kind;
};
constexpr std::array<Info, kDataTypeCount> kInfo{{
#define CAMSHAFT_DATA_TYPE(Name, text, bits, kind, Element) {text, bits, Class::kind},
#include "support/data_types.def"
#undef CAMSHAFT_DATA_TYPE
}};
const Info& info(DataType type) { return kInfo[static_cast<size_t>(type)]; }
}  // namespace

int bitsOf(DataType type) { return info(type).bits; }
size_t bytesOf(DataType type, int64_t count) {
  return (static_cast<size_t>(count) * static_cast<size_t>(info(type).bits) + 7) / 8;
}
bool isFloat(DataType type) { return info(type).kind == Class::kFloat; }
bool isInteger(DataType type) {
  return info(type).kind == Class::kSigned || info(type).kind == Class::kUnsigned;
}
bool isSigned(DataType type) {
  return info(type).kind == Class::kSigned || info(type).kind == Class::kFloat;
}
bool isPacked(DataType type) { return info(type).bits < 8; }
bool isFloat8(DataType type) { return type == DataType::kF8E4M3 || type == DataType::kF8E5M2; }
std::string_view toString(DataType type) { return info(type).name; }

std::optional<DataType> parseDataType(std::string_view text) {
  for (size_t i = 0; i < kInfo.size(); ++i)
    if (kInfo[i].name == text) return static_cast<DataType>(i);
  return std::nullopt;
}

}  // namespace camshaft
