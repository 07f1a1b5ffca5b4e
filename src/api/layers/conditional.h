// Conditionals: branches of a network of which one runs.
#pragma once

#include "api/layers/block.h"

namespace camshaft::api {

class Conditional;

struct ConditionParams {
  static constexpr auto kType = nvinfer1::LayerType::kCONDITION;
  static constexpr int32_t kMaxInputs = 1;
  Conditional* block;
  std::vector<Value*> emit(Emission& at) const;
};

struct ConditionalInputParams {
  static constexpr auto kType = nvinfer1::LayerType::kCONDITIONAL_INPUT;
  static constexpr int32_t kMaxInputs = 1;
  Conditional* block;
  std::vector<Value*> emit(Emission& at) const;
};

// The sizes that differ between the branches are symbols named after `symbols`.
struct ConditionalOutputParams {
  static constexpr auto kType = nvinfer1::LayerType::kCONDITIONAL_OUTPUT;
  static constexpr int32_t kMaxInputs = 2;
  Conditional* block;
  std::string symbols;
  std::vector<Value*> emit(Emission& at) const;
};

template <class I, class P>
class ConditionalBoundary : public LayerOf<I, P>, public nvinfer1::apiv::VConditionalBoundaryLayer {
 public:
  ConditionalBoundary(Network& network, std::string name, P params)
      : LayerOf<I, P>(network, std::move(name), std::move(params)) {
    this->mBoundary = this;
  }
  nvinfer1::IIfConditional* getConditional() const noexcept override;
};

using ConditionLayer = ConditionalBoundary<nvinfer1::IConditionLayer, ConditionParams>;
using ConditionalInputLayer =
    ConditionalBoundary<nvinfer1::IIfConditionalInputLayer, ConditionalInputParams>;
using ConditionalOutputLayer =
    ConditionalBoundary<nvinfer1::IIfConditionalOutputLayer, ConditionalOutputParams>;

class Conditional final : public Implements<nvinfer1::IIfConditional>, public Block {
 public:
  using Block::Block;

  nvinfer1::IConditionLayer* setCondition(nvinfer1::ITensor& condition) noexcept override;
  nvinfer1::IIfConditionalInputLayer* addInput(nvinfer1::ITensor& input) noexcept override;
  nvinfer1::IIfConditionalOutputLayer* addOutput(nvinfer1::ITensor& whenTrue,
                                                 nvinfer1::ITensor& whenFalse) noexcept override;
  void setName(const char* name) noexcept override { Block::setName(name); }
  const char* getName() const noexcept override { return name.c_str(); }

 private:
  ConditionLayer* condition_ = nullptr;
  int outputs_ = 0;  // made so far
};

template <class I, class P>
nvinfer1::IIfConditional* ConditionalBoundary<I, P>::getConditional() const noexcept {
  return this->params_.block;
}

}  // namespace camshaft::api
