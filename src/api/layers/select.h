// Layers whose results are as many as the data decides.
#pragma once

#include "api/layers/layer.h"

namespace camshaft::api {

struct NonZeroParams {
  static constexpr auto kType = nvinfer1::LayerType::kNON_ZERO;
  static constexpr int32_t kMaxInputs = 1;
  nvinfer1::DataType indices = nvinfer1::DataType::kINT32;
  std::vector<Value*> emit(Emission& at) const;
};

class NonZeroLayer : public LayerOf<nvinfer1::INonZeroLayer, NonZeroParams> {
 public:
  using LayerOf::LayerOf;
  bool setIndicesType(nvinfer1::DataType type) noexcept override {
    return set(&Params::indices, type);
  }
  nvinfer1::DataType getIndicesType() const noexcept override { return params_.indices; }
};

// Inputs: boxes [batches, boxes, 4] or [batches, boxes, classes, 4], scores [batches, boxes,
// classes], boxes per class at most, thresholds of overlap and score (0 where they are absent).
struct NMSParams {
  static constexpr auto kType = nvinfer1::LayerType::kNMS;
  static constexpr int32_t kMaxInputs = 5;
  nvinfer1::DataType indices = nvinfer1::DataType::kINT32;
  nvinfer1::BoundingBoxFormat format = nvinfer1::BoundingBoxFormat::kCORNER_PAIRS;
  int32_t topKLimit = 5000;  // of a batch, over all classes
  std::vector<Value*> emit(Emission& at) const;

 private:
  Value* withinLimit(Emission& at, Value* scores) const;
};

class NMSLayer : public LayerOf<nvinfer1::INMSLayer, NMSParams> {
 public:
  using LayerOf::LayerOf;
  void setBoundingBoxFormat(nvinfer1::BoundingBoxFormat format) noexcept override {
    set(&Params::format, format);
  }
  nvinfer1::BoundingBoxFormat getBoundingBoxFormat() const noexcept override {
    return params_.format;
  }
  void setTopKBoxLimit(int32_t limit) noexcept override { set(&Params::topKLimit, limit); }
  int32_t getTopKBoxLimit() const noexcept override { return params_.topKLimit; }
  bool setIndicesType(nvinfer1::DataType type) noexcept override {
    return set(&Params::indices, type);
  }
  nvinfer1::DataType getIndicesType() const noexcept override { return params_.indices; }
};

}  // namespace camshaft::api
