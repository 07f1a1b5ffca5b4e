#include "backends/cuda/libraries/epilogue_graph.h"

#include <cmath>
#include <limits>
#include <optional>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

using Operand = EpilogueOperand;
using Kind = EpilogueOperand::Kind;

std::optional<EpilogueOp> operationOf(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAdd:
      return EpilogueOp::kAdd;
    case ScalarOp::kSub:
      return EpilogueOp::kSub;
    case ScalarOp::kMul:
      return EpilogueOp::kMul;
    case ScalarOp::kDiv:
      return EpilogueOp::kDiv;
    case ScalarOp::kMin:
      return EpilogueOp::kMin;
    case ScalarOp::kMax:
      return EpilogueOp::kMax;
    case ScalarOp::kSigmoid:
      return EpilogueOp::kSigmoid;
    case ScalarOp::kTanh:
      return EpilogueOp::kTanh;
    case ScalarOp::kSilu:
      return EpilogueOp::kSwish;
    case ScalarOp::kGelu:
      return EpilogueOp::kGelu;
    case ScalarOp::kGeluTanh:
      return EpilogueOp::kGeluTanh;
    case ScalarOp::kSoftplus:
      return EpilogueOp::kSoftplus;
    case ScalarOp::kExp:
      return EpilogueOp::kExp;
    case ScalarOp::kLog:
      return EpilogueOp::kLog;
    case ScalarOp::kSqrt:
      return EpilogueOp::kSqrt;
    case ScalarOp::kRsqrt:
      return EpilogueOp::kRsqrt;
    case ScalarOp::kAbs:
      return EpilogueOp::kAbs;
    case ScalarOp::kNeg:
      return EpilogueOp::kNeg;
    case ScalarOp::kErf:
      return EpilogueOp::kErf;
    case ScalarOp::kReciprocal:
      return EpilogueOp::kReciprocal;
    default:
      return std::nullopt;
  }
}

class Translator {
 public:
  Translator(const Expr& expr, std::span<const EpilogueTensor> tensors) : expr_(expr) {
    result_.epilogue.tensors.assign(tensors.begin(), tensors.end());
  }

  TranslatedEpilogue translate() {
    for (size_t i = 0; i < expr_.code().size() && result_.refusal.empty(); ++i) {
      const bool isLast = i + 1 == expr_.code().size();
      values_.push_back(valueOf(expr_.code()[i], isLast));
    }
    if (!result_.refusal.empty()) return std::move(result_);
    const Operand last = values_.back();
    const bool isResult =
        last.kind == Kind::kAccumulator
            ? nodes().empty()
            : last.kind == Kind::kNode && last.index + 1 == static_cast<int>(nodes().size());
    if (!isResult) result_.refusal = "the epilogue's result does not depend on the convolution";
    return std::move(result_);
  }

 private:
  std::vector<EpilogueNode>& nodes() { return result_.epilogue.nodes; }

  // Sizes of the result: what the accumulator went into. Only such may come first in cuDNN.
  static bool isFull(const Operand& operand) {
    return operand.kind == Kind::kAccumulator || operand.kind == Kind::kNode;
  }

  Operand refuse(std::string reason) {
    result_.refusal = std::move(reason);
    return {};
  }

  Operand add(EpilogueNode node) {
    nodes().push_back(node);
    return {Kind::kNode, static_cast<int32_t>(nodes().size()) - 1};
  }

  Operand valueOf(const ScalarInstruction& instruction, bool isLast) {
    switch (instruction.op) {
      case ScalarOp::kInput:
        if (instruction.a == 0) return {Kind::kAccumulator};
        return {Kind::kTensor, instruction.a - 1};
      case ScalarOp::kConst:
        if (!isFloat(instruction.type)) return refuse("cuDNN's epilogues have no integers");
        return {Kind::kScalar, 0, static_cast<float>(instruction.real)};
      case ScalarOp::kCast:
        return castOf(instruction, isLast);
      case ScalarOp::kRelu:
        return clip(values_[instruction.a], 0, std::numeric_limits<float>::infinity());
      case ScalarOp::kHardSwish:
        return hardSwish(values_[instruction.a]);
      default:
        break;
    }
    if (!isFloat(instruction.type))
      return refuse(str("cuDNN's epilogues have no ", instruction.type));
    const auto op = operationOf(instruction.op);
    if (!op) return refuse(str("cuDNN's epilogues have no ", infoOf(instruction.op).name));
    return isBinary(*op) ? binary(*op, values_[instruction.a], values_[instruction.b])
                         : unary(*op, values_[instruction.a]);
  }

  Operand castOf(const ScalarInstruction& instruction, bool isLast) {
    const DataType from = expr_.code()[instruction.a].type;
    const bool fromSum =
        values_[instruction.a].kind == Kind::kAccumulator && from == DataType::kI32;
    if (isFloat(instruction.type) && (isFloat(from) || fromSum)) return values_[instruction.a];
    return refuse(isLast ? str("cuDNN does not round to ", instruction.type, " as the model asks")
                         : str("cuDNN's epilogues do not cast ", from, " to ", instruction.type));
  }

  Operand unary(EpilogueOp op, const Operand& a) {
    if (!isFull(a)) return refuse("cuDNN's epilogues compute on the convolution's result alone");
    return add({.op = op, .a = a});
  }

  Operand clip(const Operand& a, float lower, float upper) {
    if (!isFull(a)) return refuse("cuDNN's epilogues compute on the convolution's result alone");
    return add({.op = EpilogueOp::kClip, .a = a, .lower = lower, .upper = upper});
  }

  Operand binary(EpilogueOp op, Operand a, Operand b) {
    if (!isFull(a) && !isFull(b))
      return refuse("cuDNN's epilogues compute on the convolution's result alone");
    if (!isFull(a) && op == EpilogueOp::kSub) {  // a - b = -b + a
      b = unary(EpilogueOp::kNeg, b);
      op = EpilogueOp::kAdd;
    } else if (!isFull(a) && op == EpilogueOp::kDiv) {  // a / b = 1/b · a
      b = unary(EpilogueOp::kReciprocal, b);
      op = EpilogueOp::kMul;
    }
    if (!isFull(a)) std::swap(a, b);
    if (b.kind == Kind::kScalar && (op == EpilogueOp::kMin || op == EpilogueOp::kMax))
      return bound(op, a, b.scalar);
    return add({.op = op, .a = a, .b = b});
  }

  // max(a, c) and min(a, c): one clip, or the other bound of the clip before.
  Operand bound(EpilogueOp op, const Operand& a, float value) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const bool isNewest = a.kind == Kind::kNode && a.index + 1 == static_cast<int>(nodes().size());
    if (isNewest && nodes().back().op == EpilogueOp::kClip && readers(a) == 1) {
      EpilogueNode& before = nodes().back();
      if (op == EpilogueOp::kMin && before.upper == kInfinity && value >= before.lower) {
        before.upper = value;
        return a;
      }
    }
    if (op == EpilogueOp::kMax) return clip(a, value, kInfinity);
    return add({.op = op, .a = a, .b = {Kind::kScalar, 0, value}});
  }

  // How many instructions read this value.
  int readers(const Operand& operand) const {
    int count = 0;
    for (const ScalarInstruction& instruction : expr_.code()) {
      if (instruction.op == ScalarOp::kInput || instruction.op == ScalarOp::kConst) continue;
      for (const int source : {instruction.a, instruction.b, instruction.c}) {
        if (source >= 0 && source < static_cast<int>(values_.size()) && values_[source] == operand)
          ++count;
      }
    }
    return count;
  }

  // x · clip(x/6 + 1/2, 0, 1)
  Operand hardSwish(const Operand& x) {
    const Operand sixth = binary(EpilogueOp::kMul, x, {Kind::kScalar, 0, 1.0f / 6.0f});
    const Operand gate = clip(binary(EpilogueOp::kAdd, sixth, {Kind::kScalar, 0, 0.5f}), 0, 1);
    return binary(EpilogueOp::kMul, x, gate);
  }

  const Expr& expr_;
  TranslatedEpilogue result_;
  std::vector<Operand> values_;  // of each instruction
};

}  // namespace

TranslatedEpilogue translateEpilogue(const Expr& expr, std::span<const EpilogueTensor> tensors) {
  if (expr.empty()) return {};
  return Translator(expr, tensors).translate();
}

void addBias(ConvEpilogue& epilogue, DataType biasType) {
  const auto tensor = static_cast<int32_t>(epilogue.tensors.size());
  epilogue.tensors.push_back({.type = biasType});
  for (EpilogueNode& node : epilogue.nodes) {
    for (Operand* operand : {&node.a, &node.b}) {
      if (operand->kind == Kind::kNode) ++operand->index;
      if (operand->kind == Kind::kAccumulator) *operand = {Kind::kNode, 0};
    }
    if (!isBinary(node.op)) node.b = {};
  }
  epilogue.nodes.insert(epilogue.nodes.begin(),
                        {.op = EpilogueOp::kAdd, .a = {}, .b = {Kind::kTensor, tensor}});
}

}  // namespace camshaft::cuda
