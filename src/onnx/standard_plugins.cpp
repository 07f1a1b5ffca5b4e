#include "onnx/standard_plugins.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "onnx/model_import.h"
#include "onnx/node_import.h"
#include "support/error.h"

namespace camshaft::onnx {

namespace importer {

namespace {

// A list of one is a number, as in models.
wire::Attribute attributeOf(const PluginAttribute& field) {
  wire::Attribute attribute;
  attribute.name = field.name;
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&field.value)) {
    const bool isOne = integers->size() == 1;
    attribute.type = isOne ? wire::AttributeType::kInt : wire::AttributeType::kInts;
    if (isOne) attribute.i = integers->front();
    attribute.ints = *integers;
  } else if (const auto* reals = std::get_if<std::vector<double>>(&field.value)) {
    const bool isOne = reals->size() == 1;
    attribute.type = isOne ? wire::AttributeType::kFloat : wire::AttributeType::kFloats;
    if (isOne) attribute.f = static_cast<float>(reals->front());
    attribute.floats.assign(reals->begin(), reals->end());
  } else {
    attribute.type = wire::AttributeType::kString;
    attribute.s = std::get<std::string>(field.value);
  }
  return attribute;
}

std::vector<Value*> importPluginNode(Graph& graph, const StandardPlugin& plugin,
                                     const std::string& name, const std::vector<Value*>& inputs,
                                     const std::vector<PluginAttribute>& fields) {
  const LoadedModel none{};
  const ImportOptions options{};
  ModelImport model(none, graph, options);
  Scope scope;
  std::deque<std::string> names;  // which the node refers to
  wire::Node node;
  node.name = name;
  node.opType = plugin.name;
  for (Value* input : inputs) {
    if (input) names.push_back(str("input", names.size()));
    node.inputs.emplace_back(input ? std::string_view(names.back()) : std::string_view());
    if (input) scope.values[node.inputs.back()] = input;
  }
  const size_t outputCount = outputTypesOf(plugin, fields).size();
  for (size_t i = 0; i < outputCount; ++i)
    node.outputs.emplace_back(names.emplace_back(str("output", i)));
  for (const PluginAttribute& field : fields) node.attributes.push_back(attributeOf(field));
  NodeImport import(model, scope, node, kNewestOpset);
  findOperator("", plugin.name, kNewestOpset)->import(import);
  std::vector<Value*> outputs;
  for (const std::string_view output : node.outputs) outputs.push_back(scope.find(output));
  return outputs;
}

}  // namespace

}  // namespace importer

namespace {

std::vector<std::string> wordsOf(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

// "i stride, f* scales"
std::vector<StandardField> fieldsOf(std::string_view text) {
  std::vector<StandardField> fields;
  const std::vector<std::string> words = wordsOf(text);
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string &type = words[i], &name = words[i + 1];
    using Kind = StandardField::Kind;
    const Kind kind = type[0] == 'i' ? Kind::kInteger : type[0] == 'f' ? Kind::kReal : Kind::kText;
    const int count = type.size() == 1 ? 1 : type[1] == '*' ? 0 : type[1] - '0';
    fields.push_back({name.substr(0, name.find(',')), kind, count});
  }
  return fields;
}

std::vector<StandardPlugin> readPlugins() {
  return {
#define STANDARD_PLUGIN(name, versions, versionsV3, inputs, outputs, fields) \
  {#name, wordsOf(versions), wordsOf(versionsV3), inputs, outputs, fieldsOf(fields)},
#include "onnx/ops/tensorrt/plugins.def"
  };
}

}  // namespace

std::span<const StandardPlugin> standardPlugins() {
  static const std::vector<StandardPlugin> plugins = readPlugins();
  return plugins;
}

std::string outputTypesOf(const StandardPlugin& plugin,
                          const std::vector<PluginAttribute>& fields) {
  const size_t star = plugin.outputs.find('*');
  if (star == std::string_view::npos) return std::string(plugin.outputs);
  const std::string_view name = plugin.outputs.substr(star + 1);
  const auto field = std::ranges::find(fields, name, &PluginAttribute::name);
  const auto* count =
      field != fields.end() ? std::get_if<std::vector<int64_t>>(&field->value) : nullptr;
  constexpr int64_t kMost = 64;  // any number of layers of a model
  if (!count || count->size() != 1 || count->front() < 1 || count->front() > kMost)
    fail(ErrorKind::kInvalidArgument, "plugin ", plugin.name, " needs its field '", name,
         "', from 1 to ", kMost, ", to tell its outputs");
  return std::string(static_cast<size_t>(count->front()), plugin.outputs[0]);
}

std::vector<Value*> addStandardPlugin(camshaft::Graph& graph, const StandardPlugin& plugin,
                                      const std::string& name, const std::vector<Value*>& inputs,
                                      const std::vector<PluginAttribute>& fields,
                                      camshaft::Node* before) {
  const size_t count = graph.nodeCount();
  const auto refuse = [&](ErrorKind kind, std::string_view why) {
    while (graph.nodeCount() > count) graph.erase(graph.nodes().back().get());
    fail(kind, "plugin '", name, "' (", plugin.name, "): ", why);
  };
  std::vector<Value*> outputs;
  try {
    outputs = importer::importPluginNode(graph, plugin, name, inputs, fields);
  } catch (const Error& error) {
    refuse(error.kind(), error.message());
  } catch (const std::logic_error&) {  // out of range
    refuse(ErrorKind::kInvalidArgument,
           "an input or field of it does not have the number of elements it needs");
  }
  if (before) {
    const std::vector<camshaft::Node*> nodes = graph.nodeList();
    for (size_t i = count; i < nodes.size(); ++i) graph.moveBefore(nodes[i], before);
  }
  return outputs;
}

}  // namespace camshaft::onnx
