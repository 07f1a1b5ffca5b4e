#include "ops/plugin.h"

#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft {

void PluginAttrs::addSizes(const std::vector<Dim>& values) {
  sizes.insert(sizes.end(), values.begin(), values.end());
  counts.push_back(static_cast<int64_t>(values.size()));
}

std::vector<Shape> PluginAttrs::sizesByInput() const {
  std::vector<Shape> lists;
  size_t at = 0;
  for (const int64_t count : counts) {
    if (count < 0 || static_cast<size_t>(count) > sizes.size() - at)
      fail(ErrorKind::kInvalidModel, "plugin '", label, "' has ", sizes.size(),
           " sizes, which are fewer than its counts say");
    const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(at);
    lists.emplace_back(first, first + count);
    at += static_cast<size_t>(count);
  }
  return lists;
}

namespace {

PluginResults resultsOf(const std::string& who, const std::vector<Value*>& inputs,
                        const PluginAttrs& attrs) {
  if (!attrs.plugin)
    fail(ErrorKind::kUnsupported, who, " is the plugin '", attrs.label,
         "', whose object text cannot carry");
  std::vector<TensorType> types;
  for (const Value* input : inputs) {
    if (!input) fail(ErrorKind::kInvalidModel, who, " lacks an input: plugins have none to omit");
    types.push_back(input->type);
  }
  try {
    return attrs.plugin->infer(types, attrs.sizesByInput());
  } catch (const Error& error) {
    fail(error.kind(), who, ": ", error.message());
  }
}

// `sizes` as `replacement` gives them, in a shape.
template <class F>
Shape replaced(const Shape& shape, const std::vector<PluginSize>& sizes, F&& replacement) {
  Shape result;
  for (const Dim& dim : shape)
    result.push_back(substitute(dim, [&](const std::string& name) {
      for (size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i].symbol.symbolName() == name) return Dim(replacement(i));
      return Dim::symbol(name);
    }));
  return result;
}

std::vector<TensorType> atUpperBounds(const PluginResults& results) {
  std::vector<TensorType> types = results.outputs;
  for (TensorType& type : types)
    type.shape =
        replaced(type.shape, results.sizes, [&](size_t i) { return results.sizes[i].upper; });
  return types;
}

std::vector<TensorType> inferPlugin(const Node& node) {
  return atUpperBounds(resultsOf(describe(node), node.inputs, node.as<PluginAttrs>()));
}

Value* reshaped(Graph& graph, Value* x, Shape shape, Node* before) {
  ReshapeAttrs attrs;
  attrs.shape = std::move(shape);
  return graph.add(&ops::Reshape, x->producer->name, {x}, std::move(attrs), before)->output();
}

// The first elements of a result, in the shape that a run finds.
Value* cutTo(Graph& graph, Value* result, const Shape& shape, Node* before) {
  SliceAttrs attrs;
  attrs.axes = {0};
  attrs.starts = {0};
  attrs.sizes = {numElements(shape)};
  attrs.steps = {1};
  Value* flat = reshaped(graph, result, {numElements(result->shape())}, before);
  const std::string name = flat->producer->name;
  Value* kept = graph.add(&ops::Slice, name, {flat}, std::move(attrs), before)->output();
  return reshaped(graph, kept, shape, before);
}

}  // namespace

std::vector<Value*> addPlugin(Graph& graph, const std::string& name, std::vector<Value*> inputs,
                              PluginAttrs attrs, Node* before) {
  if (attrs.plugin) {
    std::vector<Value*> made = attrs.plugin->addOperators(graph, name, inputs, before);
    if (!made.empty()) return made;
  }
  const PluginResults results = resultsOf(str("plugin '", name, "'"), inputs, attrs);
  const Node* node = graph.add(&ops::Plugin, name, std::move(inputs), std::move(attrs), before,
                               static_cast<int>(results.outputs.size()));
  std::vector<Value*> outputs = node->outputs;
  std::vector<Dim> found;
  for (const PluginSize& size : results.sizes)
    found.push_back(boundedSizes(graph, reshaped(graph, node->outputs[size.output], {1}, before),
                                 {size.upper}, str("plugin '", name, "'"), before)
                        .front());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape shape =
        replaced(results.outputs[i].shape, results.sizes, [&](size_t size) { return found[size]; });
    if (shape != outputs[i]->shape()) outputs[i] = cutTo(graph, outputs[i], shape, before);
  }
  return outputs;
}

const OpInfo ops::Plugin = {"Plugin", 0, -1, -1, makeAttrsOf<PluginAttrs>, inferPlugin, nullptr};

}  // namespace camshaft
