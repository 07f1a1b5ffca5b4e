#include "api/layers/quantize.h"

#include "onnx/formula.h"
#include "onnx/quantization.h"
#include "ops/move.h"
#include "ops/reduce.h"

namespace camshaft::api {

using namespace onnx::importer;  // Formula, Term, quantization

namespace {

// Dimension i of a scale, aligned with the last dimensions of x.
Dim alignedSize(const Value* scale, const Value* x, int64_t i) {
  const int64_t at = i - (x->rank() - scale->rank());
  return at < 0 ? Dim(1) : scale->shape()[at];
}

}  // namespace

// One number per block as one per element, where blocks have more than one.
Value* LinearParams::spreadBlocks(Emission& at, size_t input) const {
  Value *x = at.input(0), *operand = at.input(input);
  if (operand->rank() > x->rank())
    at.invalid("has a scale of rank ", operand->rank(), " for ", x->type);
  Shape apart, repeated, merged;
  for (int64_t i = 0; i < x->rank(); ++i) {
    const Dim size = x->shape()[i], blocks = alignedSize(operand, x, i);
    const bool isWhole = blocks == size || blocks.isConstant(1);
    const bool isKnown = size.isConstant() && blocks.isConstant() && blocks.value() > 0;
    const bool isGiven = !blockShape.empty() && blockShape[i] > 0;
    const Dim block = isGiven               ? Dim(blockShape[i])
                      : isWhole || !isKnown ? Dim(1)
                                            : floorDiv(size, blocks);
    if (!(isWhole && !isGiven) && !(blocks * block == size))
      at.invalid("has ", blocks, " scales along dimension ", i, ", which has ", size,
                 " elements and blocks of ", block);
    const Dim times = blocks.isConstant(1) ? Dim(1) : block;  // one scale broadcasts
    apart.insert(apart.end(), {blocks, Dim(1)});
    repeated.insert(repeated.end(), {blocks, times});
    merged.push_back(blocks * times);
  }
  if (merged == operand->shape()) return operand;
  ExpandAttrs expand;
  expand.shape = std::move(repeated);
  Value* spread = at.reshape(operand, std::move(apart));
  if (spread->shape() != expand.shape) spread = at.add(&ops::Expand, {spread}, std::move(expand));
  return at.reshape(spread, std::move(merged));
}

Value* LinearParams::spread(Emission& at, size_t input) const {
  const Value* x = at.input(0);
  Value* operand = at.input(input);
  if (!blockShape.empty() && static_cast<int64_t>(blockShape.size()) != x->rank())
    at.invalid("has blocks of ", blockShape.size(), " dimensions for ", x->type);
  for (int64_t block : blockShape)
    if (block < -1 || block == 0) at.invalid("has a block of size ", block);
  if (numElements(operand->shape()).isConstant(1)) return at.reshape(operand, {});
  if (operand->rank() > 1 || !blockShape.empty()) return spreadBlocks(at, input);
  if (axis == -1) {  // set once the layer is there
    at.lacks("needs an axis for its ", operand->shape()[0], " scales; call setAxis");
    return at.scalar(operand->dataType(), 1);
  }
  const int64_t along = axisIn(at, axis, x->rank());
  if (!(operand->shape()[0] == x->shape()[along]))
    at.invalid("has ", operand->shape()[0], " scales along dimension ", along, " of ", x->type);
  Shape shape(x->shape().size(), Dim(1));
  shape[along] = operand->shape()[0];
  return at.reshape(operand, std::move(shape));
}

std::vector<Value*> LinearParams::operands(Emission& at) const {
  std::vector<Value*> operands{at.input(0), spread(at, 1)};
  if (at.has(2) && !isZeroConstant(at.input(2))) operands.push_back(spread(at, 2));
  return operands;
}

namespace {

std::optional<DataType> zeroPointType(const std::vector<Value*>& operands) {
  return operands.size() > 2 ? std::optional(operands[2]->dataType()) : std::nullopt;
}

bool isQuantized(DataType type) {
  const bool isInt = isInteger(type) && bitsOf(type) <= 16;
  const bool isReal = isFloat(type) && bitsOf(type) <= 8 && type != DataType::kF8E8M0;
  return type != DataType::kBool && (isInt || isReal);
}

}  // namespace

std::vector<Value*> QuantizeParams::emit(Emission& at) const {
  const DataType to = typeIn(at, type);
  if (!isQuantized(to)) at.invalid("quantises to kINT8, kFP8, kINT4 or kFP4, and not to ", to);
  std::vector<Value*> values = operands(at);
  Value*& x = values[0];
  const DataType scale = values[1]->dataType();
  if (!isArithmetic(x->dataType())) at.invalid("quantises real numbers and got ", x->type);
  if (isArithmetic(scale)) x = at.cast(x, scale);
  Expr expr = quantization(x->dataType(), scale, zeroPointType(values), to);
  return {at.pointwise(std::move(values), std::move(expr))};
}

std::vector<Value*> DequantizeParams::emit(Emission& at) const {
  const DataType to = typeIn(at, type);
  if (!isArithmetic(to)) at.invalid("dequantises to kFLOAT, kHALF or kBF16, and not to ", to);
  std::vector<Value*> values = operands(at);
  if (values[0]->dataType() == DataType::kBool) at.invalid("cannot dequantise bool");
  Expr expr =
      dequantization(values[0]->dataType(), values[1]->dataType(), zeroPointType(values), to);
  return {at.pointwise(std::move(values), std::move(expr))};
}

void LinearParams::read(const Node& node) {
  type = toPublic(node.output()->dataType());
  const Value *x = node.input(0), *scale = node.input(1);
  axis = -1;
  int64_t differing = 0;
  for (int64_t i = 0; i < x->rank(); ++i)
    if (!alignedSize(scale, x, i).isConstant(1)) axis = i, ++differing;
  if (differing != 1) axis = -1;  // one scale, or one per block
}

std::unique_ptr<LayerCore> quantizeLayerFor(Network& network, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs.size() > 3) return nullptr;
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  const DataType x = node.input(0)->dataType(), scale = node.input(1)->dataType();
  const auto zeroPoint = zeroPointType(node.inputs);
  const DataType to = node.output()->dataType();
  const auto make = [&]<class L>(std::type_identity<L>) {
    typename L::Params params;
    params.read(node);
    return std::make_unique<L>(network, node.name, std::move(params));
  };
  if (isQuantized(to) && expr == quantization(x, scale, zeroPoint, to))
    return make(std::type_identity<QuantizeLayer>{});
  if (isArithmetic(to) && expr == dequantization(x, scale, zeroPoint, to))
    return make(std::type_identity<DequantizeLayer>{});
  return nullptr;
}

std::vector<int64_t> DynamicQuantizeParams::blocksOf(const Emission& at) const {
  const Value* x = at.input(0);
  std::vector<int64_t> blocks = blockShape;
  if (blocks.empty()) {
    blocks.assign(x->shape().size(), 1);
    blocks[axisIn(at, axis, x->rank())] = blockSize;
  }
  if (static_cast<int64_t>(blocks.size()) != x->rank())
    at.invalid("has blocks of ", blocks.size(), " dimensions for ", x->type);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Dim& size = x->shape()[i];
    if (blocks[i] == -1 && size.isConstant()) blocks[i] = size.value();
    if (blocks[i] < 1) at.invalid("has a block of size ", blocks[i]);
    if (blocks[i] > 1 && (!size.isConstant() || size.value() % blocks[i]))
      at.invalid("cannot divide dimension ", i, " of ", x->type, " into blocks of ", blocks[i]);
  }
  return blocks;
}

namespace {

Value* bitCast(Emission& at, Value* x, DataType to) {
  BitCastAttrs attrs;
  attrs.to = to;
  return at.add(&ops::BitCast, {x}, attrs);
}

// Positive numbers as powers of two that are no smaller, so that nothing is too large when divided
// by them: the exponent, which is what the type holds, is one more where there is a fraction.
Value* asPowersOfTwo(Emission& at, Value* x) {
  Formula f;
  const Term bits = f.input(0, DataType::kI32);
  const Term exponent =
      smaller(apply(ScalarOp::kShiftRight, bits + 0x7FFFFF, f.number(23, DataType::kI32)), 254);
  Value* exponents =
      at.pointwise({bitCast(at, x, DataType::kI32)}, f.take(cast(exponent, DataType::kU8)));
  return bitCast(at, exponents, DataType::kF8E8M0);
}

double largestOf(DataType type) { return type == DataType::kF4E2M1 ? 6 : 448; }

}  // namespace

std::vector<Value*> DynamicQuantizeParams::emit(Emission& at) const {
  const DataType to = typeIn(at, type), ofScales = typeIn(at, scaleType);
  if (to != DataType::kF4E2M1 && to != DataType::kF8E4M3)
    at.invalid("quantises to kFP4 or kFP8, and not to ", to);
  if (ofScales != DataType::kF8E4M3 && ofScales != DataType::kF8E8M0 && ofScales != DataType::kF32)
    at.invalid("gives scales as kFP8, kE8M0 or kFLOAT, and not as ", ofScales);
  Value* x = at.input(0);
  if (!isArithmetic(x->dataType())) at.invalid("quantises real numbers and got ", x->type);
  const std::vector<int64_t> blocks = blocksOf(at);

  // [n / b, b] for each dimension n with blocks of b: a scale is what is left without the b.
  Shape apart, ofBlocks;
  ReduceAttrs largest;
  largest.kind = ReduceKind::kMax;
  largest.keepDims = true;
  for (int64_t i = 0; i < x->rank(); ++i) {
    const Dim count = floorDiv(x->shape()[i], blocks[i]);
    apart.insert(apart.end(), {count, Dim(blocks[i])});
    ofBlocks.push_back(count);
    largest.axes.push_back(2 * i + 1);
  }
  Value* values = at.reshape(at.cast(x, DataType::kF32), std::move(apart));
  Value* magnitudes = addUnary(at.graph, ScalarOp::kAbs, at.name, values, at.before);
  Value* peaks = at.add(&ops::Reduce, {magnitudes}, std::move(largest));
  Value* unit = at.has(1) ? at.reshape(at.cast(at.input(1), DataType::kF32), {})
                          : at.scalar(DataType::kF32, 1);
  Formula scaling;
  const Term peak = scaling.input(0, DataType::kF32) / largestOf(to);
  Value* exact = at.pointwise({peaks, unit}, scaling.take(peak / scaling.input(1, DataType::kF32)));
  Value* scales =
      ofScales == DataType::kF8E8M0 ? asPowersOfTwo(at, exact) : at.cast(exact, ofScales);

  Formula f;  // by the scales as they are stored; a block of zeros may have a scale of 0
  const Term scale = cast(f.input(1, ofScales), DataType::kF32) * f.input(2, DataType::kF32);
  const Term value = where(scale == 0.0, 0.0, f.input(0, DataType::kF32) / scale);
  Value* quantized = at.pointwise({values, scales, unit}, f.take(cast(value, to)));
  return {at.reshape(quantized, x->shape()), at.reshape(scales, std::move(ofBlocks))};
}

}  // namespace camshaft::api
