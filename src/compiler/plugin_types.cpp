#include "compiler/plugin_types.h"

#include <algorithm>

#include "backend/plugin_kernel.h"
#include "ops/plugin.h"
#include "ops/pointwise.h"

namespace camshaft {
namespace {

class PluginCasts {
 public:
  PluginCasts(Graph& graph, const ShapeProfile& profile) : graph_(graph) {
    std::vector<std::string> guessed;
    const ResolvedProfile resolved = resolveProfile(graph, profile, guessed);
    const SymbolValue opt = resolved.optValue(graph);
    const SymbolRange range = resolved.rangeOfSymbol(graph);
    context_.opt = [=](const Dim& dim) { return evaluate(dim, opt); };
    context_.min = [=](const Dim& dim) { return rangeOf(dim, range).min; };
    context_.max = [=](const Dim& dim) { return rangeOf(dim, range).max; };
  }

  bool fits(const Node& node) const {
    return node.as<PluginAttrs>().plugin->whyNot(pluginTensors(node, context_)).empty();
  }

  // Gives the node's real operands this type; false, and all as it was, where it does not help.
  bool castTo(Node* node, DataType type) {
    const std::vector<Value*> inputs = node->inputs;
    std::vector<DataType> types;
    for (const Value* output : node->outputs) types.push_back(output->dataType());
    std::vector<Value*> cast = inputs;
    for (Value*& input : cast)
      if (isFloat(input->dataType()) && input->dataType() != type)
        input = addCast(graph_, node->name, input, type, node);
    graph_.setInputs(node, cast);
    graph_.inferTypes(node);
    if (!fits(*node)) {
      graph_.setInputs(node, inputs);
      graph_.inferTypes(node);
      for (size_t i = 0; i < cast.size(); ++i)
        if (cast[i] != inputs[i]) graph_.eraseIfDead(cast[i]->producer);
      return false;
    }
    for (size_t i = 0; i < types.size(); ++i) castBack(node->outputs[i], types[i]);
    return true;
  }

 private:
  void castBack(Value* output, DataType type) {
    if (output->dataType() == type) return;
    Value* back =
        addCast(graph_, output->producer->name, output, type, graph_.next(output->producer));
    graph_.replaceUses(output, back);
    graph_.setInput(back->producer, 0, output);
  }

  Graph& graph_;
  BuildContext context_;
};

}  // namespace

void castAroundPlugins(Graph& graph, const CompileOptions& options) {
  std::vector<Node*> plugins = graph.nodeList();
  std::erase_if(plugins, [](const Node* node) { return node->op != &ops::Plugin; });
  if (plugins.empty() || (!options.allowF16 && !options.allowBF16)) return;
  PluginCasts casts(graph, options.profiles.empty() ? ShapeProfile() : options.profiles.front());
  for (Node* plugin : plugins) {
    if (casts.fits(*plugin)) continue;
    for (const DataType type : {DataType::kF16, DataType::kBF16, DataType::kF32}) {
      if ((type == DataType::kF16 && !options.allowF16) ||
          (type == DataType::kBF16 && !options.allowBF16) || !casts.castTo(plugin, type))
        continue;
      options.log.info(describe(*plugin), " works in ", type, ", with casts around it");
      break;
    }
  }
}

}  // namespace camshaft
