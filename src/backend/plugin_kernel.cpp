#include "backend/plugin_kernel.h"

#include "support/error.h"

namespace camshaft {
namespace {

const PluginOp& pluginOf(const Node& node) { return *node.as<PluginAttrs>().plugin; }

PluginTensor tensorOf(const Value& value, const BuildContext& context) {
  PluginTensor tensor{.type = value.type, .min = {}, .opt = {}, .max = {}};
  for (const Dim& dim : value.shape()) {
    const int64_t most = context.max(dim);
    if (most == DimRange::kUnbounded)
      fail(ErrorKind::kUnsupported, "tensor '", value.name, "' of a plugin has a size ",
           toString(dim), " without upper bound; give it one in an optimisation profile");
    tensor.min.push_back(context.min(dim));
    tensor.opt.push_back(context.opt(dim));
    tensor.max.push_back(most);
  }
  return tensor;
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (node.epilogue) return Verdict::no("takes no epilogue");
  try {
    return {pluginOf(node).whyNot(pluginTensors(node, context))};
  } catch (const Error& error) {
    return Verdict::no(error.message());
  }
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  const std::vector<int32_t> tactics = pluginOf(node).tactics(pluginTensors(node, context));
  return {tactics.begin(), tactics.end()};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const auto tactic = static_cast<int32_t>(config);
  PluginConfiguration configured = pluginOf(node).configure(pluginTensors(node, context), tactic);
  Prepared prepared;
  prepared.params = std::move(configured.params);
  prepared.inputs = allInputs(node);
  prepared.workspaceBytes = configured.workspaceBytes;
  if (tactic != 0) prepared.variant = str("tactic ", tactic);
  return prepared;
}

}  // namespace

PluginTensors pluginTensors(const Node& node, const BuildContext& context) {
  PluginTensors tensors;
  for (const Value* input : node.inputs) tensors.inputs.push_back(tensorOf(*input, context));
  for (const Value* output : node.outputs) tensors.outputs.push_back(tensorOf(*output, context));
  return tensors;
}

Kernel pluginKernel(std::string_view name) {
  return {.name = name, .supports = supports, .prepare = prepare, .configurations = configurations};
}

}  // namespace camshaft
