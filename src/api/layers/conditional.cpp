#include "api/layers/conditional.h"

#include "api/network_add.h"

namespace camshaft::api {

using namespace nvinfer1;

std::vector<Value*> ConditionParams::emit(Emission& at) const {
  requireSingle(at, at.input(0), "a condition of one bool",
                at.input(0)->dataType() == DataType::kBool);
  at.node(&placeholders::Condition, {at.input(0)}, block->attrs());
  return {};
}

std::vector<Value*> ConditionalInputParams::emit(Emission& at) const {
  return {at.add(&placeholders::ConditionalInput, {at.input(0)}, block->attrs())};
}

std::vector<Value*> ConditionalOutputParams::emit(Emission& at) const {
  const TensorType &a = at.input(0)->type, &b = at.input(1)->type;
  if (a.type != b.type || a.rank() != b.rank())
    at.invalid("gives ", a, " or ", b, ": both branches need the same type and rank");
  BoundaryAttrs attrs = block->attrs();
  const SymbolRange rangeOfSymbol = at.graph.symbolRange();
  for (size_t d = 0; d < a.shape.size(); ++d) {
    if (a.shape[d] == b.shape[d]) {
      attrs.sizes.push_back(a.shape[d]);
      continue;
    }
    const DimRange x = rangeOf(a.shape[d], rangeOfSymbol), y = rangeOf(b.shape[d], rangeOfSymbol);
    attrs.symbols.push_back(Dim::symbol(str(symbols, ".", d)));
    attrs.sizes.push_back(attrs.symbols.back());
    at.graph.symbols[attrs.symbols.back().symbolName()].range = {
        std::max<int64_t>(std::min(x.min, y.min), 0), std::max(x.max, y.max)};
  }
  return {at.add(&placeholders::ConditionalOutput, {at.input(0), at.input(1)}, std::move(attrs))};
}

IConditionLayer* Conditional::setCondition(ITensor& condition) noexcept {
  if (condition_ && !condition_->removed) {
    condition_->LayerCore::setInput(0, condition);
    return condition_->getInput(0) == &condition ? condition_ : nullptr;
  }
  return condition_ = network.add<ConditionLayer>("condition", {&condition},
                                                  [&] { return ConditionParams{this}; });
}

IIfConditionalInputLayer* Conditional::addInput(ITensor& input) noexcept {
  return network.add<ConditionalInputLayer>("conditional_input", {&input},
                                            [&] { return ConditionalInputParams{this}; });
}

IIfConditionalOutputLayer* Conditional::addOutput(ITensor& whenTrue, ITensor& whenFalse) noexcept {
  return network.add<ConditionalOutputLayer>("conditional_output", {&whenTrue, &whenFalse}, [&] {
    return ConditionalOutputParams{this, str("conditional", number, "_", outputs_++)};
  });
}

IIfConditional* Network::addIfConditional() noexcept {
  return addBlock<Conditional>("conditional");
}

}  // namespace camshaft::api
