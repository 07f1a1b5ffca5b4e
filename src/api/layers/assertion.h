// Assertion: a condition without which nothing is built or run.
#pragma once

#include "api/layers/layer.h"

namespace camshaft::api {

struct AssertionParams {
  static constexpr auto kType = nvinfer1::LayerType::kASSERTION;
  static constexpr int32_t kMaxInputs = 1;
  std::string message;
  std::vector<Value*> emit(Emission& at) const;
};

class AssertionLayer : public LayerOf<nvinfer1::IAssertionLayer, AssertionParams> {
 public:
  using LayerOf::LayerOf;
  void setName(const char* text) noexcept override;
  void setMessage(const char* message) noexcept override;
  const char* getMessage() const noexcept override { return params_.message.c_str(); }
};

}  // namespace camshaft::api
