#include "backends/cuda/runtime/libraries/attention_graph.h"

#include <limits>

namespace camshaft::cuda {
namespace {

constexpr int kRank = 4;

// The score where query and key are `allowed` to meet, else minus infinity.
int masked(OperationGraph& graph, int scores, int allowed) {
  const int y = graph.between(scores);
  const int nothing = graph.scalar(-std::numeric_limits<float>::infinity(), kRank);
  graph.operations.push_back({.a = scores,
                              .b = nothing,
                              .condition = allowed,
                              .y = y,
                              .pointwise = CUDNN_POINTWISE_BINARY_SELECT});
  return y;
}

int indexAlong(OperationGraph& graph, int scores, int64_t axis) {
  const int index = graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, -1, CUDNN_DATA_INT32);
  graph.operations.back().axis = axis;
  return index;
}

int shifted(OperationGraph& graph, cudnnPointwiseMode_t mode, int index, int64_t length) {
  const int y = graph.pointwise(mode, index, graph.scalar(static_cast<int32_t>(length), kRank),
                                CUDNN_DATA_INT32);
  graph.operations.back().computeType = CUDNN_DATA_INT32;
  return y;
}

// Query i meets keys up to i, or up to i + keyLength - queryLength.
int causal(OperationGraph& graph, int scores, CausalMask mask, const AttentionSizes& sizes) {
  int row = indexAlong(graph, scores, 2);
  const int column = indexAlong(graph, scores, 3);
  if (mask == CausalMask::kBottomRight) {
    row = shifted(graph, CUDNN_POINTWISE_ADD, row, sizes.keyLength);
    row = shifted(graph, CUDNN_POINTWISE_SUB, row, sizes.queryLength);
  }
  const int allowed = graph.pointwise(CUDNN_POINTWISE_CMP_GE, row, column, CUDNN_DATA_BOOLEAN);
  graph.operations.back().computeType = CUDNN_DATA_BOOLEAN;
  return masked(graph, scores, allowed);
}

int reduced(OperationGraph& graph, cudnnReduceTensorOp_t reduction, int x) {
  std::vector<int64_t> dims = graph.tensors[x].dims;
  dims[3] = 1;
  const int y = graph.between(CUDNN_DATA_FLOAT, std::move(dims));
  graph.operations.push_back(
      {.kind = GraphOperation::Kind::kReduction, .a = x, .y = y, .reduction = reduction});
  return y;
}

// Along the keys. The statistics that training wants are part of the form, though nothing reads
// them.
int softmax(OperationGraph& graph, int scores, cudnnDataType_t type) {
  const int most = reduced(graph, CUDNN_REDUCE_TENSOR_MAX, scores);
  const int powers =
      graph.pointwise(CUDNN_POINTWISE_EXP, graph.pointwise(CUDNN_POINTWISE_SUB, scores, most));
  const int sum = reduced(graph, CUDNN_REDUCE_TENSOR_ADD, powers);
  graph.pointwise(CUDNN_POINTWISE_ADD, most, graph.pointwise(CUDNN_POINTWISE_LOG, sum));
  return graph.pointwise(CUDNN_POINTWISE_DIV, powers, sum, type);
}

void matmul(OperationGraph& graph, int a, int b, int y) {
  graph.operations.push_back({.kind = GraphOperation::Kind::kMatmul, .a = a, .b = b, .y = y});
}

}  // namespace

OperationGraph attentionGraph(const AttentionProblem& p, const AttentionSizes& s) {
  const cudnnDataType_t type = cudnnTypeOf(p.type);
  OperationGraph graph;
  const int q = graph.operand(kQueryId, type, {s.batch, p.heads, s.queryLength, p.headSize},
                              {s.q.strideBatch, s.q.strideHead, s.q.strideLength, 1});
  const int keysTransposed =
      graph.operand(kKeyId, type, {s.batch, p.keyHeads, p.headSize, s.keyLength},
                    {s.k.strideBatch, s.k.strideHead, 1, s.k.strideLength});
  const int v = graph.operand(kValueId, type, {s.batch, p.keyHeads, s.keyLength, p.valueSize},
                              {s.v.strideBatch, s.v.strideHead, s.v.strideLength, 1});
  const int o =
      graph.operand(kAttentionOutputId, type, {s.batch, p.heads, s.queryLength, p.valueSize},
                    {s.o.strideBatch, s.o.strideHead, s.o.strideLength, 1});

  int scores = graph.between(CUDNN_DATA_FLOAT, {s.batch, p.heads, s.queryLength, s.keyLength});
  matmul(graph, q, keysTransposed, scores);
  scores = graph.pointwise(CUDNN_POINTWISE_MUL, scores, graph.scalar(p.scale, kRank));
  if (p.hasBias) {
    const int bias = graph.operand(kBiasId, cudnnTypeOf(p.biasType),
                                   {p.biasPerBatch ? s.batch : 1, p.biasPerHead ? p.heads : 1,
                                    p.biasPerQuery ? s.queryLength : 1, s.keyLength},
                                   {s.bias.strideBatch, s.bias.strideHead, s.bias.strideLength, 1});
    scores = graph.pointwise(CUDNN_POINTWISE_ADD, scores, bias);
  }
  if (p.causal != CausalMask::kNone) scores = causal(graph, scores, p.causal, s);
  matmul(graph, softmax(graph, scores, type), v, o);
  return graph;
}

}  // namespace camshaft::cuda
