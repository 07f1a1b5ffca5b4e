#include "passes/precision_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/index.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/reduce.h"
#include "ops/softmax.h"
#include "support/half.h"

namespace camshaft {

namespace {

// Sums of more elements than this are taken for long: moderate numbers may leave a half's range.
constexpr int64_t kLongSum = 64;

bool isOneOf(Op op, std::initializer_list<Op> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

bool isNorm(const Node& node) { return isOneOf(node.op, {&ops::LayerNorm, &ops::GroupNorm}); }

// The input that is coordinates on the first, or -1.
int positionsOf(const Node& node) {
  if (node.op == &ops::DeformableAttention) return 3;
  return isOneOf(node.op, {&ops::GridSample, &ops::RoiAlign, &ops::DeformColumns}) ? 1 : -1;
}

bool isShortSum(const Node& reduce) {
  Dim count = 1;
  for (int64_t axis : reduce.as<ReduceAttrs>().axes) count = count * reduce.input(0)->shape()[axis];
  return count.isConstant() && count.value() <= kLongSum;
}

bool reductionKeepsRange(const Node& reduce) {
  switch (reduce.as<ReduceAttrs>().kind) {
    case ReduceKind::kMean:
    case ReduceKind::kMax:
    case ReduceKind::kMin:
      return true;
    case ReduceKind::kSum:
    case ReduceKind::kL1:
    case ReduceKind::kL2:
      return isShortSum(reduce);
    default:
      return false;
  }
}

bool accumulates(const Node& node) {
  if (node.op == &ops::ScatterElements)
    return node.as<ScatterElementsAttrs>().reduction != ScatterReduction::kNone;
  if (node.op == &ops::ScatterND)
    return node.as<ScatterNDAttrs>().reduction != ScatterReduction::kNone;
  return false;
}

}  // namespace

PrecisionRole precisionRoleOf(const Node& node, const PassOptions& options) {
  if (node.epilogue || (options.lowers && !options.lowers(node))) return PrecisionRole::kF32;
  if (node.op == &ops::Pointwise) return PrecisionRole::kPointwise;
  if (isOneOf(node.op, {&ops::Conv, &ops::ConvTranspose, &ops::MatMul, &ops::MatMulNBits,
                        &ops::Einsum, &ops::Attention}))
    return PrecisionRole::kProduct;
  if (isOneOf(node.op, {&ops::Shape, &ops::ArgReduce})) return PrecisionRole::kReads;
  if (isOneOf(node.op, {&ops::Reduce, &ops::CumSum})) {
    const bool keepsRange = node.op == &ops::Reduce && reductionKeepsRange(node);
    const bool asked16Bit = node.precision.compute && is16Bit(*node.precision.compute);
    return keepsRange || asked16Bit ? PrecisionRole::kFollows : PrecisionRole::kF32;
  }
  if (isOneOf(node.op, {&ops::ScatterElements, &ops::ScatterND}))
    return accumulates(node) ? PrecisionRole::kF32 : PrecisionRole::kFollows;
  const bool follows =
      isNorm(node) || positionsOf(node) > 0 ||
      isOneOf(node.op, {&ops::Identity, &ops::Pool, &ops::Softmax, &ops::Lrn, &ops::Transpose,
                        &ops::Reshape, &ops::Expand, &ops::Slice, &ops::Concat, &ops::Pad,
                        &ops::Tile, &ops::Trilu, &ops::Gather, &ops::GatherElements, &ops::GatherND,
                        &ops::TopK, &ops::Resize, &ops::ReverseSequence});
  return follows ? PrecisionRole::kFollows : PrecisionRole::kF32;
}

bool sharesType(const Node& node, int i) {
  if (isOneOf(node.op, {&ops::Attention, &ops::MatMulNBits})) return i != 3;
  if (isNorm(node)) return i != 1 && i != 2;
  if (isOneOf(node.op, {&ops::ScatterElements, &ops::ScatterND})) return i != 1;
  if (positionsOf(node) > 0) return i == 0;
  return true;
}

bool isBias(const Node& node, int i) {
  return i == 2 && isOneOf(node.op, {&ops::Conv, &ops::ConvTranspose});
}

bool needsF32(const Node& node, int i, const PassOptions& options) {
  const bool isMaskOnHost = i == 3 && node.op == &ops::Attention && options.lowers;
  return i == positionsOf(node) || isMaskOnHost ||
         precisionRoleOf(node, options) == PrecisionRole::kF32;
}

bool gainsFromF32(const Node& node) {
  return isOneOf(node.op, {&ops::TopK, &ops::ArgReduce}) ||
         (node.op == &ops::Softmax && node.as<SoftmaxAttrs>().kind == SoftmaxKind::kLogSoftmax);
}

bool tamesRange(const Node& node) {
  return isNorm(node) ||
         (node.op == &ops::Softmax && node.as<SoftmaxAttrs>().kind != SoftmaxKind::kLogSoftmax);
}

NumberFacts combined(const NumberFacts& a, const NumberFacts& b) {
  return {a.huge || b.huge, std::max(a.source, b.source)};
}

double largestFinite(DataType type) {
  if (type == DataType::kF16) return static_cast<float>(Half::fromBits(0x7bff));
  if (type == DataType::kBF16) return static_cast<float>(BFloat16::fromBits(0x7f7f));
  return std::numeric_limits<float>::max();
}

namespace {

using Source = NumberFacts::Source;

bool isBounded(ScalarOp op) {
  switch (op) {
    case ScalarOp::kSin:
    case ScalarOp::kCos:
    case ScalarOp::kAtan:
    case ScalarOp::kTanh:
    case ScalarOp::kErf:
    case ScalarOp::kSigmoid:
    case ScalarOp::kSign:
      return true;
    default:
      return false;
  }
}

class ExprWalk {
 public:
  ExprWalk(const Expr& expr, const std::vector<NumberFacts>& inputs, double limit)
      : code_(expr.code()), inputs_(inputs), limit_(limit) {}

  ExprFacts result() {
    for (const ScalarInstruction& in : code_) facts_.push_back(factsOf(in));
    return facts_.back();
  }

 private:
  bool isConst(int i) const { return code_[i].op == ScalarOp::kConst; }
  bool isConstant(int i) const { return facts_[i].source == Source::kConstant; }

  // Constants that limit a value from the far side never become the result.
  bool onlyLimits(const ScalarInstruction& in, int operand) const {
    if (!isConst(operand)) return false;
    return (in.op == ScalarOp::kMin && code_[operand].real > 0) ||
           (in.op == ScalarOp::kMax && code_[operand].real < 0);
  }

  bool growsHere(const ScalarInstruction& in) const {
    switch (in.op) {
      case ScalarOp::kExp:
      case ScalarOp::kLog:
      case ScalarOp::kReciprocal:
      case ScalarOp::kRsqrt:
      case ScalarOp::kTan:
      case ScalarOp::kSinh:
      case ScalarOp::kCosh:
        return true;
      case ScalarOp::kDiv:
        return !isConstant(in.b);
      case ScalarOp::kMul:
        return in.a == in.b;
      case ScalarOp::kPow:
        return !(isConst(in.b) && code_[in.b].real > 0 && code_[in.b].real <= 1);
      default:
        return false;
    }
  }

  ExprFacts factsOf(const ScalarInstruction& in) const {
    ExprFacts facts;
    if (in.op == ScalarOp::kInput) {
      static_cast<NumberFacts&>(facts) = inputs_[in.a];
      return facts;
    }
    if (in.op == ScalarOp::kConst) {
      facts.huge = isFloat(in.type) && std::isfinite(in.real) && std::fabs(in.real) > limit_;
      return facts;
    }
    const int operands[] = {in.a, in.b, in.c};
    for (int i = 0; i < infoOf(in.op).arity; ++i) {
      // A condition selects; its own size does not matter.
      if (in.op == ScalarOp::kWhere && i == 0) continue;
      ExprFacts from = facts_[operands[i]];
      if (onlyLimits(in, operands[i])) from.huge = false;
      static_cast<NumberFacts&>(facts) = combined(facts, from);
      facts.grows |= from.grows;
    }
    if (in.op == ScalarOp::kCast) castFacts(in, facts);
    const bool scales = in.op == ScalarOp::kMul || in.op == ScalarOp::kDiv;
    if (scales && facts.source == Source::kSums) facts.source = Source::kAny;
    facts.grows |= growsHere(in);
    if (isBounded(in.op) || infoOf(in.op).domain == ScalarDomain::kCompare)
      return {{false, Source::kAny}, false};
    return facts;
  }

  void castFacts(const ScalarInstruction& in, ExprFacts& facts) const {
    const DataType from = code_[in.a].type;
    if (isFloat(from) || !isFloat(in.type)) return;
    const ScalarInstruction& operand = code_[in.a];
    const bool isSum = operand.op == ScalarOp::kInput && inputs_[operand.a].source == Source::kSums;
    const bool isWide = isInteger(from) && bitsOf(from) > 8;  // every 8-bit integer is a half
    facts.source = isSum ? Source::kSums : isWide ? Source::kInteger : Source::kAny;
  }

  const std::vector<ScalarInstruction>& code_;
  const std::vector<NumberFacts>& inputs_;
  const double limit_;
  std::vector<ExprFacts> facts_;
};

const float* elementsOf(const Value& constant) {
  CAMSHAFT_CHECK(constant.isConstant() && constant.dataType() == DataType::kF32, "'", constant.name,
                 "' is no f32 constant");
  return reinterpret_cast<const float*>(constant.constant->bytes.data());
}

int64_t countOfConstant(const Value& constant) {
  return static_cast<int64_t>(constant.constant->bytes.size() / sizeof(float));
}

float smallestNormal(DataType type) {
  return type == DataType::kF16 ? 0x1p-14f : std::numeric_limits<float>::min();
}

// At and below this, rounding to nearest gives zero.
float largestVanishing(DataType type) { return type == DataType::kF16 ? 0x1p-25f : 0x1p-134f; }

}  // namespace

ExprFacts factsOf(const Expr& expr, const std::vector<NumberFacts>& inputs, double limit) {
  return ExprWalk(expr, inputs, limit).result();
}

ConstantFit fitOf(const Value& constant, DataType type) {
  ConstantFit fit;
  if (constant.isOpaque()) return fit;  // weights are taken to be of moderate size
  const auto limit = static_cast<float>(largestFinite(type));
  const float normal = smallestNormal(type), vanishing = largestVanishing(type);
  bool anyNormal = false, anyNonZero = false;
  const float* elements = elementsOf(constant);
  for (int64_t i = 0; i < countOfConstant(constant); ++i) {
    const float magnitude = std::fabs(elements[i]);
    fit.overflows += magnitude > limit && std::isfinite(magnitude);
    fit.vanishes += magnitude > 0 && magnitude <= vanishing;
    anyNormal |= magnitude >= normal;
    anyNonZero |= magnitude > 0;
  }
  fit.allTiny = anyNonZero && !anyNormal;
  return fit;
}

Value* addRounded(Graph& graph, const Value& constant, DataType type) {
  const int64_t count = countOfConstant(constant);
  const float* elements = elementsOf(constant);
  const auto limit = static_cast<float>(largestFinite(type));
  std::vector<std::byte> bytes(bytesOf(type, count));
  const auto convert = [&](auto* to) {
    using T = std::remove_pointer_t<decltype(to)>;
    for (int64_t i = 0; i < count; ++i)
      to[i] = T(std::isfinite(elements[i]) ? std::clamp(elements[i], -limit, limit) : elements[i]);
  };
  if (type == DataType::kF16)
    convert(reinterpret_cast<Half*>(bytes.data()));
  else
    convert(reinterpret_cast<BFloat16*>(bytes.data()));
  return graph.addConstant(str(constant.name, "_", toString(type)), {type, constant.shape()},
                           ConstantData::own(std::move(bytes), constant.isOpaque()));
}

}  // namespace camshaft
