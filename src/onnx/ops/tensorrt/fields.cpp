#include "onnx/ops/tensorrt/fields.h"

#include <cmath>

#include "onnx/names.h"
#include "support/volume.h"

namespace camshaft::onnx::importer {

std::optional<std::vector<double>> numbersIn(const NodeImport& node, std::string_view field) {
  const wire::Attribute* found = node.find(field);
  if (!found) return std::nullopt;
  switch (found->type) {
    case wire::AttributeType::kInt:
      return std::vector<double>{static_cast<double>(found->i)};
    case wire::AttributeType::kInts:
      return std::vector<double>(found->ints.begin(), found->ints.end());
    case wire::AttributeType::kFloat:
      return std::vector<double>{found->f};
    case wire::AttributeType::kFloats:
      return std::vector<double>(found->floats.begin(), found->floats.end());
    case wire::AttributeType::kTensor:
      if (const auto known = node.knownNumbers(node.tensor(field))) return known;
      break;
    default:
      break;
  }
  node.invalid("its field '", field, "' must hold numbers and is ", wire::toString(found->type));
}

std::vector<double> numbersIn(const NodeImport& node, std::string_view field, size_t count) {
  const auto numbers = numbersIn(node, field);
  if (!numbers) node.invalid("it lacks its required field '", field, "'");
  if (numbers->size() != count)
    node.invalid("its field '", field, "' has ", numbers->size(), " numbers where it needs ",
                 count);
  return *numbers;
}

std::vector<int64_t> integersIn(const NodeImport& node, std::string_view field,
                                std::vector<int64_t> missing) {
  const auto numbers = numbersIn(node, field);
  if (!numbers) return missing;
  std::vector<int64_t> integers;
  for (const double number : *numbers) {
    if (std::abs(number) > 0x1p53 || number != std::floor(number))
      node.invalid("its field '", field, "' must hold whole numbers and has ", number);
    integers.push_back(static_cast<int64_t>(number));
  }
  return integers;
}

double numberIn(const NodeImport& node, std::string_view field, double missing) {
  const auto numbers = numbersIn(node, field);
  if (numbers && numbers->size() != 1)
    node.invalid("its field '", field, "' must be one number and has ", numbers->size());
  return numbers ? numbers->front() : missing;
}

int64_t integerIn(const NodeImport& node, std::string_view field, int64_t missing) {
  const std::vector<int64_t> integers = integersIn(node, field, {missing});
  if (integers.size() != 1)
    node.invalid("its field '", field, "' must be one number and has ", integers.size());
  return integers.front();
}

bool flagIn(const NodeImport& node, std::string_view field, bool missing) {
  return integerIn(node, field, missing) != 0;
}

int64_t positiveIn(const NodeImport& node, std::string_view field, int64_t missing) {
  const int64_t integer = integerIn(node, field, missing);
  if (integer <= 0) node.invalid("its field '", field, "' must be positive and is ", integer);
  return integer;
}

std::string versionIn(const NodeImport& node) {
  const wire::Attribute* version = node.find("plugin_version");
  if (!version) return "1";
  return version->type == wire::AttributeType::kInt ? std::to_string(version->i)
                                                    : std::string(version->s);
}

Value* constantOf(const NodeImport& node, const std::vector<double>& numbers, const Dims& shape) {
  const std::vector<float> elements(numbers.begin(), numbers.end());
  return node.graph().addConstant<float>(node.name(), DataType::kF32, shape, elements);
}

Value* constantIn(const NodeImport& node, std::string_view field, DataType type,
                  const Dims& shape) {
  const auto count = static_cast<size_t>(volumeOf(shape));
  return node.cast(constantOf(node, numbersIn(node, field, count), shape), type);
}

}  // namespace camshaft::onnx::importer
