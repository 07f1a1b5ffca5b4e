#include "backends/cpu/pointwise/prepare_program.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/pointwise/executor.h"
#include "support/error.h"

namespace camshaft::cpu::pointwise {

namespace {

// ScalarOp and Opcode list the operations of scalar_ops.def in the same order.
Opcode opcodeOf(ScalarOp op) {
  constexpr int kFirstScalar = static_cast<int>(ScalarOp::kNeg),
                kFirst = static_cast<int>(Opcode::kNeg);
  return static_cast<Opcode>(static_cast<int>(op) - kFirstScalar + kFirst);
}

template <class T>
uint64_t bitsOfValue(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

Constant constantOf(const ScalarInstruction& in) {
  const DataType type = arithmeticType(in.type);
  if (type == DataType::kF32) return {type, bitsOfValue(static_cast<float>(in.real))};
  if (type == DataType::kF64) return {type, bitsOfValue(in.real)};
  if (type == DataType::kBool) return {type, in.integer != 0};
  return {type, static_cast<uint64_t>(in.integer)};  // the low bytes, as memory is little-endian
}

// Every instruction gets a slot of its own here, numbered like the instruction; assignSlots() then
// shares them.
class Compiler {
 public:
  Program run(const Expr& expr) {
    const auto& code = expr.code();
    for (int i = 0; i < expr.inputCount(); ++i) program_.inputs.push_back(expr.inputType(i));
    program_.result = expr.resultType();
    values_.resize(code.size());
    for (size_t i = 0; i < code.size(); ++i) values_[i] = translate(code, code[i]);
    finish(code.back().type, values_.back());
    removeUnused();
    assignSlots();
    return std::move(program_);
  }

 private:
  Source translate(const std::vector<ScalarInstruction>& code, const ScalarInstruction& in) {
    switch (in.op) {
      case ScalarOp::kInput: {
        const Source input{Where::kInput, static_cast<int16_t>(in.a)};
        return isNarrowFloat(in.type) ? emit({.op = Opcode::kWiden, .from = in.type, .a = input})
                                      : input;
      }
      case ScalarOp::kConst:
        program_.constants.push_back(constantOf(in));
        return {Where::kConstant, static_cast<int16_t>(program_.constants.size() - 1)};
      case ScalarOp::kCast:
        return convert(values_[in.a], code[in.a].type, in.type);
      case ScalarOp::kWhere:
        return emit({.op = Opcode::kWhere,
                     .type = arithmeticType(in.type),
                     .a = values_[in.a],
                     .b = values_[in.b],
                     .c = values_[in.c]});
      default:
        return emit({.op = opcodeOf(in.op),
                     .type = arithmeticType(code[in.a].type),
                     .a = values_[in.a],
                     .b = in.b >= 0 ? values_[in.b] : Source{}});
    }
  }

  Source convert(Source value, DataType from, DataType to) {
    if (arithmeticType(from) != arithmeticType(to))
      value = emit({.op = Opcode::kConvert,
                    .type = arithmeticType(to),
                    .from = arithmeticType(from),
                    .a = value});
    return isNarrowFloat(to) && from != to ? emit({.op = Opcode::kLimit, .type = to, .a = value})
                                           : value;
  }

  // Makes the result what the last instruction gives.
  void finish(DataType type, Source value) {
    if (isNarrowFloat(type)) {
      // Storing rounds by itself.
      if (value.where == Where::kSlot) {
        const Instruction& producer = program_.code[value.index];
        if (producer.op == Opcode::kLimit && producer.type == type) value = producer.a;
      }
      emit({.op = Opcode::kNarrow, .type = type, .a = value});
    } else if (value.where != Where::kSlot ||
               value.index + 1 != static_cast<int>(program_.code.size())) {
      emit({.op = Opcode::kCopy, .type = type, .a = value});
    }
  }

  Source emit(Instruction instruction) {
    program_.code.push_back(instruction);
    return {Where::kSlot, static_cast<int16_t>(program_.code.size() - 1)};
  }

  template <class F>
  static void forEachSlot(Instruction& in, F&& f) {
    for (Source* source : {&in.a, &in.b, &in.c})
      if (source->where == Where::kSlot) f(source->index);
  }

  void removeUnused() {
    std::vector<Instruction>& code = program_.code;
    std::vector<char> isUsed(code.size(), 0);
    isUsed.back() = 1;
    for (size_t i = code.size(); i-- > 0;)
      if (isUsed[i]) forEachSlot(code[i], [&](int16_t slot) { isUsed[slot] = 1; });
    std::vector<int16_t> renumbered(code.size(), -1);
    std::vector<Instruction> kept;
    for (size_t i = 0; i < code.size(); ++i) {
      if (!isUsed[i]) continue;
      renumbered[i] = static_cast<int16_t>(kept.size());
      kept.push_back(code[i]);
      forEachSlot(kept.back(), [&](int16_t& slot) { slot = renumbered[slot]; });
    }
    code = std::move(kept);
  }

  static DataType typeOf(const Instruction& in) {
    if (isComparison(in.op)) return DataType::kBool;
    return arithmeticType(in.type);
  }

  // A slot is free again after the last instruction that reads it. That instruction may write its
  // own result there if the elements have the same type, since loops go front to back.
  void assignSlots() {
    std::vector<Instruction>& code = program_.code;
    std::vector<size_t> lastUse(code.size(), 0);
    std::vector<DataType> type(code.size());
    for (size_t i = 0; i < code.size(); ++i) {
      type[i] = typeOf(code[i]);
      forEachSlot(code[i], [&](int16_t slot) { lastUse[slot] = i; });
    }
    std::vector<int16_t> free, slotOf(code.size(), -1);
    for (size_t i = 0; i < code.size(); ++i) {
      Instruction& in = code[i];
      std::vector<int16_t> dying;  // of another type than the result, so free only afterwards
      forEachSlot(in, [&](int16_t& value) {
        const int16_t slot = slotOf[value];
        std::vector<int16_t>& list = type[value] == type[i] ? free : dying;
        if (lastUse[value] == i &&
            std::ranges::count(free, slot) + std::ranges::count(dying, slot) == 0)
          list.push_back(slot);
        value = slot;
      });
      if (i + 1 < code.size()) {
        if (free.empty()) free.push_back(static_cast<int16_t>(program_.slots++));
        in.target = slotOf[i] = free.back();
        free.pop_back();
      }
      free.insert(free.end(), dying.begin(), dying.end());
    }
  }

  Program program_;
  std::vector<Source> values_;  // of the expression's instructions
};

}  // namespace

std::string whyNotCompiled(const Expr& expr) {
  for (const ScalarInstruction& in : expr.code())
    if (isPacked(in.type)) return "elements that share bytes";
  if (expr.code().size() > 10000) return "the expression is too long";
  if (expr.inputCount() > kMaxInputs) return str("more than ", kMaxInputs, " inputs");
  const Program program = compile(expr);
  if (program.constants.size() > kMaxConstants)
    return str("more than ", kMaxConstants, " constants");
  if (program.slots > kMaxSlots)
    return str("more than ", kMaxSlots, " intermediate results at once");
  for (const Instruction& instruction : program.code)
    if (!tileFunction(instruction))
      return str("an operation that ", instruction.type, " elements do not have");
  return "";
}

std::string whyNotEpilogue(const Expr& expr) {
  if (expr.inputType(0) != DataType::kF32 || expr.resultType() != DataType::kF32)
    return "the epilogue changes the element type";
  return whyNotCompiled(expr);
}

Program compile(const Expr& expr) { return Compiler().run(expr); }

}  // namespace camshaft::cpu::pointwise
