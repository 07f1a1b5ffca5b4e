#include "onnx/plugin_import.h"

#include "onnx/model_import.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {
namespace {

constexpr std::string_view kVersion = "plugin_version", kSpace = "plugin_namespace";

}  // namespace

PluginRequest pluginRequest(const wire::Node& node) {
  const auto textOf = [&](std::string_view name, std::string_view missing) {
    for (const wire::Attribute& attribute : node.attributes)
      if (attribute.name == name && attribute.type == wire::AttributeType::kString)
        return std::string(attribute.s);
    return std::string(missing);
  };
  return {.name = std::string(node.opType),
          .version = textOf(kVersion, "1"),
          .space = textOf(kSpace, ""),
          .node = nodeName(node),
          .attributes = {}};
}

void importPlugin(NodeImport& node) {
  PluginRequest request = pluginRequest(node.wireNode());
  for (const wire::Attribute& attribute : node.wireNode().attributes) {
    const std::string_view name = attribute.name;
    const wire::Attribute* given = node.find(name);
    if (!given || name == kVersion || name == kSpace) continue;
    PluginAttribute own{.name = std::string(name), .value = {}};
    switch (given->type) {
      case wire::AttributeType::kInt:
        own.value = std::vector<int64_t>{given->i};
        break;
      case wire::AttributeType::kInts:
        own.value = given->ints;
        break;
      case wire::AttributeType::kFloat:
        own.value = std::vector<double>{given->f};
        break;
      case wire::AttributeType::kFloats:
        own.value = std::vector<double>(given->floats.begin(), given->floats.end());
        break;
      case wire::AttributeType::kString:
        own.value = std::string(given->s);
        break;
      default:
        node.unsupported("its attribute '", name, "' is of type ", wire::toString(given->type),
                         ", which plugins are not given; use numbers, lists of them or text");
    }
    request.attributes.push_back(std::move(own));
  }
  const std::vector<Value*> outputs = addPlugin(node.graph(), node.name(), node.allInputs(),
                                                PluginAttrs(node.plugins()->make(request)));
  if (node.outputCount() > static_cast<int>(outputs.size()))
    node.invalid("it has ", node.outputCount(), " outputs and its plugin ", outputs.size());
  for (int i = 0; i < node.outputCount(); ++i)
    if (node.wants(i)) node.setOutput(i, outputs[static_cast<size_t>(i)]);
}

}  // namespace camshaft::onnx::importer
