#include "backend/kernel.h"

namespace camshaft {

std::vector<StepInput> allInputs(const Node& node) {
  std::vector<StepInput> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(StepInput::fromNode(static_cast<int>(i)));
  return inputs;
}

}  // namespace camshaft
