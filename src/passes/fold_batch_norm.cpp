// Scale and shift per channel, after a product with constant weights, go into weights and bias.
//
//   %c = Conv(%x, %w, %b)
//   %y = Pointwise(%c, %s, %t) {add(mul(x0, x1), x2)}   // the only reader of c; s, t [1, M, 1, 1]
//   →
//   %y = Conv(%x, w*s, b*s + t)
//
// MatMul has no bias: its weights take the scale, and the shift stays as an addition.
#include "ir/dispatch.h"
#include "ops/conv.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/channel_affine.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

namespace {

// How the elements of a weight tensor map to output channels: [outer][channels][inner] in memory.
// A grouped ConvTranspose has its channels once per group, found at outer / outerPerGroup.
struct WeightLayout {
  int64_t outer = 1, channels = 1, inner = 1;
  int64_t outerPerGroup = 0;  // 0: one group

  int64_t channelOf(int64_t o, int64_t c) const {
    return outerPerGroup ? o / outerPerGroup * channels + c : c;
  }
};

}  // namespace

static int64_t channelAxisOf(const Node& node) {
  const int64_t rank = node.output()->rank();
  if (node.op == &ops::Conv) return node.as<ConvAttrs>().channelsLast ? rank - 1 : 1;
  if (node.op == &ops::ConvTranspose)
    return node.as<ConvTransposeAttrs>().channelsLast ? rank - 1 : 1;
  return rank - 1;
}

static WeightLayout layoutOf(const Node& node) {
  const Dims dims = node.input(1)->view().dims;
  const auto countFrom = [&](size_t first) { return countOf(std::span(dims).subspan(first)); };
  if (node.op == &ops::Conv) return {1, dims[0], countFrom(1)};
  if (node.op == &ops::ConvTranspose)
    return {dims[0], dims[1], countFrom(2), dims[0] / node.as<ConvTransposeAttrs>().groups};
  const int64_t rank = static_cast<int64_t>(dims.size());
  const int64_t matrices = countOf(std::span(dims).first(rank - 2));
  if (node.as<MatMulAttrs>().transposeB) return {matrices, dims[rank - 2], dims[rank - 1]};
  return {matrices * dims[rank - 2], dims[rank - 1], 1};
}

static bool hasFoldableWeights(const Node* node) {
  if (!node || node->epilogue) return false;
  const bool convolves = node->op == &ops::Conv || node->op == &ops::ConvTranspose;
  if (!convolves && node->op != &ops::MatMul) return false;
  const Value* weights = node->input(1);
  // Those of eight bits and fewer have been rounded to a scale of theirs, and would be again.
  if (!weights->isConstant() || !isFloat(weights->dataType()) || bitsOf(weights->dataType()) < 16)
    return false;
  // A scaled copy of weights that others read as well would not pay for itself.
  if (!convolves && weights->users.size() > 1) return false;
  return !node->hasInput(2) || node->input(2)->isConstant();
}

// The constant stands in for the node's input and takes its name when no other node reads that.
static void setConstantInput(Graph& graph, Node* node, int index, std::vector<std::byte> bytes,
                             bool isOpaque) {
  const Value* old = node->input(index);
  const std::string name = old->name;
  Value* constant = graph.addConstant(
      name, old->type, ConstantData::own(std::move(bytes), isOpaque || old->isOpaque()));
  graph.setInput(node, index, constant);
  graph.eraseUnusedConstants();
  if (!graph.find(name)) graph.rename(constant, name);
}

static void scaleWeights(Graph& graph, Node* node, const ChannelAffine& affine) {
  const Value* weights = node->input(1);
  const WeightLayout layout = layoutOf(*node);
  std::vector<std::byte> bytes(weights->constant->bytes.begin(), weights->constant->bytes.end());
  dispatch(weights->dataType(), [&](auto tag) {
    using T = decltype(tag);
    T* element = reinterpret_cast<T*>(bytes.data());
    for (int64_t o = 0; o < layout.outer; ++o)
      for (int64_t c = 0; c < layout.channels; ++c)
        for (int64_t i = 0; i < layout.inner; ++i, ++element) {
          const double value = static_cast<double>(static_cast<Compute<T>>(*element));
          *element =
              static_cast<T>(static_cast<Compute<T>>(value * affine.scale[layout.channelOf(o, c)]));
        }
  });
  setConstantInput(graph, node, 1, std::move(bytes), affine.isScaleOpaque);
}

static std::vector<std::byte> bytesOfVector(DataType type, const std::vector<double>& values) {
  const int64_t count = static_cast<int64_t>(values.size());
  std::vector<std::byte> bytes(bytesOf(type, count));
  for (int64_t i = 0; i < count; ++i) writeElement(type, bytes.data(), i, values[i]);
  return bytes;
}

static Value* addShift(Graph& graph, const std::string& name, DataType type,
                       const ChannelAffine& affine) {
  const TensorType vectorType{type, {static_cast<int64_t>(affine.shift.size())}};
  return graph.addConstant(
      name, vectorType, ConstantData::own(bytesOfVector(type, affine.shift), affine.isShiftOpaque));
}

static void foldIntoBias(Graph& graph, Node* conv, const ChannelAffine& affine) {
  const DataType type = conv->output()->dataType();
  const Value* bias = conv->input(2);
  if (!bias) {
    if (!affine.shifts()) return;
    Value* added = addShift(graph, conv->name + ".bias", type, affine);
    return graph.setInputs(conv, {conv->input(0), conv->input(1), added});
  }
  std::vector<double> folded = affine.shift;
  for (size_t c = 0; c < folded.size(); ++c)
    folded[c] +=
        affine.scale[c] * readElement(type, bias->constant->bytes.data(), static_cast<int64_t>(c));
  setConstantInput(graph, conv, 2, bytesOfVector(type, folded),
                   affine.isScaleOpaque || affine.isShiftOpaque);
}

// What is left to do after the product itself has been scaled.
static void keepShift(Graph& graph, Node* pointwise, Value* product, const ChannelAffine& affine) {
  if (!affine.shifts()) return replaceValue(graph, pointwise->output(), product);
  const DataType type = product->dataType();
  BoundExpr shift;
  shift.expr.apply(ScalarOp::kAdd, shift.expr.input(0, type), shift.expr.input(1, type));
  shift.inputs = {product, addShift(graph, pointwise->name + ".shift", type, affine)};
  CAMSHAFT_CHECK(rewritePointwise(graph, pointwise, shift), describe(*pointwise),
                 " changed its shape");
}

static bool foldInto(Graph& graph, Node* product, Node* pointwise) {
  Value* result = product->output();
  if (result->shape() != pointwise->output()->shape()) return false;
  const auto affine = asChannelAffine(boundExpr(*pointwise), result, channelAxisOf(*product));
  const bool isMatMul = product->op == &ops::MatMul;
  if (!affine || (isMatMul && !affine->scales())) return false;
  if (affine->scales()) scaleWeights(graph, product, *affine);
  if (isMatMul) {
    keepShift(graph, pointwise, result, *affine);
  } else {
    foldIntoBias(graph, product, *affine);
    replaceValue(graph, pointwise->output(), result);
  }
  return true;
}

bool foldBatchNorm(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::Pointwise || node->epilogue) continue;
    for (Value* input : std::vector<Value*>(node->inputs)) {
      if (!hasFoldableWeights(input->producer) || soleUser(graph, input) != node) continue;
      if (!foldInto(graph, input->producer, node)) continue;
      changed = true;
      break;
    }
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
