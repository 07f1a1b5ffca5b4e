// Classes of objects. `object.__class__ = cls` tells Python to take the same memory for an object
// of another class, which clients of TensorRT do to layers; here it only ever tells the truth.
#include "layer_class.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// The class of Python that has the object's C++ class.
nb::handle ownClass(nb::handle self) {
  if (!nb::isinstance<ILayer>(self)) return self.type();
  return withOwnClass(nb::cast<ILayer*>(self), [](auto* layer) {
    return nb::type<std::remove_pointer_t<decltype(layer)>>();
  });
}

// The class of layers that networks list, where it is another than their own.
nb::handle listedClass(nb::handle own) {
  if (own.is(nb::type<IActivationLayer>())) return nb::type<Listed<IActivationLayer>>();
  if (own.is(nb::type<IPoolingLayer>())) return nb::type<Listed<IPoolingLayer>>();
  return {};
}

bool isSubclass(nb::handle cls, nb::handle base) {
  return PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()),
                          reinterpret_cast<PyTypeObject*>(base.ptr())) != 0;
}

PyObject* getClass(PyObject* self, void*) {
  return nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(self))).release().ptr();
}

int setClass(PyObject* self, PyObject* value, void*) {
  nb::handle wanted = value;
  if (!value || !PyType_Check(value) || !nb::type_check(wanted)) {
    PyErr_SetString(PyExc_TypeError, "__class__ must be a class of this module, or made from one");
    return -1;
  }
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "the object was never initialised");
    return -1;
  }
  const nb::handle own = ownClass(self);
  if (nb::type_info(wanted) != nb::type_info(own)) {
    if (!isSubclass(own, wanted)) {
      PyErr_Format(PyExc_TypeError, "this object is of class %s, and cannot become one of %s",
                   reinterpret_cast<PyTypeObject*>(own.ptr())->tp_name,
                   reinterpret_cast<PyTypeObject*>(value)->tp_name);
      return -1;
    }
    // More general: it already is one.
    wanted = nb::isinstance<ILayer>(self) ? listedClass(own) : nb::handle();
    if (!wanted.is_valid()) return 0;
  }
  if (wanted.is(nb::handle(self).type())) return 0;
  // Python's own setter. Since 3.12 the dictionary of `object` is reached by attribute only.
  const nb::object descriptor =
      nb::handle(reinterpret_cast<PyObject*>(&PyBaseObject_Type)).attr("__dict__")["__class__"];
  return Py_TYPE(descriptor.ptr())->tp_descr_set(descriptor.ptr(), self, wanted.ptr());
}

PyGetSetDef guardedClass = {"__class__", getClass, setClass, nullptr, nullptr};

}  // namespace

ListedLayer listedLayer(ILayer* layer, nb::handle network) {
  return withOwnClass(layer, [&](auto* typed) -> ListedLayer {
    using Layer = std::remove_pointer_t<decltype(typed)>;
    if constexpr (hasTypeOfItsOwn<Layer>)
      return {nb::inst_reference(nb::type<Listed<Layer>>(), typed, network)};
    else
      return {nb::cast(typed, nb::rv_policy::reference_internal, network)};
  });
}

void bindListedLayers(nb::module_& m) {
  nb::module_ listed = m.def_submodule("_listed", "Layers as networks list them.");
  const auto typeOfLayer = [](const ILayer& self) { return self.getType(); };
  nb::class_<Listed<IActivationLayer>, IActivationLayer>(listed, "IActivationLayer")
      .def_prop_ro("type", typeOfLayer);
  nb::class_<Listed<IPoolingLayer>, IPoolingLayer>(listed, "IPoolingLayer")
      .def_prop_ro("type", typeOfLayer);
}

void guardClasses(nb::module_& m) {
  for (nb::handle value : nb::borrow<nb::dict>(m.attr("__dict__")).values()) {
    if (!PyType_Check(value.ptr()) || !nb::type_check(value)) continue;
    auto* type = reinterpret_cast<PyTypeObject*>(value.ptr());
    if (type->tp_base != &PyBaseObject_Type) continue;  // inherits it
    nb::object guard = nb::steal(PyDescr_NewGetSet(type, &guardedClass));
    // Not by setattr, which would change the class of the class.
    if (!guard.is_valid() || PyDict_SetItemString(type->tp_dict, "__class__", guard.ptr()) != 0)
      throw nb::python_error();
    PyType_Modified(type);
  }
}

}  // namespace camshaft::python
