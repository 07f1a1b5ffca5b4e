#include "ops/softmax.h"

#include <cmath>

#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferSoftmax(const Node& node) {
  requireAxis(node, node.as<SoftmaxAttrs>().axis);
  requireFloat(node, 0);
  return {node.inputs[0]->type};
}

void evaluateSoftmax(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<SoftmaxAttrs>();
  const AxisView view(evaluation.inputs[0].dims, attrs.axis);
  std::vector<double> values = readReals(evaluation.inputs[0]);
  if (values.empty()) return;
  forEachRow(view, [&](int64_t first, int64_t step) {
    auto at = [&](int64_t i) -> double& { return values[first + i * step]; };
    int64_t largest = 0;
    for (int64_t i = 1; i < view.size; ++i)
      if (at(i) > at(largest)) largest = i;
    const double shift = at(largest);
    double sum = 0;
    for (int64_t i = 0; i < view.size; ++i) sum += std::exp(at(i) - shift);
    for (int64_t i = 0; i < view.size; ++i) {
      switch (attrs.kind) {
        case SoftmaxKind::kSoftmax:
          at(i) = std::exp(at(i) - shift) / sum;
          break;
        case SoftmaxKind::kLogSoftmax:
          at(i) = at(i) - shift - std::log(sum);
          break;
        case SoftmaxKind::kHardmax:
          at(i) = i == largest;
          break;
      }
    }
  });
  writeReals(evaluation.outputs[0], values);
}

}  // namespace

const OpInfo ops::Softmax = {"Softmax",      1, 1, 1, makeAttrsOf<SoftmaxAttrs>, inferSoftmax,
                             evaluateSoftmax};

}  // namespace camshaft
