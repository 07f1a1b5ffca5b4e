#include "onnx/past_lengths.h"

#include <algorithm>

namespace camshaft::onnx::importer {
namespace {

// Operators that append to a past, and which of their inputs are one. The length is axis 2. What
// comes of the keys is output 1, of the values output 2.
struct PastInputs {
  std::string_view opType;
  size_t key, value;
  bool growsAlways = true;  // else where the past has no room
};
constexpr PastInputs kAttentions[] = {
    {"Attention", 4, 5}, {"GroupQueryAttention", 3, 4, false}, {"MultiHeadAttention", 6, 7}};
constexpr int64_t kLengthAxis = 2;

int64_t concatAxis(const wire::Node& node, int64_t rank) {
  for (const wire::Attribute& attribute : node.attributes)
    if (attribute.name == "axis") return attribute.i < 0 ? attribute.i + rank : attribute.i;
  return 1;  // the default of the oldest opsets
}

std::map<std::string_view, int64_t> ranksOfInputs(const wire::Graph& graph) {
  std::map<std::string_view, int64_t> ranks;
  for (const wire::ValueInfo& input : graph.inputs)
    if (input.type.shape) ranks[input.name] = static_cast<int64_t>(input.type.shape->size());
  return ranks;
}

bool isOfRunTime(const wire::Graph& graph, std::string_view input, int64_t axis) {
  const auto info = std::ranges::find(graph.inputs, input, &wire::ValueInfo::name);
  if (info == graph.inputs.end() || !info->type.shape) return false;
  const auto& dims = *info->type.shape;
  return axis < static_cast<int64_t>(dims.size()) && dims[axis].value.value_or(-1) == -1;
}

}  // namespace

std::set<std::pair<std::string_view, int64_t>> pastLengths(const wire::Graph& graph) {
  const std::map<std::string_view, int64_t> ranks = ranksOfInputs(graph);
  std::set<std::pair<std::string_view, int64_t>> lengths;
  for (const wire::Node& node : graph.nodes) {
    if (node.opType == "Concat")
      for (const std::string_view part : node.inputs)
        if (const auto it = ranks.find(part); it != ranks.end())
          lengths.emplace(part, concatAxis(node, it->second));
    for (const PastInputs& past : kAttentions)
      for (const size_t index : {past.key, past.value})
        if (node.opType == past.opType && index < node.inputs.size())
          lengths.emplace(node.inputs[index], kLengthAxis);
  }
  return lengths;
}

std::map<std::string_view, int64_t> growingCaches(const wire::Graph& graph) {
  const std::map<std::string_view, int64_t> ranks = ranksOfInputs(graph);
  std::map<std::string_view, std::string_view> copies;  // to what they are of
  for (const wire::Node& node : graph.nodes)
    if (node.inputs.size() == 1 && node.outputs.size() == 1 &&
        (node.opType == "Identity" || node.opType == "Concat"))
      copies.emplace(node.outputs[0], node.inputs[0]);
  const auto original = [&](std::string_view name) {
    const auto copied = copies.find(name);
    return copied == copies.end() ? name : copied->second;
  };
  std::map<std::string_view, int64_t> caches;
  const auto add = [&](const wire::Node& node, size_t input, size_t output, int64_t axis) {
    if (input >= node.inputs.size() || output >= node.outputs.size()) return;
    const std::string_view past = original(node.inputs[input]);
    const bool isReturned = std::ranges::find(graph.outputs, node.outputs[output],
                                              &wire::ValueInfo::name) != graph.outputs.end();
    if (isReturned && axis > 0 && isOfRunTime(graph, past, axis)) caches.emplace(past, axis);
  };
  for (const wire::Node& node : graph.nodes) {
    if (node.opType == "Concat" && node.inputs.size() == 2)
      if (const auto it = ranks.find(original(node.inputs[0])); it != ranks.end())
        add(node, 0, 0, concatAxis(node, it->second));
    for (const PastInputs& past : kAttentions)
      if (node.opType == past.opType && past.growsAlways) {
        add(node, past.key, 1, kLengthAxis);
        add(node, past.value, 2, kLengthAxis);
      }
  }
  return caches;
}

}  // namespace camshaft::onnx::importer
