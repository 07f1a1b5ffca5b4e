#include "ops/ops.h"

namespace camshaft {

std::span<const Op> allOps() {
  static constexpr Op kOps[] = {
#define CAMSHAFT_OP(Name) &ops::Name,
#include "ops/ops.def"
#undef CAMSHAFT_OP
  };
  return kOps;
}

Op findOp(std::string_view name) {
  for (Op op : allOps())
    if (op->name == name) return op;
  return nullptr;
}

}  // namespace camshaft
