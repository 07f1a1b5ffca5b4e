// Activations that exporters spell out become one operation of the expression.
//
//   0.5*x*(1 + erf(x / sqrt(2)))                              →  gelu(x)
//   0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x*x*x)))         →  gelu_tanh(x)
//   x*sigmoid(x)                                              →  silu(x)
//   x*clip(x + 3, 0, 6)/6, x*clip(x/6 + 0.5, 0, 1)            →  hard_swish(x)
//
// Factors may come in any order, and constants on any of them: products are compared as a
// coefficient with a set of factors.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/passes.h"

namespace camshaft {

namespace {

// coefficient times the instructions `factors`, sorted.
struct Product {
  double coefficient = 1;
  std::vector<int> factors;

  void operator*=(const Product& other) {
    coefficient *= other.coefficient;
    factors.insert(factors.end(), other.factors.begin(), other.factors.end());
    std::sort(factors.begin(), factors.end());
  }
  Product without(int factor) const {
    Product rest = *this;
    rest.factors.erase(std::find(rest.factors.begin(), rest.factors.end(), factor));
    return rest;
  }
};

class Matcher {
 public:
  explicit Matcher(const Expr& expr)
      : code_(expr.code()), tolerance_(bitsOf(expr.resultType()) < 32 ? 2e-3 : 2e-5) {}

  struct Match {
    ScalarOp op;
    int x;
  };
  // The activation that instruction i is, and of what.
  std::optional<Match> match(int i) const {
    if (!isFloat(code_[i].type) || (code_[i].op != ScalarOp::kMul && code_[i].op != ScalarOp::kDiv))
      return std::nullopt;
    const Product product = productOf(i);
    for (int factor : product.factors) {
      const Product rest = product.without(factor);
      if (const auto found = matchGate(factor, rest)) return found;
    }
    return std::nullopt;
  }

 private:
  const ScalarInstruction& at(int i) const { return code_[i]; }
  bool isConst(int i) const { return at(i).op == ScalarOp::kConst; }
  bool isNear(double a, double b) const { return std::fabs(a - b) <= tolerance_ * std::fabs(b); }
  bool equals(const Product& product, double coefficient, const std::vector<int>& factors) const {
    return isNear(product.coefficient, coefficient) && product.factors == factors;
  }

  Product productOf(int i) const {
    if (isConst(i)) return {at(i).real, {}};
    if (at(i).op == ScalarOp::kMul) {
      Product product = productOf(at(i).a);
      product *= productOf(at(i).b);
      return product;
    }
    if (at(i).op == ScalarOp::kDiv && isConst(at(i).b)) {
      Product product = productOf(at(i).a);
      product.coefficient /= at(at(i).b).real;
      return product;
    }
    return {1, {i}};
  }

  // The product as a sum of two, when one of its factors is a sum.
  std::optional<std::pair<Product, Product>> sumOf(int i) const {
    const Product product = productOf(i);
    for (int factor : product.factors) {
      if (at(factor).op != ScalarOp::kAdd) continue;
      Product a = product.without(factor), b = a;
      a *= productOf(at(factor).a);
      b *= productOf(at(factor).b);
      return std::pair{a, b};
    }
    return std::nullopt;
  }

  // The instruction that is this product, with no factor of its own.
  std::optional<int> instructionOf(const std::vector<int>& factors) const {
    for (size_t i = 0; i < code_.size(); ++i)
      if (!factors.empty() && equals(productOf(static_cast<int>(i)), 1, factors))
        return static_cast<int>(i);
    return std::nullopt;
  }

  std::optional<Match> matchGate(int gate, const Product& rest) const {
    const ScalarInstruction& in = at(gate);
    if (in.op == ScalarOp::kSigmoid) {
      const Product x = productOf(in.a);
      return equals(rest, x.coefficient, x.factors) ? std::optional(Match{ScalarOp::kSilu, in.a})
                                                    : std::nullopt;
    }
    if (const auto found = matchGelu(in, rest)) return found;
    return matchHardSwish(gate, rest);
  }

  std::optional<Match> matchGelu(const ScalarInstruction& sum, const Product& rest) const {
    if (sum.op != ScalarOp::kAdd || !isConst(sum.b) || at(sum.b).real != 1 ||
        !isNear(rest.coefficient, 0.5))
      return std::nullopt;
    const std::optional<int> x = instructionOf(rest.factors);
    if (!x) return std::nullopt;
    const ScalarInstruction& gate = at(sum.a);
    if (gate.op == ScalarOp::kErf &&
        equals(productOf(gate.a), std::numbers::sqrt2 / 2, rest.factors))
      return Match{ScalarOp::kGelu, *x};
    if (gate.op == ScalarOp::kTanh && isTanhArgument(gate.a, rest.factors))
      return Match{ScalarOp::kGeluTanh, *x};
    return std::nullopt;
  }

  bool isTanhArgument(int i, const std::vector<int>& x) const {
    const auto sum = sumOf(i);
    if (!sum) return false;
    Product linear = sum->first, cubic = sum->second;
    if (linear.factors.size() > cubic.factors.size()) std::swap(linear, cubic);
    const double scale = std::sqrt(2 / std::numbers::pi);
    Product cube{1, x};
    cube *= {1, x};
    cube *= {1, x};
    return equals(linear, scale, x) && equals(cubic, scale * 0.044715, cube.factors);
  }

  // rest * clamp(k*x + b, 0, high)
  std::optional<Match> matchHardSwish(int gate, const Product& rest) const {
    const auto clamped = clampedOf(gate);
    if (!clamped) return std::nullopt;
    const auto [inner, high] = *clamped;
    const auto sum = sumOf(inner);
    if (!sum || !sum->second.factors.empty()) return std::nullopt;
    const double c = rest.coefficient;
    const bool matches = equals(sum->first, 1 / (6 * c), rest.factors) &&
                         isNear(c * sum->second.coefficient, 0.5) && isNear(c * high, 1);
    const std::optional<int> x = matches ? instructionOf(rest.factors) : std::nullopt;
    return x ? std::optional(Match{ScalarOp::kHardSwish, *x}) : std::nullopt;
  }

  // What is clamped from 0 up to where.
  std::optional<std::pair<int, double>> clampedOf(int i) const {
    const ScalarInstruction& outer = at(i);
    if (outer.op == ScalarOp::kMin && isConst(outer.b) && at(outer.a).op == ScalarOp::kRelu)
      return std::pair{at(outer.a).a, at(outer.b).real};
    if (outer.op != ScalarOp::kRelu) return std::nullopt;
    const ScalarInstruction& inner = at(outer.a);
    if (inner.op != ScalarOp::kMin || !isConst(inner.b)) return std::nullopt;
    return std::pair{inner.a, at(inner.b).real};
  }

  const std::vector<ScalarInstruction>& code_;
  const double tolerance_;  // of constants, which models store in the type they compute in
};

// The same list with every recognised activation as one instruction; what only it needed is dead.
std::optional<Expr> withActivations(const Expr& expr) {
  const Matcher matcher(expr);
  Expr result;
  std::vector<int> moved;
  bool found = false;
  for (size_t i = 0; i < expr.code().size(); ++i) {
    const ScalarInstruction& in = expr.code()[i];
    const auto match = matcher.match(static_cast<int>(i));
    found |= match.has_value();
    const auto at = [&](int operand) { return operand < 0 ? -1 : moved[operand]; };
    if (match)
      moved.push_back(result.apply(match->op, moved[match->x]));
    else if (in.op == ScalarOp::kInput)
      moved.push_back(result.input(in.a, in.type));
    else if (in.op == ScalarOp::kConst)
      moved.push_back(isFloat(in.type) ? result.constant(in.real, in.type)
                                       : result.constantInteger(in.integer, in.type));
    else if (in.op == ScalarOp::kCast)
      moved.push_back(result.cast(at(in.a), in.type));
    else if (in.op == ScalarOp::kWhere)
      moved.push_back(result.where(at(in.a), at(in.b), at(in.c)));
    else
      moved.push_back(result.apply(in.op, at(in.a), at(in.b)));
  }
  return found ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

bool recogniseGelu(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::Pointwise || node->epilogue) continue;
    const std::optional<Expr> expr = withActivations(node->as<PointwiseAttrs>().expr);
    if (expr) changed |= rewritePointwise(graph, node, simplified({*expr, node->inputs}));
  }
  return changed;
}

}  // namespace camshaft
