#pragma once

// Layers that work along axes, and products: softmax, normalisation, reductions, matrices.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

// The mask has one bit. A new layer uses dimension max(0, rank - 3).
class CAMSHAFT_API ISoftMaxLayer : public ILayer {
 public:
  void setAxes(uint32_t axes) noexcept { mImpl->setAxes(axes); }
  uint32_t getAxes() const noexcept { return mImpl->getAxes(); }

 protected:
  ~ISoftMaxLayer() noexcept override = default;

  apiv::VSoftMaxLayer* mImpl{};
};

// Softmax over the first bounds[i] elements of row i; the rest of the row is 0.
class CAMSHAFT_API IRaggedSoftMaxLayer : public ILayer {
 protected:
  ~IRaggedSoftMaxLayer() noexcept override = default;

  apiv::VRaggedSoftMaxLayer* mImpl{};
};

class CAMSHAFT_API INormalizationLayer : public ILayer {
 public:
  void setEpsilon(float eps) noexcept { mImpl->setEpsilon(eps); }
  float getEpsilon() const noexcept { return mImpl->getEpsilon(); }
  void setAxes(uint32_t axesMask) noexcept { mImpl->setAxes(axesMask); }
  uint32_t getAxes() const noexcept { return mImpl->getAxes(); }
  // More than 1 makes it a group normalisation over the channels.
  void setNbGroups(int64_t nbGroups) noexcept { mImpl->setNbGroups(nbGroups); }
  int64_t getNbGroups() const noexcept { return mImpl->getNbGroups(); }
  // Sums are kept in kFLOAT, the only precision taken.
  void setComputePrecision(DataType type) noexcept { mImpl->setComputePrecision(type); }
  DataType getComputePrecision() const noexcept { return mImpl->getComputePrecision(); }
  // Whether addNormalizationV2 made it: a group normalisation's scale and bias then hold one value
  // per channel, otherwise one per group.
  bool isV2() const noexcept { return mImpl->isV2(); }

 protected:
  ~INormalizationLayer() noexcept override = default;

  apiv::VNormalizationLayer* mImpl{};
};

enum class ReduceOperation : int32_t {
  kSUM = 0,
  kPROD = 1,
  kMAX = 2,
  kMIN = 3,
  kAVG = 4,
  kNONE = 5,  // for collectives; a reduce layer refuses it
};
template <>
constexpr int32_t EnumMax<ReduceOperation>() noexcept {
  return 6;
}

class CAMSHAFT_API IReduceLayer : public ILayer {
 public:
  void setOperation(ReduceOperation op) noexcept { mImpl->setOperation(op); }
  ReduceOperation getOperation() const noexcept { return mImpl->getOperation(); }
  void setReduceAxes(uint32_t reduceAxes) noexcept { mImpl->setReduceAxes(reduceAxes); }
  uint32_t getReduceAxes() const noexcept { return mImpl->getReduceAxes(); }
  void setKeepDimensions(bool keepDimensions) noexcept { mImpl->setKeepDimensions(keepDimensions); }
  bool getKeepDimensions() const noexcept { return mImpl->getKeepDimensions(); }

 protected:
  ~IReduceLayer() noexcept override = default;

  apiv::VReduceLayer* mImpl{};
};

enum class TopKOperation : int32_t {
  kMAX = 0,
  kMIN = 1,
};
template <>
constexpr int32_t EnumMax<TopKOperation>() noexcept {
  return 2;
}

// Output 0 holds the values, best first, output 1 their indices. The mask has one bit. An optional
// input 1 gives k at run time.
class CAMSHAFT_API ITopKLayer : public ILayer {
 public:
  void setOperation(TopKOperation op) noexcept { mImpl->setOperation(op); }
  TopKOperation getOperation() const noexcept { return mImpl->getOperation(); }
  void setK(int32_t k) noexcept { mImpl->setK(k); }
  int32_t getK() const noexcept { return mImpl->getK(); }
  void setReduceAxes(uint32_t reduceAxes) noexcept { mImpl->setReduceAxes(reduceAxes); }
  uint32_t getReduceAxes() const noexcept { return mImpl->getReduceAxes(); }
  // kINT32 or kINT64; false for anything else.
  bool setIndicesType(DataType type) noexcept { return mImpl->setIndicesType(type); }
  DataType getIndicesType() const noexcept { return mImpl->getIndicesType(); }

 protected:
  ~ITopKLayer() noexcept override = default;

  apiv::VTopKLayer* mImpl{};
};

enum class CumulativeOperation : int32_t {
  kSUM = 0,
};
template <>
constexpr int32_t EnumMax<CumulativeOperation>() noexcept {
  return 1;
}

// Input 1 is the axis, a constant scalar.
class CAMSHAFT_API ICumulativeLayer : public ILayer {
 public:
  bool setOperation(CumulativeOperation op) noexcept { return mImpl->setOperation(op); }
  CumulativeOperation getOperation() const noexcept { return mImpl->getOperation(); }
  void setExclusive(bool exclusive) noexcept { mImpl->setExclusive(exclusive); }
  bool getExclusive() const noexcept { return mImpl->getExclusive(); }
  void setReverse(bool reverse) noexcept { mImpl->setReverse(reverse); }
  bool getReverse() const noexcept { return mImpl->getReverse(); }

 protected:
  ~ICumulativeLayer() noexcept override = default;

  apiv::VCumulativeLayer* mImpl{};
};

// How an operand is read: as it is, with its last two dimensions swapped, or as a batch of vectors
// (last dimension the vector).
enum class MatrixOperation : int32_t {
  kNONE = 0,
  kTRANSPOSE = 1,
  kVECTOR = 2,
};
template <>
constexpr int32_t EnumMax<MatrixOperation>() noexcept {
  return 3;
}

// index is 0 for the left operand and 1 for the right. Batch dimensions are broadcast.
class CAMSHAFT_API IMatrixMultiplyLayer : public ILayer {
 public:
  void setOperation(int32_t index, MatrixOperation op) noexcept { mImpl->setOperation(index, op); }
  MatrixOperation getOperation(int32_t index) const noexcept { return mImpl->getOperation(index); }

 protected:
  ~IMatrixMultiplyLayer() noexcept override = default;

  apiv::VMatrixMultiplyLayer* mImpl{};
};

class CAMSHAFT_API IEinsumLayer : public ILayer {
 public:
  // False when the equation does not parse or does not fit the inputs.
  bool setEquation(const char* equation) noexcept { return mImpl->setEquation(equation); }
  const char* getEquation() const noexcept { return mImpl->getEquation(); }

 protected:
  ~IEinsumLayer() noexcept override = default;

  apiv::VEinsumLayer* mImpl{};
};

}  // namespace nvinfer1
