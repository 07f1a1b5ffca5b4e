#include "onnx/wire/element_type.h"

#include <array>

#include "support/error.h"

namespace camshaft::onnx {

namespace {

struct ElementType {
  std::string_view onnxName;
  std::optional<DataType> type;
};

// Indexed by ONNX's code.
constexpr std::array<ElementType, 29> kElementTypes = {{
    {"UNDEFINED", std::nullopt},
    {"FLOAT", DataType::kF32},
    {"UINT8", DataType::kU8},
    {"INT8", DataType::kI8},
    {"UINT16", DataType::kU16},
    {"INT16", DataType::kI16},
    {"INT32", DataType::kI32},
    {"INT64", DataType::kI64},
    {"STRING", std::nullopt},
    {"BOOL", DataType::kBool},
    {"FLOAT16", DataType::kF16},
    {"DOUBLE", DataType::kF64},
    {"UINT32", DataType::kU32},
    {"UINT64", DataType::kU64},
    {"COMPLEX64", std::nullopt},
    {"COMPLEX128", std::nullopt},
    {"BFLOAT16", DataType::kBF16},
    {"FLOAT8E4M3FN", DataType::kF8E4M3},
    {"FLOAT8E4M3FNUZ", DataType::kF8E4M3Fnuz},
    {"FLOAT8E5M2", DataType::kF8E5M2},
    {"FLOAT8E5M2FNUZ", DataType::kF8E5M2Fnuz},
    {"UINT4", DataType::kU4},
    {"INT4", DataType::kI4},
    {"FLOAT4E2M1", DataType::kF4E2M1},
    {"FLOAT8E8M0", DataType::kF8E8M0},
    {"UINT2", DataType::kU2},
    {"INT2", DataType::kI2},
    {"FLOAT6E2M3", std::nullopt},
    {"FLOAT6E3M2", std::nullopt},
}};

bool isKnown(int32_t code) { return code > 0 && code < static_cast<int32_t>(kElementTypes.size()); }

}  // namespace

std::optional<DataType> findDataType(int32_t onnxCode) {
  return isKnown(onnxCode) ? kElementTypes[onnxCode].type : std::nullopt;
}

int32_t onnxCodeOf(DataType type) {
  for (size_t code = 0; code < kElementTypes.size(); ++code) {
    if (kElementTypes[code].type == type) return static_cast<int32_t>(code);
  }
  CAMSHAFT_CHECK(false, "data type ", toString(type), " has no ONNX code");
  return 0;
}

std::string onnxTypeName(int32_t onnxCode) {
  if (isKnown(onnxCode)) return std::string(kElementTypes[onnxCode].onnxName);
  return str("element type ", onnxCode);
}

DataType dataTypeOf(int32_t onnxCode, std::string_view what) {
  if (const auto type = findDataType(onnxCode)) return *type;
  if (!isKnown(onnxCode)) {
    fail(ErrorKind::kInvalidModel, what, " has the element type code ", onnxCode,
         ", which ONNX does not define");
  }
  fail(ErrorKind::kUnsupported, what, " has element type ", onnxTypeName(onnxCode),
       ", which Camshaft does not support");
}

}  // namespace camshaft::onnx
