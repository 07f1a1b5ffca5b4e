#include "backends/cpu/gemm/prepare_epilogue.h"

#include <algorithm>

#include "backends/cpu/gemm/prepare_epilogue_match.h"
#include "backends/cpu/pointwise/prepare_program.h"
#include "ops/walk.h"
#include "support/text.h"

namespace camshaft::cpu {
namespace {

// Whether the sums, which are f32, are those of a bf16 product.
bool isBf16(const Node& node) { return node.resultBeforeEpilogue().type == DataType::kBF16; }

enum class Spread { kScalar, kColumn, kFull, kOther };

// How an operand broadcasts to the result.
Spread spreadOf(const Shape& operand, const Shape& result) {
  if (operand == result) return Spread::kFull;
  const auto isOne = [](const Dim& dim) { return dim.isConstant(1); };
  if (std::all_of(operand.begin(), operand.end(), isOne))
    return isOne(result.back()) ? Spread::kColumn : Spread::kScalar;
  const bool onlyLast = std::all_of(operand.begin(), operand.end() - 1, isOne);
  return onlyLast && operand.back() == result.back() ? Spread::kColumn : Spread::kOther;
}

// Turns scale * x + constant + sum of coefficient * operand into scale, bias and residual. False
// when the register epilogue cannot hold it.
class Registers {
 public:
  Registers(const Node& node, FusedEpilogue& fused)
      : node_(node), result_(node.output()->shape()), fused_(fused) {}

  bool take(const AffineForm& form, int ownBias) {
    fused_.scale = static_cast<float>(form.scale);
    if (ownBias >= 0 && !add(ownBias, form.scale)) return false;
    for (const auto& [operand, coefficient] : form.terms)
      if (!add(node_.epilogue->firstInput + operand - 1, coefficient)) return false;
    if (form.constant != 0 && !addToBias([&](int64_t) { return form.constant; })) return false;
    if (fused_.biasInput >= 0 && !bias_.empty()) return false;
    fused_.bias.assign(bias_.begin(), bias_.end());
    return true;
  }

 private:
  bool add(int input, double coefficient) {
    const Value& value = *node_.inputs[input];
    const bool isNarrow = value.dataType() == DataType::kBF16;
    if (value.dataType() != DataType::kF32 && !(isNarrow && isBf16(node_))) return false;
    const Spread spread = spreadOf(value.shape(), result_);
    if (value.isConstant() && (spread == Spread::kScalar || spread == Spread::kColumn)) {
      const std::vector<double> data = readReals(value.view());
      const size_t step = spread == Spread::kScalar ? 0 : 1;
      return addToBias([&](int64_t column) { return coefficient * data[column * step]; });
    }
    if (coefficient != 1) return false;
    int* slot = spread == Spread::kFull                  ? &fused_.residualInput
                : spread == Spread::kColumn && !isNarrow ? &fused_.biasInput
                                                         : nullptr;
    if (!slot || *slot >= 0) return false;
    *slot = input;
    return true;
  }

  template <class F>
  bool addToBias(F valueAt) {
    if (!result_.back().isConstant()) return false;
    bias_.resize(result_.back().value());
    for (size_t i = 0; i < bias_.size(); ++i) bias_[i] += valueAt(static_cast<int64_t>(i));
    return true;
  }

  const Node& node_;
  const Shape& result_;
  FusedEpilogue& fused_;
  std::vector<double> bias_;
};

// Everything up to instruction `end` in registers, the rest as a program.
bool fuseUpTo(const Node& node, const Expr& expr, int ownBias, Rounding rounding, int end,
              FusedEpilogue& fused) {
  const std::optional<ActivationForm> head = matchActivation(expr, end);
  if (!head || (head->isRegrouped && rounding == Rounding::kAsWritten)) return false;
  const std::optional<Remainder> rest = remainderAfter(expr, end);
  if (!rest) return false;
  fused = {};
  fused.activation = head->activation;
  fused.low = head->low;
  fused.high = head->high;
  fused.outScale = static_cast<float>(head->outScale);
  fused.outShift = static_cast<float>(head->outShift);
  if (!Registers(node, fused).take(head->argument, ownBias)) return false;
  fused.program = rest->program;
  for (int operand : rest->operands)
    fused.programInputs.push_back(node.epilogue->firstInput + operand - 1);
  return true;
}

std::string refusalOf(const Node& node, const FusedEpilogue& fused) {
  const DataType type = node.output()->dataType();
  if (type != DataType::kF32 && !(type == DataType::kBF16 && isBf16(node)))
    return "its epilogue changes the element type";
  return fused.program.empty() ? std::string() : pointwise::whyNotCompiled(fused.program);
}

}  // namespace

FusedEpilogue fuseEpilogue(const Node& node, int ownBias, Rounding rounding) {
  FusedEpilogue fused;
  if (ownBias >= 0 && !node.hasInput(ownBias)) ownBias = -1;
  if (!node.epilogue) {
    if (!Registers(node, fused).take({.scale = 1}, ownBias))
      fused.refusal = "its bias is not one f32 value per column";
    return fused;
  }
  const Expr expr = isBf16(node) ? overWideSums(node.epilogue->expr) : node.epilogue->expr;
  int end = static_cast<int>(expr.code().size()) - 1;
  while (end >= 0 && !fuseUpTo(node, expr, ownBias, rounding, end, fused)) --end;
  fused.refusal = end < 0 ? "its epilogue cannot start from an f32 result" : refusalOf(node, fused);
  return fused;
}

bool overwritesResidual(const Node& node, int input, int ownBias) {
  const FusedEpilogue fused = fuseEpilogue(node, ownBias);
  if (!fused.refusal.empty() || input != fused.residualInput ||
      node.inputs[input]->dataType() != node.output()->dataType())
    return false;
  if (std::ranges::find(fused.programInputs, input) != fused.programInputs.end()) return false;
  return std::count(node.inputs.begin(), node.inputs.end(), node.inputs[input]) == 1;
}

StepInput packedInput(int64_t floats, FunctionRef<void(float*)> pack) {
  std::vector<std::byte> bytes(static_cast<size_t>(floats) * sizeof(float));
  pack(reinterpret_cast<float*>(bytes.data()));
  return StepInput::fromBytes({DataType::kF32, {floats}}, std::move(bytes));
}

void writeEpilogue(const FusedEpilogue& fused, Prepared& prepared, ByteWriter& writer) {
  const auto addInput = [&](StepInput input) {
    prepared.inputs.push_back(std::move(input));
    return static_cast<int32_t>(prepared.inputs.size()) - 1;
  };
  const auto addNodeInput = [&](int input) {
    return input < 0 ? -1 : addInput(StepInput::fromNode(input));
  };
  writer.write(fused.scale);
  writer.write(fused.activation);
  writer.write(fused.low);
  writer.write(fused.high);
  writer.write(fused.outScale);
  writer.write(fused.outShift);
  const auto copyBias = [&](float* to) { std::ranges::copy(fused.bias, to); };
  writer.write(fused.bias.empty() ? addNodeInput(fused.biasInput)
                                  : addInput(packedInput(std::ssize(fused.bias), copyBias)));
  writer.write(addNodeInput(fused.residualInput));
  writer.write<int32_t>(static_cast<int32_t>(prepared.inputs.size()));
  writer.write(!fused.program.empty());
  if (!fused.program.empty()) pointwise::writeProgram(writer, pointwise::compile(fused.program));
  for (int input : fused.programInputs) addNodeInput(input);
}

}  // namespace camshaft::cpu
