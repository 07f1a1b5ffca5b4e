// Weights, host memory and small values.
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

DataType dataTypeOf(nb::handle array) {
  nb::object type = nb::module_::import_("camshaft").attr("_data_type_of")(array);
  return nb::cast<DataType>(type);
}

int getHostMemoryBuffer(PyObject* self, Py_buffer* view, int flags) {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_BufferError, "the memory was never initialised");
    return -1;
  }
  auto* memory = nb::inst_ptr<IHostMemory>(self);
  return PyBuffer_FillInfo(view, self, memory->data(), static_cast<Py_ssize_t>(memory->size()), 1,
                           flags);
}
PyType_Slot hostMemorySlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(getHostMemoryBuffer)},
                                 {0, nullptr}};

}  // namespace

PyWeights weightsFrom(nb::handle source) {
  if (source.is_none()) return {};
  if (nb::isinstance<PyWeights>(source)) return nb::cast<PyWeights>(source);
  nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(source);
  PyWeights result;
  result.weights = {
      dataTypeOf(array),
      reinterpret_cast<const void*>(nb::cast<uintptr_t>(array.attr("ctypes").attr("data"))),
      nb::cast<int64_t>(array.attr("size"))};
  result.owner = std::move(array);
  return result;
}

Array toNumpy(const Weights& weights, nb::handle owner) {
  return {nb::module_::import_("camshaft")
              .attr("_array_at")(address(weights.values), weights.type, weights.count, owner)};
}

void bindBasics(nb::module_& m) {
  nb::class_<PyWeights>(m, "Weights")
      .def(
          "__init__",
          [](PyWeights* self, DataType type) {
            new (self) PyWeights{{type, nullptr, 0}, nb::none()};
          },
          "type"_a = DataType::kFLOAT)
      .def(
          "__init__",
          [](PyWeights* self, DataType type, uintptr_t ptr, int64_t count) {
            new (self) PyWeights{{type, reinterpret_cast<const void*>(ptr), count}, nb::none()};
          },
          "type"_a, "ptr"_a, "count"_a)
      .def(
          "__init__",
          [](PyWeights* self, nb::ndarray<nb::ro> a) {
            new (self) PyWeights(weightsFrom(nb::cast(a)));
          },
          "a"_a)
      .def_prop_ro("dtype", [](const PyWeights& self) { return self.weights.type; })
      .def_prop_ro("size", [](const PyWeights& self) { return self.weights.count; })
      .def_prop_ro("nbytes",
                   [](const PyWeights& self) {
                     const nb::object bytes = nb::cast(self.weights.type).attr("itemsize");
                     return nb::int_(bytes * nb::int_(self.weights.count));
                   })
      .def("__len__", [](const PyWeights& self) { return self.weights.count; })
      .def("numpy",
           [](nb::handle self) { return toNumpy(nb::cast<PyWeights&>(self).weights, self); });

  nb::class_<IHostMemory> memory(m, "IHostMemory", nb::type_slots(hostMemorySlots));
  bindLifetime(memory, "def __enter__(self) -> IHostMemory");
  memory.def_prop_ro("nbytes", [](const IHostMemory& self) { return self.size(); })
      .def_prop_ro("dtype", [](const IHostMemory& self) { return self.type(); })
      .def("__len__", [](const IHostMemory& self) { return self.size(); });
}

}  // namespace camshaft::python
