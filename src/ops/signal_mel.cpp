#include <algorithm>
#include <cmath>

#include "ops/rules.h"
#include "ops/signal.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferMelWeights(const Node& node) {
  const auto& attrs = node.as<MelWeightsAttrs>();
  for (int i = 0; i < 4; ++i)
    if (!numElements(node.inputs[i]->shape()).isConstant(1))
      fail(ErrorKind::kInvalidModel, describe(node), " takes scalars and input ", i, " is ",
           node.inputs[i]->type);
  return {{attrs.type, {attrs.bins, attrs.melBins}}};
}

double melOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertzOf(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Band m rises over the bins edge[m]..edge[m+1] to 1 and falls until edge[m+2].
void evaluateMelWeights(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<MelWeightsAttrs>();
  const int64_t bins = evaluation.resolve(attrs.bins), bands = evaluation.resolve(attrs.melBins);
  const auto scalar = [&](int i) { return readReals(evaluation.inputs[i]).front(); };
  const double length = scalar(0), rate = scalar(1), low = melOf(scalar(2));
  const double step = (melOf(scalar(3)) - low) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double bin = (length + 1) * hertzOf(low + step * static_cast<double>(i)) / rate;
    edges.push_back(bin >= 0 ? static_cast<int64_t>(std::min(bin, 1e15)) : 0);
  }
  std::vector<double> weights(bins * bands);
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t first = edges[band], peak = edges[band + 1], last = edges[band + 2];
    for (int64_t bin = first; bin < std::min(last, bins); ++bin)
      weights[bin * bands + band] =
          bin < peak ? static_cast<double>(bin - first) / static_cast<double>(peak - first)
                     : static_cast<double>(last - bin) / static_cast<double>(last - peak);
    if (peak < bins) weights[peak * bands + band] = 1;  // also where the band is one bin wide
  }
  writeReals(evaluation.outputs[0], weights);
}

}  // namespace

const OpInfo ops::MelWeights = {
    "MelWeights", 4, 4, 1, makeAttrsOf<MelWeightsAttrs>, inferMelWeights, evaluateMelWeights};

}  // namespace camshaft
