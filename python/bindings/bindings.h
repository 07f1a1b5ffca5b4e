// What the binding files share: conversions of Dims and Weights, and errors with their reason.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include <string>
#include <type_traits>

#include "NvInfer.h"
#include "NvOnnxParser.h"
#include "gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace camshaft::python {

void bindEnums(nb::module_& m);
void bindCallbacks(nb::module_& m);
void bindBasics(nb::module_& m);
void bindNetwork(nb::module_& m);
void bindLayers(nb::module_& m);
void bindBlocks(nb::module_& m);
void bindBuilder(nb::module_& m);
void bindDevice(nb::module_& m);
void bindRuntime(nb::module_& m);
void bindParser(nb::module_& m);
void bindSlim(nb::module_& m);

// The library reports failure through the logger and returns null; Python raises it. Each object
// logs through a forwarder that remembers the last error of the calling thread.
nvinfer1::ILogger& remembering(nvinfer1::ILogger& logger);
void forgetReason();
[[noreturn]] void raiseReason(const char* call);

// A reason of its own for a call that may come from a callback of another.
class OwnReason {
 public:
  OwnReason();
  ~OwnReason();
  OwnReason(const OwnReason&) = delete;
  OwnReason& operator=(const OwnReason&) = delete;
  void raiseIfAny() const;

 private:
  std::string outer_;
};

// Names in models are any bytes: those that are no text are shown escaped. Null is None.
nb::object textOf(const char* bytes);

// The result of a call that returns null on failure, raised as camshaft.Error.
template <class F>
auto checked(const char* call, F&& body) {
  forgetReason();
  auto* result = body();
  if (!result) raiseReason(call);
  return result;
}

// A method that raises what it reports, where C++ returns nothing, or a value that says "no". The
// class that Python knows is Self, where the method is of a base that it does not.
template <class Self = void, class C, class R, class... Args>
auto raising(R (C::*method)(Args...) noexcept) {
  using Bound = std::conditional_t<std::is_void_v<Self>, C, Self>;
  return [method](Bound& self, Args... args) -> R {
    const OwnReason reason;
    if constexpr (std::is_void_v<R>) {
      (self.*method)(args...);
      reason.raiseIfAny();
    } else {
      R result = (self.*method)(args...);
      reason.raiseIfAny();
      return result;
    }
  };
}
template <class C, class R, class... Args>
auto raising(R (C::*method)(Args...) const noexcept) {
  return [method](const C& self, Args... args) -> R {
    const OwnReason reason;
    R result = (self.*method)(args...);
    reason.raiseIfAny();
    return result;
  };
}

// A method that adds something to `c`, which it keeps alive.
template <class Class, class F, class... Extra>
void add(Class& c, const char* name, F&& body, const Extra&... extra) {
  c.def(name, std::forward<F>(body), nb::rv_policy::reference_internal, extra...);
}

// A method that returns text.
template <class C, class... Args>
auto text(const char* (C::*method)(Args...) const noexcept) {
  return [method](const C& self, Args... args) {
    const OwnReason reason;
    nb::object result = textOf((self.*method)(args...));
    reason.raiseIfAny();
    return result;
  };
}

// Keeps `value` alive while `owner` uses it in this role, until another takes its place. Unlike
// nb::keep_alive the collector sees it, so that both may refer to each other; the owner's class
// needs nb::dynamic_attr, and its destructor must not use the value.
inline void hold(nb::handle owner, const std::string& role, nb::handle value) {
  nb::setattr(owner, ("_" + role).c_str(), value);
}

// Weights as Python holds them: numpy arrays keep their memory, `owner` keeps the array.
struct PyWeights {
  nvinfer1::Weights weights{nvinfer1::DataType::kFLOAT, nullptr, 0};
  nb::object owner;
};
PyWeights weightsFrom(nb::handle source);  // a Weights object, a numpy array or None
nb::object toNumpy(const nvinfer1::Weights& weights, nb::handle owner);

}  // namespace camshaft::python

namespace nanobind::detail {

// Dims: any sequence of integers (or one integer) in, camshaft.Dims, a tuple, out.
template <>
struct type_caster<nvinfer1::Dims64> {
  NB_TYPE_CASTER(nvinfer1::Dims64, const_name("Dims"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = {};
    if (PyLong_Check(source.ptr())) {
      value.nbDims = 1;
      value.d[0] = PyLong_AsLongLong(source.ptr());
      return !clearError();
    }
    object fast = steal(PySequence_Fast(source.ptr(), ""));
    if (!fast.is_valid()) return clearError(), false;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(fast.ptr());
    if (count > nvinfer1::Dims64::MAX_DIMS) return false;
    value.nbDims = static_cast<int32_t>(count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      object item = steal(PyNumber_Index(PySequence_Fast_GET_ITEM(fast.ptr(), i)));
      if (!item.is_valid()) return clearError(), false;
      value.d[i] = PyLong_AsLongLong(item.ptr());
      if (clearError()) return false;
    }
    return true;
  }

  static handle from_cpp(const nvinfer1::Dims64& dims, rv_policy, cleanup_list*) noexcept {
    // nbDims -1 is "unknown": raised as ValueError, as len() of it would be.
    if (dims.nbDims < 0) {
      PyErr_SetString(PyExc_ValueError, "the dimensions are unknown");
      return {};
    }
    object list = steal(PyTuple_New(dims.nbDims));
    for (int32_t i = 0; i < dims.nbDims; ++i)
      PyTuple_SET_ITEM(list.ptr(), i, PyLong_FromLongLong(dims.d[i]));
    object type = steal(PyObject_GetAttrString(PyImport_AddModule("camshaft"), "Dims"));
    if (!type.is_valid()) return {};
    // A class of Python's: its code may let go of the lock.
    return camshaft::python::untilExit([&] { return PyObject_CallOneArg(type.ptr(), list.ptr()); });
  }

 private:
  static bool clearError() noexcept {
    if (!PyErr_Occurred()) return false;
    PyErr_Clear();
    return true;
  }
};

}  // namespace nanobind::detail
