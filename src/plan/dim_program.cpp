#include "plan/dim_program.h"

#include "support/error.h"

namespace camshaft {

int32_t DimProgramBuilder::defineSymbol(const std::string& name) {
  const auto [it, isNew] = slots_.try_emplace(name, slotCount_);
  if (isNew) ++slotCount_;
  return it->second;
}

DimRef DimProgramBuilder::refer(const Dim& dim) {
  if (dim.isConstant()) return {.constant = dim.value()};
  return {.slot = slotOf(dim)};
}

int32_t DimProgramBuilder::emit(DimOp op, int32_t a, int32_t b, int64_t constant) {
  program_.push_back({op, slotCount_, a, b, constant});
  return slotCount_++;
}

int32_t DimProgramBuilder::slotOf(const Dim& dim) {
  const std::string key = toString(dim);
  if (const auto it = slots_.find(key); it != slots_.end()) return it->second;
  int32_t sum = -1;
  const auto accumulate = [&](int32_t slot) {
    sum = sum < 0 ? slot : emit(DimOp::kAdd, sum, slot);
  };
  for (const auto& term : dim.terms()) {
    int32_t product = -1;
    for (const auto& atom : term.atoms) {
      const int32_t factor = slotOfAtom(*atom);
      product = product < 0 ? factor : emit(DimOp::kMultiply, product, factor);
    }
    if (term.coefficient != 1) product = emit(DimOp::kMultiply, product, slotOf(term.coefficient));
    accumulate(product);
  }
  if (dim.constantPart() != 0 || dim.isConstant()) {
    // A number of its own: key "4" may already have a slot.
    const std::string constantKey = std::to_string(dim.constantPart());
    auto [it, isNew] = slots_.try_emplace(constantKey, -1);
    if (isNew) it->second = emit(DimOp::kConstant, -1, -1, dim.constantPart());
    accumulate(it->second);
  }
  slots_[key] = sum;
  return sum;
}

int32_t DimProgramBuilder::slotOfAtom(const DimAtom& atom) {
  if (const auto it = slots_.find(atom.key); it != slots_.end()) return it->second;
  CAMSHAFT_CHECK(atom.kind != DimAtom::Kind::kSymbol, "dimension '", atom.key,
                 "' is used before it is bound");
  const int32_t a = slotOf(atom.a), b = slotOf(atom.b);
  const DimOp op = atom.kind == DimAtom::Kind::kFloorDiv ? DimOp::kFloorDivide
                   : atom.kind == DimAtom::Kind::kMin    ? DimOp::kMin
                   : atom.kind == DimAtom::Kind::kMax    ? DimOp::kMax
                                                         : DimOp::kBroadcast;
  return slots_[atom.key] = emit(op, a, b);
}

}  // namespace camshaft
