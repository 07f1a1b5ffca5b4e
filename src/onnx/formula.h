// Scalar formulas in C++ notation, for operators that are one:
//
//   Formula formula;
//   const Term x = formula.input(0, type);
//   pointwise({value}, formula.take(where(x < 0, x * alpha, x)))
#pragma once

#include <utility>

#include "ir/expr.h"
#include "support/error.h"

namespace camshaft::onnx::importer {

class Formula;

// A value inside a formula; one that nobody uses is a mistake.
struct [[nodiscard]] Term {
  Formula* formula;
  int at;  // instruction
};

class Formula {
 public:
  Term input(int index, DataType type) { return {this, expr_.input(index, type)}; }
  Term number(double value, DataType type) { return {this, expr_.constant(value, type)}; }
  DataType typeOf(Term term) const { return expr_.code()[term.at].type; }
  Term apply(ScalarOp op, Term a) { return {this, expr_.apply(op, a.at)}; }
  Term apply(ScalarOp op, Term a, Term b) { return {this, expr_.apply(op, a.at, b.at)}; }
  Term apply(ScalarOp op, Term a, double b) { return apply(op, a, number(b, typeOf(a))); }
  Term cast(Term a, DataType type) {
    return typeOf(a) == type ? a : Term{this, expr_.cast(a.at, type)};
  }
  Term where(Term condition, Term a, Term b) {
    return {this, expr_.where(condition.at, a.at, b.at)};
  }
  // The expression of which this term, the one made last, is the result. Once: the formula is empty
  // afterwards.
  [[nodiscard]] Expr take(Term result) {
    CAMSHAFT_CHECK(result.formula == this && result.at + 1 == static_cast<int>(expr_.code().size()),
                   "a formula's result is its last term");
    return std::move(expr_);
  }

 private:
  Expr expr_;
};

inline Term apply(ScalarOp op, Term a) { return a.formula->apply(op, a); }
inline Term where(Term condition, Term a, Term b) { return a.formula->where(condition, a, b); }
inline Term where(Term condition, Term a, double b) {
  return where(condition, a, a.formula->number(b, a.formula->typeOf(a)));
}
inline Term where(Term condition, double a, Term b) {
  return where(condition, b.formula->number(a, b.formula->typeOf(b)), b);
}
inline Term cast(Term a, DataType type) { return a.formula->cast(a, type); }

#define CAMSHAFT_TERM_OPERATOR(spelling, op)                                              \
  inline Term spelling(Term a, Term b) { return a.formula->apply(ScalarOp::op, a, b); }   \
  inline Term spelling(Term a, double b) { return a.formula->apply(ScalarOp::op, a, b); } \
  inline Term spelling(double a, Term b) {                                                \
    return b.formula->apply(ScalarOp::op, b.formula->number(a, b.formula->typeOf(b)), b); \
  }
CAMSHAFT_TERM_OPERATOR(operator+, kAdd)
CAMSHAFT_TERM_OPERATOR(operator-, kSub)
CAMSHAFT_TERM_OPERATOR(operator*, kMul)
CAMSHAFT_TERM_OPERATOR(operator/, kDiv)
CAMSHAFT_TERM_OPERATOR(operator<, kLess)
CAMSHAFT_TERM_OPERATOR(operator>, kGreater)
CAMSHAFT_TERM_OPERATOR(operator<=, kLessEqual)
CAMSHAFT_TERM_OPERATOR(operator>=, kGreaterEqual)
CAMSHAFT_TERM_OPERATOR(operator==, kEqual)
CAMSHAFT_TERM_OPERATOR(operator!=, kNotEqual)
CAMSHAFT_TERM_OPERATOR(operator||, kOr)
CAMSHAFT_TERM_OPERATOR(operator&&, kAnd)
CAMSHAFT_TERM_OPERATOR(smaller, kMin)
CAMSHAFT_TERM_OPERATOR(larger, kMax)
CAMSHAFT_TERM_OPERATOR(power, kPow)
#undef CAMSHAFT_TERM_OPERATOR

inline Term apply(ScalarOp op, Term a, Term b) { return a.formula->apply(op, a, b); }
inline Term exponential(Term a) { return apply(ScalarOp::kExp, a); }

}  // namespace camshaft::onnx::importer
