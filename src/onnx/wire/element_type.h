// ONNX's element type codes (TensorProto.DataType) and ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/data_type.h"

namespace camshaft::onnx {

inline constexpr int32_t kOnnxString = 8;

// Nothing for the codes Camshaft has no type for: strings, complex numbers, 6-bit floats.
std::optional<DataType> findDataType(int32_t onnxCode);
int32_t onnxCodeOf(DataType type);

// As ONNX spells it ("FLOAT16"), or "element type 99".
std::string onnxTypeName(int32_t onnxCode);

// Throws Error that names `what` (say, "tensor 'w'") when there is no such type here.
DataType dataTypeOf(int32_t onnxCode, std::string_view what);

}  // namespace camshaft::onnx
