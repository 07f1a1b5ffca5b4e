#include "plugin_shapes.h"

#include <functional>

namespace camshaft::python {

using namespace nvinfer1;

nb::list CurrentShapeCall::toPython(const DimsExprs* shapes, int32_t count) const {
  nb::list list;
  for (int32_t i = 0; i < count; ++i) {
    SizeExprs sizes;
    for (int32_t k = 0; k < shapes[i].nbDims; ++k) sizes.sizes.push_back({shapes[i].d[k], call_});
    list.append(nb::cast(std::move(sizes)));
  }
  return list;
}

DimsExprs CurrentShapeCall::fromPython(const SizeExprs& shape) const {
  DimsExprs dims{static_cast<int32_t>(shape.sizes.size()), {}};
  for (size_t i = 0; i < shape.sizes.size(); ++i) {
    const SizeExpr& size = shape.sizes[i];
    if (size.expr && size.call != call_) size.call->builder();
    if (size.expr && size.call != call_)
      throw nb::value_error("a size of an output is of a call of another plugin");
    dims.d[i] = size.expr;
  }
  return dims;
}

namespace {

const IDimensionExpr& sizeOf(const SizeExpr& size, const ShapeCallPtr& call) {
  const IDimensionExpr& expr = size.get();
  if (size.call != call) throw nb::value_error("a size is of a call of another plugin");
  return expr;
}

SizeExpr made(const SizeBuilder& builder, const IDimensionExpr* expr) {
  if (!expr) throw nb::value_error("sizes cannot be combined so; the log says why");
  return {expr, builder.call};
}

size_t positionIn(const SizeExprs& shape, int32_t index) {
  const auto count = static_cast<int32_t>(shape.sizes.size());
  if (index < 0) index += count;
  if (index < 0 || index >= count) throw nb::index_error();
  return static_cast<size_t>(index);
}

void requireRank(size_t rank) {
  if (rank > Dims::MAX_DIMS) throw nb::value_error("DimsExprs has 0 to 8 dimensions");
}

}  // namespace

void bindPluginShapes(nb::module_& m) {
  nb::class_<SizeExpr>(m, "IDimensionExpr")
      .def("is_constant", [](const SizeExpr& self) { return self.get().isConstant(); })
      .def("get_constant_value", [](const SizeExpr& self) { return self.get().getConstantValue(); })
      .def("is_size_tensor", [](const SizeExpr& self) { return self.get().isSizeTensor(); })
      .def("__eq__",
           [](const SizeExpr& self, nb::handle other) {
             if (!nb::isinstance<SizeExpr>(other)) return false;
             const auto& size = nb::cast<const SizeExpr&>(other);
             return size.expr == self.expr && size.call == self.call;
           })
      .def("__hash__", [](const SizeExpr& self) { return std::hash<const void*>()(self.expr); });
  nb::class_<SizeExprs>(m, "DimsExprs")
      .def(
          "__init__",
          [](SizeExprs* self, int32_t count) {
            requireRank(static_cast<size_t>(count));
            new (self) SizeExprs{std::vector<SizeExpr>(static_cast<size_t>(count))};
          },
          "length"_a = 0)
      .def(
          "__init__",
          [](SizeExprs* self, std::vector<SizeExpr> exprs) {
            requireRank(exprs.size());
            new (self) SizeExprs{std::move(exprs)};
          },
          "exprs"_a)
      .def("__len__", [](const SizeExprs& self) { return self.sizes.size(); })
      .def(
          "__getitem__",
          [](const SizeExprs& self, int32_t index) {
            const SizeExpr& size = self.sizes[positionIn(self, index)];
            return size.expr ? &size : nullptr;
          },
          nb::rv_policy::copy)
      .def("__setitem__", [](SizeExprs& self, int32_t index, const SizeExpr& expr) {
        self.sizes[positionIn(self, index)] = expr;
      });
  nb::class_<SizeBuilder>(m, "IExprBuilder")
      .def(
          "constant",
          [](const SizeBuilder& self, int64_t value) {
            return made(self, self.call->builder().constant(value));
          },
          "value"_a)
      .def(
          "operation",
          [](const SizeBuilder& self, DimensionOperation op, const SizeExpr& first,
             const SizeExpr& second) {
            IExprBuilder& builder = self.call->builder();
            return made(self,
                        builder.operation(op, sizeOf(first, self.call), sizeOf(second, self.call)));
          },
          "op"_a, "first"_a, "second"_a)
      .def(
          "declare_size_tensor",
          [](const SizeBuilder& self, int32_t output, const SizeExpr& opt, const SizeExpr& upper) {
            IExprBuilder& builder = self.call->builder();
            return made(self, builder.declareSizeTensor(output, sizeOf(opt, self.call),
                                                        sizeOf(upper, self.call)));
          },
          "output_index"_a, "opt"_a, "upper"_a);
}

}  // namespace camshaft::python
