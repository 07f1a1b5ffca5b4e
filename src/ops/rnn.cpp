#include "ops/rnn.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

enum Input { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

std::vector<TensorType> inferRecurrent(const Node& node) {
  const auto& attrs = node.as<RecurrentAttrs>();
  requireRank(node, kX, "a sequence", 3);
  requireFloat(node, kX);
  const Shape& x = node.inputs[kX]->shape();
  const Dim steps = x[attrs.batchFirst ? 1 : 0], batch = x[attrs.batchFirst ? 0 : 1];
  const int64_t directions = directionsOf(attrs), hidden = attrs.hidden,
                gates = gatesOf(attrs.kind) * hidden;
  const Shape state =
      attrs.batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  if (hidden < 1)
    fail(ErrorKind::kInvalidModel, describe(node), " has a hidden size of ", hidden,
         ", which must be positive");
  requireShape(node, kW, "input weights", {directions, gates, x[2]});
  requireShape(node, kR, "recurrent weights", {directions, gates, hidden});
  if (node.hasInput(kBias)) requireShape(node, kBias, "a bias", {directions, 2 * gates});
  if (node.hasInput(kLengths)) requireShape(node, kLengths, "sequence lengths", {batch});
  if (node.hasInput(kInitialH)) requireShape(node, kInitialH, "an initial state", state);
  if (node.hasInput(kInitialC)) requireShape(node, kInitialC, "an initial cell", state);
  if (node.hasInput(kPeepholes))
    requireShape(node, kPeepholes, "peephole weights", {directions, 3 * hidden});
  activationsOf(attrs, 0, describe(node));

  const DataType type = node.inputs[kX]->dataType();
  const Shape y = attrs.batchFirst ? Shape{batch, steps, directions, hidden}
                                   : Shape{steps, directions, batch, hidden};
  std::vector<TensorType> types{{type, y}, {type, state}};
  if (attrs.kind == RecurrentKind::kLstm) types.push_back({type, state});
  return types;
}

// The weights of one direction and the step they define.
class Cell {
 public:
  Cell(const Evaluation& evaluation, int64_t direction)
      : attrs_(evaluation.node.as<RecurrentAttrs>()),
        hidden_(attrs_.hidden),
        gates_(gatesOf(attrs_.kind) * hidden_),
        activations_(activationsOf(attrs_, direction, describe(evaluation.node))) {
    auto slice = [&](Input input, int64_t size) {
      if (!evaluation.node.hasInput(input)) return std::vector<double>(size);
      const std::vector<double> all = readReals(evaluation.inputs[input]);
      return std::vector<double>(all.begin() + direction * size,
                                 all.begin() + (direction + 1) * size);
    };
    inputs_ = evaluation.inputs[kX].dims[2];
    w_ = slice(kW, gates_ * inputs_);
    r_ = slice(kR, gates_ * hidden_);
    bias_ = slice(kBias, 2 * gates_);
    peepholes_ = slice(kPeepholes, 3 * hidden_);
  }

  // Advances the state h (and c, for LSTM) by one element of the sequence.
  void step(const double* x, std::vector<double>& h, std::vector<double>& c) const {
    std::vector<double> fromInput(gates_), fromState(gates_);
    for (int64_t row = 0; row < gates_; ++row) {
      fromInput[row] = bias_[row] + dot(&w_[row * inputs_], x, inputs_);
      fromState[row] = bias_[gates_ + row] + dot(&r_[row * hidden_], h.data(), hidden_);
    }
    switch (attrs_.kind) {
      case RecurrentKind::kLstm:
        return stepLstm(fromInput, fromState, h, c);
      case RecurrentKind::kGru:
        return stepGru(fromInput, fromState, h);
      case RecurrentKind::kRnn:
        for (int64_t j = 0; j < hidden_; ++j) h[j] = activate(0, fromInput[j] + fromState[j]);
    }
  }

 private:
  static double dot(const double* a, const double* b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
  }

  double activate(int which, double x) const {
    return activations_[which](attrs_.clip > 0 ? std::clamp(x, -attrs_.clip, attrs_.clip) : x);
  }

  // Gates in the order i, o, f, c; peepholes i, o, f. Clipping bounds the gates, not the cell.
  void stepLstm(const std::vector<double>& fromInput, const std::vector<double>& fromState,
                std::vector<double>& h, std::vector<double>& c) const {
    for (int64_t j = 0; j < hidden_; ++j) {
      auto gate = [&](int64_t g) {
        return fromInput[g * hidden_ + j] + fromState[g * hidden_ + j];
      };
      auto peephole = [&](int64_t g) { return peepholes_[g * hidden_ + j] * c[j]; };
      const double in = activate(0, gate(0) + peephole(0));
      const double forget = attrs_.inputForget ? 1 - in : activate(0, gate(2) + peephole(2));
      c[j] = forget * c[j] + in * activate(1, gate(3));
      const double out = activate(0, gate(1) + peephole(1));
      h[j] = out * activations_[2](c[j]);
    }
  }

  // Gates in the order z, r, h.
  void stepGru(const std::vector<double>& fromInput, const std::vector<double>& fromState,
               std::vector<double>& h) const {
    std::vector<double> update(hidden_), reset(hidden_), resetState(hidden_);
    for (int64_t j = 0; j < hidden_; ++j) {
      update[j] = activate(0, fromInput[j] + fromState[j]);
      reset[j] = activate(0, fromInput[hidden_ + j] + fromState[hidden_ + j]);
      resetState[j] = reset[j] * h[j];
    }
    for (int64_t j = 0; j < hidden_; ++j) {
      const int64_t row = 2 * hidden_ + j;
      const double recurrent =
          attrs_.linearBeforeReset
              ? reset[j] * fromState[row]
              : bias_[gates_ + row] + dot(&r_[row * hidden_], resetState.data(), hidden_);
      h[j] = (1 - update[j]) * activate(1, fromInput[row] + recurrent) + update[j] * h[j];
    }
  }

  const RecurrentAttrs& attrs_;
  int64_t hidden_, gates_, inputs_;
  std::vector<Activation> activations_;
  std::vector<double> w_, r_, bias_, peepholes_;
};

// Offsets of rows in the sequence and state tensors, by layout.
struct Layout {
  bool batchFirst;
  int64_t steps, batch, directions, inputs, hidden;

  int64_t x(int64_t t, int64_t b) const {
    return (batchFirst ? b * steps + t : t * batch + b) * inputs;
  }
  int64_t y(int64_t t, int64_t d, int64_t b) const {
    return (batchFirst ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) *
           hidden;
  }
  int64_t state(int64_t d, int64_t b) const {
    return (batchFirst ? b * directions + d : d * batch + b) * hidden;
  }
};

void evaluateRecurrent(const Evaluation& evaluation) {
  const Node& node = evaluation.node;
  const auto& attrs = node.as<RecurrentAttrs>();
  const Dims& dims = evaluation.inputs[kX].dims;
  const Layout layout{attrs.batchFirst,
                      dims[attrs.batchFirst ? 1 : 0],
                      dims[attrs.batchFirst ? 0 : 1],
                      directionsOf(attrs),
                      dims[2],
                      attrs.hidden};
  const std::vector<double> x = readReals(evaluation.inputs[kX]);
  std::vector<double> y(evaluation.outputs[0].count());
  auto initial = [&](Input input) {
    return node.hasInput(input) ? readReals(evaluation.inputs[input])
                                : std::vector<double>(evaluation.outputs[1].count());
  };
  std::vector<double> finalH = initial(kInitialH), finalC = initial(kInitialC);

  for (int64_t d = 0; d < layout.directions; ++d) {
    const Cell cell(evaluation, d);
    const bool backward = attrs.direction == RecurrentDirection::kReverse || d == 1;
    for (int64_t b = 0; b < layout.batch; ++b) {
      const int64_t length =
          node.hasInput(kLengths)
              ? std::clamp<int64_t>(readInteger(evaluation.inputs[kLengths].type,
                                                evaluation.inputs[kLengths].data, b),
                                    0, layout.steps)
              : layout.steps;
      double* lastH = &finalH[layout.state(d, b)];
      double* lastC = &finalC[layout.state(d, b)];
      std::vector<double> h(lastH, lastH + layout.hidden), c(lastC, lastC + layout.hidden);
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = backward ? length - 1 - i : i;
        cell.step(&x[layout.x(t, b)], h, c);
        std::ranges::copy(h, &y[layout.y(t, d, b)]);
      }
      std::ranges::copy(h, lastH);
      std::ranges::copy(c, lastC);
    }
  }
  writeReals(evaluation.outputs[0], y);
  writeReals(evaluation.outputs[1], finalH);
  if (attrs.kind == RecurrentKind::kLstm) writeReals(evaluation.outputs[2], finalC);
}

}  // namespace

const OpInfo ops::Recurrent = {
    "Recurrent", 3, 8, -1, makeAttrsOf<RecurrentAttrs>, inferRecurrent, evaluateRecurrent};

}  // namespace camshaft
