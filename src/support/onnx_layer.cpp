#include "support/onnx_layer.h"

#include "support/text.h"

namespace camshaft {

namespace {

constexpr std::string_view kBegin = "[ONNX Layer: ", kEnd = "]", kProperty = " | ";

bool isOnnxLayer(std::string_view text) { return text.starts_with(kBegin) && text.ends_with(kEnd); }

}  // namespace

std::string onnxLayerText(std::string_view name, std::string_view property) {
  const std::string text = str(kBegin, name, kEnd);
  return property.empty() ? text : withProperty(text, property);
}

std::string_view onnxLayerName(std::string_view text) {
  if (!isOnnxLayer(text)) return text;
  text.remove_prefix(kBegin.size());
  text.remove_suffix(kEnd.size());
  return text.substr(0, text.find(kProperty));
}

std::string withProperty(std::string_view text, std::string_view property) {
  if (!isOnnxLayer(text)) return std::string(property);
  text.remove_suffix(kEnd.size());
  return str(text, kProperty, property, kEnd);
}

}  // namespace camshaft
