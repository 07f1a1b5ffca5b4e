// Calls from the library into objects of the user's. Python exceptions cannot cross the library;
// they are printed as unraisable.
#pragma once

#include "bindings.h"

namespace camshaft::python {

// Calls into Python from any thread of the library; `fallback` when it raised.
template <class T, class F>
T fromPython(T fallback, F&& body) noexcept {
  if (!Py_IsInitialized()) return fallback;
  const Locked locked;
  try {
    return untilExit([&] { return body(); });  // Python code lets go of the lock at any time
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("a camshaft callback");
  } catch (const std::exception& error) {
    PyErr_WarnEx(PyExc_RuntimeWarning, error.what(), 1);
    PyErr_Clear();
  }
  return fallback;
}

// An interface that a class of Python's implements.
template <class Interface>
struct OfPython : Interface {
  using Interface::Interface;
  nvinfer1::APILanguage getAPILanguage() const noexcept override {
    return nvinfer1::APILanguage::kPYTHON;
  }
};

// A method that the user's class has to define. Its arguments are named by nb::sig.
inline auto toDefine(const char* name) {
  return [name](nb::handle, nb::args, nb::kwargs) {
    PyErr_Format(PyExc_NotImplementedError, "%s() is for the class of the user to define", name);
    throw nb::python_error();
  };
}

// An address that Python returned: None is null.
inline void* addressFrom(nb::handle result) {
  return result.is_none() ? nullptr : pointer(nb::cast<uintptr_t>(result));
}

void bindAllocators(nb::module_& m);
void bindCalibrators(nb::module_& m);

}  // namespace camshaft::python
