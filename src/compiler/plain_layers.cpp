#include "compiler/plain_layers.h"

#include <algorithm>
#include <cmath>

#include "ir/graph.h"

namespace camshaft {
namespace {

// Fewer elements, as the sizes of a tensor, take no time worth a warning.
constexpr double kTrifle = 1024;

bool isPlain(const ChosenKernel& chosen) { return chosen.kernel->name.starts_with("reference/"); }

double elementsOf(const Node& node, const SymbolValue& size) {
  double elements = 0;
  const auto add = [&](const Value* value) {
    double count = 1;
    for (const Dim& dim : value->shape()) count *= static_cast<double>(evaluate(dim, size));
    elements += std::max(count, 0.0);
  };
  for (const Value* input : node.inputs)
    if (input) add(input);
  for (const Value* output : node.outputs) add(output);
  return elements;
}

std::string percent(double part, double whole) {
  const double value = whole > 0 ? 100 * part / whole : 100;
  return value < 0.1 ? "less than 0.1 %" : str(std::round(value * 10) / 10, " %");
}

}  // namespace

void warnOfPlainLayers(std::span<const ChosenKernel> chosen, const Graph& graph,
                       const ResolvedProfile& profile, const Log& log) {
  if (std::none_of(chosen.begin(), chosen.end(), isPlain)) return;
  const SymbolValue size = profile.optValue(graph);
  const bool isTimed = std::all_of(chosen.begin(), chosen.end(), [](const ChosenKernel& layer) {
    return layer.info.milliseconds >= 0;
  });
  const auto work = [&](const ChosenKernel& layer) {
    return isTimed ? layer.info.milliseconds : elementsOf(*layer.node, size);
  };
  double all = 0;
  for (const ChosenKernel& layer : chosen) all += work(layer);
  for (const ChosenKernel& layer : chosen)
    if (isPlain(layer))
      log.write(
          elementsOf(*layer.node, size) < kTrifle ? Severity::kVerbose : Severity::kWarning,
          "layer '", layer.node->name, "' (", layer.node->op->name,
          ") has no fast kernel here and runs on the reference one, an element at a time: ",
          percent(work(layer), all),
          isTimed ? " of the network's time" : " of the elements the network reads and writes");
}

}  // namespace camshaft
