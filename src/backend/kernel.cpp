#include "backend/kernel.h"

#include <utility>

namespace camshaft {

void packNow(Prepared& prepared) {
  for (StepInput& input : prepared.inputs)
    if (const auto pack = std::exchange(input.pack, nullptr)) input.packed = pack();
}

std::vector<StepInput> allInputs(const Node& node) {
  std::vector<StepInput> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(StepInput::fromNode(static_cast<int>(i)));
  return inputs;
}

}  // namespace camshaft
