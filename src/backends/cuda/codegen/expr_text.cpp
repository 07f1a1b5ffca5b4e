#include <algorithm>
#include <bit>
#include <cmath>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/quantiser.h"
#include "ir/expr.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

struct ScalarFunction {
  ScalarOp op;
  std::string_view name, expression;
};

// The definitions that constant folding and the CPU compile, as text.
constexpr ScalarFunction kFunctions[] = {
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) \
  {ScalarOp::k##Name, #Name, #expression},
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
};

std::string_view functionName(ScalarOp op) {
  for (const ScalarFunction& function : kFunctions)
    if (function.op == op) return function.name;
  return {};
}

std::string hex(uint64_t bits) {
  std::string text;
  do {
    text.insert(text.begin(), "0123456789abcdef"[bits % 16]);
  } while (bits /= 16);
  return "0x" + text;
}

std::string constantText(const ScalarInstruction& constant) {
  if (isFloat(constant.type)) return literal(constant.real, constant.type);
  if (constant.type == DataType::kBool) return constant.integer ? "true" : "false";
  return str("static_cast<", storageType(constant.type), ">(",
             hex(static_cast<uint64_t>(constant.integer)), "ull)");
}

std::string convertedText(const std::string& a, DataType from, DataType to) {
  return computeType(from) == computeType(to) ? a
                                              : str("op::convert<", computeType(to), ">(", a, ")");
}
// f16 to f32 and back inside an expression rounds; between kernels the store does.
std::string castText(const std::string& a, DataType from, DataType to) {
  const std::string value = convertedText(a, from, to);
  const bool isNarrow = from != to && computeType(to) != storageType(to);
  return isNarrow ? str("rounded<", storageType(to), ">(", value, ")") : value;
}

}  // namespace

std::string_view scalarFunctions() {
  static const std::string text = [] {
    std::string all = "namespace op {\nusing namespace camshaft::scalar;\n";
    for (const ScalarFunction& function : kFunctions) {
      const ScalarOpInfo& info = infoOf(function.op);
      const std::string_view result = info.domain == ScalarDomain::kCompare ? "bool" : "T";
      all += str("template <class T> ", result, " ", function.name,
                 info.arity == 1 ? "(T a)" : "(T a, T b)", " { return ", result, "(",
                 function.expression, "); }\n");
    }
    return all + "}\n";
  }();
  return text;
}

std::string literal(double value, DataType type) {
  if (type == DataType::kF64)
    return str("__longlong_as_double(", hex(std::bit_cast<uint64_t>(value)), "ll)");
  if (isFloat(type))
    return str("__int_as_float(", hex(std::bit_cast<uint32_t>(static_cast<float>(value))), ")");
  return str("static_cast<", storageType(type), ">(", static_cast<int64_t>(value), "ll)");
}

std::string whyNotPrinted(const Expr& expr) {
  for (const ScalarInstruction& instruction : expr.code())
    if (!isPrintable(instruction.type))
      return str("has elements of type ", instruction.type, ", which device code lacks");
  return {};
}

namespace {

bool isByte(DataType type) { return type == DataType::kU8 || type == DataType::kI8; }

// Prints the instructions that a result needs. Bytes are taken from words (device/bytes.cuh), and
// those that are quantised only to be dequantised stay floats.
class ExprPrinter {
 public:
  ExprPrinter(const Expr& expr, std::span<const std::string> inputs, std::string_view prefix,
              const NumberText& number)
      : expr_(expr),
        code_(expr.code()),
        inputs_(inputs),
        prefix_(prefix),
        number_(number),
        quantised_(code_.size()),
        reciprocals_(code_.size()) {
    for (int i = 0; i < size(); ++i) {
      quantised_[i] = quantisationAt(expr, i);
      if (const std::optional<Quotient> quotient = float8QuotientAt(expr, i))
        reciprocals_[quotient->at] = quotient->reciprocal;
    }
  }

  void print(std::string& body) {
    std::vector<bool> needed(code_.size());
    needed.back() = true;
    for (int i = size() - 1; i >= 0; --i)
      if (needed[i])
        for (int operand : operandsOf(i)) needed[operand] = true;
    isExact_ = false;
    for (int i = 0; i < size(); ++i)
      isExact_ = isExact_ || (needed[i] && (usedQuantisation(i) || isSumInFull(i)));
    for (int i = 0; i < size(); ++i)
      if (needed[i]) body += str("    const ", typeText(i), " ", prefix_, i, " = ", text(i), ";\n");
  }

  std::string result() const { return name(size() - 1); }
  // The number whose rounding is the result, a byte; empty when that is not how it comes.
  std::string unrounded() {
    const std::optional<Quantisation>& last = quantised_.back();
    if (!last) return {};
    isUnrounded_ = true;
    return str(prefix_, size() - 1);
  }
  // What is stored is rounded then: the last conversion to fewer bits need not do it too.
  void leaveRoundingToStore() { storeRounds_ = true; }

 private:
  int size() const { return static_cast<int>(code_.size()); }
  const ScalarInstruction& at(int i) const { return code_[i]; }
  std::optional<double> constantAt(int i) const {
    return at(i).op == ScalarOp::kConst && isFloat(at(i).type) ? std::optional(at(i).real)
                                                               : std::nullopt;
  }
  bool isByteInput(int i) const { return at(i).op == ScalarOp::kInput && isByte(at(i).type); }
  std::string name(int i) const {
    const std::string own = str(prefix_, i);
    return isByteInput(i) ? str("static_cast<", storageType(at(i).type), ">(", own, ")") : own;
  }

  // A byte as an f32, less a zero point where that comes right behind: (byte - zero). The byte is
  // an input or quantised.
  struct FloatOfByte {
    int byte;
    int zero = 0;
  };
  std::optional<FloatOfByte> floatOfByte(int i) const {
    if (at(i).type != DataType::kF32) return std::nullopt;
    if (at(i).op == ScalarOp::kCast && (isByteInput(at(i).a) || quantised_[at(i).a]))
      return FloatOfByte{at(i).a};
    if (at(i).op != ScalarOp::kSub || at(at(i).a).op != ScalarOp::kCast) return std::nullopt;
    const std::optional<FloatOfByte> whole = floatOfByte(at(i).a);
    const std::optional<double> zero = constantAt(at(i).b);
    if (!whole || !zero || *zero != std::rint(*zero) || std::abs(*zero) > 255) return std::nullopt;
    const int number = static_cast<int>(*zero);
    if (quantised_[whole->byte] && quantised_[whole->byte]->bytes.zero != number)
      return std::nullopt;
    return FloatOfByte{whole->byte, number};
  }
  // The byte that is multiplied by a constant scale.
  std::optional<int> scaledByte(int i) const {
    constexpr double kSmallest = 0x1p-80, kLargest = 0x1p80;
    if (at(i).op != ScalarOp::kMul || at(i).type != DataType::kF32) return std::nullopt;
    const std::optional<FloatOfByte> byte = floatOfByte(at(i).a);
    const std::optional<double> scale = constantAt(at(i).b);
    const bool isScaled = byte && byte->zero == 0 && isByteInput(byte->byte) && scale &&
                          *scale >= kSmallest && *scale <= kLargest;
    return isScaled ? std::optional(byte->byte) : std::nullopt;
  }
  // Whether it makes floats of a sum of integers that stay f32, which ranges may be taken from:
  // dynamic quantisation shows the last bit too.
  bool isSumInFull(int i) const {
    return at(i).op == ScalarOp::kCast && at(i).type == DataType::kF32 &&
           at(at(i).a).type == DataType::kI32 && code_.back().type == DataType::kF32;
  }

  // The quantisation that an instruction prints as a part of itself.
  const Quantisation* usedQuantisation(int i) const {
    if (quantised_[i]) return &*quantised_[i];
    const std::optional<FloatOfByte> byte = floatOfByte(i);
    return byte && quantised_[byte->byte] ? &*quantised_[byte->byte] : nullptr;
  }

  std::vector<int> operandsOf(int i) const {
    if (const Quantisation* quantisation = usedQuantisation(i)) return {quantisation->x};
    if (const std::optional<int> byte = scaledByte(i)) return {*byte};
    if (const std::optional<FloatOfByte> byte = floatOfByte(i)) return {byte->byte};
    if (at(i).op == ScalarOp::kInput) return {};
    if (reciprocals_[i]) return {at(i).a};
    std::vector<int> operands{at(i).a, at(i).b, at(i).c};
    std::erase(operands, -1);
    return operands;
  }

  std::string numberText(double value) const {
    return number_ ? number_(static_cast<float>(value)) : literal(value, DataType::kF32);
  }
  // Zero points are known to be zero or not.
  std::string zeroText(int zero) const { return zero == 0 ? "0" : numberText(zero); }

  std::string quotientText(int x, const Reciprocal& reciprocal) const {
    const std::string high = numberText(reciprocal.high);
    return str("quotient(", name(x), ", ", high, ", ", numberText(reciprocal.low), ")");
  }
  std::string quotientText(const Quantisation& quantisation) const {
    return quantisation.reciprocal ? quotientText(quantisation.x, *quantisation.reciprocal)
                                   : name(quantisation.x);
  }
  // What rounding makes the byte.
  std::string unroundedText(const Quantisation& quantisation) const {
    const std::string x = quotientText(quantisation);
    const int zero = quantisation.bytes.zero;
    return zero == 0 ? x : str("wholePlus(", x, ", ", zeroText(zero), ")");
  }

  bool isLastUnrounded(int i) const { return isUnrounded_ && i == size() - 1; }
  std::string_view typeText(int i) const {
    return isLastUnrounded(i) ? "float" : isByteInput(i) ? "auto" : computeType(at(i).type);
  }

  std::string text(int i) const {
    const ScalarInstruction& instruction = at(i);
    if (quantised_[i]) {
      const std::string unrounded = unroundedText(*quantised_[i]);
      return isLastUnrounded(i)
                 ? unrounded
                 : str("toByte<", storageType(instruction.type), ">(", unrounded, ")");
    }
    if (const std::optional<int> byte = scaledByte(i))
      return str("scaledByte(", prefix_, *byte, ", ", numberText(*constantAt(instruction.b)), ")");
    if (const std::optional<FloatOfByte> byte = floatOfByte(i)) return floatText(*byte);
    switch (instruction.op) {
      case ScalarOp::kInput:
        return inputs_[instruction.a];
      case ScalarOp::kConst:
        return isQuantisationNumber(expr_, i) ? numberText(instruction.real)
                                              : constantText(instruction);
      case ScalarOp::kCast:
        return storeRounds_ && i == size() - 1
                   ? convertedText(name(instruction.a), at(instruction.a).type, instruction.type)
                   : castText(name(instruction.a), at(instruction.a).type, instruction.type);
      case ScalarOp::kDiv:
        if (reciprocals_[i]) return quotientText(instruction.a, *reciprocals_[i]);
        break;
      case ScalarOp::kWhere:
        return str(name(instruction.a), " ? ", name(instruction.b), " : ", name(instruction.c));
      case ScalarOp::kMul:
        // Quantisation shows the last bit: no product becomes one rounding with a sum behind it.
        if (isExact_ && computeType(instruction.type) == "float")
          return str("__fmul_rn(", name(instruction.a), ", ", name(instruction.b), ")");
        break;
      default:
        break;
    }
    std::string call = str("op::", functionName(instruction.op), "<",
                           computeType(at(instruction.a).type), ">(", name(instruction.a));
    if (instruction.b >= 0) call += str(", ", name(instruction.b));
    return call + ")";
  }

  std::string floatText(const FloatOfByte& byte) const {
    const std::optional<Quantisation>& quantisation = quantised_[byte.byte];
    if (!quantisation) return str("fromByte(", prefix_, byte.byte, ", ", zeroText(byte.zero), ")");
    const int zero = quantisation->bytes.zero;
    const std::string steps =
        str("stepsOf<", storageType(quantisation->bytes.type), ">(", quotientText(*quantisation),
            zero == 0 ? "" : str(", ", zeroText(zero)), ")");
    return zero == byte.zero ? steps : str(steps, " + ", zeroText(zero));
  }

  const Expr& expr_;
  const std::vector<ScalarInstruction>& code_;
  std::span<const std::string> inputs_;
  std::string_view prefix_;
  const NumberText& number_;
  std::vector<std::optional<Quantisation>> quantised_;
  std::vector<std::optional<Reciprocal>> reciprocals_;  // for divisions
  bool isExact_ = false, isUnrounded_ = false, storeRounds_ = false;
};

}  // namespace

std::string printExpr(const Expr& expr, std::span<const std::string> inputs,
                      std::string_view prefix, std::string& body, const NumberText& number) {
  ExprPrinter printer(expr, inputs, prefix, number);
  printer.print(body);
  return printer.result();
}

PrintedElement printElement(const Expr& expr, std::span<const std::string> inputs,
                            std::string_view prefix, std::string& body, const NumberText& number) {
  ExprPrinter printer(expr, inputs, prefix, number);
  const std::string unrounded = printer.unrounded();
  printer.leaveRoundingToStore();
  printer.print(body);
  return unrounded.empty()
             ? PrintedElement{printer.result(), computeType(expr.resultType()), "toElements"}
             : PrintedElement{unrounded, "float", "toRoundedBytes"};
}

}  // namespace camshaft::cuda
