// Matrix products and sums of products.
#pragma once

#include "api/layers/layer.h"

namespace camshaft::api {

struct MatrixMultiplyParams {
  static constexpr auto kType = nvinfer1::LayerType::kMATRIX_MULTIPLY;
  static constexpr int32_t kMaxInputs = 2;
  nvinfer1::MatrixOperation operations[2] = {};
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class MatrixMultiplyLayer : public LayerOf<nvinfer1::IMatrixMultiplyLayer, MatrixMultiplyParams> {
 public:
  using LayerOf::LayerOf;
  void setOperation(int32_t index, nvinfer1::MatrixOperation operation) noexcept override;
  nvinfer1::MatrixOperation getOperation(int32_t index) const noexcept override {
    return params_.operations[index == 1];
  }
};

struct EinsumParams {
  static constexpr auto kType = nvinfer1::LayerType::kEINSUM;
  static constexpr int32_t kMaxInputs = 32;
  std::string equation;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class EinsumLayer : public LayerOf<nvinfer1::IEinsumLayer, EinsumParams> {
 public:
  using LayerOf::LayerOf;
  bool setEquation(const char* equation) noexcept override {
    return change([&](Params& params) { params.equation = equation ? equation : ""; });
  }
  const char* getEquation() const noexcept override { return params_.equation.c_str(); }
};

}  // namespace camshaft::api
