#include "api/layers/block.h"

#include "api/network.h"

namespace camshaft::api {

void Block::setName(const char* text) noexcept {
  guarded(network.reporter(), false, [&] {
    if (!text) fail(ErrorKind::kInvalidArgument, "'", name, "' was given no name");
    name = text;
    return true;
  });
}

void requireSingle(const Emission& at, const Value* value, std::string_view what, bool fits) {
  if (!fits || !numElements(value->shape()).isConstant(1))
    at.invalid("needs ", what, " and '", value->name, "' is ", value->type);
}

}  // namespace camshaft::api
