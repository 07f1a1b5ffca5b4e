// Operators that draw random numbers. Without a seed a node's name is its seed: nodes differ, and
// runs repeat.
#include "ops/random.h"

#include <bit>

#include "onnx/formula.h"
#include "onnx/ops/reduce.h"
#include "ops/softmax.h"
#include "support/hash.h"

namespace camshaft::onnx::importer {

namespace {

int64_t seedOf(const NodeImport& node) {
  if (!node.has("seed")) return static_cast<int64_t>(Hasher().add(node.name()).digest());
  if (node.opType() == "Dropout") return node.integer("seed");
  return std::bit_cast<int64_t>(node.number("seed", 0));
}

Value* draw(const NodeImport& node, RandomKind kind, Shape shape, DataType type, double low,
            double high) {
  RandomAttrs attrs;
  attrs.kind = kind;
  attrs.shape = std::move(shape);
  attrs.type = type;
  attrs.low = low;
  attrs.high = high;
  attrs.seed = seedOf(node);
  return node.add(&ops::Random, {}, std::move(attrs));
}

Value* uniform(const NodeImport& node, Shape shape, DataType type) {
  return draw(node, RandomKind::kUniform, std::move(shape), type, 0, 1);
}

void importDraw(NodeImport& node, RandomKind kind, Shape shape, DataType type) {
  const bool normal = kind == RandomKind::kNormal;
  node.setOutput(draw(node, kind, std::move(shape), type, node.number(normal ? "mean" : "low", 0),
                      node.number(normal ? "scale" : "high", 1)));
}

void importLike(NodeImport& node, RandomKind kind) {
  const Value* x = node.input(0);
  importDraw(node, kind, x->shape(), node.dataType("dtype", x->dataType()));
}

Shape shapeOf(const NodeImport& node) {
  if (!node.has("shape")) node.invalid("it lacks its required attribute 'shape'");
  return makeShape(node.integers("shape"));
}

}  // namespace

void importRandomNormal(NodeImport& node) {
  importDraw(node, RandomKind::kNormal, shapeOf(node), node.dataType("dtype", DataType::kF32));
}
void importRandomNormalLike(NodeImport& node) { importLike(node, RandomKind::kNormal); }
void importRandomUniform(NodeImport& node) {
  importDraw(node, RandomKind::kUniform, shapeOf(node), node.dataType("dtype", DataType::kF32));
}
void importRandomUniformLike(NodeImport& node) { importLike(node, RandomKind::kUniform); }

void importBernoulli(NodeImport& node) {
  Value* p = node.input(0);
  Value* drawn = node.binary(ScalarOp::kLess, uniform(node, p->shape(), p->dataType()), p);
  node.setOutput(node.cast(drawn, node.dataType("dtype", p->dataType())));
}

// How many of the classes' cumulated probabilities a number passes is its class.
void importMultinomial(NodeImport& node) {
  Value* logits = node.input(0, 2);
  const int64_t samples = node.integer("sample_size", 1);
  const Dim batch = logits->shape()[0], classes = logits->shape()[1];
  SoftmaxAttrs overClasses;
  overClasses.axis = 1;
  Value* weights = node.add(&ops::Softmax, {node.cast(logits, DataType::kF32)}, overClasses);
  CumSumAttrs along;
  along.axis = 1;
  Value* cumulated = node.reshape(node.add(&ops::CumSum, {weights}, along), {batch, 1, classes});
  Value* drawn = uniform(node, {batch, samples, 1}, DataType::kF32);
  Value* passed = node.cast(node.binary(ScalarOp::kGreaterEqual, drawn, cumulated), DataType::kI32);
  Value* picked = reduce(node, ReduceKind::kSum, passed, {2}, false);
  // The last sum may fall short of 1.
  if (classes.isConstant())
    picked = node.binary(ScalarOp::kMin, picked, static_cast<double>(classes.value() - 1));
  node.setOutput(node.cast(picked, node.dataType("dtype", DataType::kI32)));
}

// Not training, x; training, x / (1 - ratio) or 0 with probability ratio.
void importDropout(NodeImport& node) {
  Value* x = node.input(0);
  const DataType maskType = node.opset() >= 10 ? DataType::kBool : x->dataType();
  Value* training = node.opset() >= 12 ? node.optionalInput(2) : nullptr;
  const auto isTraining = training ? node.knownIntegers(training) : std::vector<int64_t>{0};
  if (isTraining && isTraining->at(0) == 0) {
    node.setOutput(0, x);
    if (node.wants(1)) node.setOutput(1, node.expand(node.scalar(maskType, 1), x->shape()));
    return;
  }
  Value* ratio = node.hasInput(1) ? node.cast(node.input(1), DataType::kF32)
                                  : node.scalar(DataType::kF32, 0.5);
  Value* drawn = uniform(node, x->shape(), DataType::kF32);
  Expr kept;  // !training || drawn >= ratio
  const int passes = kept.apply(ScalarOp::kGreaterEqual, kept.input(0, DataType::kF32),
                                kept.input(1, DataType::kF32));
  kept.apply(ScalarOp::kOr, passes, kept.apply(ScalarOp::kNot, kept.input(2, DataType::kBool)));
  Value* mask = node.pointwise({drawn, ratio, training}, std::move(kept));

  const DataType wide = x->dataType() == DataType::kF64 ? DataType::kF64 : DataType::kF32;
  Formula formula;
  const Term value = cast(formula.input(0, x->dataType()), wide);
  const Term scaled = value / (1 - cast(formula.input(1, DataType::kF32), wide));
  const Term chosen = where(formula.input(2, DataType::kBool), scaled, value);
  const Term result = cast(where(formula.input(3, DataType::kBool), chosen, 0), x->dataType());
  node.setOutput(0, node.pointwise({x, ratio, training, mask}, formula.take(result)));
  node.setOutput(1, mask);
}

}  // namespace camshaft::onnx::importer
