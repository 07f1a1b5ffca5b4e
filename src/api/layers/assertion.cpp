#include "api/layers/assertion.h"

#include <algorithm>

#include "ops/contents.h"
#include "ops/reduce.h"
#include "ops/shape.h"

namespace camshaft::api {

std::vector<Value*> AssertionParams::emit(Emission& at) const {
  Value* condition = at.input(0);
  if (condition->dataType() != DataType::kBool)
    at.invalid("needs a condition of type bool and got ", condition->type);
  if (const Contents known = knownContents(condition);
      known && std::ranges::any_of(*known, [](const Dim& truth) { return truth.isConstant(0); }))
    at.lacks("asserts what does not hold: ", message);
  Value* holds = at.cast(condition, DataType::kI64);
  if (!numElements(holds->shape()).isConstant(1)) {
    ReduceAttrs all;
    all.kind = ReduceKind::kProd;
    for (int64_t i = 0; i < holds->rank(); ++i) all.axes.push_back(i);
    holds = at.add(&ops::Reduce, {holds}, std::move(all));
  }
  addAssertion(at.graph, at.reshape(holds, {}), 1, str(at.name, ": ", message), at.before);
  return {};
}

// The assertion's node has name and message, in which a run that fails says why.
void AssertionLayer::setName(const char* text) noexcept {
  LayerCore::setName(text);
  change([](Params&) {});
}

void AssertionLayer::setMessage(const char* message) noexcept {
  change([&](Params& params) { params.message = message ? message : ""; });
}

}  // namespace camshaft::api
