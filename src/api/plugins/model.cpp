#include "api/plugins/model.h"

#include <algorithm>
#include <cstring>

#include "api/plugins/params.h"
#include "api/plugins/v2.h"
#include "api/plugins/v3.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

template <class T>
std::vector<std::byte> numbersOf(const PluginAttribute& attribute) {
  std::vector<std::byte> bytes;
  const auto append = [&](const auto& values) {
    for (const auto value : values) {
      const T own = static_cast<T>(value);
      const auto* first = reinterpret_cast<const std::byte*>(&own);
      bytes.insert(bytes.end(), first, first + sizeof own);
    }
  };
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&attribute.value)) {
    append(*integers);
  } else if (const auto* reals = std::get_if<std::vector<double>>(&attribute.value)) {
    if (std::is_integral_v<T>)
      fail(ErrorKind::kInvalidModel, "its attribute '", attribute.name,
           "' holds real numbers where the plugin has a field of integers");
    append(*reals);
  } else {
    fail(ErrorKind::kInvalidModel, "its attribute '", attribute.name,
         "' is text where the plugin has a field of numbers");
  }
  return bytes;
}

// Text is followed by a zero that its length does not count.
std::vector<std::byte> textOf(const PluginAttribute& attribute) {
  const auto* text = std::get_if<std::string>(&attribute.value);
  if (!text)
    fail(ErrorKind::kInvalidModel, "its attribute '", attribute.name,
         "' holds numbers where the plugin has a field of text");
  const auto* first = reinterpret_cast<const std::byte*>(text->c_str());
  return {first, first + text->size() + 1};
}

void addField(PluginFields& fields, const PluginAttribute& attribute, PluginFieldType type) {
  const auto add = [&](std::vector<std::byte> data, size_t size) {
    const auto length = static_cast<int32_t>(data.size() / size);
    fields.add(attribute.name, type, length, std::move(data));
  };
  switch (type) {
    case PluginFieldType::kFLOAT32:
      return add(numbersOf<float>(attribute), sizeof(float));
    case PluginFieldType::kFLOAT64:
      return add(numbersOf<double>(attribute), sizeof(double));
    case PluginFieldType::kINT8:
      return add(numbersOf<int8_t>(attribute), sizeof(int8_t));
    case PluginFieldType::kINT16:
      return add(numbersOf<int16_t>(attribute), sizeof(int16_t));
    case PluginFieldType::kINT32:
      return add(numbersOf<int32_t>(attribute), sizeof(int32_t));
    case PluginFieldType::kINT64:
      return add(numbersOf<int64_t>(attribute), sizeof(int64_t));
    case PluginFieldType::kCHAR: {
      std::vector<std::byte> text = textOf(attribute);
      const auto length = static_cast<int32_t>(text.size() - 1);
      return fields.add(attribute.name, type, length, std::move(text));
    }
    default:
      fail(ErrorKind::kUnsupported, "its attribute '", attribute.name,
           "' is for a field of the plugin of type ", static_cast<int>(type),
           ", which no attribute becomes; use int32, int64, float32, float64 or text");
  }
}

// The attributes that the creator asks for, as it asks for them; others are none of its business.
PluginFields fieldsFor(const PluginFieldCollection* wanted,
                       const std::vector<PluginAttribute>& attributes) {
  PluginFields fields;
  for (int32_t i = 0; wanted && i < wanted->nbFields; ++i) {
    const PluginField& field = wanted->fields[i];
    const auto given = std::ranges::find_if(attributes, [&](const PluginAttribute& attribute) {
      return field.name && attribute.name == field.name;
    });
    if (given != attributes.end()) addField(fields, *given, field.type);
  }
  return fields;
}

}  // namespace

bool ModelPlugins::hasCreatorOf(std::string_view name) const {
  int32_t count = 0;
  IPluginCreatorInterface* const* all = registry_.getAllCreatorsRecursive(&count);
  return std::any_of(all, all + count, [&](IPluginCreatorInterface* creator) {
    const IPluginCreator* first = asV1(creator);
    const IPluginCreatorV3One* third = asV3One(creator);
    const char* own = first ? first->getPluginName() : third ? third->getPluginName() : nullptr;
    return own && name == own;
  });
}

IPluginCreatorInterface* ModelPlugins::creatorOf(const onnx::PluginRequest& request) const {
  return registry_.getCreator(request.name.c_str(), request.version.c_str(), request.space.c_str());
}

bool ModelPlugins::has(const onnx::PluginRequest& request) const {
  return creatorOf(request) != nullptr;
}

std::shared_ptr<const PluginOp> ModelPlugins::make(const onnx::PluginRequest& request) const {
  IPluginCreatorInterface* creator = creatorOf(request);
  const char* name = request.node.c_str();
  if (IPluginCreatorV3One* third = asV3One(creator)) {
    PluginFields fields = fieldsFor(third->getFieldNames(), request.attributes);
    const PluginFieldCollection view = fields.view();
    const V3Object made(third->createPlugin(name, &view, TensorRTPhase::kBUILD), "createPlugin()");
    return makeV3Operator(made.get());
  }
  IPluginCreator* first = asV1(creator);
  PluginFields fields = fieldsFor(first->getFieldNames(), request.attributes);
  const PluginFieldCollection view = fields.view();
  const V2Object made(first->createPlugin(name, &view), "createPlugin()");
  made.get().setPluginNamespace(request.space.c_str());
  return makeV2Operator(made.get());
}

}  // namespace camshaft::api
