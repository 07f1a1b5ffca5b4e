#include "backends/reference/reference.h"
#include "ops/ops.h"
#include "ops/symbols.h"
#include "support/cpu_info.h"
#include "support/error.h"

namespace camshaft::reference {
namespace {

// A graph of this node alone, its inputs as graph inputs: the text of it is the kernel's
// parameters, and the run-time half parses it once per engine.
Graph isolate(const Node& node) {
  Graph graph;
  graph.name = "step";
  std::vector<Value*> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(node.inputs[i] ? graph.addInput(str("x", i), node.inputs[i]->type) : nullptr);
  const Node* copy = addCopy(graph, node, inputs);
  for (size_t i = 0; i < copy->outputs.size(); ++i) graph.addOutput(str("y", i), copy->outputs[i]);
  return graph;
}

Verdict supports(const Node& node, const BuildContext&) {
  return node.op->evaluate ? Verdict::yes() : Verdict::no("the operator has no evaluation");
}

Prepared prepare(const Node& node, const BuildContext&, int64_t) {
  Prepared prepared;
  const std::string text = toText(isolate(node), true);
  const auto bytes = std::as_bytes(std::span(text));
  prepared.params.assign(bytes.begin(), bytes.end());
  prepared.inputs = allInputs(node);
  for (const std::string& symbol : symbolsOf(node)) prepared.dimArgs.push_back(Dim::symbol(symbol));
  return prepared;
}

const Kernel kKernels[] = {{"reference/evaluate", supports, prepare}};

KernelList kernelsFor(const Node&) { return kKernels; }

BuildTarget target(int) { return {.name = describeCpu()}; }

}  // namespace

const BuildBackend& buildBackend() {
  static constexpr BuildBackend kBackend{.name = "reference",
                                         .kernelsFor = kernelsFor,
                                         .target = target,
                                         .prefersChannelsLast = false,
                                         .stores16Bit = true};
  return kBackend;
}

}  // namespace camshaft::reference
