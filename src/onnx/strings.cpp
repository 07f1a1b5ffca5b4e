#include "onnx/strings.h"

#include <algorithm>

namespace camshaft::onnx::importer {

namespace {

// Operators that move elements of any type, or choose among them.
constexpr std::string_view kMoving[] = {"ArrayFeatureExtractor",
                                        "Compress",
                                        "Concat",
                                        "Expand",
                                        "Flatten",
                                        "Gather",
                                        "GatherElements",
                                        "GatherND",
                                        "Identity",
                                        "Reshape",
                                        "Slice",
                                        "Split",
                                        "Squeeze",
                                        "Tile",
                                        "Transpose",
                                        "Unsqueeze",
                                        "Where"};

}  // namespace

bool passesStrings(const wire::Node& node, const Scope& scope) {
  if (std::find(std::begin(kMoving), std::end(kMoving), node.opType) == std::end(kMoving))
    return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](std::string_view name) {
    const std::optional<Item> item = name.empty() ? std::nullopt : scope.findItem(name);
    return item && std::holds_alternative<Strings>(*item);
  });
}

void importStrings(NodeImport& node) {
  Strings strings;
  for (int i = 0; i < node.inputCount() && strings.chosenBy.empty(); ++i) {
    const std::optional<Item> item = node.optionalItem(i);
    if (!item) continue;
    if (const Strings* given = std::get_if<Strings>(&*item))
      strings.chosenBy = given->chosenBy;
    else if (const Value* value = tensorOf(*item); value && !value->isConstant())
      strings.chosenBy = node.wireNode().inputs[static_cast<size_t>(i)];
  }
  for (int i = 0; i < node.outputCount(); ++i) node.setOutput(i, strings);
}

std::string adviceOn(const Strings& strings) {
  if (strings.chosenBy.empty())
    return "engines hold numbers: remove it from the model's outputs, and keep the strings beside "
           "the engine";
  return str("engines hold numbers: make '", strings.chosenBy,
             "', which chooses them, an output of the model instead, and look the strings up in "
             "the program");
}

}  // namespace camshaft::onnx::importer
