// What the samples share: a logger, small helpers, and a network to try things on.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "NvInfer.h"

class Logger : public nvinfer1::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", message);
  }
};

// Calls of the API return null or false where they fail, and the logger has said why.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

inline int64_t countOf(const nvinfer1::Dims& dims) {
  int64_t count = 1;
  for (int i = 0; i < dims.nbDims; ++i) count *= dims.d[i];
  return count;
}

inline nvinfer1::Weights weightsOf(const std::vector<float>& values) {
  return {nvinfer1::DataType::kFLOAT, values.data(), static_cast<int64_t>(values.size())};
}

// "x" [batch, 64] through `layers` products and activations to "y" [batch, 64]. Weights must live
// until the engine is built: they are kept in `weights`.
inline void addPerceptron(nvinfer1::INetworkDefinition& network,
                          std::vector<std::vector<float>>& weights, int64_t batch, int layers = 3) {
  constexpr int64_t kWidth = 64;
  nvinfer1::ITensor* x =
      network.addInput("x", nvinfer1::DataType::kFLOAT, nvinfer1::Dims2(batch, kWidth));
  weights.reserve(weights.size() + static_cast<size_t>(layers));
  for (int layer = 0; layer < layers; ++layer) {
    std::vector<float>& w = weights.emplace_back(kWidth * kWidth);
    for (size_t i = 0; i < w.size(); ++i)
      w[i] = static_cast<float>((i * 7 + static_cast<size_t>(layer)) % 13) / 100.0F - 0.06F;
    nvinfer1::ITensor* matrix =
        network.addConstant(nvinfer1::Dims2(kWidth, kWidth), weightsOf(w))->getOutput(0);
    x = network
            .addMatrixMultiply(*x, nvinfer1::MatrixOperation::kNONE, *matrix,
                               nvinfer1::MatrixOperation::kNONE)
            ->getOutput(0);
    x = network.addActivation(*x, nvinfer1::ActivationType::kTANH)->getOutput(0);
  }
  x->setName("y");
  network.markOutput(*x);
}
