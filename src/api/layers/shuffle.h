// Layers that reorder or reshape: shuffle, squeeze, unsqueeze.
#pragma once

#include <optional>

#include "api/layers/layer.h"

namespace camshaft::api {

// Transpose, reshape, transpose; each left out when it was not set.
struct ShuffleParams {
  static constexpr auto kType = nvinfer1::LayerType::kSHUFFLE;
  static constexpr int32_t kMaxInputs = 2;
  std::optional<nvinfer1::Permutation> first, second;
  std::optional<Shape> reshape;  // as given: 0 copies, -1 is worked out
  bool zeroIsPlaceholder = true;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class ShuffleLayer : public LayerOf<nvinfer1::IShuffleLayer, ShuffleParams> {
 public:
  using LayerOf::LayerOf;
  void setFirstTranspose(const nvinfer1::Permutation& order) noexcept override {
    set(&Params::first, order);
  }
  const nvinfer1::Permutation& getFirstTranspose() const noexcept override;
  void setReshapeDimensions(const nvinfer1::Dims& dims) noexcept override;
  nvinfer1::Dims getReshapeDimensions() const noexcept override;
  void setSecondTranspose(const nvinfer1::Permutation& order) noexcept override {
    set(&Params::second, order);
  }
  const nvinfer1::Permutation& getSecondTranspose() const noexcept override;
  void setZeroIsPlaceholder(bool isPlaceholder) noexcept override {
    set(&Params::zeroIsPlaceholder, isPlaceholder);
  }
  bool getZeroIsPlaceholder() const noexcept override { return params_.zeroIsPlaceholder; }
};

struct SqueezeParams {
  static constexpr auto kType = nvinfer1::LayerType::kSQUEEZE;
  static constexpr int32_t kMaxInputs = 2;
  std::vector<Value*> emit(Emission& at) const;
};
using SqueezeLayer = LayerOf<nvinfer1::ISqueezeLayer, SqueezeParams>;

struct UnsqueezeParams {
  static constexpr auto kType = nvinfer1::LayerType::kUNSQUEEZE;
  static constexpr int32_t kMaxInputs = 2;
  std::vector<Value*> emit(Emission& at) const;
};
using UnsqueezeLayer = LayerOf<nvinfer1::IUnsqueezeLayer, UnsqueezeParams>;

}  // namespace camshaft::api
