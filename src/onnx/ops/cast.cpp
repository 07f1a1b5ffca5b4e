#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

namespace {

// Narrow floats saturate when they are made from wider ones, which is ONNX's default.
void convert(NodeImport& node, DataType type) {
  const bool narrow = type == DataType::kF8E4M3 || type == DataType::kF8E5M2;
  if (narrow && !node.flag("saturate", true))
    node.unsupported("casting without saturation is not supported");
  node.setOutput(node.cast(node.input(0), type));
}

}  // namespace

void importCast1(NodeImport& node) {
  const std::string to = node.text("to", "");
  const std::pair<std::string_view, DataType> spellings[] = {
      {"FLOAT", DataType::kF32},  {"DOUBLE", DataType::kF64}, {"FLOAT16", DataType::kF16},
      {"INT8", DataType::kI8},    {"INT16", DataType::kI16},  {"INT32", DataType::kI32},
      {"INT64", DataType::kI64},  {"UINT8", DataType::kU8},   {"UINT16", DataType::kU16},
      {"UINT32", DataType::kU32}, {"UINT64", DataType::kU64}, {"BOOL", DataType::kBool},
  };
  for (const auto& [spelling, type] : spellings)
    if (spelling == to) return convert(node, type);
  node.unsupported("it casts to '", to, "', which is not supported");
}

void importCast(NodeImport& node) { convert(node, node.dataType("to")); }

// Between integers of one width the bits stay as they are in a conversion too.
void importBitCast(NodeImport& node) {
  const DataType from = node.input(0)->dataType(), to = node.dataType("to");
  if (bitsOf(from) != bitsOf(to))
    node.invalid("it reinterprets ", from, " as ", to, ", which has another width");
  if (from != to && (isFloat(from) || isFloat(to) || to == DataType::kBool))
    node.unsupported("reinterpreting ", from, " as ", to, " is not supported");
  node.setOutput(node.cast(node.input(0), to));
}

void importCastLike(NodeImport& node) { convert(node, node.input(1)->dataType()); }

}  // namespace camshaft::onnx::importer
