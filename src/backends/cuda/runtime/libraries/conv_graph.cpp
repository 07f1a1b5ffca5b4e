#include "backends/cuda/runtime/libraries/conv_graph.h"

#include <limits>

#include "support/error.h"

namespace camshaft::cuda {
namespace {

// cuDNN's tensors are [N, C, spatial...] whatever their layout; the strides say how they lie.
std::vector<int64_t> dimsOf(int64_t first, int64_t second, std::span<const int64_t> spatial) {
  std::vector<int64_t> dims = {first, second};
  if (spatial.size() == 1) dims.push_back(1);  // one dimension is a picture of one row
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

std::vector<int64_t> stridesOf(const std::vector<int64_t>& dims, bool channelsLast) {
  if (!channelsLast) return rowMajorStrides(dims);
  std::vector<int64_t> strides(dims.size());
  int64_t stride = dims[1];
  for (size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[0] = stride;
  strides[1] = 1;
  return strides;
}

int operandOf(OperationGraph& graph, int64_t id, DataType type, std::vector<int64_t> dims,
              bool channelsLast) {
  std::vector<int64_t> strides = stridesOf(dims, channelsLast);
  return graph.operand(id, cudnnTypeOf(type), std::move(dims), std::move(strides));
}

// Values per spatial dimension, as the two-dimensional operation wants them.
std::vector<int64_t> perDimension(const std::vector<int64_t>& values, int64_t ofRows) {
  std::vector<int64_t> result = values;
  if (result.size() == 1) result.insert(result.begin(), ofRows);
  return result;
}

cudnnPointwiseMode_t modeOf(EpilogueOp op) {
  switch (op) {
    case EpilogueOp::kAdd:
      return CUDNN_POINTWISE_ADD;
    case EpilogueOp::kSub:
      return CUDNN_POINTWISE_SUB;
    case EpilogueOp::kMul:
      return CUDNN_POINTWISE_MUL;
    case EpilogueOp::kDiv:
      return CUDNN_POINTWISE_DIV;
    case EpilogueOp::kMin:
      return CUDNN_POINTWISE_MIN;
    case EpilogueOp::kMax:
      return CUDNN_POINTWISE_MAX;
    case EpilogueOp::kClip:
      return CUDNN_POINTWISE_RELU_FWD;
    case EpilogueOp::kSigmoid:
      return CUDNN_POINTWISE_SIGMOID_FWD;
    case EpilogueOp::kTanh:
      return CUDNN_POINTWISE_TANH_FWD;
    case EpilogueOp::kSwish:
      return CUDNN_POINTWISE_SWISH_FWD;
    case EpilogueOp::kGelu:
      return CUDNN_POINTWISE_GELU_FWD;
    case EpilogueOp::kGeluTanh:
      return CUDNN_POINTWISE_GELU_APPROX_TANH_FWD;
    case EpilogueOp::kSoftplus:
      return CUDNN_POINTWISE_SOFTPLUS_FWD;
    case EpilogueOp::kExp:
      return CUDNN_POINTWISE_EXP;
    case EpilogueOp::kLog:
      return CUDNN_POINTWISE_LOG;
    case EpilogueOp::kSqrt:
      return CUDNN_POINTWISE_SQRT;
    case EpilogueOp::kRsqrt:
      return CUDNN_POINTWISE_RSQRT;
    case EpilogueOp::kAbs:
      return CUDNN_POINTWISE_ABS;
    case EpilogueOp::kNeg:
      return CUDNN_POINTWISE_NEG;
    case EpilogueOp::kErf:
      return CUDNN_POINTWISE_ERF;
    case EpilogueOp::kReciprocal:
      return CUDNN_POINTWISE_RECIPROCAL;
  }
  CAMSHAFT_CHECK(false, "an epilogue operation has no mode");
}

// Puts the epilogue's operations behind the accumulator.
class EpilogueBuilder {
 public:
  EpilogueBuilder(OperationGraph& graph, const ConvProblem& problem, int accumulator, int output)
      : graph_(graph), epilogue_(problem.epilogue), accumulator_(accumulator), output_(output) {
    const std::vector<int64_t> dims = graph.tensors[output].dims;
    for (size_t i = 0; i < epilogue_.tensors.size(); ++i) {
      const EpilogueTensor& tensor = epilogue_.tensors[i];
      std::vector<int64_t> own = dims;
      if (!tensor.hasBatch) own[0] = 1;
      if (!tensor.hasChannels) own[1] = 1;
      for (size_t d = 2; d < own.size() && !tensor.hasSpatial; ++d) own[d] = 1;
      tensors_.push_back(operandOf(graph_, kEpilogueId + static_cast<int64_t>(i), tensor.type,
                                   std::move(own), problem.channelsLast));
    }
  }

  void build() {
    for (const EpilogueNode& node : epilogue_.nodes) {
      const int a = tensorOf(node.a), b = isBinary(node.op) ? tensorOf(node.b) : -1;
      const bool isLast = &node == &epilogue_.nodes.back();
      const int y = isLast ? output_ : graph_.between(accumulator_);
      graph_.operations.push_back({.a = a, .b = b, .y = y, .pointwise = modeOf(node.op)});
      if (node.op == EpilogueOp::kClip) {
        graph_.operations.back().lowerClip = node.lower;
        graph_.operations.back().upperClip =
            std::min(node.upper, std::numeric_limits<float>::max());
      }
      results_.push_back(y);
    }
  }

 private:
  int tensorOf(const EpilogueOperand& operand) {
    switch (operand.kind) {
      case EpilogueOperand::Kind::kAccumulator:
        return accumulator_;
      case EpilogueOperand::Kind::kNode:
        return results_[operand.index];
      case EpilogueOperand::Kind::kTensor:
        return tensors_[operand.index];
      case EpilogueOperand::Kind::kScalar:
        break;
    }
    return graph_.scalar(operand.scalar, static_cast<int>(graph_.tensors[output_].dims.size()));
  }

  OperationGraph& graph_;
  const ConvEpilogue& epilogue_;
  int accumulator_, output_;
  std::vector<int> tensors_, results_;
};

}  // namespace

OperationGraph convGraph(const ConvProblem& p) {
  OperationGraph graph;
  const std::vector<int64_t> outSizes = outputImage(p);
  const int x = operandOf(graph, kInputId, p.inputType, dimsOf(p.batch, p.inChannels, p.image),
                          p.channelsLast);
  const int w = operandOf(graph, kWeightsId, p.inputType,
                          dimsOf(p.outChannels, p.inChannels / p.groups, p.kernel), p.channelsLast);
  const int y = operandOf(graph, kOutputId, p.outputType, dimsOf(p.batch, p.outChannels, outSizes),
                          p.channelsLast);
  const cudnnDataType_t sumType =
      p.inputType == DataType::kI8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
  const int accumulator = p.epilogue.nodes.empty() ? y : graph.between(y, sumType);
  graph.operations.push_back({.kind = GraphOperation::Kind::kConvolution,
                              .computeType = sumType,
                              .a = x,
                              .b = w,
                              .y = accumulator,
                              .strides = perDimension(p.strides, 1),
                              .dilations = perDimension(p.dilations, 1),
                              .padsBegin = perDimension(p.padsBegin, 0),
                              .padsEnd = perDimension(p.padsEnd, 0)});
  EpilogueBuilder(graph, p, accumulator, y).build();
  return graph;
}

EngineRules convRules(const ConvProblem& p) {
  const bool isF32 = p.inputType == DataType::kF32;
  return {.allowTensorCores = !isF32 || p.allowTf32, .allowDownConversion = !isF32};
}

}  // namespace camshaft::cuda
