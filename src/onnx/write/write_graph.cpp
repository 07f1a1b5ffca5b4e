#include "onnx/write/write_graph.h"

#include <algorithm>

#include "onnx/write/originals.h"
#include "onnx/write/printers.h"
#include "onnx/write/reads.h"
#include "ops/ops.h"

namespace camshaft::onnx::writer {

namespace {

std::unordered_map<std::string, int64_t> opsetsOf(const wire::Model& model) {
  std::unordered_map<std::string, int64_t> opsets;
  for (const auto& import : model.opsetImports)
    opsets[std::string(importer::canonicalDomain(import.domain))] = import.version;
  return opsets;
}

// The symbols that stand for sizes of kept nodes' results, as the importer knew them.
std::unordered_map<std::string, Dim> importedSizes(const std::vector<KeptNode>& kept) {
  std::unordered_map<std::string, Dim> sizes;
  for (const KeptNode& node : kept)
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i]) continue;
      const Shape &now = node.outputs[i]->shape(), &imported = node.traced->outputs[i]->shape();
      for (size_t axis = 0; axis < now.size(); ++axis)
        if (now[axis].isSymbol()) sizes.emplace(now[axis].symbolName(), imported[axis]);
    }
  return sizes;
}

class ModelWriter {
 public:
  ModelWriter(const WriteTask& task, bool sizesAsImported)
      : model_(task.model.model),
        graph_(task.graph),
        sizesAsImported_(sizesAsImported),
        originals_(task.trace, task.graph, opsetsOf(model_), importedSizes(task.kept)) {
    const auto opsets = opsetsOf(model_);
    const auto opset = opsets.find("");
    std::unordered_set<std::string> taken = task.taken;
    for (const auto& node : model_.graph.nodes)
      for (const auto& attribute : node.attributes)
        for (const auto& inner : attribute.graphs) collectDefined(inner, taken);
    for (const auto& info : model_.graph.inputs) taken.emplace(info.name);
    for (const auto& info : model_.graph.outputs) taken.emplace(info.name);
    result_.owner = std::make_unique<GraphWriter>(graph_, opset == opsets.end() ? 1 : opset->second,
                                                  modelInputs(), std::move(taken));
    for (const KeptNode& node : task.kept)
      for (const Value* output : node.outputs)
        if (output) makers_[output] = &node;
  }

  WrittenGraph run() {
    nameOutputs();
    while (const Value* value = writer().nextUnwritten()) {
      if (const auto kept = makers_.find(value); kept != makers_.end())
        writeKept(*kept->second);
      else if (value->producer)
        writeNode(*value->producer, value);
      else
        writer().define(value);  // an input
    }
    if (!result_.refusals.empty()) return std::move(result_);
    result_.graph = writer().take();
    result_.graph.name = model_.graph.name;
    result_.graph.docString = model_.graph.docString;
    for (const auto& info : model_.graph.inputs)
      if (isInput(info)) result_.graph.inputs.push_back(info);
    result_.graph.outputs = model_.graph.outputs;
    result_.graph.valueInfos = std::move(declarations_);
    return std::move(result_);
  }

 private:
  GraphWriter& writer() { return *result_.owner; }

  // Those that are initializers too are constants of the graph.
  bool isInput(const wire::ValueInfo& info) const {
    return std::any_of(graph_.inputs.begin(), graph_.inputs.end(),
                       [&](const Value* input) { return input->name == info.name; });
  }
  size_t modelInputs() const {
    return static_cast<size_t>(std::count_if(model_.graph.inputs.begin(), model_.graph.inputs.end(),
                                             [&](const auto& info) { return isInput(info); }));
  }

  // The body of a loop may give what it got, and any graph an initializer.
  bool isPassedOn(const Value* value, Name output) const {
    const auto isCalled = [&](const auto& one) { return one.name == output; };
    if (value->isConstant())
      return std::any_of(model_.graph.initializers.begin(), model_.graph.initializers.end(),
                         isCalled);
    return !value->producer && value->name == output && !makers_.contains(value);
  }

  // Outputs have the names the user gave them; where a value cannot have it, it is copied.
  void nameOutputs() {
    std::vector<std::pair<const Value*, size_t>> copies;
    std::unordered_set<const Value*> named;
    for (size_t i = 0; i < model_.graph.outputs.size(); ++i) {
      const Value* value = graph_.outputs[i].value;
      const Name output = model_.graph.outputs[i].name;
      const bool computed = value->producer || makers_.contains(value);
      if ((computed || isPassedOn(value, output)) && named.insert(value).second)
        writer().setName(value, output);
      else
        copies.emplace_back(value, i);
    }
    for (const auto& [value, i] : copies) {
      wire::Node copy;
      copy.opType = "Identity";
      copy.name = copy.outputs.emplace_back(model_.graph.outputs[i].name);
      copy.inputs = {writer().use(value)};
      writer().addNode(std::move(copy));
    }
    for (const Value* value : named) writer().use(value);
  }

  void writeNode(const Node& node, const Value* wanted) {
    writer().begin(node);
    const auto original = originals_.find(writer(), node);
    const bool isPlainAdd = original && original->traced->node.opType == "Add";
    if ((!original || isPlainAdd) && printGemm(writer(), node)) return;
    if (!original && printCount(writer(), node, wanted)) return;
    if (original && (sizesAsImported_ || !original->needsSizes))
      originals_.write(writer(), *original, sizesAsImported_);
    else if (sizesAsImported_ && node.op == &ops::DimsTensor)
      originals_.writeByName(writer(), wanted);
    if (writer().isWritten(wanted)) return;
    std::string reason = print(writer(), node);
    if (!reason.empty() && original && original->needsSizes) {
      originals_.write(writer(), *original, sizesAsImported_);
      if (writer().isWritten(wanted)) return;
    }
    if (reason.empty() || originals_.writeByName(writer(), wanted)) return;
    result_.refusals.push_back({&node, std::move(reason)});
    writer().define(wanted);
  }

  void writeKept(const KeptNode& kept) {
    wire::Node node = kept.traced->node;
    Renames renames;
    for (size_t i = 0; i < kept.captures.size(); ++i)
      renames[kept.traced->captures[i].name] = writer().use(kept.captures[i]);
    for (auto& attribute : node.attributes)
      for (auto& inner : attribute.graphs) renameReads(inner, renames);
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!node.inputs[i].empty()) node.inputs[i] = writer().use(kept.inputs[i]);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (kept.outputs[i]) {
        const Name name = writer().define(kept.outputs[i]);
        if (kept.traced->opaque) keepDeclaration(node.outputs[i], name);
        node.outputs[i] = name;
      } else if (!node.outputs[i].empty()) {  // the graph has another value for it
        node.outputs[i] = writer().newName(std::string(node.outputs[i]));
      }
    writer().addNode(std::move(node));
  }

  // What an unknown operator gives is known by its declaration alone.
  void keepDeclaration(std::string_view imported, Name now) {
    for (const auto& info : model_.graph.valueInfos)
      if (info.name == imported) declarations_.emplace_back(info).name = now;
  }

  const wire::Model& model_;
  const Graph& graph_;
  bool sizesAsImported_;
  Originals originals_;
  std::unordered_map<const Value*, const KeptNode*> makers_;
  std::vector<wire::ValueInfo> declarations_;
  WrittenGraph result_;
};

}  // namespace

WrittenGraph writeGraph(const WriteTask& task, bool sizesAsImported) {
  return ModelWriter(task, sizesAsImported).run();
}

}  // namespace camshaft::onnx::writer
