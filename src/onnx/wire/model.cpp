#include "onnx/wire/model.h"

#include <array>

namespace camshaft::onnx {

std::string_view toString(TypeKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "no type", "tensor", "sparse tensor", "sequence", "map", "optional", "opaque"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view toString(AttributeType type) {
  constexpr std::array<std::string_view, 15> kNames = {
      "undefined",      "float", "int",     "string",  "tensor", "graph",
      "floats",         "ints",  "strings", "tensors", "graphs", "sparse tensor",
      "sparse tensors", "type",  "types"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace camshaft::onnx
