// The operators by name. Operators are compared by address: node.op == &ops::Conv.
#pragma once

#include <span>
#include <string_view>

#include "ir/op.h"

namespace camshaft {

namespace ops {
#define CAMSHAFT_OP(Name) extern const OpInfo Name;
#include "ops/ops.def"
#undef CAMSHAFT_OP
}  // namespace ops

std::span<const Op> allOps();
Op findOp(std::string_view name);  // null when there is none

}  // namespace camshaft
