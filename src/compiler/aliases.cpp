#include "compiler/aliases.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "ops/index.h"
#include "ops/pointwise.h"

namespace camshaft {
namespace {

bool touches(const std::vector<Operand>& operands, Place place, int32_t index) {
  return std::ranges::any_of(operands, [&](const Operand& operand) {
    return operand.place == place && operand.index == index;
  });
}

// The cache that a value takes the place of, or null.
const Value* cacheBefore(const Value* value) {
  const Node* writer = value->producer;
  if (producerOf(value, &ops::ScatterND))
    return writer->as<ScatterNDAttrs>().replacesData ? writer->input(0) : nullptr;
  if (!producerOf(value, &ops::PointwiseParts)) return nullptr;
  const auto& attrs = writer->as<PointwisePartsAttrs>();
  const auto output = static_cast<size_t>(value->index);
  return attrs.isCache(output) ? writer->input(static_cast<int>(attrs.caches[output])) : nullptr;
}

int32_t overwrittenBy(const ChosenKernel& chosen, const Value* output, const Graph& graph) {
  const std::vector<Value*>& inputs = chosen.node->inputs;
  if (chosen.onHost) return -1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] ||
        !chosen.kernel->mayOverwrite(*chosen.node, static_cast<int>(i), output->index))
      continue;
    const auto input = std::ranges::find(graph.inputs, storageOf(inputs[i]));
    const bool isOnce = std::ranges::count(inputs, storageOf(inputs[i]), [](const Value* value) {
                          return value ? storageOf(value) : nullptr;
                        }) == 1;
    if (input != graph.inputs.end() && isOnce)
      return static_cast<int32_t>(input - graph.inputs.begin());
  }
  return -1;
}

// Whether the step that writes the output is the last that reads the input.
bool isReadLast(const ProfilePlan& profile, int32_t input, int32_t output) {
  bool isWritten = false;
  for (const Step& step : profile.steps) {
    if (isWritten && touches(step.inputs, Place::kInput, input)) return false;
    isWritten |= touches(step.outputs, Place::kOutput, output);
  }
  return isWritten;
}

}  // namespace

void offerAliases(const Graph& graph, Plan& plan) {
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const Value* before = cacheBefore(storageOf(graph.outputs[i].value));
    if (!before) continue;
    const auto cache = std::ranges::find(graph.inputs, storageOf(before));
    if (cache == graph.inputs.end()) continue;
    const auto index = static_cast<int32_t>(cache - graph.inputs.begin());
    const IoTensor& input = plan.inputs[index];
    if (input.tensor == plan.outputs[i].tensor && !input.isOnHost)
      plan.outputs[i].aliasedInput = index;
  }
}

std::vector<int32_t> overwrittenInputs(const Graph& graph, std::span<const ChosenKernel> chosen) {
  std::vector<int32_t> inputs;
  for (const Graph::Output& output : graph.outputs) {
    const Value* written = storageOf(output.value);
    const auto writer = std::ranges::find(chosen, written->producer, &ChosenKernel::node);
    inputs.push_back(writer == chosen.end() ? -1 : overwrittenBy(*writer, written, graph));
  }
  return inputs;
}

void keepAliases(const std::vector<int32_t>& overwritten, const ProfilePlan& profile,
                 std::vector<IoTensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    int32_t& offered = outputs[i].aliasedInput;
    if (offered >= 0 &&
        (overwritten[i] != offered || !isReadLast(profile, offered, static_cast<int32_t>(i))))
      offered = -1;
  }
}

}  // namespace camshaft
