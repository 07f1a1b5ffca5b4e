// Operands of an attention, and what comes out in double precision.
#pragma once

#include <algorithm>

#include "library_harness.h"

namespace camshaft::cuda::library_check {

// Tokens [batch, length, 3 * heads * size] packed, or three tensors.
struct AttentionData {
  AttentionProblem problem;
  std::vector<Tensor> inputs;
  Tensor o;

  std::vector<TensorArg> args() const {
    std::vector<TensorArg> list;
    for (const Tensor& input : inputs) list.push_back(input.arg());
    return list;
  }

  static double at(const Tensor& tensor, const AttentionOperand& place, int64_t b, int64_t h,
                   int64_t s, int64_t d) {
    return tensor.values[place.offset + b * place.strideBatch + h * place.strideHead +
                         s * place.strideLength + d];
  }

  std::vector<double> expected() const {
    const AttentionProblem& p = problem;
    const AttentionSizes& s = p.sizes;
    std::vector<double> result(o.values.size(), 0);
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < p.heads; ++h)
        for (int64_t i = 0; i < s.queryLength; ++i) {
          const int64_t kv = h / (p.heads / p.keyHeads);
          std::vector<double> scores(s.keyLength);
          for (int64_t j = 0; j < s.keyLength; ++j) scores[j] = scoreOf(b, h, kv, i, j);
          const double most = *std::max_element(scores.begin(), scores.end());
          double sum = 0;
          for (double& score : scores) sum += score = std::exp(score - most);
          for (int64_t d = 0; d < p.valueSize; ++d) {
            double value = 0;
            for (int64_t j = 0; j < s.keyLength; ++j)
              value += scores[j] * at(inputs[p.inputV], s.v, b, kv, j, d);
            result[s.o.offset + b * s.o.strideBatch + h * s.o.strideHead + i * s.o.strideLength +
                   d] = value / sum;
          }
        }
    return result;
  }

 private:
  double scoreOf(int64_t b, int64_t h, int64_t kv, int64_t i, int64_t j) const {
    const AttentionProblem& p = problem;
    const AttentionSizes& s = p.sizes;
    const int64_t last =
        i + (p.causal == CausalMask::kBottomRight ? s.keyLength - s.queryLength : 0);
    if (p.causal != CausalMask::kNone && j > last) return -INFINITY;
    double score = 0;
    for (int64_t d = 0; d < p.headSize; ++d)
      score += at(inputs[p.inputQ], s.q, b, h, i, d) * at(inputs[p.inputK], s.k, b, kv, j, d);
    score *= p.scale;
    if (p.hasBias)
      score += at(inputs[p.inputBias], s.bias, p.biasPerBatch ? b : 0, p.biasPerHead ? h : 0,
                  p.biasPerQuery ? i : 0, j);
    return score;
  }
};

inline AttentionData attentionData(AttentionProblem p, bool isPacked, int64_t batch,
                                   int64_t queries, int64_t keys, Random& random) {
  AttentionSizes& s = p.sizes;
  s.batch = batch, s.queryLength = queries, s.keyLength = keys;
  const int64_t widthQ = p.heads * p.headSize, widthK = p.keyHeads * p.headSize,
                widthV = p.keyHeads * p.valueSize;
  const auto place = [&](int64_t offset, int64_t width, int64_t length, int64_t size) {
    return AttentionOperand{offset, length * width, size, width};
  };
  std::vector<Tensor> inputs;
  if (isPacked) {
    const int64_t width = widthQ + widthK + widthV;
    s.q = place(0, width, queries, p.headSize);
    s.k = place(widthQ, width, keys, p.headSize);
    s.v = place(widthQ + widthK, width, keys, p.valueSize);
    p.inputQ = p.inputK = p.inputV = 0, p.inputBias = 1;
    inputs.push_back(random.tensor(p.type, {batch, queries, width}));
  } else {
    s.q = place(0, widthQ, queries, p.headSize);
    s.k = place(0, widthK, keys, p.headSize);
    s.v = place(0, widthV, keys, p.valueSize);
    inputs.push_back(random.tensor(p.type, {batch, queries, widthQ}));
    inputs.push_back(random.tensor(p.type, {batch, keys, widthK}));
    inputs.push_back(random.tensor(p.type, {batch, keys, widthV}));
  }
  s.o = place(0, p.heads * p.valueSize, queries, p.valueSize);
  if (p.hasBias) {
    const int64_t rows = p.biasPerQuery ? queries : 1, heads = p.biasPerHead ? p.heads : 1;
    s.bias = {0, heads * rows * keys, rows * keys, keys};
    inputs.push_back(random.tensor(p.biasType, {p.biasPerBatch ? batch : 1, heads, rows, keys}));
  }
  Tensor o = zeros(p.type, {batch, queries, p.heads * p.valueSize});
  return {p, std::move(inputs), std::move(o)};
}

}  // namespace camshaft::cuda::library_check
