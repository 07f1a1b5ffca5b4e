// NodeImport's attribute getters.
#include <algorithm>

#include "onnx/constant.h"
#include "onnx/model_import.h"
#include "onnx/node_import.h"
#include "onnx/scope.h"
#include "onnx/wire/element_type.h"

namespace camshaft::onnx::importer {

const wire::Attribute* NodeImport::find(std::string_view attribute) const {
  for (const wire::Attribute& candidate : node_.attributes) {
    if (candidate.name != attribute) continue;
    if (candidate.refAttrName.empty()) return &candidate;
    const auto it = scope_.functionAttributes.find(candidate.refAttrName);
    return it == scope_.functionAttributes.end() ? nullptr : it->second;
  }
  return nullptr;
}

const wire::Attribute* NodeImport::find(std::string_view attribute,
                                        wire::AttributeType type) const {
  const wire::Attribute* found = find(attribute);
  if (found && found->type != type)
    invalid("its attribute '", attribute, "' must be of type ", wire::toString(type), " and is ",
            wire::toString(found->type));
  return found;
}

int64_t NodeImport::integer(std::string_view attribute) const {
  if (!has(attribute)) invalid("it lacks its required attribute '", attribute, "'");
  return integer(attribute, 0);
}

int64_t NodeImport::integer(std::string_view attribute, int64_t missing) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kInt);
  return found ? found->i : missing;
}

double NodeImport::number(std::string_view attribute, double missing) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kFloat);
  return found ? found->f : missing;
}

std::string NodeImport::text(std::string_view attribute, std::string_view missing) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kString);
  return std::string(found ? found->s : missing);
}

std::vector<int64_t> NodeImport::integers(std::string_view attribute,
                                          std::vector<int64_t> missing) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kInts);
  if (found) return found->ints;
  return missing;
}

std::vector<double> NodeImport::numbers(std::string_view attribute) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kFloats);
  return found ? std::vector<double>(found->floats.begin(), found->floats.end())
               : std::vector<double>{};
}

std::vector<std::string> NodeImport::texts(std::string_view attribute) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kStrings);
  return found ? std::vector<std::string>(found->strings.begin(), found->strings.end())
               : std::vector<std::string>{};
}

DataType NodeImport::dataType(std::string_view attribute) const {
  return dataTypeOf(static_cast<int32_t>(integer(attribute)),
                    str("its attribute '", attribute, "'"));
}

DataType NodeImport::dataType(std::string_view attribute, DataType missing) const {
  return has(attribute) && integer(attribute) != 0 ? dataType(attribute) : missing;
}

Value* NodeImport::tensor(std::string_view attribute) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kTensor);
  if (!found) invalid("it lacks its required attribute '", attribute, "'");
  return addTensor(graph(), name_, found->tensors.front(), model_.files());
}

Value* NodeImport::sparseTensor(std::string_view attribute) const {
  const wire::Attribute* found = find(attribute, wire::AttributeType::kSparseTensor);
  if (!found) invalid("it lacks its required attribute '", attribute, "'");
  return addTensor(graph(), name_, found->sparseTensors.front(), model_.files());
}

int NodeImport::choice(std::string_view attribute, std::string_view missing,
                       std::initializer_list<std::string_view> spellings) const {
  std::string spelled = text(attribute, missing);
  std::transform(spelled.begin(), spelled.end(), spelled.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto it = std::find(spellings.begin(), spellings.end(), spelled);
  if (it == spellings.end())
    invalid("its attribute '", attribute, "' is '", text(attribute, missing),
            "', which is none of ", join(spellings, ", "));
  return static_cast<int>(it - spellings.begin());
}

}  // namespace camshaft::onnx::importer
