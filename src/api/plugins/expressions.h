// IExprBuilder over the symbolic dimensions of the IR.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "api/implements.h"
#include "ops/plugin.h"

namespace camshaft::api {

class Expression final : public Implements<nvinfer1::IDimensionExpr> {
 public:
  // `size`: declared as a size tensor; `followsSize`: computed from one.
  Expression(Dim dim, bool isSize, bool followsSize)
      : dim_(std::move(dim)), isSize_(isSize), followsSize_(followsSize) {}
  const Dim& dim() const { return dim_; }
  bool followsSize() const { return followsSize_; }

  bool isConstant() const noexcept override { return dim_.isConstant(); }
  int64_t getConstantValue() const noexcept override;
  bool isSizeTensor() const noexcept override { return isSize_; }

 private:
  Dim dim_;
  bool isSize_, followsSize_;
};

// For one call of a plugin that tells the shapes of its outputs. Calls do not throw: a failure is
// kept, and whoever made the builder asks for it.
class Expressions final : public Implements<nvinfer1::IExprBuilder> {
 public:
  nvinfer1::DimsExprs of(const Shape& shape);
  // What the plugin gave, by its output; throws the failure that a call left.
  Shape shapeOf(const nvinfer1::DimsExprs& given, int32_t output) const;
  void requireSound() const;
  const std::vector<PluginSize>& sizes() const { return sizes_; }

  const nvinfer1::IDimensionExpr* constant(int64_t value) noexcept override;
  const nvinfer1::IDimensionExpr* operation(
      nvinfer1::DimensionOperation op, const nvinfer1::IDimensionExpr& first,
      const nvinfer1::IDimensionExpr& second) noexcept override;
  const nvinfer1::IDimensionExpr* declareSizeTensor(
      int32_t outputIndex, const nvinfer1::IDimensionExpr& opt,
      const nvinfer1::IDimensionExpr& upper) noexcept override;

 private:
  template <class F>
  const Expression* attempt(F&& make) noexcept;
  const Expression* add(Dim dim, bool isSize = false, bool followsSize = false);

  std::deque<Expression> expressions_;
  std::vector<PluginSize> sizes_;
  std::string failure_;
};

}  // namespace camshaft::api
