// How metadata says which ONNX node a layer comes from: "[ONNX Layer: NAME | PROPERTY]", as the
// clients of TensorRT read it to find their way back to the model.
#pragma once

#include <string>
#include <string_view>

namespace camshaft {

std::string onnxLayerText(std::string_view name, std::string_view property = {});
// The name in such a text; any other text is a name itself.
std::string_view onnxLayerName(std::string_view text);
// Such a text with one more property, or the property alone where there is none.
std::string withProperty(std::string_view text, std::string_view property);

}  // namespace camshaft
