#include "onnx/past_lengths.h"

#include <map>

namespace camshaft::onnx::importer {
namespace {

// Operators that append to a past, and which of their inputs are one. The length is axis 2.
struct PastInputs {
  std::string_view opType;
  size_t key, value;
};
constexpr PastInputs kAttentions[] = {
    {"Attention", 4, 5}, {"GroupQueryAttention", 3, 4}, {"MultiHeadAttention", 6, 7}};
constexpr int64_t kLengthAxis = 2;

int64_t concatAxis(const wire::Node& node, int64_t rank) {
  for (const wire::Attribute& attribute : node.attributes)
    if (attribute.name == "axis") return attribute.i < 0 ? attribute.i + rank : attribute.i;
  return 1;  // the default of the oldest opsets
}

}  // namespace

std::set<std::pair<std::string_view, int64_t>> pastLengths(const wire::Graph& graph) {
  std::map<std::string_view, int64_t> ranks;
  for (const wire::ValueInfo& input : graph.inputs)
    if (input.type.shape) ranks[input.name] = static_cast<int64_t>(input.type.shape->size());
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

}  // namespace camshaft::onnx::importer
