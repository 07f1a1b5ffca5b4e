#include "backends/cuda/gemm/cublaslt.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "backends/cuda/codegen/strides.h"
#include "backends/cuda/gemm/transposed.h"
#include "backends/cuda/libraries/epilogue_graph.h"
#include "backends/cuda/libraries/plan_memo.h"
#include "ops/gemm.h"

namespace camshaft::cuda {
namespace {

Shape leading(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

bool isAllOnes(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& dim) { return dim.isConstant(1); });
}

// A MatMul node as cuBLASLt sees it. `problem` lacks its sizes.
struct Product {
  GemmProblem problem;
  std::array<Dim, kGemmSizeCount> sizes;  // in the order of GemmSizes
  bool packsB = false;                    // a constant B [k, n] is stored as [n, k]
  int biasInput = -1, residualInput = -1;
  std::string refusal;  // why it cannot be; empty: it can
};

void setSizes(const Node& node, Product& product) {
  GemmProblem& p = product.problem;
  const auto& attrs = node.as<MatMulAttrs>();
  const Value& b = *node.inputs[1];
  const Shape &shapeA = node.inputs[0]->shape(), &shapeB = b.shape();
  const size_t rankA = shapeA.size(), rankB = shapeB.size();
  p.transposeA = attrs.transposeA;
  Dim m = shapeA[rankA - (attrs.transposeA ? 1 : 2)];
  const Dim k = shapeA[rankA - (attrs.transposeA ? 2 : 1)];
  const Dim n = shapeB[rankB - (attrs.transposeB ? 2 : 1)];
  const bool isOneB = isAllOnes(leading(shapeB));
  product.packsB = isOneB && b.isConstant() && !attrs.transposeB && bitsOf(p.typeB) == 8;
  p.transposeB = attrs.transposeB || product.packsB;
  Dim batch = 1, strideA = 0, strideB = 0;
  if (isOneB && !attrs.transposeA) {  // matrices that meet the same B are one tall matrix
    m *= numElements(leading(shapeA));
  } else {
    const Shape items = leading(node.output()->shape());
    batch = numElements(items);
    if (!isAllOnes(leading(shapeA))) strideA = m * k;
    if (!isOneB) strideB = k * n;
    if ((!isAllOnes(leading(shapeA)) && leading(shapeA) != items) ||
        (!isOneB && leading(shapeB) != items))
      product.refusal = "repeats an operand along some dimensions of the batch only";
  }
  product.sizes = {m,       n,       k,     batch, p.transposeA ? m : k, p.transposeB ? k : n, n, n,
                   strideA, strideB, m * n, m * n};
}

// An operand that is added: a row that all rows share, or a tensor of the result's shape.
std::string setSummand(const Node& node, int input, Product& product) {
  GemmProblem& p = product.problem;
  const Value& operand = *node.inputs[input];
  const Shape &shape = operand.shape(), &result = node.output()->shape();
  if (operand.dataType() != p.typeD)
    return str("cuBLASLt adds ", p.typeD, ", not ", operand.dataType());
  const bool isRow = !shape.empty() && shape.back() == result.back() &&
                     isAllOnes(Shape(shape.begin(), shape.end() - 1));
  if (isRow && product.biasInput < 0) {
    product.biasInput = input;
    p.hasBias = true;
  } else if (shape == result && product.residualInput < 0) {
    product.residualInput = input;
    p.beta = 1;
  } else {
    return "cuBLASLt adds one row and one tensor of the result's shape";
  }
  return {};
}

std::optional<GemmActivation> activationOf(const EpilogueNode& step) {
  if (step.op == EpilogueOp::kGeluTanh) return GemmActivation::kGeluTanh;
  const bool isRelu = step.op == EpilogueOp::kClip && step.lower == 0 &&
                      step.upper == std::numeric_limits<float>::infinity();
  return isRelu ? std::optional(GemmActivation::kRelu) : std::nullopt;
}

// The epilogue as activation(alpha * x + bias + residual), or why not.
std::string setEpilogue(const Node& node, Product& product) {
  if (!node.epilogue) return {};
  using Kind = EpilogueOperand::Kind;
  std::vector<EpilogueTensor> tensors;
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i)
    tensors.push_back({.type = node.inputs[i]->dataType()});
  const TranslatedEpilogue translated = translateEpilogue(node.epilogue->expr, tensors);
  if (!translated.refusal.empty()) return translated.refusal;
  EpilogueOperand before;  // the accumulator, then each step's result
  const int last = static_cast<int>(translated.epilogue.nodes.size()) - 1;
  for (int i = 0; i <= last; ++i) {
    const EpilogueNode& step = translated.epilogue.nodes[i];
    if (step.a != before) return "cuBLASLt reads its result once";
    before = {Kind::kNode, i};
    const auto activation = activationOf(step);
    if (i == 0 && step.op == EpilogueOp::kMul && step.b.kind == Kind::kScalar) {
      product.problem.alpha = step.b.scalar;
    } else if (step.op == EpilogueOp::kAdd && step.b.kind == Kind::kTensor) {
      const std::string refusal = setSummand(node, node.ownInputs() + step.b.index, product);
      if (!refusal.empty()) return refusal;
    } else if (i == last && activation) {
      product.problem.activation = *activation;
    } else {
      return "cuBLASLt computes activation(scale * x + bias + residual), with ReLU or GELU's tanh "
             "form";
    }
  }
  return {};
}

Product productOf(const Node& node) {
  Product product;
  GemmProblem& p = product.problem;
  p.typeA = node.inputs[0]->dataType();
  p.typeB = node.inputs[1]->dataType();
  p.typeD = node.output()->dataType();
  setSizes(node, product);
  if (product.refusal.empty()) product.refusal = setEpilogue(node, product);
  return product;
}

template <class SizeOf>
GemmProblem problemAt(const Product& product, const SizeOf& sizeOf) {
  GemmProblem problem = product.problem;
  int64_t* sizes = &problem.sizes.m;
  for (int i = 0; i < kGemmSizeCount; ++i) sizes[i] = sizeOf(product.sizes[i]);
  return problem;
}

bool isConstant(const Dim& dim) { return dim.isConstant(); }

Verdict supports(const Node& node, const BuildContext& context) {
  if (!context.allowCublasLt) return Verdict::no("the build leaves out cuBLASLt");
  if (node.op != &ops::MatMul) return Verdict::no("multiplies matrices only");
  const Product product = productOf(node);
  if (!product.refusal.empty()) return Verdict::no(product.refusal);
  // A size that only the run knows counts as the least alike: what 8-bit operands need holds for
  // all.
  const std::string reason = refusal(problemAt(product, [](const Dim& dim) -> int64_t {
    if (dim.isConstant()) return dim.value();
    return isMultiple(dim, 16) ? 16 : isMultiple(dim, 4) ? 4 : 1;
  }));
  return Verdict{reason};
}

StepInput secondOperand(const Node& node, const Product& product) {
  if (!product.packsB) return StepInput::fromNode(1);
  const int64_t n = product.sizes[1].value(), k = product.sizes[2].value();
  return StepInput::fromPacking(
      {product.problem.typeB, {n, k}},
      [=, constant = node.inputs[1]->constant, bytes = bitsOf(product.problem.typeB) / 8] {
        return transposed(constant->bytes.data(), k, n, bytes);
      });
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Product product = productOf(node);
  GemmProblem problem = problemAt(product, context.opt);
  problem.allowTf32 = context.allowTf32;
  problem.workspaceLimit = std::min(problem.workspaceLimit, context.workspaceLimit);
  if (std::string reason = refusal(problem); !reason.empty())
    return Prepared::no(std::move(reason));
  if (context.min(product.sizes[2]) < 1)
    return Prepared::no("cuBLASLt needs something to add up, which some sizes of the profile lack");
  const bool isDynamic = !std::all_of(product.sizes.begin(), product.sizes.end(), isConstant);
  Prepared prepared =
      preparedFor(planOf(context.target, problem, config).get(), kGemmKernel, isDynamic, context);
  if (!prepared.verdict) return prepared;
  prepared.inputs = {StepInput::fromNode(0), secondOperand(node, product)};
  for (const int input : {product.biasInput, product.residualInput})
    if (input >= 0) prepared.inputs.push_back(StepInput::fromNode(input));
  if (isDynamic) prepared.dimArgs.assign(product.sizes.begin(), product.sizes.end());
  return prepared;
}

// beta·C + ... is read where D is written.
bool inPlace(const Node& node, int input) {
  return input == productOf(node).residualInput &&
         std::count(node.inputs.begin(), node.inputs.end(), node.inputs[input]) == 1;
}

std::vector<int64_t> configurations(const Node&, const BuildContext&) {
  return planNumbers(kMostLibraryPlans);
}

}  // namespace

const Kernel& cublasLtKernel() {
  static constexpr Kernel kKernel{.name = kGemmKernel,
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = inPlace,
                                  .usualConfigurations = kUsualPlans};
  return kKernel;
}

}  // namespace camshaft::cuda
