// Loops: a part of a network that runs again and again.
#pragma once

#include "api/layers/block.h"

namespace camshaft::api {

class Loop;

// Input 1, the next value, is computed from the output: it is no operand of the node.
struct RecurrenceParams {
  static constexpr auto kType = nvinfer1::LayerType::kRECURRENCE;
  static constexpr int32_t kMaxInputs = 2;
  Loop* block;
  std::vector<Value*> emit(Emission& at) const;
};

struct TripLimitParams {
  static constexpr auto kType = nvinfer1::LayerType::kTRIP_LIMIT;
  static constexpr int32_t kMaxInputs = 1;
  Loop* block;
  nvinfer1::TripLimit kind;
  std::vector<Value*> emit(Emission& at) const;
};

struct IteratorParams {
  static constexpr auto kType = nvinfer1::LayerType::kITERATOR;
  static constexpr int32_t kMaxInputs = 1;
  Loop* block;
  int32_t axis = 0;
  bool reverse = false;
  std::vector<Value*> emit(Emission& at) const;
};

struct LoopOutputParams {
  static constexpr auto kType = nvinfer1::LayerType::kLOOP_OUTPUT;
  static constexpr int32_t kMaxInputs = 2;
  Loop* block;
  nvinfer1::LoopOutput kind;
  int32_t axis = 0;
  std::vector<Value*> emit(Emission& at) const;
};

template <class I, class P>
class LoopBoundary : public LayerOf<I, P>, public nvinfer1::apiv::VLoopBoundaryLayer {
 public:
  LoopBoundary(Network& network, std::string name, P params)
      : LayerOf<I, P>(network, std::move(name), std::move(params)) {
    this->mBoundary = this;
  }
  nvinfer1::ILoop* getLoop() const noexcept override;
};

class RecurrenceLayer : public LoopBoundary<nvinfer1::IRecurrenceLayer, RecurrenceParams> {
 public:
  using LoopBoundary::LoopBoundary;
  bool leadsBack(int32_t input) const override { return input == 1; }
};

class TripLimitLayer : public LoopBoundary<nvinfer1::ITripLimitLayer, TripLimitParams> {
 public:
  using LoopBoundary::LoopBoundary;
  nvinfer1::TripLimit getTripLimit() const noexcept override { return params_.kind; }
};

class IteratorLayer : public LoopBoundary<nvinfer1::IIteratorLayer, IteratorParams> {
 public:
  using LoopBoundary::LoopBoundary;
  void setAxis(int32_t axis) noexcept override { set(&Params::axis, axis); }
  int32_t getAxis() const noexcept override { return params_.axis; }
  void setReverse(bool reverse) noexcept override { set(&Params::reverse, reverse); }
  bool getReverse() const noexcept override { return params_.reverse; }
};

class LoopOutputLayer : public LoopBoundary<nvinfer1::ILoopOutputLayer, LoopOutputParams> {
 public:
  using LoopBoundary::LoopBoundary;
  nvinfer1::LoopOutput getLoopOutput() const noexcept override { return params_.kind; }
  void setAxis(int32_t axis) noexcept override { set(&Params::axis, axis); }
  int32_t getAxis() const noexcept override { return params_.axis; }
};

class Loop final : public Implements<nvinfer1::ILoop>, public Block {
 public:
  using Block::Block;

  nvinfer1::IRecurrenceLayer* addRecurrence(nvinfer1::ITensor& initialValue) noexcept override;
  nvinfer1::ITripLimitLayer* addTripLimit(nvinfer1::ITensor& tensor,
                                          nvinfer1::TripLimit kind) noexcept override;
  nvinfer1::IIteratorLayer* addIterator(nvinfer1::ITensor& tensor, int32_t axis,
                                        bool reverse) noexcept override;
  nvinfer1::ILoopOutputLayer* addLoopOutput(nvinfer1::ITensor& tensor, nvinfer1::LoopOutput kind,
                                            int32_t axis) noexcept override;
  void setName(const char* name) noexcept override { Block::setName(name); }
  const char* getName() const noexcept override { return name.c_str(); }

 private:
  std::vector<const TripLimitLayer*> limits_;
};

template <class I, class P>
nvinfer1::ILoop* LoopBoundary<I, P>::getLoop() const noexcept {
  return this->params_.block;
}

}  // namespace camshaft::api
