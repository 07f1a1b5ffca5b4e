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
    {"f32", 32, Class::kFloat}, {"f16", 16, Class::kFloat}, {"bf16", 16, Class::kFloat}, {"f64", 64, Class::kFloat},
    {"i8", 8, Class::kSigned}, {"i16", 16, Class::kSigned}, {"i32", 32, Class::kSigned}, {"i64", 64, Class::kSigned},
    {"u8", 8, Class::kUnsigned}, {"u16", 16, Class::kUnsigned}, {"u32", 32, Class::kUnsigned}, {"u64", 64, Class::kUnsigned},
    {"bool", 8, Class::kBool},
    {"f8e4m3", 8, Class::kFloat}, {"f8e5m2", 8, Class::kFloat},
    {"i4", 4, Class::kSigned}, {"u4", 4, Class::kUnsigned}, {"f4e2m1", 4, Class::kFloat},
}};
const Info& info(DataType type) { return kInfo[static_cast<size_t>(type)]; }
}  // namespace

int bitsOf(DataType type) { return info(type).bits; }
size_t bytesOf(DataType type, int64_t count) {
  return (static_cast<size_t>(count) * static_cast<size_t>(info(type).bits) + 7) / 8;
}
bool isFloat(DataType type) { return info(type).kind == Class::kFloat; }
bool isInteger(DataType type) { return info(type).kind == Class::kSigned || info(type).kind == Class::kUnsigned; }
bool isSigned(DataType type) { return info(type).kind == Class::kSigned || info(type).kind == Class::kFloat; }
bool isPacked(DataType type) { return info(type).bits < 8; }
std::string_view toString(DataType type) { return info(type).name; }

std::optional<DataType> parseDataType(std::string_view text) {
  for (size_t i = 0; i < kInfo.size(); ++i)
    if (kInfo[i].name == text) return static_cast<DataType>(i);
  return std::nullopt;
}

}  // namespace camshaft
