// The fields of a plugin, which are its node's attributes. As TensorRT has it, one number may come
// as a list of one, and a whole number stand for a real one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// Numbers of a field, a tensor's among them; nothing where the field is left out. With a count the
// field must be there and have as many.
std::optional<std::vector<double>> numbersIn(const NodeImport& node, std::string_view field);
std::vector<double> numbersIn(const NodeImport& node, std::string_view field, size_t count);
std::vector<int64_t> integersIn(const NodeImport& node, std::string_view field,
                                std::vector<int64_t> missing);
double numberIn(const NodeImport& node, std::string_view field, double missing);
int64_t integerIn(const NodeImport& node, std::string_view field, int64_t missing);
bool flagIn(const NodeImport& node, std::string_view field, bool missing = false);
int64_t positiveIn(const NodeImport& node, std::string_view field, int64_t missing);
// Of the plugin's creator; models may leave it out.
std::string versionIn(const NodeImport& node);
// Numbers as a constant, f32.
Value* constantOf(const NodeImport& node, const std::vector<double>& numbers, const Dims& shape);
// A field's numbers, which must be there, as a constant of this type and shape.
Value* constantIn(const NodeImport& node, std::string_view field, DataType type, const Dims& shape);

}  // namespace camshaft::onnx::importer
