#include "passes/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/pool.h"
#include "ops/softmax.h"

namespace camshaft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDepth = 16;  // operators looked through

Interval intervalAt(const Value* value, int depth);

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval ofConstant(const Value& constant) {
  constexpr int64_t kFew = 4096;
  const ConstTensorView view = constant.view();
  if (constant.isOpaque() || isPacked(view.type) || view.count() == 0 || view.count() > kFew)
    return {};
  Interval all{kInfinity, -kInfinity};
  for (int64_t i = 0; i < view.count(); ++i) {
    const double element = readElement(view.type, view.data, i);
    if (!std::isfinite(element)) return {};
    all = hull(all, {element, element});
  }
  return all;
}

double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval product(const Interval& a, const Interval& b) {
  const std::array<double, 4> corners{product(a.low, b.low), product(a.low, b.high),
                                      product(a.high, b.low), product(a.high, b.high)};
  return {*std::min_element(corners.begin(), corners.end()),
          *std::max_element(corners.begin(), corners.end())};
}

Interval ofInstruction(const ScalarInstruction& i, const std::vector<Interval>& known) {
  const Interval a = i.a >= 0 ? known[i.a] : Interval{}, b = i.b >= 0 ? known[i.b] : Interval{};
  switch (i.op) {
    case ScalarOp::kConst:
      return {i.real, i.real};
    case ScalarOp::kCast:
      return isFloat(i.type) ? a : Interval{};
    case ScalarOp::kWhere:
      return hull(b, known[i.c]);
    case ScalarOp::kRelu:
      return {std::max(a.low, 0.0), std::max(a.high, 0.0)};
    case ScalarOp::kAbs:
    case ScalarOp::kExp:
    case ScalarOp::kSqrt:
    case ScalarOp::kSoftplus:
      return {0, kInfinity};
    case ScalarOp::kSigmoid:
      return {0, 1};
    case ScalarOp::kTanh:
    case ScalarOp::kErf:
      return {-1, 1};
    case ScalarOp::kAdd:
      return {a.low + b.low, a.high + b.high};
    case ScalarOp::kSub:
      return {a.low - b.high, a.high - b.low};
    case ScalarOp::kNeg:
      return {-a.high, -a.low};
    case ScalarOp::kMul:
      if (i.a == i.b) return {0, kInfinity};
      return product(a, b);
    case ScalarOp::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ScalarOp::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return {};
  }
}

// An expression of one tensor is tried out, so that x * sigmoid(x) and the like, whose factors hang
// together, are known too. It is unbounded where it still falls or rises far out.
Interval ofFunction(const Expr& expr, const Interval& domain) {
  constexpr int kSteps = 2048;
  constexpr float kNear = 16, kFar[] = {64, 256, 1024};
  std::vector<float> places;
  const auto put = [&](double x) {
    places.push_back(static_cast<float>(std::clamp(x, domain.low, domain.high)));
  };
  for (int i = 0; i <= kSteps; ++i) put(kNear * (2.0 * i / kSteps - 1));
  for (const float far : kFar) put(far), put(-far);
  std::vector<float> results(places.size());
  const Dims dims{static_cast<int64_t>(places.size())};
  const ConstTensorView x{DataType::kF32, dims, places.data()};
  evaluateExpr(expr, {&x, 1}, {DataType::kF32, dims, results.data()});
  Interval near{kInfinity, -kInfinity}, all = near;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!std::isfinite(results[i])) return {};
    all = hull(all, {results[i], results[i]});
    if (i <= kSteps) near = all;
  }
  constexpr double kRounding = 1e-3;
  return {all.low < near.low - kRounding ? -kInfinity : all.low,
          all.high > near.high + kRounding ? kInfinity : all.high};
}

Interval ofPointwise(const Node& node, int depth) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  if (!isFloat(expr.resultType())) return {};
  if (node.inputs.size() == 1 && expr.inputType(0) == DataType::kF32 &&
      expr.resultType() == DataType::kF32)
    return ofFunction(expr, intervalAt(node.inputs[0], depth - 1));
  std::vector<Interval> known;
  for (const ScalarInstruction& i : expr.code()) {
    const bool isRead = i.op == ScalarOp::kInput;
    known.push_back(isRead ? intervalAt(node.inputs[i.a], depth - 1) : ofInstruction(i, known));
    if (std::isnan(known.back().low) || std::isnan(known.back().high)) known.back() = {};
  }
  return known.back();
}

// Whether each element of the result is one of the inputs', or a mean of some of them. Padding is
// of zeros at most, which the caller adds.
bool choosesOrAverages(const Node& node) {
  if (node.op == &ops::Pool) {
    const PoolKind kind = node.as<PoolAttrs>().kind;
    return kind == PoolKind::kMax || kind == PoolKind::kAverage;
  }
  return node.op == &ops::Transpose || node.op == &ops::Reshape || node.op == &ops::Slice ||
         node.op == &ops::Concat;
}

Interval intervalAt(const Value* value, int depth) {
  if (!value || depth == 0) return {};
  if (value->isConstant()) return ofConstant(*value);
  const Node* node = value->producer;
  if (!node || node->epilogue) return {};
  if (node->op == &ops::Pointwise) return ofPointwise(*node, depth);
  if (node->op == &ops::Softmax && node->as<SoftmaxAttrs>().kind == SoftmaxKind::kSoftmax)
    return {0, 1};
  if (!choosesOrAverages(*node)) return {};
  Interval all{0, 0};
  for (const Value* input : node->inputs) all = hull(all, intervalAt(input, depth - 1));
  return all;
}

}  // namespace

Interval intervalOf(const Value* value) { return intervalAt(value, kDepth); }

}  // namespace camshaft
