// Sizes as plugins of Python's see them. Expressions are the library's for as long as the call that
// gives them; an object of Python's may be kept longer, and then says so when it is used.
#pragma once

#include <memory>
#include <vector>

#include "bindings.h"

namespace camshaft::python {

// One call of a plugin that tells the shapes of its outputs.
class ShapeCall {
 public:
  explicit ShapeCall(nvinfer1::IExprBuilder& builder) : builder_(&builder) {}
  void end() { builder_ = nullptr; }
  nvinfer1::IExprBuilder& builder() const {
    if (!builder_)
      throw nb::value_error(
          "this size belongs to an earlier call of the plugin, which is over: work with the sizes "
          "and the builder that the call at hand gives");
    return *builder_;
  }

 private:
  nvinfer1::IExprBuilder* builder_;
};
using ShapeCallPtr = std::shared_ptr<ShapeCall>;

struct SizeExpr {
  const nvinfer1::IDimensionExpr* expr = nullptr;
  ShapeCallPtr call;

  const nvinfer1::IDimensionExpr& get() const {
    call->builder();
    return *expr;
  }
};

struct SizeBuilder {
  ShapeCallPtr call;
};

struct SizeExprs {
  std::vector<SizeExpr> sizes;
};

// Ends when the call does.
class CurrentShapeCall {
 public:
  explicit CurrentShapeCall(nvinfer1::IExprBuilder& builder)
      : call_(std::make_shared<ShapeCall>(builder)) {}
  CurrentShapeCall(const CurrentShapeCall&) = delete;
  CurrentShapeCall& operator=(const CurrentShapeCall&) = delete;
  ~CurrentShapeCall() { call_->end(); }

  SizeBuilder builder() const { return {call_}; }
  nb::list toPython(const nvinfer1::DimsExprs* shapes, int32_t count) const;
  // Throws where a size is of another call.
  nvinfer1::DimsExprs fromPython(const SizeExprs& shape) const;

 private:
  ShapeCallPtr call_;
};

void bindPluginShapes(nb::module_& m);

}  // namespace camshaft::python
