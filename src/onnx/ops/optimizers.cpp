// ai.onnx.preview.training: one step of an optimiser, for models that train themselves. Inputs are
// the learning rate, the number of steps before this one, then weights, gradients and what the
// optimiser remembers, a list of each; outputs are weights and memories after the step.
#include "onnx/formula.h"
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

namespace {

// Rate and steps are in the weight's type; the gradient has the regularisation in it.
struct Step {
  Value *rate, *steps, *weight, *gradient;
  std::vector<Value*> memories;
};

Step stepOf(const NodeImport& node, int index, int count, int memories) {
  const auto of = [&](int list) { return node.input(2 + list * count + index); };
  Step step{.weight = of(0), .gradient = of(1)};
  for (int i = 0; i < memories; ++i) step.memories.push_back(of(2 + i));
  for (int list = 1; list < 2 + memories; ++list)
    if (of(list)->type != step.weight->type)
      node.invalid("its input '", of(list)->name, "' is ", of(list)->type,
                   " and belongs to weights of ", step.weight->type);
  const DataType type = step.weight->dataType();
  step.rate = node.cast(node.input(0), type);
  step.steps = node.cast(node.input(1), type);
  const double decay = node.number("norm_coefficient", 0);
  if (decay != 0)
    step.gradient =
        node.binary(ScalarOp::kAdd, step.gradient, node.binary(ScalarOp::kMul, step.weight, decay));
  return step;
}

// Formula of values of one type.
template <class Make>
Value* compute(const NodeImport& node, const std::vector<Value*>& inputs, Make make) {
  Formula formula;
  std::vector<Term> terms;
  for (size_t i = 0; i < inputs.size(); ++i)
    terms.push_back(formula.input(static_cast<int>(i), inputs[i]->dataType()));
  return node.pointwise(inputs, formula.take(make(terms)));
}

// `update` turns the step of each weight into the weight and memories after it.
template <class Update>
void importOptimizer(NodeImport& node, int memories, Update update) {
  const int lists = 2 + memories, count = (node.inputCount() - 2) / lists;
  if (count < 1 || node.inputCount() != 2 + count * lists)
    node.invalid("it has ", node.inputCount(), " inputs, which are not a rate, a count and ", lists,
                 " lists of one length");
  for (int i = 0; i < count; ++i) {
    const std::vector<Value*> after = update(stepOf(node, i, count, memories));
    for (size_t list = 0; list < after.size(); ++list)
      node.setOutput(static_cast<int>(list) * count + i, after[list]);
  }
}

using Terms = std::vector<Term>;

}  // namespace

void importAdagrad(NodeImport& node) {
  const double slower = node.number("decay_factor", 0), epsilon = node.number("epsilon", 0);
  importOptimizer(node, 1, [&](const Step& step) -> std::vector<Value*> {
    Value* squares = compute(node, {step.memories[0], step.gradient},
                             [&](const Terms& t) { return t[0] + t[1] * t[1]; });
    Value* weight = compute(node, {step.weight, step.gradient, squares, step.rate, step.steps},
                            [&](const Terms& t) {
                              const Term rate = t[3] / (t[4] * slower + 1);
                              return t[0] - rate * t[1] / (apply(ScalarOp::kSqrt, t[2]) + epsilon);
                            });
    return {weight, squares};
  });
}

void importAdam(NodeImport& node) {
  const double alpha = node.number("alpha", 0.9), beta = node.number("beta", 0.999),
               epsilon = node.number("epsilon", 0), decay = node.number("norm_coefficient_post", 0);
  importOptimizer(node, 2, [&](const Step& step) -> std::vector<Value*> {
    Value* mean = compute(node, {step.memories[0], step.gradient},
                          [&](const Terms& t) { return t[0] * alpha + t[1] * (1 - alpha); });
    Value* squares = compute(node, {step.memories[1], step.gradient}, [&](const Terms& t) {
      return t[0] * beta + t[1] * t[1] * (1 - beta);
    });
    // Means over few steps are too small; the rate makes up for it.
    Value* weight =
        compute(node, {step.weight, mean, squares, step.rate, step.steps}, [&](const Terms& t) {
          const Term corrected =
              t[3] * apply(ScalarOp::kSqrt, 1.0 - power(beta, t[4])) / (1.0 - power(alpha, t[4]));
          const Term rate = where(t[4] > 0, corrected, t[3]);
          return (t[0] - rate * t[1] / (apply(ScalarOp::kSqrt, t[2]) + epsilon)) * (1 - decay);
        });
    return {weight, mean, squares};
  });
}

void importMomentum(NodeImport& node) {
  const double alpha = node.number("alpha", 0), beta = node.number("beta", 0);
  const bool nesterov = node.choice("mode", "standard", {"standard", "nesterov"}) == 1;
  importOptimizer(node, 1, [&](const Step& step) -> std::vector<Value*> {
    Value* speed =
        compute(node, {step.memories[0], step.gradient, step.steps},
                [&](const Terms& t) { return t[0] * alpha + where(t[2] > 0, t[1] * beta, t[1]); });
    Value* direction = nesterov ? compute(node, {step.gradient, speed},
                                          [&](const Terms& t) { return t[0] + t[1] * alpha; })
                                : speed;
    Value* weight = compute(node, {step.weight, step.rate, direction},
                            [&](const Terms& t) { return t[0] - t[1] * t[2]; });
    return {weight, speed};
  });
}

}  // namespace camshaft::onnx::importer
