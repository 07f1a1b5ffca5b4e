// Operands of a convolution, and what comes out in double precision.
#pragma once

#include "library_gemm_data.h"

namespace camshaft::cuda::library_check {

inline double apply(const EpilogueNode& node, double a, double b) {
  switch (node.op) {
    case EpilogueOp::kAdd:
      return a + b;
    case EpilogueOp::kSub:
      return a - b;
    case EpilogueOp::kMul:
      return a * b;
    case EpilogueOp::kClip:
      return std::min<double>(std::max<double>(a, node.lower), node.upper);
    case EpilogueOp::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case EpilogueOp::kTanh:
      return std::tanh(a);
    case EpilogueOp::kSwish:
      return a / (1 + std::exp(-a));
    case EpilogueOp::kGelu:
      return 0.5 * a * (1 + std::erf(a * M_SQRT1_2));
    case EpilogueOp::kGeluTanh:
      return activate(GemmActivation::kGeluTanh, a);
    default:
      std::abort();
  }
}

// Two spatial dimensions, channels last.
struct ConvData {
  ConvProblem problem;
  std::vector<int64_t> out;
  Tensor x, w, y;
  std::vector<Tensor> extras;

  ConvData(const ConvProblem& p, Random& random)
      : problem(p),
        out(outputImage(p)),
        x(random.tensor(p.inputType, {p.batch, p.image[0], p.image[1], p.inChannels})),
        w(random.tensor(p.inputType,
                        {p.outChannels, p.kernel[0], p.kernel[1], p.inChannels / p.groups})),
        y(zeros(p.outputType, {p.batch, out[0], out[1], p.outChannels})) {
    for (const EpilogueTensor& tensor : p.epilogue.tensors)
      extras.push_back(random.tensor(
          tensor.type, {tensor.hasBatch ? p.batch : 1, tensor.hasSpatial ? out[0] : 1,
                        tensor.hasSpatial ? out[1] : 1, tensor.hasChannels ? p.outChannels : 1}));
  }

  std::vector<TensorArg> inputs() const {
    std::vector<TensorArg> list = {x.arg(), w.arg()};
    for (const Tensor& extra : extras) list.push_back(extra.arg());
    return list;
  }

  double sumAt(int64_t n, int64_t row, int64_t column, int64_t filter) const {
    const ConvProblem& p = problem;
    const int64_t channels = p.inChannels / p.groups,
                  first = filter / (p.outChannels / p.groups) * channels;
    double sum = 0;
    for (int64_t r = 0; r < p.kernel[0]; ++r)
      for (int64_t s = 0; s < p.kernel[1]; ++s) {
        const int64_t i = row * p.strides[0] + r * p.dilations[0] - p.padsBegin[0];
        const int64_t j = column * p.strides[1] + s * p.dilations[1] - p.padsBegin[1];
        if (i < 0 || j < 0 || i >= p.image[0] || j >= p.image[1]) continue;
        const double* from =
            &x.values[((n * p.image[0] + i) * p.image[1] + j) * p.inChannels + first];
        const double* weights =
            &w.values[((filter * p.kernel[0] + r) * p.kernel[1] + s) * channels];
        for (int64_t c = 0; c < channels; ++c) sum += from[c] * weights[c];
      }
    return sum;
  }

  // Against the largest value: saturating epilogues pass on the error of sums that are larger.
  double tolerance(const std::vector<double>& expected) const {
    const ConvProblem& p = problem;
    const double usual = toleranceOf(p.inputType, p.outputType, p.allowTf32);
    if (p.inputType != DataType::kF32 || !p.allowTf32) return usual;
    double largest = 1e-6;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    return usual +
           tf32Error(static_cast<double>(p.kernel[0] * p.kernel[1] * p.inChannels / p.groups)) /
               largest;
  }

  std::vector<double> expected() const {
    const ConvProblem& p = problem;
    std::vector<double> result;
    for (int64_t n = 0; n < p.batch; ++n)
      for (int64_t i = 0; i < out[0]; ++i)
        for (int64_t j = 0; j < out[1]; ++j)
          for (int64_t k = 0; k < p.outChannels; ++k) {
            std::vector<double> nodes;
            const double sum = sumAt(n, i, j, k);
            const auto valueOf = [&](const EpilogueOperand& operand) {
              if (operand.kind == EpilogueOperand::Kind::kAccumulator) return sum;
              if (operand.kind == EpilogueOperand::Kind::kNode) return nodes[operand.index];
              if (operand.kind == EpilogueOperand::Kind::kScalar)
                return static_cast<double>(operand.scalar);
              const TensorArg& t = extras[operand.index].arg();
              const int64_t at =
                  ((std::min(n, t.dims[0] - 1) * t.dims[1] + std::min(i, t.dims[1] - 1)) *
                       t.dims[2] +
                   std::min(j, t.dims[2] - 1)) *
                      t.dims[3] +
                  std::min(k, t.dims[3] - 1);
              return extras[operand.index].values[at];
            };
            for (const EpilogueNode& node : p.epilogue.nodes)
              nodes.push_back(
                  apply(node, valueOf(node.a), isBinary(node.op) ? valueOf(node.b) : 0));
            result.push_back(nodes.empty() ? sum : nodes.back());
          }
    return result;
  }
};

}  // namespace camshaft::cuda::library_check
