#include "backends/cpu/rnn/cell.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rnn/cell.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/gemm/activation-inl.h"
#include "backends/cpu/simd/vmath-inl.h"
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::rnn::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // vmath, clamp, storeFirst

using F32 = hn::ScalableTag<float>;
using V = hn::Vec<F32>;

// The functions that few layers choose, kept out of the loops.
HWY_NOINLINE void applySeldom(const Function& function, float* lanes) {
  const F32 d;
  const V x = hn::LoadU(d, lanes), zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  const V alpha = hn::Set(d, function.alpha), beta = hn::Set(d, function.beta);
  V y = x;
  switch (function.kind) {
    case FunctionKind::kRelu:
      y = clamp(zero, hn::Inf(d), x);
      break;
    case FunctionKind::kAffine:
      y = hn::MulAdd(alpha, x, beta);
      break;
    case FunctionKind::kLeakyRelu:
      y = hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, x), x);
      break;
    case FunctionKind::kThresholdedRelu:
      y = hn::IfThenElseZero(hn::Gt(x, alpha), x);
      break;
    case FunctionKind::kScaledTanh:
      y = hn::Mul(alpha, vmath::tanh(d, hn::Mul(beta, x)));
      break;
    case FunctionKind::kHardSigmoid:
      y = clamp(zero, one, hn::MulAdd(alpha, x, beta));
      break;
    case FunctionKind::kElu:
      y = hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, hn::Sub(vmath::exp(d, x), one)), x);
      break;
    case FunctionKind::kSoftsign:
      y = hn::Div(x, hn::Add(one, hn::Abs(x)));
      break;
    case FunctionKind::kSoftplus:
      y = hn::Add(clamp(zero, hn::Inf(d), x),
                  vmath::log(d, hn::Add(one, vmath::exp(d, hn::Neg(hn::Abs(x))))));
      break;
    case FunctionKind::kSigmoid:
    case FunctionKind::kTanh:
    case FunctionKind::kCount:
      break;
  }
  hn::StoreU(y, d, lanes);
}

HWY_INLINE V apply(const Function& function, V x) {
  const F32 d;
  if (function.kind == FunctionKind::kSigmoid) return vmath::sigmoid(d, x);
  if (function.kind == FunctionKind::kTanh) return vmath::tanh(d, x);
  float lanes[hn::MaxLanes(d)];
  hn::StoreU(x, d, lanes);
  applySeldom(function, lanes);
  return hn::LoadU(d, lanes);
}

// A vector of units of one row, from unit `first` on.
struct Units {
  const Cell& cell;
  const CellRow& row;
  int64_t first;

  V load(const float* values, int64_t gate = 0) const {
    return hn::LoadU(F32(), values + gate * cell.params.hidden + first);
  }
  V fromInput(int gate) const { return load(row.fromInput, gate); }
  V fromState(int gate) const { return load(row.fromState, gate); }
  V sum(int gate) const { return hn::Add(fromInput(gate), fromState(gate)); }
  V activate(int function, V x) const {
    const V bound = hn::Set(F32(), static_cast<float>(cell.params.clip));
    return apply(cell.functions[function], clamp(hn::Neg(bound), bound, x));
  }
};

struct Lstm {
  static HWY_INLINE V nextState(const Units& units) {
    const auto gate = [&units](int which, int peephole, V c) HWY_ATTR {
      return units.activate(
          0, hn::MulAdd(units.load(units.cell.peepholes, peephole), c, units.sum(which)));
    };
    const V before = units.load(units.row.c);
    const V in = gate(0, 0, before);
    const V forget =
        units.cell.params.inputForget ? hn::Sub(hn::Set(F32(), 1.0f), in) : gate(2, 2, before);
    const V c = hn::MulAdd(forget, before, hn::Mul(in, units.activate(1, units.sum(3))));
    hn::StoreU(c, F32(), units.row.c + units.first);
    return hn::Mul(gate(1, 1, c), apply(units.cell.functions[2], c));
  }
};

struct Gru {
  static HWY_INLINE V resetGate(const Units& units) { return units.activate(0, units.sum(1)); }
  static HWY_INLINE V nextState(const Units& units) {
    const V update = units.activate(0, units.sum(0)), before = units.load(units.row.h);
    const V candidate =
        units.activate(1, units.cell.params.linearBeforeReset
                              ? hn::MulAdd(resetGate(units), units.fromState(2), units.fromInput(2))
                              : units.sum(2));
    return hn::MulAdd(update, hn::Sub(before, candidate), candidate);
  }
};

struct Rnn {
  static HWY_INLINE V nextState(const Units& units) { return units.activate(0, units.sum(0)); }
};

template <class Kind>
void update(const Cell& cell, const CellRow& row) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), hidden = cell.params.hidden;
  for (int64_t j = 0; j < hidden; j += lanes) {
    const V h = Kind::nextState({cell, row, j});
    hn::StoreU(h, d, row.h + j);
    if (!row.y) continue;
    if (j + lanes <= hidden)
      hn::StoreU(h, d, row.y + j);
    else
      storeFirst(h, d, row.y + j, static_cast<size_t>(hidden - j));
  }
}

void updateRow(const Cell& cell, const CellRow& row) {
  switch (cell.params.kind) {
    case CellKind::kLstm:
      return update<Lstm>(cell, row);
    case CellKind::kGru:
      return update<Gru>(cell, row);
    case CellKind::kRnn:
      return update<Rnn>(cell, row);
  }
}

void resetRow(const Cell& cell, const CellRow& row) {
  const F32 d;
  for (int64_t j = 0; j < cell.params.hidden; j += static_cast<int64_t>(hn::Lanes(d))) {
    const Units units{cell, row, j};
    hn::StoreU(hn::Mul(Gru::resetGate(units), units.load(row.h)), d, row.reset + j);
  }
}

}  // namespace camshaft::cpu::rnn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::rnn {

HWY_EXPORT(resetRow);
HWY_EXPORT(updateRow);

void resetState(const Cell& cell, const CellRow& row) { HWY_DYNAMIC_DISPATCH(resetRow)(cell, row); }
void updateState(const Cell& cell, const CellRow& row) {
  HWY_DYNAMIC_DISPATCH(updateRow)(cell, row);
}

}  // namespace camshaft::cpu::rnn
#endif  // HWY_ONCE
