// Fill: elements from their positions, or drawn at random.
#pragma once

#include "api/layers/layer.h"

namespace camshaft::api {

// Inputs 0 to 2 (dimensions, alpha, beta) take precedence over the fields. A line is
// alpha + beta[0] * i + beta[1] * j + ... at position [i, j, ...].
struct FillParams {
  static constexpr auto kType = nvinfer1::LayerType::kFILL;
  static constexpr int32_t kMaxInputs = 3;
  std::vector<Dim> dims;
  nvinfer1::FillOperation operation = nvinfer1::FillOperation::kLINSPACE;
  nvinfer1::DataType type = nvinfer1::DataType::kFLOAT;
  struct Number {
    double real;
    int64_t integer;  // the same, rounded where it was given as a real number
  };
  Number alpha{0, 0}, beta{1, 1};
  bool isInt64 = false;  // which of the two counts
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);

 private:
  Value* number(Emission& at, size_t input, DataType own) const;  // alpha or beta
  Value* line(Emission& at, const Shape& shape, DataType own) const;
  Value* random(Emission& at, const Shape& shape, DataType own) const;
};

class FillLayer : public LayerOf<nvinfer1::IFillLayer, FillParams> {
 public:
  using LayerOf::LayerOf;
  void setDimensions(const nvinfer1::Dims& dims) noexcept override;
  nvinfer1::Dims getDimensions() const noexcept override;
  void setOperation(nvinfer1::FillOperation operation) noexcept override {
    set(&Params::operation, operation);
  }
  nvinfer1::FillOperation getOperation() const noexcept override { return params_.operation; }
  void setAlpha(double alpha) noexcept override { setReal(&Params::alpha, alpha, 1); }
  double getAlpha() const noexcept override { return input(1) ? -1 : params_.alpha.real; }
  void setBeta(double beta) noexcept override { setReal(&Params::beta, beta, 2); }
  double getBeta() const noexcept override { return input(2) ? -1 : params_.beta.real; }
  void setAlphaInt64(int64_t alpha) noexcept override { setInteger(&Params::alpha, alpha, 1); }
  int64_t getAlphaInt64() const noexcept override { return input(1) ? -1 : params_.alpha.integer; }
  void setBetaInt64(int64_t beta) noexcept override { setInteger(&Params::beta, beta, 2); }
  int64_t getBetaInt64() const noexcept override { return input(2) ? -1 : params_.beta.integer; }
  bool isAlphaBetaInt64() const noexcept override { return params_.isInt64; }
  void setToType(nvinfer1::DataType type) noexcept override { set(&Params::type, type); }
  nvinfer1::DataType getToType() const noexcept override { return params_.type; }

 private:
  void setReal(Params::Number Params::* field, double value, int32_t replacedInput) noexcept;
  void setInteger(Params::Number Params::* field, int64_t value, int32_t replacedInput) noexcept;
};

}  // namespace camshaft::api
