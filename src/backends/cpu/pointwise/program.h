// The run-time form of a scalar expression: instructions over tiles of elements.
//
// Arithmetic has eleven element types; the narrow floats are widened to f32 when read and rounded
// when written, so within one program they keep the precision of f32 except where a cast asks for
// less.
#pragma once

#include <cstdint>
#include <vector>

#include "support/byte_reader.h"
#include "support/data_type.h"

namespace camshaft::cpu::pointwise {

enum class Opcode : uint8_t {
  kCopy,
  kConvert,  // `from` to `type`, both arithmetic types
  kWiden,    // a narrow float `from` to f32
  kNarrow,   // f32 to a narrow float `type`
  kLimit,    // f32 to the nearest value of the narrow float `type`, still f32
  kWhere,    // a ? b : c
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) k##Name,
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
};
inline constexpr int kOpcodeCount = 6
#define CAMSHAFT_SCALAR_OP(Name, text, arity, domain, expression) +1
#include "ir/scalar_ops.def"
#undef CAMSHAFT_SCALAR_OP
    ;
int arityOf(Opcode op);
bool isComparison(Opcode op);

// Where an operand lies: an input tensor, a constant, or a slot written by an earlier instruction.
enum class Where : uint8_t { kNone, kInput, kConstant, kSlot };
struct Source {
  Where where = Where::kNone;
  int16_t index = 0;
};

struct Instruction {
  Opcode op = Opcode::kCopy;
  DataType type = DataType::kF32;  // of the operands; what kConvert, kNarrow and kLimit give
  DataType from = DataType::kF32;  // kConvert, kWiden: what they read
  int16_t target = -1;             // slot; -1, in the last instruction alone, is the output
  Source a, b, c;
};

// A constant as its arithmetic type stores it.
struct Constant {
  DataType type = DataType::kF32;
  uint64_t bits = 0;
};

inline constexpr int kMaxInputs = 32, kMaxConstants = 128, kMaxSlots = 64;

struct Program {
  std::vector<Instruction> code;
  std::vector<DataType> inputs;
  std::vector<Constant> constants;
  DataType result = DataType::kF32;
  int32_t slots = 0;
};

bool isNarrowFloat(DataType type);
// The type a program computes in: f32 for the narrow floats.
DataType arithmeticType(DataType type);

void writeProgram(ByteWriter& writer, const Program& program);
// Throws Error(kInvalidEngine) unless running the program stays within its slots and operands.
Program readProgram(ByteReader& reader);

}  // namespace camshaft::cpu::pointwise
