#pragma once

// Layers that make, move or reshape data.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

class CAMSHAFT_API IConstantLayer : public ILayer {
 public:
  void setWeights(Weights weights) noexcept { mImpl->setWeights(weights); }
  Weights getWeights() const noexcept { return mImpl->getWeights(); }
  void setDimensions(const Dims& dimensions) noexcept { mImpl->setDimensions(dimensions); }
  Dims getDimensions() const noexcept { return mImpl->getDimensions(); }

 protected:
  ~IConstantLayer() noexcept override = default;

  apiv::VConstantLayer* mImpl{};
};

// The dimensions of its input, as an int64 vector.
class CAMSHAFT_API IShapeLayer : public ILayer {
 protected:
  ~IShapeLayer() noexcept override = default;

  apiv::VShapeLayer* mImpl{};
};

// How the elements are made from alpha and beta.
enum class FillOperation : int32_t {
  kLINSPACE = 0,        // alpha + i * beta
  kRANDOM_UNIFORM = 1,  // between alpha and beta
  kRANDOM_NORMAL = 2,   // of mean alpha and deviation beta
};
template <>
constexpr int32_t EnumMax<FillOperation>() noexcept {
  return 3;
}

// Optional inputs 0 to 2 give dimensions, alpha and beta as tensors.
class CAMSHAFT_API IFillLayer : public ILayer {
 public:
  void setDimensions(const Dims& dimensions) noexcept { mImpl->setDimensions(dimensions); }
  Dims getDimensions() const noexcept { return mImpl->getDimensions(); }
  void setOperation(FillOperation op) noexcept { mImpl->setOperation(op); }
  FillOperation getOperation() const noexcept { return mImpl->getOperation(); }
  void setAlpha(double alpha) noexcept { mImpl->setAlpha(alpha); }
  double getAlpha() const noexcept { return mImpl->getAlpha(); }
  void setBeta(double beta) noexcept { mImpl->setBeta(beta); }
  double getBeta() const noexcept { return mImpl->getBeta(); }
  void setAlphaInt64(int64_t alpha) noexcept { mImpl->setAlphaInt64(alpha); }
  int64_t getAlphaInt64() const noexcept { return mImpl->getAlphaInt64(); }
  void setBetaInt64(int64_t beta) noexcept { mImpl->setBetaInt64(beta); }
  int64_t getBetaInt64() const noexcept { return mImpl->getBetaInt64(); }
  bool isAlphaBetaInt64() const noexcept { return mImpl->isAlphaBetaInt64(); }
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  ~IFillLayer() noexcept override = default;

  apiv::VFillLayer* mImpl{};
};

class CAMSHAFT_API IConcatenationLayer : public ILayer {
 public:
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  ~IConcatenationLayer() noexcept override = default;

  apiv::VConcatenationLayer* mImpl{};
};

// Dimension i of the result is dimension order[i] of the source.
struct Permutation {
  int32_t order[Dims::MAX_DIMS];
};

// Transpose, then reshape, then transpose. Each part defaults to doing nothing. In the reshape, 0
// copies the input's dimension (unless zeroIsPlaceholder is off) and one -1 is worked out. An
// optional input 1 gives the reshape's dimensions at run time; getReshapeDimensions() then has
// nbDims == -1.
class CAMSHAFT_API IShuffleLayer : public ILayer {
 public:
  void setFirstTranspose(Permutation permutation) noexcept {
    mImpl->setFirstTranspose(permutation);
  }
  Permutation getFirstTranspose() const noexcept { return mImpl->getFirstTranspose(); }
  void setReshapeDimensions(const Dims& dimensions) noexcept {
    mImpl->setReshapeDimensions(dimensions);
  }
  Dims getReshapeDimensions() const noexcept { return mImpl->getReshapeDimensions(); }
  void setSecondTranspose(Permutation permutation) noexcept {
    mImpl->setSecondTranspose(permutation);
  }
  Permutation getSecondTranspose() const noexcept { return mImpl->getSecondTranspose(); }
  void setZeroIsPlaceholder(bool zeroIsPlaceholder) noexcept {
    mImpl->setZeroIsPlaceholder(zeroIsPlaceholder);
  }
  bool getZeroIsPlaceholder() const noexcept { return mImpl->getZeroIsPlaceholder(); }

 protected:
  ~IShuffleLayer() noexcept override = default;

  apiv::VShuffleLayer* mImpl{};
};

// Input 1 holds the axes, a constant vector (or scalar).
class CAMSHAFT_API ISqueezeLayer : public ILayer {
 protected:
  ~ISqueezeLayer() noexcept override = default;

  apiv::VSqueezeLayer* mImpl{};
};

class CAMSHAFT_API IUnsqueezeLayer : public ILayer {
 protected:
  ~IUnsqueezeLayer() noexcept override = default;

  apiv::VUnsqueezeLayer* mImpl{};
};

// What an index outside the data reads.
enum class SampleMode : int32_t {
  kSTRICT_BOUNDS = 0,  // nothing: it is an error
  kWRAP = 1,
  kCLAMP = 2,
  kFILL = 3,
  kREFLECT = 4,
};
template <>
constexpr int32_t EnumMax<SampleMode>() noexcept {
  return 5;
}

// Optional inputs 1 to 5 give start, size, stride, fill value and axes as tensors; a getter whose
// value comes from an input has nbDims == -1. Without axes, start, size and stride cover all
// dimensions.
class CAMSHAFT_API ISliceLayer : public ILayer {
 public:
  void setStart(const Dims& start) noexcept { mImpl->setStart(start); }
  Dims getStart() const noexcept { return mImpl->getStart(); }
  void setSize(const Dims& size) noexcept { mImpl->setSize(size); }
  Dims getSize() const noexcept { return mImpl->getSize(); }
  void setStride(const Dims& stride) noexcept { mImpl->setStride(stride); }
  Dims getStride() const noexcept { return mImpl->getStride(); }
  void setMode(SampleMode mode) noexcept { mImpl->setMode(mode); }
  SampleMode getMode() const noexcept { return mImpl->getMode(); }
  void setAxes(const Dims& axes) noexcept { mImpl->setAxes(axes); }
  Dims getAxes() const noexcept { return mImpl->getAxes(); }

 protected:
  ~ISliceLayer() noexcept override = default;

  apiv::VSliceLayer* mImpl{};
};

enum class GatherMode : int32_t {
  kDEFAULT = 0,  // ONNX Gather
  kELEMENT = 1,  // ONNX GatherElements
  kND = 2,       // ONNX GatherND
};
template <>
constexpr int32_t EnumMax<GatherMode>() noexcept {
  return 3;
}

// Input 0 is the data, input 1 the indices.
class CAMSHAFT_API IGatherLayer : public ILayer {
 public:
  void setGatherAxis(int32_t axis) noexcept { mImpl->setGatherAxis(axis); }
  int32_t getGatherAxis() const noexcept { return mImpl->getGatherAxis(); }
  // Leading dimensions that data and indices share (the batch dimensions of kND).
  void setNbElementWiseDims(int32_t elementWiseDims) noexcept {
    mImpl->setNbElementWiseDims(elementWiseDims);
  }
  int32_t getNbElementWiseDims() const noexcept { return mImpl->getNbElementWiseDims(); }
  void setMode(GatherMode mode) noexcept { mImpl->setMode(mode); }
  GatherMode getMode() const noexcept { return mImpl->getMode(); }

 protected:
  ~IGatherLayer() noexcept override = default;

  apiv::VGatherLayer* mImpl{};
};

enum class ScatterMode : int32_t {
  kELEMENT = 0,  // ONNX ScatterElements
  kND = 1,       // ONNX ScatterND
};
template <>
constexpr int32_t EnumMax<ScatterMode>() noexcept {
  return 2;
}

// Inputs: data, indices, updates.
class CAMSHAFT_API IScatterLayer : public ILayer {
 public:
  void setMode(ScatterMode mode) noexcept { mImpl->setMode(mode); }
  ScatterMode getMode() const noexcept { return mImpl->getMode(); }
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  ~IScatterLayer() noexcept override = default;

  apiv::VScatterLayer* mImpl{};
};

// Inputs: indices, [off value, on value], depth. The axis is that of the new dimension; -1 is last.
class CAMSHAFT_API IOneHotLayer : public ILayer {
 public:
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  ~IOneHotLayer() noexcept override = default;

  apiv::VOneHotLayer* mImpl{};
};

// The indices of elements that are not zero, one column each.
class CAMSHAFT_API INonZeroLayer : public ILayer {
 public:
  // kINT32 or kINT64; false for anything else.
  bool setIndicesType(DataType type) noexcept { return mImpl->setIndicesType(type); }
  DataType getIndicesType() const noexcept { return mImpl->getIndicesType(); }

 protected:
  ~INonZeroLayer() noexcept override = default;

  apiv::VNonZeroLayer* mImpl{};
};

// Reverses the first lengths[i] elements of batch entry i; input 1 holds the lengths.
class CAMSHAFT_API IReverseSequenceLayer : public ILayer {
 public:
  void setBatchAxis(int32_t batchAxis) noexcept { mImpl->setBatchAxis(batchAxis); }
  int32_t getBatchAxis() const noexcept { return mImpl->getBatchAxis(); }
  void setSequenceAxis(int32_t sequenceAxis) noexcept { mImpl->setSequenceAxis(sequenceAxis); }
  int32_t getSequenceAxis() const noexcept { return mImpl->getSequenceAxis(); }

 protected:
  ~IReverseSequenceLayer() noexcept override = default;

  apiv::VReverseSequenceLayer* mImpl{};
};

// Fails a build or run, with the message, where its input is false.
class CAMSHAFT_API IAssertionLayer : public ILayer {
 public:
  void setMessage(const char* message) noexcept { mImpl->setMessage(message); }
  const char* getMessage() const noexcept { return mImpl->getMessage(); }

 protected:
  ~IAssertionLayer() noexcept override = default;

  apiv::VAssertionLayer* mImpl{};
};

}  // namespace nvinfer1
