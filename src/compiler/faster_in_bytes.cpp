#include "compiler/faster_in_bytes.h"

#include <algorithm>
#include <map>
#include <memory>

#include "ops/conv.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/permutation.h"
#include "plan/profile.h"

namespace camshaft {
namespace {

// Any numbers: how long kernels take does not hang on them.
template <class T>
Value* weightsLike(Graph& graph, DataType type, const Shape& shape) {
  Dims dims;
  for (const Dim& dim : shape) dims.push_back(dim.value());
  std::vector<T> values(static_cast<size_t>(countOf(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 37 % 251 % 127);
  return graph.addConstant<T>("weights", type, dims, values);
}

// cast(clamp(round(at)))
Expr rounded(Expr expr, int at) {
  at = expr.apply(ScalarOp::kRound, at);
  at = expr.apply(ScalarOp::kMax, at, expr.constant(-128, DataType::kF32));
  at = expr.apply(ScalarOp::kMin, at, expr.constant(127, DataType::kF32));
  expr.cast(at, DataType::kI8);
  return expr;
}

// With any scale.
Expr quantisation() {
  Expr expr;
  const int x = expr.input(0, DataType::kF32);
  const int at = expr.apply(ScalarOp::kDiv, x, expr.constant(0.03, DataType::kF32));
  return rounded(std::move(expr), at);
}

// With a scale for each column.
Expr requantisation() {
  Expr expr;
  const int sums = expr.cast(expr.input(0, DataType::kI32), DataType::kF32);
  const int at = expr.apply(ScalarOp::kMul, sums, expr.input(1, DataType::kF32));
  return rounded(std::move(expr), at);
}

class ByteTrials {
 public:
  ByteTrials(const Graph& graph, const CompileOptions& build, DataType real)
      : graph_(graph), options_(build), real_(real) {
    std::vector<std::string> guessed;
    const ShapeProfile first = build.profiles.empty() ? ShapeProfile{} : build.profiles[0];
    profile_ = resolveProfile(graph, first, guessed);
    options_.profiles.clear();
    options_.ranges.clear();
    options_.observeUnfused = false;
    options_.progress = nullptr;
    options_.dump = nullptr;
    options_.tape = nullptr;
    options_.selector = nullptr;
    options_.log = {};
    options_.timeLayers = true;
    options_.precisionRequests = PrecisionRequests::kIgnore;
  }

  bool isFaster(const Node& product, bool isStoredAsBytes) {
    Graph real = inRealNumbers(product);
    const auto [it, isNew] = known_.try_emplace({toText(real), isStoredAsBytes}, false);
    if (isNew)
      it->second = milliseconds(inBytes(product, isStoredAsBytes)) < milliseconds(std::move(real));
    return it->second;
  }

 private:
  // Channels last, as both have them, so that no transpose is timed.
  Value* addOperand(Graph& graph, const Node& product, DataType type) const {
    Shape sizes;
    const SymbolValue opt = profile_.optValue(graph_);
    for (const Dim& dim : product.input(0)->shape()) sizes.push_back(evaluate(dim, opt));
    if (product.op == &ops::Conv)
      sizes = permuted(sizes, channelsLastOrder(static_cast<int64_t>(sizes.size())));
    return graph.addInput("x", {type, sizes});
  }
  static Value* converted(Graph& graph, Value* x, DataType type) {
    return x->dataType() == type ? x : addCast(graph, "converted", x, type);
  }
  static ConvAttrs channelsLast(const Node& conv) {
    ConvAttrs attrs = conv.as<ConvAttrs>();
    attrs.channelsLast = true;
    return attrs;
  }

  Graph inRealNumbers(const Node& product) const {
    Graph graph;
    Value* x = addOperand(graph, product, real_);
    Value* weights = converted(
        graph, weightsLike<float>(graph, DataType::kF32, product.input(1)->shape()), real_);
    const Node* node =
        product.op == &ops::Conv
            ? graph.add(&ops::Conv, "product", {x, weights}, channelsLast(product))
            : graph.add(&ops::MatMul, "product", {x, weights}, product.as<MatMulAttrs>());
    graph.addOutput("y", node->output());
    return graph;
  }

  Graph inBytes(const Node& product, bool isStoredAsBytes) const {
    Graph graph;
    Value* x = addOperand(graph, product, isStoredAsBytes ? DataType::kI8 : real_);
    if (!isStoredAsBytes)
      x = addPointwise(graph, "operand", {converted(graph, x, DataType::kF32)}, quantisation());
    Shape shape = product.input(1)->shape();
    if (product.op == &ops::MatMul && product.as<MatMulAttrs>().transposeB)
      std::swap(shape[0], shape[1]);
    Value* weights = weightsLike<int8_t>(graph, DataType::kI8, shape);
    const Node* node =
        product.op == &ops::Conv
            ? graph.add(&ops::ConvInteger, "product", {x, weights}, channelsLast(product))
            : graph.add(&ops::MatMulInteger, "product", {x, weights}, NoAttrs{});
    Value* sums = node->output();
    const std::vector<float> scales(static_cast<size_t>(sums->shape().back().value()), 0.01f);
    Value* scale = graph.addConstant<float>("scale", DataType::kF32,
                                            {static_cast<int64_t>(scales.size())}, scales);
    graph.addOutput("y", addPointwise(graph, "bytes", {sums, scale}, requantisation()));
    return graph;
  }

  double milliseconds(Graph graph) const {
    const Plan plan = compile(std::move(graph), options_);
    double sum = 0;
    for (const Step& step : plan.profiles[0].steps) sum += std::max(step.info.milliseconds, 0.0);
    return sum;
  }

  const Graph& graph_;
  CompileOptions options_;
  DataType real_;
  ResolvedProfile profile_;
  // By the text of the product in real numbers, and whether it finds bytes.
  std::map<std::pair<std::string, bool>, bool> known_;
};

// What the network's real numbers are stored in.
DataType storedType(const CompileOptions& options, const BuildBackend& backend) {
  if (!backend.stores16Bit || !(options.allowF16 || options.allowBF16)) return DataType::kF32;
  return options.allowF16 ? DataType::kF16 : DataType::kBF16;
}

}  // namespace

std::function<bool(const Node& product, bool isStoredAsBytes)> fasterInBytes(
    const Graph& graph, const CompileOptions& options, const BuildBackend& backend) {
  if (options.optimizationLevel == 0) return nullptr;
  auto trials = std::make_shared<ByteTrials>(graph, options, storedType(options, backend));
  return [trials](const Node& product, bool isStoredAsBytes) {
    return trials->isFaster(product, isStoredAsBytes);
  };
}

}  // namespace camshaft
