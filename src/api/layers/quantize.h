// Layers that go to types of few bits and back.
#pragma once

#include "api/convert.h"
#include "api/layers/layer.h"

namespace camshaft::api {

// What both share. Input 1 is the scale: one number, one per index of the axis, or of x's rank with
// one number per block. Input 2 is a zero point of the scale's shape; without it, it is 0.
struct LinearParams {
  static constexpr int32_t kMaxInputs = 3;
  nvinfer1::DataType type = nvinfer1::DataType::kFLOAT;
  int64_t axis = -1;                // -1: one scale
  std::vector<int64_t> blockShape;  // empty: what the scale's shape says
  void read(const Node& node);

 protected:
  // x, scale and a zero point that matters, as they broadcast.
  std::vector<Value*> operands(Emission& at) const;

 private:
  Value* spread(Emission& at, size_t input) const;
  Value* spreadBlocks(Emission& at, size_t input) const;
};

struct QuantizeParams : LinearParams {
  static constexpr auto kType = nvinfer1::LayerType::kQUANTIZE;
  std::vector<Value*> emit(Emission& at) const;
};

struct DequantizeParams : LinearParams {
  static constexpr auto kType = nvinfer1::LayerType::kDEQUANTIZE;
  std::vector<Value*> emit(Emission& at) const;
};

template <class I, class P>
class LinearLayer : public LayerOf<I, P> {
 public:
  using LayerOf<I, P>::LayerOf;
  void setAxis(int32_t axis) noexcept override { this->set(&P::axis, axis); }
  int32_t getAxis() const noexcept override { return static_cast<int32_t>(this->params_.axis); }
  bool setBlockShape(const nvinfer1::Dims& shape) noexcept override {
    return this->change([&](P& params) { params.blockShape = fromPublic(shape); });
  }
  nvinfer1::Dims getBlockShape() const noexcept override {
    return toPublic(this->params_.blockShape);
  }
  void setToType(nvinfer1::DataType type) noexcept override { this->set(&P::type, type); }
  nvinfer1::DataType getToType() const noexcept override { return this->params_.type; }
};
using QuantizeLayer = LinearLayer<nvinfer1::IQuantizeLayer, QuantizeParams>;
using DequantizeLayer = LinearLayer<nvinfer1::IDequantizeLayer, DequantizeParams>;

// Scales of blocks that follow from the data: the largest absolute value of a block becomes the
// largest number of the type. Input 1, where it is there, is the scale of the scales. Outputs: the
// values, the scales.
struct DynamicQuantizeParams {
  static constexpr auto kType = nvinfer1::LayerType::kDYNAMIC_QUANTIZE;
  static constexpr int32_t kMaxInputs = 2;
  nvinfer1::DataType type = nvinfer1::DataType::kFP4, scaleType = nvinfer1::DataType::kFP8;
  int64_t axis = -1, blockSize = 16;
  std::vector<int64_t> blockShape;  // empty: blockSize along the axis
  std::vector<Value*> emit(Emission& at) const;

 private:
  std::vector<int64_t> blocksOf(const Emission& at) const;
};

class DynamicQuantizeLayer
    : public LayerOf<nvinfer1::IDynamicQuantizeLayer, DynamicQuantizeParams> {
 public:
  using LayerOf::LayerOf;
  void setToType(nvinfer1::DataType type) noexcept override { set(&Params::type, type); }
  nvinfer1::DataType getToType() const noexcept override { return params_.type; }
  void setScaleType(nvinfer1::DataType type) noexcept override { set(&Params::scaleType, type); }
  nvinfer1::DataType getScaleType() const noexcept override { return params_.scaleType; }
  void setAxis(int32_t axis) noexcept override { set(&Params::axis, axis); }
  int32_t getAxis() const noexcept override { return static_cast<int32_t>(params_.axis); }
  void setBlockSize(int32_t size) noexcept override { set(&Params::blockSize, size); }
  int32_t getBlockSize() const noexcept override { return static_cast<int32_t>(params_.blockSize); }
  void setBlockShape(const nvinfer1::Dims& shape) noexcept override {
    change([&](Params& params) { params.blockShape = fromPublic(shape); });
  }
  nvinfer1::Dims getBlockShape() const noexcept override { return toPublic(params_.blockShape); }
};

// A Pointwise node that quantises or dequantises as such a layer; null for any other.
std::unique_ptr<LayerCore> quantizeLayerFor(Network& network, const Node& node);

}  // namespace camshaft::api
