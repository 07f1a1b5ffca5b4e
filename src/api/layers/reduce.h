// Layers that work along axes: softmax, normalisation, reductions, top-k, cumulative sums.
#pragma once

#include "api/layers/layer.h"
#include "ops/reduce.h"

namespace camshaft::api {

struct SoftMaxParams {
  static constexpr auto kType = nvinfer1::LayerType::kSOFTMAX;
  static constexpr int32_t kMaxInputs = 1;
  uint32_t axes = 0;  // 0: max(0, rank - 3), of a new layer
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
  static uint32_t defaultAxes(int64_t rank) { return 1u << (rank > 3 ? rank - 3 : 0); }
};

class SoftMaxLayer : public LayerOf<nvinfer1::ISoftMaxLayer, SoftMaxParams> {
 public:
  using LayerOf::LayerOf;
  void setAxes(uint32_t axes) noexcept override { set(&Params::axes, axes); }
  uint32_t getAxes() const noexcept override { return params_.axes; }
};

// Softmax over the first bounds[row] elements of each row; zeros behind them.
struct RaggedSoftMaxParams {
  static constexpr auto kType = nvinfer1::LayerType::kRAGGED_SOFTMAX;
  static constexpr int32_t kMaxInputs = 2;
  std::vector<Value*> emit(Emission& at) const;
};
using RaggedSoftMaxLayer = LayerOf<nvinfer1::IRaggedSoftMaxLayer, RaggedSoftMaxParams>;

struct NormalizationParams {
  static constexpr auto kType = nvinfer1::LayerType::kNORMALIZATION;
  static constexpr int32_t kMaxInputs = 3;
  uint32_t axes = 0;
  bool perChannel = false;  // made by addNormalizationV2
  float epsilon = 1e-5f;
  int64_t groups = 1;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);

 private:
  Value* channelVector(Emission& at, size_t input, int64_t channels) const;
};

class NormalizationLayer : public LayerOf<nvinfer1::INormalizationLayer, NormalizationParams> {
 public:
  using LayerOf::LayerOf;
  void setEpsilon(float epsilon) noexcept override { set(&Params::epsilon, epsilon); }
  float getEpsilon() const noexcept override { return params_.epsilon; }
  void setAxes(uint32_t axes) noexcept override { set(&Params::axes, axes); }
  uint32_t getAxes() const noexcept override { return params_.axes; }
  void setNbGroups(int64_t groups) noexcept override { set(&Params::groups, groups); }
  int64_t getNbGroups() const noexcept override { return params_.groups; }
  void setComputePrecision(nvinfer1::DataType type) noexcept override;
  nvinfer1::DataType getComputePrecision() const noexcept override {
    return nvinfer1::DataType::kFLOAT;
  }
  bool isV2() const noexcept override { return params_.perChannel; }
};

// Over the channels of images: x / (k + alpha / window * sum(x * x))^beta.
struct LRNParams {
  static constexpr auto kType = nvinfer1::LayerType::kLRN;
  static constexpr int32_t kMaxInputs = 1;
  int64_t window = 1;
  float alpha = 0, beta = 0, k = 0;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class LRNLayer : public LayerOf<nvinfer1::ILRNLayer, LRNParams> {
 public:
  using LayerOf::LayerOf;
  void setWindowSize(int64_t window) noexcept override { set(&Params::window, window); }
  int64_t getWindowSize() const noexcept override { return params_.window; }
  void setAlpha(float alpha) noexcept override { set(&Params::alpha, alpha); }
  float getAlpha() const noexcept override { return params_.alpha; }
  void setBeta(float beta) noexcept override { set(&Params::beta, beta); }
  float getBeta() const noexcept override { return params_.beta; }
  void setK(float k) noexcept override { set(&Params::k, k); }
  float getK() const noexcept override { return params_.k; }
};

struct ReduceParams {
  static constexpr auto kType = nvinfer1::LayerType::kREDUCE;
  static constexpr int32_t kMaxInputs = 1;
  nvinfer1::ReduceOperation operation = nvinfer1::ReduceOperation::kSUM;
  uint32_t axes = 0;
  bool keepDims = false;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
  static bool hasOperation(ReduceKind kind);
};

class ReduceLayer : public LayerOf<nvinfer1::IReduceLayer, ReduceParams> {
 public:
  using LayerOf::LayerOf;
  void setOperation(nvinfer1::ReduceOperation operation) noexcept override {
    set(&Params::operation, operation);
  }
  nvinfer1::ReduceOperation getOperation() const noexcept override { return params_.operation; }
  void setReduceAxes(uint32_t axes) noexcept override { set(&Params::axes, axes); }
  uint32_t getReduceAxes() const noexcept override { return params_.axes; }
  void setKeepDimensions(bool keep) noexcept override { set(&Params::keepDims, keep); }
  bool getKeepDimensions() const noexcept override { return params_.keepDims; }
};

struct TopKParams {
  static constexpr auto kType = nvinfer1::LayerType::kTOPK;
  static constexpr int32_t kMaxInputs = 2;
  nvinfer1::TopKOperation operation = nvinfer1::TopKOperation::kMAX;
  Dim k = 1;
  uint32_t axes = 0;
  nvinfer1::DataType indices = nvinfer1::DataType::kINT32;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class TopKLayer : public LayerOf<nvinfer1::ITopKLayer, TopKParams> {
 public:
  using LayerOf::LayerOf;
  void setOperation(nvinfer1::TopKOperation operation) noexcept override {
    set(&Params::operation, operation);
  }
  nvinfer1::TopKOperation getOperation() const noexcept override { return params_.operation; }
  void setK(int32_t k) noexcept override {
    change([&](Params& params) { params.k = Dim(k); }, 1);
  }
  int32_t getK() const noexcept override {
    return params_.k.isConstant() ? static_cast<int32_t>(params_.k.value()) : -1;
  }
  void setReduceAxes(uint32_t axes) noexcept override { set(&Params::axes, axes); }
  uint32_t getReduceAxes() const noexcept override { return params_.axes; }
  bool setIndicesType(nvinfer1::DataType type) noexcept override {
    return set(&Params::indices, type);
  }
  nvinfer1::DataType getIndicesType() const noexcept override { return params_.indices; }
};

struct CumulativeParams {
  static constexpr auto kType = nvinfer1::LayerType::kCUMULATIVE;
  static constexpr int32_t kMaxInputs = 2;
  nvinfer1::CumulativeOperation operation = nvinfer1::CumulativeOperation::kSUM;
  bool exclusive = false, reverse = false;
  std::vector<Value*> emit(Emission& at) const;
};

class CumulativeLayer : public LayerOf<nvinfer1::ICumulativeLayer, CumulativeParams> {
 public:
  using LayerOf::LayerOf;
  bool setOperation(nvinfer1::CumulativeOperation operation) noexcept override {
    return set(&Params::operation, operation);
  }
  nvinfer1::CumulativeOperation getOperation() const noexcept override { return params_.operation; }
  void setExclusive(bool exclusive) noexcept override { set(&Params::exclusive, exclusive); }
  bool getExclusive() const noexcept override { return params_.exclusive; }
  void setReverse(bool reverse) noexcept override { set(&Params::reverse, reverse); }
  bool getReverse() const noexcept override { return params_.reverse; }
};

}  // namespace camshaft::api
