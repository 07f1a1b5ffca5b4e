#include "api/layers/pointwise.h"

#include <algorithm>
#include <limits>

#include "api/convert.h"
#include "onnx/formula.h"

namespace camshaft::api {

using namespace onnx::importer;  // Formula and Term
using nvinfer1::ActivationType;
using nvinfer1::ElementWiseOperation;
using nvinfer1::UnaryOperation;

namespace {

// The operations that are one scalar operation; others are formulas below.
constexpr std::pair<ActivationType, ScalarOp> kActivations[] = {
    {ActivationType::kRELU, ScalarOp::kRelu},
    {ActivationType::kSIGMOID, ScalarOp::kSigmoid},
    {ActivationType::kTANH, ScalarOp::kTanh},
    {ActivationType::kGELU_ERF, ScalarOp::kGelu},
    {ActivationType::kGELU_TANH, ScalarOp::kGeluTanh},
};

constexpr std::pair<UnaryOperation, ScalarOp> kUnaries[] = {
    {UnaryOperation::kEXP, ScalarOp::kExp},     {UnaryOperation::kLOG, ScalarOp::kLog},
    {UnaryOperation::kSQRT, ScalarOp::kSqrt},   {UnaryOperation::kRECIP, ScalarOp::kReciprocal},
    {UnaryOperation::kABS, ScalarOp::kAbs},     {UnaryOperation::kNEG, ScalarOp::kNeg},
    {UnaryOperation::kSIN, ScalarOp::kSin},     {UnaryOperation::kCOS, ScalarOp::kCos},
    {UnaryOperation::kTAN, ScalarOp::kTan},     {UnaryOperation::kSINH, ScalarOp::kSinh},
    {UnaryOperation::kCOSH, ScalarOp::kCosh},   {UnaryOperation::kASIN, ScalarOp::kAsin},
    {UnaryOperation::kACOS, ScalarOp::kAcos},   {UnaryOperation::kATAN, ScalarOp::kAtan},
    {UnaryOperation::kASINH, ScalarOp::kAsinh}, {UnaryOperation::kACOSH, ScalarOp::kAcosh},
    {UnaryOperation::kATANH, ScalarOp::kAtanh}, {UnaryOperation::kCEIL, ScalarOp::kCeil},
    {UnaryOperation::kFLOOR, ScalarOp::kFloor}, {UnaryOperation::kERF, ScalarOp::kErf},
    {UnaryOperation::kNOT, ScalarOp::kNot},     {UnaryOperation::kSIGN, ScalarOp::kSign},
    {UnaryOperation::kROUND, ScalarOp::kRound},
};

constexpr std::pair<ElementWiseOperation, ScalarOp> kElementWise[] = {
    {ElementWiseOperation::kSUM, ScalarOp::kAdd},
    {ElementWiseOperation::kPROD, ScalarOp::kMul},
    {ElementWiseOperation::kMAX, ScalarOp::kMax},
    {ElementWiseOperation::kMIN, ScalarOp::kMin},
    {ElementWiseOperation::kSUB, ScalarOp::kSub},
    {ElementWiseOperation::kDIV, ScalarOp::kDiv},
    {ElementWiseOperation::kPOW, ScalarOp::kPow},
    {ElementWiseOperation::kFLOOR_DIV, ScalarOp::kFloorDiv},
    {ElementWiseOperation::kAND, ScalarOp::kAnd},
    {ElementWiseOperation::kOR, ScalarOp::kOr},
    {ElementWiseOperation::kXOR, ScalarOp::kXor},
    {ElementWiseOperation::kEQUAL, ScalarOp::kEqual},
    {ElementWiseOperation::kGREATER, ScalarOp::kGreater},
    {ElementWiseOperation::kLESS, ScalarOp::kLess},
};

template <class E, size_t N>
std::optional<ScalarOp> scalarOf(const std::pair<E, ScalarOp> (&table)[N], E operation) {
  for (const auto& [own, op] : table)
    if (own == operation) return op;
  return std::nullopt;
}

template <class E, size_t N>
std::optional<E> operationOf(const std::pair<E, ScalarOp> (&table)[N], ScalarOp op) {
  for (const auto& [operation, own] : table)
    if (own == op) return operation;
  return std::nullopt;
}

// The formulas of the header's comments; nothing when the type is unknown.
std::optional<Term> activated(Formula& f, Term x, ActivationType type, double alpha, double beta) {
  switch (type) {
    case ActivationType::kLEAKY_RELU:
      return where(x < 0.0, x * alpha, x);
    case ActivationType::kELU:
      return where(x < 0.0, (exponential(x) - 1.0) * alpha, x);
    case ActivationType::kSELU:
      return where(x < 0.0, (exponential(x) - 1.0) * (alpha * beta), x * beta);
    case ActivationType::kSOFTSIGN:
      return x / (apply(ScalarOp::kAbs, x) + 1.0);
    case ActivationType::kSOFTPLUS:
      return apply(ScalarOp::kSoftplus, x * beta) * alpha;
    case ActivationType::kCLIP:
      return larger(smaller(x, beta), alpha);
    case ActivationType::kHARD_SIGMOID:
      return larger(smaller(x * alpha + beta, 1.0), 0.0);
    case ActivationType::kSCALED_TANH:
      return apply(ScalarOp::kTanh, x * beta) * alpha;
    case ActivationType::kTHRESHOLDED_RELU:
      return where(x > alpha, x, f.number(0, f.typeOf(x)));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<Value*> ActivationParams::emit(Emission& at) const {
  Value* x = at.input(0);
  Formula f;
  const Term input = f.input(0, x->dataType());
  const auto op = scalarOf(kActivations, activation);
  const std::optional<Term> y =
      op ? apply(*op, input) : activated(f, input, activation, alpha, beta);
  if (!y) at.invalid("was given an unknown activation type ", static_cast<int>(activation));
  return {at.pointwise({x}, f.take(*y))};
}

std::vector<Value*> UnaryParams::emit(Emission& at) const {
  Value* x = at.input(0);
  Formula f;
  const Term input = f.input(0, x->dataType());
  const auto result = [&] {
    if (const auto op = scalarOf(kUnaries, operation)) return apply(*op, input);
    if (operation == UnaryOperation::kISNAN) return input != input;
    if (operation == UnaryOperation::kISINF)
      return apply(ScalarOp::kAbs, input) == std::numeric_limits<double>::infinity();
    at.invalid("was given an unknown unary operation ", static_cast<int>(operation));
  };
  return {at.pointwise({x}, f.take(result()))};
}

std::vector<Value*> ElementWiseParams::emit(Emission& at) const {
  const auto op = scalarOf(kElementWise, operation);
  if (!op) at.invalid("was given an unknown elementwise operation ", static_cast<int>(operation));
  Value *a = at.input(0), *b = at.input(1);
  // Types of a weakly typed network are storage: those of one kind meet in the wider one.
  const auto isHalfOrFloat = [](const Value* value) {
    return value->dataType() == DataType::kF32 || value->dataType() == DataType::kF16;
  };
  if (a->dataType() != b->dataType()) {
    if (at.isStronglyTyped || !isHalfOrFloat(a) || !isHalfOrFloat(b))
      at.invalid("combines '", a->name, "' of type ", a->dataType(), " with '", b->name,
                 "' of type ", b->dataType(), "; cast one of them");
    a = at.cast(a, DataType::kF32);
    b = at.cast(b, DataType::kF32);
  }
  return {addBinary(at.graph, *op, at.name, a, b, at.before)};
}

std::vector<Value*> CastParams::emit(Emission& at) const {
  return {at.cast(at.input(0), typeIn(at, type))};
}

std::vector<Value*> SelectParams::emit(Emission& at) const {
  Value *condition = at.input(0), *a = at.input(1), *b = at.input(2);
  if (condition->dataType() != DataType::kBool)
    at.invalid("needs a condition of type bool and got ", condition->type);
  if (a->dataType() != b->dataType())
    at.invalid("chooses between types ", a->dataType(), " and ", b->dataType());
  Formula f;
  const Term c = f.input(0, DataType::kBool), x = f.input(1, a->dataType()),
             y = f.input(2, b->dataType());
  return {at.pointwise({condition, a, b}, f.take(where(c, x, y)))};
}

std::vector<Value*> ParametricReLUParams::emit(Emission& at) const {
  Value *x = at.input(0), *slope = at.input(1);
  if (x->dataType() != slope->dataType())
    at.invalid("has a slope of type ", slope->dataType(), " for ", x->type);
  Formula f;
  const Term a = f.input(0, x->dataType()), b = f.input(1, slope->dataType());
  return {at.pointwise({x, slope}, f.take(where(a < 0.0, a * b, a)))};
}

camshaft::Dims ScaleParams::weightDims(const Emission& at) const {
  const Shape& shape = at.input(0)->shape();
  const int64_t axis =
      mode == nvinfer1::ScaleMode::kUNIFORM ? 0 : axisIn(at, channelAxis, at.input(0)->rank());
  if (mode == nvinfer1::ScaleMode::kUNIFORM) return {};
  const Shape covered(shape.begin() + axis, mode == nvinfer1::ScaleMode::kCHANNEL
                                                ? shape.begin() + axis + 1
                                                : shape.end());
  if (!isStatic(covered)) at.unsupported("needs fixed sizes where its weights apply");
  camshaft::Dims dims = staticDims(covered);
  dims.resize(shape.size() - axis, 1);
  return dims;
}

std::vector<Value*> ScaleParams::emit(Emission& at) const {
  requireKnown(mode, "scale mode");
  Value* x = at.input(0);
  const camshaft::Dims dims = weightDims(at);
  std::vector<Value*> operands{x};
  Formula f;
  Term y = f.input(0, x->dataType());
  const auto step = [&](const WeightsCopy& weights, std::string_view what, ScalarOp op) {
    if (weights.empty()) return;
    const int index = static_cast<int>(operands.size());
    operands.push_back(weights.constant(at, what, x->dataType(), dims));
    y = f.apply(op, y, f.input(index, x->dataType()));
  };
  step(scale, "scale", ScalarOp::kMul);
  step(shift, "shift", ScalarOp::kAdd);
  step(power, "power", ScalarOp::kPow);
  if (operands.size() == 1) return {x};
  return {at.pointwise(std::move(operands), f.take(y))};
}

std::unique_ptr<LayerCore> pointwiseLayerFor(Network& network, const Node& node) {
  const auto& code = node.as<PointwiseAttrs>().expr.code();
  const size_t inputs = node.inputs.size();
  if (code.size() != inputs + 1) return nullptr;
  const ScalarInstruction& in = code.back();
  for (size_t i = 0; i < inputs; ++i)
    if (code[i].op != ScalarOp::kInput || code[i].a != static_cast<int>(i)) return nullptr;
  const int operands[] = {in.a, in.b, in.c};
  for (size_t i = 0; i < inputs && i < 3; ++i)
    if (operands[i] != static_cast<int>(i)) return nullptr;
  if (in.op == ScalarOp::kCast)
    return std::make_unique<CastLayer>(network, node.name, CastParams{toPublic(in.type)});
  if (in.op == ScalarOp::kWhere)
    return std::make_unique<SelectLayer>(network, node.name, SelectParams{});
  if (const auto type = operationOf(kActivations, in.op))
    return std::make_unique<ActivationLayer>(network, node.name, ActivationParams{*type});
  if (in.op == ScalarOp::kSoftplus)
    return std::make_unique<ActivationLayer>(network, node.name,
                                             ActivationParams{ActivationType::kSOFTPLUS, 1, 1});
  if (const auto operation = operationOf(kUnaries, in.op))
    return std::make_unique<UnaryLayer>(network, node.name, UnaryParams{*operation});
  if (const auto operation = operationOf(kElementWise, in.op))
    return std::make_unique<ElementWiseLayer>(network, node.name, ElementWiseParams{*operation});
  return nullptr;
}

}  // namespace camshaft::api
