// What the binding files share: conversions of Dims and Weights, and errors with their reason.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include <algorithm>
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
void bindListedLayers(nb::module_& m);
void bindConfig(nb::module_& m);
void bindBuilder(nb::module_& m);
void bindDevice(nb::module_& m);
void bindRuntime(nb::module_& m);
void bindThreadPool(nb::class_<nvinfer1::IRuntime>& c);
void bindEngine(nb::module_& m);
void bindContext(nb::module_& m);
void bindInference(nb::module_& m);
void bindParser(nb::module_& m);
void bindPlugins(nb::module_& m);
void bindRefit(nb::module_& m);
void bindMachine(nb::module_& m);
void bindSlim(nb::module_& m);
void bindAccuracy(nb::module_& m);
void bindQuantize(nb::module_& m);
void bindOlderStyle();  // adds to classes that are bound
// Once all classes are bound: none of their objects can be taken for one of another.
void guardClasses(nb::module_& m);

struct ReturningLogger : nvinfer1::ILogger {};  // camshaft.compat's

// The library reports failure through the logger and returns null; Python raises it. Each object
// logs through a forwarder that remembers the last error of the calling thread. Objects whose
// logger is of camshaft.compat do as TensorRT's do instead: they return what C++ returned.
nvinfer1::ILogger& remembering(nvinfer1::ILogger& logger);
void forgetLogger(nvinfer1::ILogger& logger);  // it ends
// For calls that belong to no object with a logger: their reason is raised, and logged nowhere.
nvinfer1::ILogger& quietLogger();
// The logger of the caller that `logger`, of an object, stands for.
nvinfer1::ILogger* loggerOf(nvinfer1::ILogger* logger);
void forgetReason();
// Raises what was remembered. Returns where there is nothing to raise: the failure was of an object
// that returns it.
void raiseReason(const char* call);

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
nb::str textOf(const char* bytes);

// An object of Python's that stubs call by this name.
template <size_t N>
struct TypeName {
  constexpr TypeName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};
template <TypeName name>
struct Named {
  nb::object object;
};
using Array = Named<"numpy.ndarray">;

// The result of a call that returns null or false on failure, raised as camshaft.Error.
template <class F>
auto checked(const char* call, F&& body) {
  forgetReason();
  auto result = body();
  if (!result) raiseReason(call);
  return result;
}

// The same for calls that take a while, without the interpreter's lock.
template <class F>
auto checkedUnlocked(const char* call, F&& body) {
  return checked(call, [&] {
    const Unlocked unlocked;
    return body();
  });
}

// The bytes of any object with a buffer.
class Bytes {
 public:
  explicit Bytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&view_); }
  const void* data() const { return view_.buf; }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_;
};

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

// What TensorRT's objects have for programs that end them: nothing of it does anything.
template <class Class>
void bindLifetime(Class& c, const char* enterSignature) {
  c.def(
       "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig(enterSignature))
      .def(
          "__exit__", [](nb::handle, nb::args) {},
          nb::sig("def __exit__(self, *args: object) -> None"))
      .def("__del__", [](nb::handle) {});
}

// A method that returns text.
template <class C, class... Args>
auto text(const char* (C::*method)(Args...) const noexcept) {
  return [method](const C& self, Args... args) {
    const OwnReason reason;
    nb::str result = textOf((self.*method)(args...));
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

// The stream that an int or an object of a CUDA package stands for: __cuda_stream__(), or what
// PyTorch (cuda_stream), CuPy (ptr) and PyCUDA (handle) call it, or int().
struct Stream {
  cudaStream_t handle = nullptr;
};
bool streamFrom(nb::handle source, Stream& stream) noexcept;

inline void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }
inline uintptr_t address(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

// Weights as Python holds them: numpy arrays keep their memory, `owner` keeps the array.
struct PyWeights {
  nvinfer1::Weights weights{nvinfer1::DataType::kFLOAT, nullptr, 0};
  nb::object owner;
};
PyWeights weightsFrom(nb::handle source);  // a Weights object, a numpy array or None
Array toNumpy(const nvinfer1::Weights& weights, nb::handle owner);

}  // namespace camshaft::python

namespace nanobind::detail {

// Enums are strict: a number, or a member of another enum, is no member.
template <typename E>
  requires std::is_enum_v<E>
struct type_caster<E, enable_if_t<std::is_enum_v<E>>> {
  NB_TYPE_CASTER(E, const_name<E>())

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    int64_t number = 0;
    const auto strict = flags & ~static_cast<uint32_t>(cast_flags::convert);
    if (!NB_CALL(enum_from_python)(NB_CTX_C(cleanup), &typeid(E), source.ptr(), &number, strict))
      return false;
    value = static_cast<E>(number);
    return true;
  }

  static handle from_cpp(E member, rv_policy, cleanup_list* cleanup) noexcept {
    return NB_CALL(enum_from_cpp)(NB_CTX_C(cleanup), &typeid(E), static_cast<int64_t>(member));
  }
};

template <camshaft::python::TypeName name>
struct type_caster<camshaft::python::Named<name>> {
  NB_TYPE_CASTER(camshaft::python::Named<name>, const_name(name.text))

  static handle from_cpp(const camshaft::python::Named<name>& named, rv_policy,
                         cleanup_list*) noexcept {
    return handle(named.object).inc_ref();
  }
};

template <>
struct type_caster<camshaft::python::Stream> {
  NB_TYPE_CASTER(camshaft::python::Stream, const_name("typing.Any"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return camshaft::python::streamFrom(source, value);
  }
  static handle from_cpp(camshaft::python::Stream stream, rv_policy, cleanup_list*) noexcept {
    return PyLong_FromVoidPtr(stream.handle);
  }
};

// Dims: any sequence of integers (or one integer) in, camshaft.Dims out.
template <>
struct type_caster<nvinfer1::Dims64> {
  NB_TYPE_CASTER(nvinfer1::Dims64, io_name("collections.abc.Sequence[int] | int", "camshaft.Dims"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
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
    // nbDims -1 is "unknown": None as the sizes.
    object sizes = dims.nbDims < 0 ? none() : steal(PyTuple_New(dims.nbDims));
    for (int32_t i = 0; i < dims.nbDims; ++i)
      PyTuple_SET_ITEM(sizes.ptr(), i, PyLong_FromLongLong(dims.d[i]));
    object type = steal(PyObject_GetAttrString(PyImport_AddModule("camshaft"), "Dims"));
    if (!type.is_valid()) return {};
    // A class of Python's: its code may let go of the lock.
    return camshaft::python::untilExit(
        [&] { return PyObject_CallOneArg(type.ptr(), sizes.ptr()); });
  }

 private:
  static bool clearError() noexcept {
    if (!PyErr_Occurred()) return false;
    PyErr_Clear();
    return true;
  }
};

}  // namespace nanobind::detail
