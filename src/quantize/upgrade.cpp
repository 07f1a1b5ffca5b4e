#include "quantize/upgrade.h"

#include <algorithm>
#include <cstring>

#include "onnx/names.h"
#include "support/error.h"

namespace camshaft {
namespace {

// The first version of the intermediate representation that has an opset's types.
constexpr std::pair<int64_t, int64_t> kIrVersions[] = {{21, 10}, {19, 9}, {13, 7}};

class Upgrade {
 public:
  Upgrade(ModelEditor& editor, int64_t from, int64_t to, const RankOf& rankOf)
      : editor_(editor), from_(from), to_(to), rankOf_(rankOf) {}

  void graph(onnx::Graph& graph) {
    for (onnx::Node& node : graph.nodes) {
      for (onnx::Attribute& attribute : node.attributes)
        for (onnx::Graph& inner : attribute.graphs) this->graph(inner);
      if (isStandard(node)) upgrade(node);
    }
  }

 private:
  bool crosses(int64_t opset) const { return from_ < opset && opset <= to_; }

  void upgrade(onnx::Node& node) {
    const std::string_view op = node.opType;
    if (crosses(12) && op == "Dropout") remove(node, "ratio");
    if (crosses(13)) upgradeTo13(node);
    if (crosses(16) && op == "RoiAlign") keepOldDefault(node);
    if (crosses(18) && op.starts_with("Reduce") && op != "ReduceSum") moveToInput(node, "axes", 1);
    if (crosses(18) && op == "Split" && node.inputs.size() < 2 &&
        !findAttribute(node, "num_outputs"))
      node.attributes.push_back(makeInt("num_outputs", static_cast<int64_t>(node.outputs.size())));
    if (crosses(20) && op == "GridSample") renameMode(node);
    if (crosses(20) && op == "DFT") refuse(node, "whose axis became an input in opset 20");
    if (crosses(21) && op == "GroupNormalization")
      refuse(node, "whose scales became those of channels in opset 21");
  }

  void upgradeTo13(onnx::Node& node) {
    const std::string_view op = node.opType;
    if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") moveToInput(node, "axes", 1);
    if (op == "Split") moveToInput(node, "split", 1);
    if (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax") settleAxis(node);
  }

  void remove(onnx::Node& node, std::string_view attribute) {
    std::erase_if(node.attributes, [&](const auto& each) { return each.name == attribute; });
  }

  void moveToInput(onnx::Node& node, std::string_view name, size_t input) {
    const onnx::Attribute* attribute = findAttribute(node, name);
    if (!attribute || node.inputs.size() > input) return;
    const auto bytes = std::as_bytes(std::span(attribute->ints));
    const std::vector<int64_t> dims{static_cast<int64_t>(attribute->ints.size())};
    node.inputs.resize(input);
    node.inputs.push_back(editor_.addConstant(str(nameOf(node), "_", name), DataType::kI64, dims,
                                              {bytes.begin(), bytes.end()}));
    remove(node, name);
  }

  // Before 13 it runs over all dimensions from the axis on, which are one where the axis is last.
  void settleAxis(onnx::Node& node) {
    const int64_t axis = intAttribute(node, "axis", 1);
    const auto rank = node.inputs.empty() ? std::nullopt : rankOf_(node.inputs[0]);
    const bool isLast = axis == -1 || (rank && axis == static_cast<int64_t>(*rank) - 1);
    if (!isLast) refuse(node, "which runs over several dimensions");
    remove(node, "axis");
    node.attributes.push_back(makeInt("axis", -1));
  }

  static void keepOldDefault(onnx::Node& node) {
    if (findAttribute(node, "coordinate_transformation_mode")) return;
    onnx::Attribute mode;
    mode.name = "coordinate_transformation_mode";
    mode.type = onnx::AttributeType::kString;
    mode.s = "output_half_pixel";
    node.attributes.push_back(mode);
  }

  static void renameMode(onnx::Node& node) {
    for (onnx::Attribute& attribute : node.attributes) {
      if (attribute.name != "mode") continue;
      if (attribute.s == "bilinear") attribute.s = "linear";
      if (attribute.s == "bicubic") attribute.s = "cubic";
    }
  }

  [[noreturn]] void refuse(const onnx::Node& node, std::string_view why) const {
    fail(ErrorKind::kUnsupported, "the model is of opset ", from_, ", the quantised one needs ",
         to_, ", and ", node.opType, " '", nameOf(node), "', ", why,
         ", cannot be written there: export the model in opset ", to_);
  }

  ModelEditor& editor_;
  const int64_t from_, to_;
  const RankOf& rankOf_;
};

}  // namespace

int64_t opsetOf(const onnx::Model& model) {
  for (const auto& import : model.opsetImports)
    if (onnx::importer::canonicalDomain(import.domain).empty()) return import.version;
  return 0;
}

void upgradeOpset(ModelEditor& editor, int64_t opset, const RankOf& rankOf) {
  onnx::Model& model = editor.model();
  const int64_t from = opsetOf(model);
  if (from >= opset) return;
  if (from < kOldestOpset)
    fail(ErrorKind::kUnsupported, "the model is of opset ", from, ", and quantised ones need ",
         opset, ", into which those from ", kOldestOpset,
         " on can be brought: export the model anew in a later opset");
  Upgrade(editor, from, opset, rankOf).graph(model.graph);
  for (auto& import : model.opsetImports)
    if (onnx::importer::canonicalDomain(import.domain).empty()) import.version = opset;
  for (const auto& [first, version] : kIrVersions)
    if (opset >= first) {
      model.irVersion = std::max(model.irVersion, version);
      break;
    }
  editor.refresh();
}

}  // namespace camshaft
