// Layers that make, join, pick and write data.
#pragma once

#include "api/convert.h"
#include "api/layers/layer.h"

namespace camshaft::api {

struct ConstantParams {
  static constexpr auto kType = nvinfer1::LayerType::kCONSTANT;
  static constexpr int32_t kMaxInputs = 0;
  camshaft::Dims dims;
  WeightsCopy weights;
  // Copies them once their number is found to be that of the dimensions.
  void take(const nvinfer1::Weights& given);
  std::vector<Value*> emit(Emission& at) const;
};

class ConstantLayer : public LayerOf<nvinfer1::IConstantLayer, ConstantParams> {
 public:
  using LayerOf::LayerOf;
  void setWeights(nvinfer1::Weights weights) noexcept override {
    change([&](Params& params) { params.take(weights); });
  }
  nvinfer1::Weights getWeights() const noexcept override { return params_.weights.view(); }
  void setDimensions(const nvinfer1::Dims& dims) noexcept override {
    change([&](Params& params) { params.dims = fromPublic(dims); });
  }
  nvinfer1::Dims getDimensions() const noexcept override { return toPublic(params_.dims); }
};

struct ShapeParams {
  static constexpr auto kType = nvinfer1::LayerType::kSHAPE;
  static constexpr int32_t kMaxInputs = 1;
  std::vector<Value*> emit(Emission& at) const;
};
using ShapeLayer = LayerOf<nvinfer1::IShapeLayer, ShapeParams>;

struct ConcatenationParams {
  static constexpr auto kType = nvinfer1::LayerType::kCONCATENATION;
  static constexpr int32_t kMaxInputs = 1 << 16;
  int64_t axis = 0;
  std::vector<Value*> emit(Emission& at) const;
  std::optional<Shape> pendingSizes(const Emission& at) const;  // the axis is set after the inputs
  void read(const Node& node);
};

class ConcatenationLayer : public LayerOf<nvinfer1::IConcatenationLayer, ConcatenationParams> {
 public:
  using LayerOf::LayerOf;
  void setAxis(int32_t axis) noexcept override { set(&Params::axis, axis); }
  int32_t getAxis() const noexcept override { return static_cast<int32_t>(params_.axis); }
};

struct GatherParams {
  static constexpr auto kType = nvinfer1::LayerType::kGATHER;
  static constexpr int32_t kMaxInputs = 2;
  nvinfer1::GatherMode mode = nvinfer1::GatherMode::kDEFAULT;
  int64_t axis = 0, elementWiseDims = 0;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class GatherLayer : public LayerOf<nvinfer1::IGatherLayer, GatherParams> {
 public:
  using LayerOf::LayerOf;
  void setGatherAxis(int32_t axis) noexcept override { set(&Params::axis, axis); }
  int32_t getGatherAxis() const noexcept override { return static_cast<int32_t>(params_.axis); }
  void setNbElementWiseDims(int32_t dims) noexcept override { set(&Params::elementWiseDims, dims); }
  int32_t getNbElementWiseDims() const noexcept override {
    return static_cast<int32_t>(params_.elementWiseDims);
  }
  void setMode(nvinfer1::GatherMode mode) noexcept override { set(&Params::mode, mode); }
  nvinfer1::GatherMode getMode() const noexcept override { return params_.mode; }
};

struct ScatterParams {
  static constexpr auto kType = nvinfer1::LayerType::kSCATTER;
  static constexpr int32_t kMaxInputs = 3;
  nvinfer1::ScatterMode mode = nvinfer1::ScatterMode::kELEMENT;
  int64_t axis = 0;  // of kELEMENT
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
  static bool canRead(const Node& node);  // one that replaces, and does not add up
};

class ScatterLayer : public LayerOf<nvinfer1::IScatterLayer, ScatterParams> {
 public:
  using LayerOf::LayerOf;
  void setMode(nvinfer1::ScatterMode mode) noexcept override { set(&Params::mode, mode); }
  nvinfer1::ScatterMode getMode() const noexcept override { return params_.mode; }
  void setAxis(int32_t axis) noexcept override { set(&Params::axis, axis); }
  int32_t getAxis() const noexcept override { return static_cast<int32_t>(params_.axis); }
};

struct ReverseSequenceParams {
  static constexpr auto kType = nvinfer1::LayerType::kREVERSE_SEQUENCE;
  static constexpr int32_t kMaxInputs = 2;
  int64_t batchAxis = 1, sequenceAxis = 0;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class ReverseSequenceLayer
    : public LayerOf<nvinfer1::IReverseSequenceLayer, ReverseSequenceParams> {
 public:
  using LayerOf::LayerOf;
  void setBatchAxis(int32_t axis) noexcept override { set(&Params::batchAxis, axis); }
  int32_t getBatchAxis() const noexcept override { return static_cast<int32_t>(params_.batchAxis); }
  void setSequenceAxis(int32_t axis) noexcept override { set(&Params::sequenceAxis, axis); }
  int32_t getSequenceAxis() const noexcept override {
    return static_cast<int32_t>(params_.sequenceAxis);
  }
};

struct OneHotParams {
  static constexpr auto kType = nvinfer1::LayerType::kONE_HOT;
  static constexpr int32_t kMaxInputs = 3;
  int64_t axis = -1;
  std::vector<Value*> emit(Emission& at) const;
};

class OneHotLayer : public LayerOf<nvinfer1::IOneHotLayer, OneHotParams> {
 public:
  using LayerOf::LayerOf;
  void setAxis(int32_t axis) noexcept override { set(&Params::axis, axis); }
  int32_t getAxis() const noexcept override { return static_cast<int32_t>(params_.axis); }
};

}  // namespace camshaft::api
