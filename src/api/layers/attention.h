// Attention: an object of its own, with a layer that computes it and one that hands it out.
#pragma once

#include "api/layers/block.h"

namespace camshaft::api {

class Attention;

// Inputs: query, key, value, mask?, scale of quantised scores?, lengths of queries?, of keys?
struct AttentionInputParams {
  static constexpr auto kType = nvinfer1::LayerType::kATTENTION_INPUT;
  static constexpr int32_t kMaxInputs = 7;
  enum : int32_t { kMask = 3, kQuantizeScale = 4, kQueryLengths = 5, kKeyLengths = 6 };
  Attention* block;
  nvinfer1::AttentionNormalizationOp normalization;
  nvinfer1::CausalMaskKind causal;
  std::vector<Value*> emit(Emission& at) const;
};

struct AttentionOutputParams {
  static constexpr auto kType = nvinfer1::LayerType::kATTENTION_OUTPUT;
  static constexpr int32_t kMaxInputs = 1;
  Attention* block;
  std::vector<Value*> emit(Emission& at) const { return {at.input(0)}; }
};

template <class I, class P>
class AttentionBoundary : public LayerOf<I, P>, public nvinfer1::apiv::VAttentionBoundaryLayer {
 public:
  AttentionBoundary(Network& network, std::string name, P params)
      : LayerOf<I, P>(network, std::move(name), std::move(params)) {
    this->mBoundary = this;
  }
  nvinfer1::IAttention* getAttention() const noexcept override;
};

class AttentionInputLayer
    : public AttentionBoundary<nvinfer1::IAttentionInputLayer, AttentionInputParams> {
 public:
  using AttentionBoundary::AttentionBoundary;
  using AttentionBoundary::set;
  const Params& params() const { return params_; }
};
using AttentionOutputLayer =
    AttentionBoundary<nvinfer1::IAttentionOutputLayer, AttentionOutputParams>;

class Attention final : public Implements<nvinfer1::IAttention>, public Block {
 public:
  using Block::Block;
  // Whether its layers could be added.
  bool attach(nvinfer1::ITensor& query, nvinfer1::ITensor& key, nvinfer1::ITensor& value,
              nvinfer1::AttentionNormalizationOp normalization,
              nvinfer1::CausalMaskKind causal) noexcept;

  bool setInput(int32_t index, nvinfer1::ITensor& input) noexcept override;
  int32_t getNbInputs() const noexcept override { return 3; }
  nvinfer1::ITensor* getInput(int32_t index) const noexcept override {
    return index < 3 ? input_->input(index) : nullptr;
  }
  int32_t getNbOutputs() const noexcept override { return 1; }
  nvinfer1::ITensor* getOutput(int32_t index) const noexcept override {
    return output_->output(index);
  }
  bool setName(const char* name) noexcept override;
  const char* getName() const noexcept override { return name.c_str(); }
  bool setNormalizationOperation(nvinfer1::AttentionNormalizationOp op) noexcept override;
  nvinfer1::AttentionNormalizationOp getNormalizationOperation() const noexcept override {
    return input_->params().normalization;
  }
  bool setCausal(bool isCausal) noexcept override {
    return setCausalKind(isCausal ? nvinfer1::CausalMaskKind::kUPPER_LEFT
                                  : nvinfer1::CausalMaskKind::kNONE);
  }
  bool getCausal() const noexcept override {
    return getCausalKind() != nvinfer1::CausalMaskKind::kNONE;
  }
  bool setCausalKind(nvinfer1::CausalMaskKind kind) noexcept override;
  nvinfer1::CausalMaskKind getCausalKind() const noexcept override {
    return input_->params().causal;
  }
  bool setMask(nvinfer1::ITensor& mask) noexcept override {
    return setOptional(AttentionInputParams::kMask, &mask);
  }
  nvinfer1::ITensor* getMask() const noexcept override {
    return input_->input(AttentionInputParams::kMask);
  }
  // Every device computes it, in one kernel or in several.
  bool setDecomposable(bool decomposable) noexcept override {
    decomposable_ = decomposable;
    return true;
  }
  bool getDecomposable() const noexcept override { return decomposable_; }
  bool setMetadata(const char* text) noexcept override {
    input_->LayerCore::setMetadata(text);
    return true;
  }
  const char* getMetadata() const noexcept override { return input_->metadata.c_str(); }
  bool setNbRanks(int32_t count) noexcept override { return input_->setNbRanks(count); }
  int32_t getNbRanks() const noexcept override { return 1; }
  // Those of padded queries are all computed.
  bool setQueryLengths(nvinfer1::ITensor* lengths) noexcept override {
    return setOptional(AttentionInputParams::kQueryLengths, lengths);
  }
  nvinfer1::ITensor* getQueryLengths() const noexcept override {
    return input_->input(AttentionInputParams::kQueryLengths);
  }
  bool setKeyValueLengths(nvinfer1::ITensor* lengths) noexcept override {
    return setOptional(AttentionInputParams::kKeyLengths, lengths);
  }
  nvinfer1::ITensor* getKeyValueLengths() const noexcept override {
    return input_->input(AttentionInputParams::kKeyLengths);
  }

  // What attention cannot do yet.
  bool setNormalizationQuantizeScale(nvinfer1::ITensor& tensor) noexcept override;
  nvinfer1::ITensor* getNormalizationQuantizeScale() const noexcept override { return nullptr; }
  bool setNormalizationQuantizeToType(nvinfer1::DataType type) noexcept override;
  nvinfer1::DataType getNormalizationQuantizeToType() const noexcept override {
    return nvinfer1::DataType::kFLOAT;
  }
  bool setQueryForm(nvinfer1::AttentionIOForm form) noexcept override;
  nvinfer1::AttentionIOForm getQueryForm() const noexcept override {
    return nvinfer1::AttentionIOForm::kPADDED_BHND;
  }
  bool setKeyValueForm(nvinfer1::AttentionIOForm form) noexcept override;
  nvinfer1::AttentionIOForm getKeyValueForm() const noexcept override {
    return nvinfer1::AttentionIOForm::kPADDED_BHND;
  }

 private:
  bool setOptional(int32_t index, nvinfer1::ITensor* tensor) noexcept;

  AttentionInputLayer* input_ = nullptr;
  AttentionOutputLayer* output_ = nullptr;
  bool decomposable_ = false;
};

template <class I, class P>
nvinfer1::IAttention* AttentionBoundary<I, P>::getAttention() const noexcept {
  return this->params_.block;
}

}  // namespace camshaft::api
