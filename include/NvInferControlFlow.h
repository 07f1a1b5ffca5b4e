#pragma once

// Loops and conditionals: layers between others that mark where a body begins and ends.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

// What leaves a loop: the last value, or the values of all iterations, in order or reversed.
enum class LoopOutput : int32_t {
  kLAST_VALUE = 0,
  kCONCATENATE = 1,
  kREVERSE = 2,
};
template <>
constexpr int32_t EnumMax<LoopOutput>() noexcept {
  return 3;
}

enum class TripLimit : int32_t {
  kCOUNT = 0,  // that many iterations
  kWHILE = 1,  // while the value is true
};
template <>
constexpr int32_t EnumMax<TripLimit>() noexcept {
  return 2;
}

class CAMSHAFT_API ILoopBoundaryLayer : public ILayer {
 public:
  ILoop* getLoop() const noexcept { return mBoundary->getLoop(); }

 protected:
  ~ILoopBoundaryLayer() noexcept override = default;

  apiv::VLoopBoundaryLayer* mBoundary{};
};

// A value carried from iteration to iteration: input 0 the first, input 1 the next.
class CAMSHAFT_API IRecurrenceLayer : public ILoopBoundaryLayer {
 protected:
  ~IRecurrenceLayer() noexcept override = default;

  apiv::VRecurrenceLayer* mImpl{};
};

// Input 1, for kCONCATENATE and kREVERSE, is the length; where there are fewer iterations, zeros
// follow. kLAST_VALUE takes the output of a recurrence, and gives what the last iteration made it.
class CAMSHAFT_API ILoopOutputLayer : public ILoopBoundaryLayer {
 public:
  LoopOutput getLoopOutput() const noexcept { return mImpl->getLoopOutput(); }
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  ~ILoopOutputLayer() noexcept override = default;

  apiv::VLoopOutputLayer* mImpl{};
};

class CAMSHAFT_API ITripLimitLayer : public ILoopBoundaryLayer {
 public:
  TripLimit getTripLimit() const noexcept { return mImpl->getTripLimit(); }

 protected:
  ~ITripLimitLayer() noexcept override = default;

  apiv::VTripLimitLayer* mImpl{};
};

// Slice i of its input in iteration i.
class CAMSHAFT_API IIteratorLayer : public ILoopBoundaryLayer {
 public:
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  void setReverse(bool reverse) noexcept { mImpl->setReverse(reverse); }
  bool getReverse() const noexcept { return mImpl->getReverse(); }

 protected:
  ~IIteratorLayer() noexcept override = default;

  apiv::VIteratorLayer* mImpl{};
};

// Made by INetworkDefinition::addLoop. What is computed from its recurrences and iterators is its
// body.
class CAMSHAFT_API ILoop : public INoCopy {
 public:
  IRecurrenceLayer* addRecurrence(ITensor& initialValue) noexcept {
    return mImpl->addRecurrence(initialValue);
  }
  ITripLimitLayer* addTripLimit(ITensor& tensor, TripLimit limit) noexcept {
    return mImpl->addTripLimit(tensor, limit);
  }
  IIteratorLayer* addIterator(ITensor& tensor, int32_t axis = 0, bool reverse = false) noexcept {
    return mImpl->addIterator(tensor, axis, reverse);
  }
  ILoopOutputLayer* addLoopOutput(ITensor& tensor, LoopOutput outputKind,
                                  int32_t axis = 0) noexcept {
    return mImpl->addLoopOutput(tensor, outputKind, axis);
  }
  void setName(const char* name) noexcept { mImpl->setName(name); }
  const char* getName() const noexcept { return mImpl->getName(); }

 protected:
  ~ILoop() noexcept override = default;

  apiv::VLoop* mImpl{};
};

class CAMSHAFT_API IIfConditionalBoundaryLayer : public ILayer {
 public:
  IIfConditional* getConditional() const noexcept { return mBoundary->getConditional(); }

 protected:
  ~IIfConditionalBoundaryLayer() noexcept override = default;

  apiv::VConditionalBoundaryLayer* mBoundary{};
};

class CAMSHAFT_API IConditionLayer : public IIfConditionalBoundaryLayer {
 protected:
  ~IConditionLayer() noexcept override = default;

  apiv::VConditionLayer* mImpl{};
};

class CAMSHAFT_API IIfConditionalOutputLayer : public IIfConditionalBoundaryLayer {
 protected:
  ~IIfConditionalOutputLayer() noexcept override = default;

  apiv::VConditionalOutputLayer* mImpl{};
};

class CAMSHAFT_API IIfConditionalInputLayer : public IIfConditionalBoundaryLayer {
 protected:
  ~IIfConditionalInputLayer() noexcept override = default;

  apiv::VConditionalInputLayer* mImpl{};
};

// Made by INetworkDefinition::addIfConditional. What is computed from its inputs for one side of an
// output is computed only when that side is taken.
class CAMSHAFT_API IIfConditional : public INoCopy {
 public:
  IConditionLayer* setCondition(ITensor& condition) noexcept {
    return mImpl->setCondition(condition);
  }
  IIfConditionalOutputLayer* addOutput(ITensor& trueSubgraphOutput,
                                       ITensor& falseSubgraphOutput) noexcept {
    return mImpl->addOutput(trueSubgraphOutput, falseSubgraphOutput);
  }
  IIfConditionalInputLayer* addInput(ITensor& input) noexcept { return mImpl->addInput(input); }
  void setName(const char* name) noexcept { mImpl->setName(name); }
  const char* getName() const noexcept { return mImpl->getName(); }

 protected:
  ~IIfConditional() noexcept override = default;

  apiv::VIfConditional* mImpl{};
};

}  // namespace nvinfer1
