#include "backends/cpu/pointwise/program.h"

#include "support/error.h"

namespace camshaft::cpu::pointwise {

int arityOf(Opcode op) {
  switch (op) {
    case Opcode::kWhere:
      return 3;
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) \
  case Opcode::k##Name:                                           \
    return arity;
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
    default:
      return 1;
  }
}

bool isComparison(Opcode op) { return op >= Opcode::kEqual && op <= Opcode::kGreaterEqual; }

bool isNarrowFloat(DataType type) { return isFloat(type) && bitsOf(type) < 32; }

DataType arithmeticType(DataType type) { return isNarrowFloat(type) ? DataType::kF32 : type; }

void writeProgram(ByteWriter& writer, const Program& program) {
  writer.writeVector(program.code);
  writer.writeVector(program.inputs);
  writer.writeVector(program.constants);
  writer.write(program.result);
  writer.write(program.slots);
}

namespace {

void require(bool condition) {
  if (!condition)
    fail(ErrorKind::kInvalidEngine, "the engine holds a pointwise program that is damaged");
}

// What an instruction takes its operand a (0), b or c for, and what it leaves.
DataType readBy(const Instruction& instruction, int operand) {
  switch (instruction.op) {
    case Opcode::kConvert:
    case Opcode::kWiden:
      return instruction.from;
    case Opcode::kNarrow:
    case Opcode::kLimit:
      return DataType::kF32;
    case Opcode::kWhere:
      return operand == 0 ? DataType::kBool : instruction.type;
    default:
      return instruction.type;
  }
}
DataType writtenBy(const Instruction& instruction) {
  if (isComparison(instruction.op)) return DataType::kBool;
  const bool staysWide = instruction.op == Opcode::kWiden || instruction.op == Opcode::kLimit;
  return staysWide ? DataType::kF32 : instruction.type;
}

// Inputs and the result lie in tensors of elements of their own width; constants and slots have
// room for any.
void checkSource(const Program& program, const Instruction& instruction, const Source& source,
                 int operand) {
  if (operand >= arityOf(instruction.op)) return;
  const size_t limit = source.where == Where::kInput      ? program.inputs.size()
                       : source.where == Where::kConstant ? program.constants.size()
                       : source.where == Where::kSlot     ? static_cast<size_t>(program.slots)
                                                          : 0;
  require(source.index >= 0 && static_cast<size_t>(source.index) < limit);
  require(source.where != Where::kInput ||
          bitsOf(program.inputs[source.index]) == bitsOf(readBy(instruction, operand)));
}

bool isType(DataType type) { return static_cast<int>(type) < kDataTypeCount && !isPacked(type); }

}  // namespace

Program readProgram(ByteReader& reader) {
  Program program;
  program.code = reader.readVector<Instruction>();
  program.inputs = reader.readVector<DataType>();
  program.constants = reader.readVector<Constant>();
  program.result = reader.read<DataType>();
  program.slots = reader.read<int32_t>();
  require(!program.code.empty() && program.inputs.size() <= kMaxInputs &&
          program.constants.size() <= kMaxConstants && program.slots >= 0 &&
          program.slots <= kMaxSlots);
  require(isType(program.result));
  for (DataType type : program.inputs) require(isType(type));
  for (const Constant& constant : program.constants) require(isType(constant.type));
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& instruction = program.code[i];
    require(static_cast<int>(instruction.op) < kOpcodeCount);
    require(isType(instruction.type) && isType(instruction.from));
    checkSource(program, instruction, instruction.a, 0);
    checkSource(program, instruction, instruction.b, 1);
    checkSource(program, instruction, instruction.c, 2);
    const bool last = i + 1 == program.code.size();
    require(last ? instruction.target == -1
                 : instruction.target >= 0 && instruction.target < program.slots);
    require(!last || bitsOf(writtenBy(instruction)) == bitsOf(program.result));
  }
  return program;
}

}  // namespace camshaft::cpu::pointwise
