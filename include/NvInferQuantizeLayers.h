#pragma once

// Layers that go to types of few bits and back.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

// round(x / scale), with the scale as input 1: one value, one per index of the axis, or one per
// block.
class CAMSHAFT_API IQuantizeLayer : public ILayer {
 public:
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  // Elements that share a scale, in each dimension.
  bool setBlockShape(const Dims& blockShape) noexcept { return mImpl->setBlockShape(blockShape); }
  Dims getBlockShape() const noexcept { return mImpl->getBlockShape(); }
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  ~IQuantizeLayer() noexcept override = default;

  apiv::VQuantizeLayer* mImpl{};
};

// x * scale, with the scale as input 1, as in IQuantizeLayer.
class CAMSHAFT_API IDequantizeLayer : public ILayer {
 public:
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  bool setBlockShape(const Dims& blockShape) noexcept { return mImpl->setBlockShape(blockShape); }
  Dims getBlockShape() const noexcept { return mImpl->getBlockShape(); }
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  ~IDequantizeLayer() noexcept override = default;

  apiv::VDequantizeLayer* mImpl{};
};

// Quantises with scales that it computes per block: output 0 the values, output 1 the scales. Input
// 1 is the scale of the scales.
class CAMSHAFT_API IDynamicQuantizeLayer : public ILayer {
 public:
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  DataType getToType() const noexcept { return mImpl->getToType(); }
  void setScaleType(DataType scaleType) noexcept { mImpl->setScaleType(scaleType); }
  DataType getScaleType() const noexcept { return mImpl->getScaleType(); }
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  void setBlockSize(int32_t size) noexcept { mImpl->setBlockSize(size); }
  int32_t getBlockSize() const noexcept { return mImpl->getBlockSize(); }
  void setBlockShape(const Dims& blockShape) noexcept { mImpl->setBlockShape(blockShape); }
  Dims getBlockShape() const noexcept { return mImpl->getBlockShape(); }

 protected:
  ~IDynamicQuantizeLayer() noexcept override = default;

  apiv::VDynamicQuantizeLayer* mImpl{};
};

}  // namespace nvinfer1
