// What a plan says of a graph's inputs and outputs.
#include <algorithm>

#include "ops/shape.h"
#include "plan/dim_program.h"
#include "plan/planner.h"

namespace camshaft {
namespace {

IoTensor describeIo(const std::string& name, const Value& value, DimProgramBuilder& dims,
                    bool isInput) {
  IoTensor io{.name = name, .isInput = isInput};
  io.tensor.type = value.dataType();
  for (const Dim& dim : value.shape()) {
    // Outputs' slots differ between profiles; ProfilePlan::outputs has them.
    io.tensor.dims.push_back(dim.isConstant() ? DimRef{.constant = dim.value()}
                             : isInput        ? DimRef{.slot = dims.defineSymbol(dim.symbolName())}
                                              : DimRef{.slot = 0});
    io.dimNames.push_back(dim.isConstant() ? "" : toString(dim));
  }
  return io;
}

}  // namespace

std::vector<IoTensor> describeInputs(const Graph& graph, bool hasDeviceMemory) {
  DimProgramBuilder dims;
  std::vector<IoTensor> inputs;
  for (const Value* input : graph.inputs) {
    inputs.push_back(describeIo(input->name, *input, dims, true));
    inputs.back().isShapeTensor =
        std::any_of(input->users.begin(), input->users.end(), [](const Node* user) {
          return user->op == &ops::BindDims || user->op == &ops::ReshapeDims;
        });
    inputs.back().isOnHost = hasDeviceMemory && inputs.back().isShapeTensor;
  }
  return inputs;
}

void describeValues(const Graph& graph, std::vector<IoTensor>& inputs) {
  DimProgramBuilder dims;
  for (const Value* input : graph.inputs)
    for (const Dim& dim : input->shape())
      if (!dim.isConstant()) dims.defineSymbol(dim.symbolName());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!graph.inputs[i]->contents || !inputs[i].isShapeTensor) continue;
    for (const Dim& symbol : *graph.inputs[i]->contents)
      inputs[i].valueSlots.push_back(dims.defineSymbol(symbol.symbolName()));
  }
}

std::vector<IoTensor> describeOutputs(const Graph& graph) {
  DimProgramBuilder dims;
  std::vector<IoTensor> outputs;
  for (const auto& output : graph.outputs)
    outputs.push_back(describeIo(output.name, *output.value, dims, false));
  return outputs;
}

}  // namespace camshaft
