// For backends without kernels of their own for them: products of bytes (int8), products with
// weights of a few bits (int4) and dynamic quantisation as floating-point work. Elsewhere this is
// for products whose second operand or zero points only a run knows, which those kernels do not
// take.
//
//   %y = MatMulInteger(%a, %b, %za, %zb)
//   →
//   %y = cast(MatMul(cast(%a) - cast(%za), cast(%b) - cast(%zb)), i32)
//
// Sums of whole numbers in f32 are exact up to 2^24. Longer products of bytes are taken of a's high
// and low four bits apart.
#include <algorithm>
#include <numeric>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_nbits.h"
#include "ops/gemm_int8.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/permutation.h"
#include "passes/quantisation.h"

namespace camshaft {

namespace {

constexpr int64_t kExactTerms = (1 << 24) / (255 * 255);

// Adds nodes in front of the one they replace.
class QuantisedLowering {
 public:
  QuantisedLowering(Graph& graph, Node* node) : graph_(graph), node_(node) {}

  template <class A>
  Value* add(Op op, std::vector<Value*> inputs, A attrs) const {
    return graph_.add(op, node_->name, std::move(inputs), std::move(attrs), node_)->output();
  }
  Value* binary(ScalarOp op, Value* a, Value* b) const {
    return addBinary(graph_, op, node_->name, a, b, node_);
  }
  Value* binary(ScalarOp op, Value* a, double b) const {
    return binary(op, a, addScalar(graph_, node_->name, a->dataType(), b));
  }
  Value* unary(ScalarOp op, Value* a) const { return addUnary(graph_, op, node_->name, a, node_); }
  Value* cast(Value* x, DataType type) const {
    return x->dataType() == type ? x : addCast(graph_, node_->name, x, type, node_);
  }
  Value* reshape(Value* x, Shape shape) const {
    ReshapeAttrs attrs;
    attrs.shape = std::move(shape);
    return add(&ops::Reshape, {x}, std::move(attrs));
  }
  Value* transpose(Value* x, std::vector<int64_t> order) const {
    TransposeAttrs attrs;
    attrs.order = std::move(order);
    return add(&ops::Transpose, {x}, std::move(attrs));
  }
  // Each row by itself first, so that there is work for many threads.
  Value* reduceAll(ReduceKind kind, Value* x) const {
    ReduceAttrs attrs;
    attrs.kind = kind;
    attrs.keepDims = false;
    if (x->rank() > 1) {
      attrs.axes = {x->rank() - 1};
      x = add(&ops::Reduce, {x}, attrs);
    }
    attrs.axes.resize(x->rank());
    std::iota(attrs.axes.begin(), attrs.axes.end(), 0);
    return add(&ops::Reduce, {x}, std::move(attrs));
  }

  // An operand of the node less its zero point, in f32.
  Value* centred(int operand) const {
    Value* x = cast(node_->input(operand), DataType::kF32);
    Value* zero = node_->input(operand + 2);
    return zero ? binary(ScalarOp::kSub, x, cast(zero, DataType::kF32)) : x;
  }

  // product(a) as whole numbers, of so many terms.
  template <class Product>
  Value* exactly(Value* a, const Dim& terms, Product product) const {
    const auto whole = [&](Value* part) { return cast(product(part), DataType::kI32); };
    if (terms.isConstant() && terms.value() <= kExactTerms) return whole(a);
    Value* high = unary(ScalarOp::kFloor, binary(ScalarOp::kMul, a, 1.0 / 16));
    Value* low = binary(ScalarOp::kSub, a, binary(ScalarOp::kMul, high, 16.0));
    Value* units = whole(low);
    Value* sixteens = binary(ScalarOp::kMul, whole(high), 16.0);
    return binary(ScalarOp::kAdd, sixteens, units);
  }

  void matMul() const {
    Value* b = centred(1);
    Value* y = exactly(centred(0), node_->input(0)->shape().back(),
                       [&](Value* a) { return add(&ops::MatMul, {a, b}, MatMulAttrs{}); });
    replaceValue(graph_, node_->output(), y);
  }

  void conv() const {
    ConvAttrs attrs = node_->as<ConvAttrs>();
    const Shape& weights = node_->input(1)->shape();
    Value *x = centred(0), *w = centred(1);
    const Permutation last = channelsLastOrder(x->rank());
    const bool moves = attrs.channelsLast;
    attrs.channelsLast = false;
    if (moves) x = transpose(x, inverseOf(last));
    Value* y = exactly(x, numElements(Shape(weights.begin() + 1, weights.end())),
                       [&](Value* part) { return add(&ops::Conv, {part, w}, attrs); });
    replaceValue(graph_, node_->output(), moves ? transpose(y, last) : y);
  }

  void quantize() const {
    Value* x = node_->input(0);
    Value* low = binary(ScalarOp::kMin, reduceAll(ReduceKind::kMin, x), 0.0);
    Value* high = binary(ScalarOp::kMax, reduceAll(ReduceKind::kMax, x), 0.0);
    Value* range = binary(ScalarOp::kSub, high, low);
    Value* isNothing = cast(binary(ScalarOp::kEqual, range, 0.0), DataType::kF32);
    range = binary(ScalarOp::kAdd, range, binary(ScalarOp::kMul, isNothing, 255.0));
    Value* scale = binary(ScalarOp::kDiv, range, 255.0);
    const auto clamped = [&](Value* v) {
      return binary(ScalarOp::kMin, binary(ScalarOp::kMax, v, 0.0), 255.0);
    };
    Value* zero =
        unary(ScalarOp::kRound, clamped(binary(ScalarOp::kDiv, unary(ScalarOp::kNeg, low), scale)));
    zero = cast(zero, DataType::kU8);
    Value* steps = unary(ScalarOp::kRound, binary(ScalarOp::kDiv, x, scale));
    Value* y = clamped(binary(ScalarOp::kAdd, steps, cast(zero, DataType::kF32)));
    graph_.replaceUses(node_->output(1), scale);
    graph_.replaceUses(node_->output(2), zero);
    replaceValue(graph_, node_->output(0), cast(y, DataType::kU8));
  }

  void blockWeights() const {
    const auto& attrs = node_->as<MatMulNBitsAttrs>();
    Value *a = node_->input(0), *packed = node_->input(1);
    const Shape& shape = packed->shape();
    const Dim depth = a->shape().back();
    Value* numbers = reshape(unpacked(packed, attrs.bits), {shape[0], shape[1], attrs.blockSize});
    Value* scales = cast(reshape(node_->input(2), {shape[0], shape[1], 1}), DataType::kF32);
    Value* zero = node_->input(3)
                      ? cast(reshape(node_->input(3), {shape[0], shape[1], 1}), DataType::kF32)
                      : addScalar(graph_, node_->name, DataType::kF32, 1 << (attrs.bits - 1));
    Value* weights = binary(ScalarOp::kSub, cast(numbers, DataType::kF32), zero);
    weights = cast(binary(ScalarOp::kMul, weights, scales), a->dataType());
    SliceAttrs slice;
    slice.axes = {1};
    slice.starts = {0};
    slice.sizes = {depth};
    slice.steps = {1};
    weights = add(&ops::Slice, {reshape(weights, {shape[0], shape[1] * attrs.blockSize})}, slice);
    MatMulAttrs product;
    product.transposeB = true;
    const bool isVector = a->rank() == 1;
    Value* y = add(&ops::MatMul, {isVector ? reshape(a, {1, depth}) : a, weights}, product);
    replaceValue(graph_, node_->output(), isVector ? reshape(y, {shape[0]}) : y);
  }

 private:
  // Bytes taken apart into numbers along a new last dimension, lowest bits first.
  Value* unpacked(Value* packed, int64_t bits) const {
    Shape column = packed->shape();
    column.push_back(1);
    std::vector<uint8_t> shifts;
    for (int64_t shift = 0; shift < 8; shift += bits) shifts.push_back(static_cast<uint8_t>(shift));
    Value* shift = graph_.addConstant<uint8_t>(node_->name, DataType::kU8,
                                               {static_cast<int64_t>(shifts.size())}, shifts);
    return binary(ScalarOp::kBitAnd, binary(ScalarOp::kShiftRight, reshape(packed, column), shift),
                  (1 << bits) - 1);
  }

  Graph& graph_;
  Node* node_;
};

// Whether a backend that unpacks weights in its products has one for this node.
bool hasPackedProduct(const Node& node) {
  const auto& attrs = node.as<MatMulNBitsAttrs>();
  return hasPackedProduct(attrs.bits, attrs.blockSize, node.input(0)->dataType()) &&
         node.input(0)->shape().back().isConstant() && isKnown(node.input(1)) &&
         isKnown(node.input(2)) && (!node.input(3) || isKnown(node.input(3)));
}

// Whether a backend with integer products has one for this node.
bool hasIntegerKernel(const Node& node, const FusionAbilities& backend) {
  const bool isActivation = !isKnown(node.input(1));
  if (isActivation && (node.op != &ops::MatMulInteger || !backend.activationProducts)) return false;
  if (node.input(2) && !isOneNumber(*node.input(2))) return false;
  if (node.input(3) && !isKnown(node.input(3))) return false;
  const Shape& weights = node.input(1)->shape();
  if (isActivation)
    return areMatrixByMatrix(node.input(0)->shape(), weights) &&
           (!node.input(3) || isOneNumber(*node.input(3)));
  if (node.op == &ops::MatMulInteger)
    return std::all_of(weights.begin(), weights.end() - 2,
                       [](const Dim& dim) { return dim.isConstant(1); });
  const auto& attrs = node.as<ConvAttrs>();
  return attrs.channelsLast && weights.size() <= 4 && isConvolvedAsBytes(weights, attrs.groups);
}

bool hasKernel(const Node& node, const FusionAbilities& backend) {
  if (node.op == &ops::DynamicQuantize) return backend.dynamicQuantisation;
  return node.op == &ops::MatMulNBits ? backend.packedWeights && hasPackedProduct(node)
                                      : backend.integerProducts && hasIntegerKernel(node, backend);
}

}  // namespace

bool lowerQuantised(Graph& graph, const PassOptions& options) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    const QuantisedLowering lowering(graph, node);
    const Op op = node->op;
    const bool isOurs = op == &ops::MatMulInteger || op == &ops::ConvInteger ||
                        op == &ops::DynamicQuantize || op == &ops::MatMulNBits;
    if (!isOurs || node->epilogue || hasKernel(*node, options.fusion)) continue;
    if (op == &ops::MatMulInteger)
      lowering.matMul();
    else if (op == &ops::ConvInteger)
      lowering.conv();
    else if (op == &ops::DynamicQuantize)
      lowering.quantize();
    else
      lowering.blockWeights();
    changed = true;
  }
  return changed;
}

}  // namespace camshaft
