#include "backends/reference/reference.h"
#include "ir/graph.h"
#include "ops/evaluate.h"
#include "ops/ops.h"
#include "ops/symbols.h"
#include "support/error.h"

namespace camshaft::reference {
namespace {

struct State {
  Graph graph;
  std::vector<std::string> symbols;  // values arrive as LaunchArgs::dims, in this order
};

std::shared_ptr<const void> load(std::span<const std::byte> params) {
  auto state = std::make_shared<State>();
  state->graph = parseGraph({reinterpret_cast<const char*>(params.data()), params.size()}, findOp);
  if (state->graph.nodeCount() != 1)
    fail(ErrorKind::kInvalidEngine, "a reference step holds ", state->graph.nodeCount(),
         " nodes instead of one");
  const std::set<std::string> symbols = symbolsOf(*state->graph.nodes().front());
  state->symbols.assign(symbols.begin(), symbols.end());
  return state;
}

TensorView viewOf(const TensorArg& arg) {
  return {arg.type, Dims(arg.dims, arg.dims + arg.rank), arg.data};
}

SymbolValue valuesIn(const State& state, const LaunchArgs& args) {
  return [&](const std::string& name) -> int64_t {
    for (size_t i = 0; i < state.symbols.size(); ++i)
      if (state.symbols[i] == name) return args.dims[i];
    CAMSHAFT_CHECK(false, "no value for dimension '", name, "'");
  };
}

bool isOfType(const TensorArg& arg, const TensorType& type, const SymbolValue& symbolValue) {
  if (arg.type != type.type || arg.rank != type.rank() || (!arg.data && arg.count() != 0))
    return false;
  for (int i = 0; i < arg.rank; ++i)
    if (evaluate(type.shape[i], symbolValue) != arg.dims[i]) return false;
  return true;
}

// Whether the node takes these sizes: while building, sizes that may be equal had to do. Throws
// what inference says against them.
bool infersTo(const State& state, const LaunchArgs& args, const SymbolValue& symbolValue) {
  Graph graph = state.graph.clone();
  substituteSymbols(graph, [&](const std::string& name) { return Dim(symbolValue(name)); });
  const Node& node = *graph.nodes().front();
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!isOfType(args.outputs[i], node.outputs[i]->type, symbolValue)) return false;
  return true;
}

// Operators may read their inputs again after they have begun to write.
bool worksInPlace(const LaunchArgs& args) {
  for (const TensorArg& output : args.outputs)
    for (const TensorArg& input : args.inputs)
      if (output.count() > 0 && input.count() > 0 && output.data == input.data) return true;
  return false;
}

// The operands are of the types the node was built for.
bool fits(const void* opaque, const LaunchArgs& args) {
  const State& state = *static_cast<const State*>(opaque);
  const Node& node = *state.graph.nodes().front();
  if (args.dims.size() != state.symbols.size() || args.inputs.size() != node.inputs.size() ||
      args.outputs.size() != node.outputs.size() || worksInPlace(args))
    return false;
  const SymbolValue symbolValue = valuesIn(state, args);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] ? args.inputs[i].data != nullptr
                        : !isOfType(args.inputs[i], node.inputs[i]->type, symbolValue))
      return false;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!isOfType(args.outputs[i], node.outputs[i]->type, symbolValue)) return false;
  return state.symbols.empty() || infersTo(state, args, symbolValue);
}

void launch(const void* opaque, const LaunchArgs& args) {
  const State& state = *static_cast<const State*>(opaque);
  std::vector<ConstTensorView> inputs;
  for (const TensorArg& arg : args.inputs) inputs.push_back(viewOf(arg));
  std::vector<TensorView> outputs;
  for (const TensorArg& arg : args.outputs) outputs.push_back(viewOf(arg));
  evaluateNode(*state.graph.nodes().front(), inputs, outputs, valuesIn(state, args));
}

constexpr RuntimeKernel kEvaluate{"reference/evaluate", load, launch, fits};

const RuntimeKernel* find(std::string_view name) {
  return name == kEvaluate.name ? &kEvaluate : nullptr;
}
std::string describeDevice() { return "reference"; }

}  // namespace

const RuntimeBackend& runtimeBackend() {
  static constexpr RuntimeBackend kBackend{"reference", find, describeDevice};
  return kBackend;
}

}  // namespace camshaft::reference
