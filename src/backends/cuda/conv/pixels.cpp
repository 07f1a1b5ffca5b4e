#include "backends/cuda/conv/pixels.h"

#include <algorithm>

#include "backends/cuda/gemm/cublaslt.h"
#include "backends/cuda/gemm/hopper/hopper.h"
#include "ops/conv.h"
#include "ops/gemm.h"
#include "ops/gemm_int8.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kBias = 2;

std::string whyNoProduct(const Node& conv) {
  const auto& attrs = conv.as<ConvAttrs>();
  const auto isAll = [](const std::vector<int64_t>& list, int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](int64_t item) { return item == value; });
  };
  const Shape& weights = conv.inputs[1]->shape();
  if (!attrs.channelsLast || attrs.groups != 1) return "needs channels last in one group";
  if (!std::all_of(weights.begin() + 2, weights.end(),
                   [](const Dim& dim) { return dim.isConstant(1); }) ||
      !isAll(attrs.strides, 1) || !isAll(attrs.padsBegin, 0) || !isAll(attrs.padsEnd, 0))
    return "looks at one pixel at a time, and at each";
  if (!conv.inputs[1]->isConstant()) return "needs constant weights";
  if (!isFloat(conv.inputs[0]->dataType()) && conv.op != &ops::ConvInteger)
    return "multiplies floats, or bytes";
  return {};
}

// x0 + bias, added as f32.
Expr biasExpr(DataType type, DataType biasType) {
  const auto wide = [](Expr& expr, int value, DataType from) {
    return from == DataType::kF32 ? value : expr.cast(value, DataType::kF32);
  };
  Expr expr;
  const int x = expr.input(0, type), bias = expr.input(1, biasType);
  const int left = wide(expr, x, type), right = wide(expr, bias, biasType);
  const int sum = expr.apply(ScalarOp::kAdd, left, right);
  if (type != DataType::kF32) expr.cast(sum, type);
  return expr;
}

// The epilogue of the product: that of the convolution on top of its bias.
std::optional<Expr> epilogueOf(const Node& conv) {
  if (conv.op == &ops::ConvInteger || !conv.hasInput(kBias))
    return conv.epilogue ? std::optional(conv.epilogue->expr) : std::nullopt;
  const Expr biased = biasExpr(conv.resultBeforeEpilogue().type, conv.inputs[kBias]->dataType());
  if (!conv.epilogue) return biased;
  std::vector<int> places(conv.epilogue->expr.inputCount());
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i) + 1;
  return conv.epilogue->expr.composed(0, biased, {0, 1}, places);
}

// Of one pixel's weights [M, C, 1...] of bytes: [C, M].
ConstantPtr transposedBytes(const Value& weights) {
  const int64_t m = weights.shape()[0].value(), c = weights.shape()[1].value();
  const auto* from = static_cast<const std::byte*>(weights.view().data);
  std::vector<std::byte> to(static_cast<size_t>(m * c));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < c; ++j) to[static_cast<size_t>(j * m + i)] = from[i * c + j];
  return ConstantData::own(std::move(to));
}

// The same as a product of [N, spatial..., C] and the weights, in a graph of its own.
struct PixelProduct {
  Graph graph;
  Node* node = nullptr;
  std::vector<int> inputOf;  // by input of the product: which one of the convolution it is

  explicit PixelProduct(const Node& conv) {
    if (conv.op == &ops::ConvInteger)
      multiplyIntegers(conv);
    else
      multiplyFloats(conv);
    addEpilogue(conv);
  }

 private:
  void multiplyFloats(const Node& conv) {
    const Value& weights = *conv.inputs[1];
    Value* matrix =
        graph.addConstant("weights", {weights.dataType(), {weights.shape()[0], weights.shape()[1]}},
                          weights.constant);
    MatMulAttrs attrs;
    attrs.transposeB = true;
    node = graph.add(&ops::MatMul, conv.name, {graph.addInput("x", conv.inputs[0]->type), matrix},
                     attrs);
    inputOf = {0, 1};
  }

  // Zero points of weights lie along M, which are the columns of the product.
  void multiplyIntegers(const Node& conv) {
    const Value& weights = *conv.inputs[1];
    const TensorType matrix{weights.dataType(), {weights.shape()[1], weights.shape()[0]}};
    std::vector<Value*> inputs = {graph.addInput("x", conv.inputs[0]->type),
                                  graph.addConstant("weights", matrix, transposedBytes(weights))};
    for (int i = 2; i < conv.ownInputs(); ++i) inputs.push_back(zeroPoint(conv.inputs[i], i));
    node = graph.add(&ops::MatMulInteger, conv.name, inputs, NoAttrs{});
    for (int i = 0; i < conv.ownInputs(); ++i) inputOf.push_back(i);
  }
  Value* zeroPoint(const Value* value, int i) {
    if (!value) return nullptr;
    TensorType type{value->dataType(), {}};
    if (!isOneNumber(*value)) type.shape = {numElements(value->shape())};
    const std::string name = str("zero", i);
    return value->isConstant() ? graph.addConstant(name, type, value->constant)
                               : graph.addInput(name, type);
  }

  void addEpilogue(const Node& conv) {
    const std::optional<Expr> expr = epilogueOf(conv);
    if (!expr) return;
    const int own = static_cast<int>(inputOf.size());
    node->epilogue = Epilogue{*expr, own};
    for (int i = own; i < static_cast<int>(conv.inputs.size()); ++i) {
      if (!conv.inputs[i]) continue;
      const Value& operand = *conv.inputs[i];
      const std::string name = str("operand", i);
      graph.addInputTo(node, operand.isConstant()
                                 ? graph.addConstant(name, operand.type, operand.constant)
                                 : graph.addInput(name, operand.type));
      inputOf.push_back(i);
    }
    graph.inferTypes(node);
  }
};

template <const Kernel& (*kProducts)()>
struct Pixels {
  static Verdict supports(const Node& conv, const BuildContext& context) {
    if (std::string reason = whyNoProduct(conv); !reason.empty())
      return Verdict::no(std::move(reason));
    return kProducts().supports(*PixelProduct(conv).node, context);
  }
  static std::vector<int64_t> configurations(const Node& conv, const BuildContext& context) {
    return kProducts().configurations(*PixelProduct(conv).node, context);
  }
  static Prepared prepare(const Node& conv, const BuildContext& context, int64_t config) {
    const PixelProduct product(conv);
    Prepared prepared = kProducts().prepare(*product.node, context, config);
    for (StepInput& input : prepared.inputs)
      if (input.nodeInput >= 0) input.nodeInput = product.inputOf[input.nodeInput];
    if (prepared.runtimeKernel.empty()) prepared.runtimeKernel = kProducts().name;
    return prepared;
  }
  static bool inPlace(const Node& conv, int input) {
    if (std::count(conv.inputs.begin(), conv.inputs.end(), conv.inputs[input]) != 1) return false;
    const PixelProduct product(conv);
    const auto place = std::find(product.inputOf.begin(), product.inputOf.end(), input);
    return place != product.inputOf.end() &&
           kProducts().inPlace(*product.node, static_cast<int>(place - product.inputOf.begin()));
  }
};

template <const Kernel& (*kProducts)()>
constexpr Kernel kernelOf(std::string_view name) {
  using P = Pixels<kProducts>;
  return {name, P::supports, P::prepare, P::configurations, P::inPlace};
}

}  // namespace

const Kernel& hopperPixelKernel() {
  static constexpr Kernel kKernel = kernelOf<hopperGemmKernel>("cuda/conv_pixels_hopper");
  return kKernel;
}

const Kernel& cublasLtPixelKernel() {
  static constexpr Kernel kKernel = kernelOf<cublasLtKernel>("cuda/conv_pixels_cublaslt");
  return kKernel;
}

}  // namespace camshaft::cuda
