#include "onnx/ops/cast.h"

#include <limits>

#include "onnx/formula.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

Value* bitCast(const NodeImport& node, Value* x, DataType to) {
  BitCastAttrs attrs;
  attrs.to = to;
  return x->dataType() == to ? x : node.add(&ops::BitCast, {x}, attrs);
}

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// Without saturation, what rounds past the largest finite number becomes NaN, or infinity where
// the type has one. The limit lies half a step above that number; a tie goes to the even one.
Value* castUnsaturated(const NodeImport& node, Value* x, DataType type) {
  const bool isE4M3 = type == DataType::kF8E4M3;
  const double limit = isE4M3 ? 464 : type == DataType::kF8E4M3Fnuz ? 248 : 61440;
  const auto isBeyond = [&](Term value) {
    const Term magnitude = apply(ScalarOp::kAbs, value);
    return magnitude.formula->apply(isE4M3 ? ScalarOp::kGreater : ScalarOp::kGreaterEqual,
                                    magnitude, limit);
  };
  x = node.cast(x, x->dataType() == DataType::kF64 ? DataType::kF64 : DataType::kF32);
  Formula formula;
  const Term value = formula.input(0, x->dataType());
  if (type != DataType::kF8E5M2) {
    const Term nan = formula.number(kNan, x->dataType());
    return node.pointwise({x}, formula.take(cast(where(isBeyond(value), nan, value), type)));
  }
  Value* saturated = bitCast(node, node.cast(x, type), DataType::kU8);
  const Term infinity = where(value < 0.0, formula.number(0xfc, DataType::kU8), 0x7c);
  const Term result = where(isBeyond(value), infinity, formula.input(1, DataType::kU8));
  return bitCast(node, node.pointwise({x, saturated}, formula.take(result)), type);
}

namespace {

// Powers of two. Conversion itself rounds up and saturates; the other modes first drop a float's
// mantissa, half a step up or not.
Value* castToScale(const NodeImport& node, Value* x) {
  enum { kUp, kDown, kNearest };
  const int mode = node.choice("round_mode", "up", {"up", "down", "nearest"});
  x = node.cast(x, DataType::kF32);
  Value* power = x;
  if (mode != kUp) {
    Formula formula;
    Term bits = formula.input(0, DataType::kI32);
    if (mode == kNearest) {
      // A tie goes up, but for 2^-127, the smallest scale, whose float has no exponent.
      const Term isNormal = cast(bits > 0x7fffff, DataType::kI32);
      bits = bits + isNormal + 0x3fffff;
    }
    const Term exponent = formula.apply(ScalarOp::kBitAnd, bits, 0x7f800000);
    power = node.pointwise({bitCast(node, x, DataType::kI32)}, formula.take(exponent));
    power = bitCast(node, power, DataType::kF32);
  }
  const bool saturates = node.flag("saturate", true);
  if (saturates && mode == kUp) return node.cast(power, DataType::kF8E8M0);
  Formula formula;
  const Term rounded = formula.input(0, DataType::kF32), value = formula.input(1, DataType::kF32);
  Term isNan = value != value;
  if (!saturates) isNan = isNan || rounded > 0x1p127 || value < 0x1p-127;
  const Term result =
      cast(where(isNan, formula.number(kNan, DataType::kF32), rounded), DataType::kF8E8M0);
  return node.pointwise({power, x}, formula.take(result));
}

void convert(NodeImport& node, DataType type) {
  Value* x = node.input(0);
  const bool isFloat8 = isFloat(type) && bitsOf(type) == 8;
  if (type == x->dataType())
    node.setOutput(x);
  else if (type == DataType::kF8E8M0)
    node.setOutput(castToScale(node, x));
  else if (isFloat8 && !node.flag("saturate", true))
    node.setOutput(castUnsaturated(node, x, type));
  else
    node.setOutput(node.cast(x, type));
}

}  // namespace

void importCast1(NodeImport& node) {
  const std::string to = node.text("to", "");
  const std::pair<std::string_view, DataType> spellings[] = {
      {"FLOAT", DataType::kF32},  {"DOUBLE", DataType::kF64}, {"FLOAT16", DataType::kF16},
      {"INT8", DataType::kI8},    {"INT16", DataType::kI16},  {"INT32", DataType::kI32},
      {"INT64", DataType::kI64},  {"UINT8", DataType::kU8},   {"UINT16", DataType::kU16},
      {"UINT32", DataType::kU32}, {"UINT64", DataType::kU64}, {"BOOL", DataType::kBool},
  };
  for (const auto& [spelling, type] : spellings)
    if (spelling == to) return convert(node, type);
  node.unsupported("it casts to '", to, "', which is not supported");
}

void importCast(NodeImport& node) { convert(node, node.dataType("to")); }

void importBitCast(NodeImport& node) {
  Value* x = node.input(0);
  const DataType from = x->dataType(), to = node.dataType("to");
  if (bitsOf(from) != bitsOf(to))
    node.invalid("it reinterprets ", from, " as ", to, ", which has another width");
  node.setOutput(to == DataType::kBool ? node.cast(bitCast(node, x, DataType::kU8), to)
                                       : bitCast(node, x, to));
}

void importCastLike(NodeImport& node) { convert(node, node.input(1)->dataType()); }

}  // namespace camshaft::onnx::importer
