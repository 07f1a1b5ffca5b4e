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
    fail(ErrorKind::kInvalidEngine, "a reference step holds ", state->graph.nodeCount(), " nodes instead of one");
  std::set<std::string> symbols = symbolsRead(*state->graph.nodes().front());
  state->symbols.assign(symbols.begin(), symbols.end());
  return state;
}

TensorView viewOf(const TensorArg& arg) {
  return {arg.type, Dims(arg.dims, arg.dims + arg.rank), arg.data};
}

void launch(const void* opaque, const LaunchArgs& args) {
  const State& state = *static_cast<const State*>(opaque);
  std::vector<ConstTensorView> inputs;
  for (const TensorArg& arg : args.inputs) inputs.push_back(viewOf(arg));
  std::vector<TensorView> outputs;
  for (const TensorArg& arg : args.outputs) outputs.push_back(viewOf(arg));
  const auto symbolValue = [&](const std::string& name) -> int64_t {
    for (size_t i = 0; i < state.symbols.size(); ++i)
      if (state.symbols[i] == name) return args.dims[i];
    CAMSHAFT_CHECK(false, "no value for dimension '", name, "'");
  };
  evaluateNode(*state.graph.nodes().front(), inputs, outputs, symbolValue);
}

constexpr RuntimeKernel kEvaluate{"reference/evaluate", load, launch};

const RuntimeKernel* find(std::string_view name) { return name == kEvaluate.name ? &kEvaluate : nullptr; }
std::string describeDevice() { return "reference"; }

}  // namespace

const RuntimeBackend& runtimeBackend() {
  static constexpr RuntimeBackend kBackend{"reference", find, describeDevice};
  return kBackend;
}

}  // namespace camshaft::reference
