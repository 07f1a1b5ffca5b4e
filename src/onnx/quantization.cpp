#include "onnx/quantization.h"

#include <cmath>

#include "onnx/formula.h"

namespace camshaft::onnx::importer {

Expr quantization(DataType x, DataType scale, std::optional<DataType> zeroPoint, DataType to) {
  const DataType compute = isFloat(x) ? x : DataType::kF32;
  Formula formula;
  const Term value = cast(formula.input(0, x), compute);
  Term result = value / cast(formula.input(1, scale), compute);
  // Rounded and clamped in f32: half precision does not hold every 16-bit integer.
  result = cast(result, DataType::kF32);
  if (isInteger(to)) result = apply(ScalarOp::kRound, result);
  if (zeroPoint) result = result + cast(formula.input(2, *zeroPoint), DataType::kF32);
  if (isInteger(to)) {
    const int bits = bitsOf(to) - (isSigned(to) ? 1 : 0);
    const double high = std::ldexp(1.0, bits) - 1;
    result = smaller(larger(result, isSigned(to) ? -high - 1 : 0), high);
  }
  return formula.take(cast(result, to));
}

Expr dequantization(DataType x, DataType scale, std::optional<DataType> zeroPoint, DataType to) {
  Formula formula;
  // The difference of two integers is exact in f32 up to 24 bits, in f64 beyond.
  const DataType compute = bitsOf(x) == 32 ? DataType::kF64 : DataType::kF32;
  Term value = cast(formula.input(0, x), compute);
  const Term factor = cast(formula.input(1, scale), compute);
  if (zeroPoint) value = value - cast(formula.input(2, *zeroPoint), compute);
  return formula.take(cast(value * factor, to));
}

bool isArithmetic(DataType type) { return isFloat(type) && bitsOf(type) >= 16; }

}  // namespace camshaft::onnx::importer
