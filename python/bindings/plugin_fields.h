// Between what plugins are described with in C++ and in Python.
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "callbacks.h"

namespace camshaft::python {

// Gives objects of Python's back, from any thread; `python` is false once there is none.
template <class F>
void endLocked(F&& end) {
  if (!Py_IsInitialized()) return end(false);
  const Locked locked;
  end(true);
}

// An object of Python's that the library keeps, and may end from any thread or after Python.
class Kept {
 public:
  explicit Kept(nb::object object) : object_(std::move(object)) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    endLocked([&](bool python) { python ? object_.reset() : void(object_.release()); });
  }
  nb::handle get() const { return object_; }
  auto attr(const char* name) const { return object_.attr(name); }

 private:
  nb::object object_;
};

// Text that C++ is given a pointer to, as it was when it was last asked for.
class AttributeText {
 public:
  // Null where the attribute is None.
  const char* of(const Kept& object, const char* attribute) {
    const bool any = fromPython(false, [&] {
      nb::object value = object.attr(attribute);
      if (value.is_none()) return false;
      text_ = nb::cast<std::string>(nb::str(value));
      return true;
    });
    return any ? text_.c_str() : nullptr;
  }

 private:
  std::string text_;
};

// A collection of Python's, with the memory that C++'s points to.
class Fields {
 public:
  ~Fields() {
    endLocked([&](bool python) {
      for (nb::object& array : arrays_) python ? array.reset() : void(array.release());
    });
  }
  const nvinfer1::PluginFieldCollection* assign(nb::handle collection);

 private:
  std::deque<std::string> names_;
  std::vector<nb::object> arrays_;
  std::vector<nvinfer1::PluginField> fields_;
  nvinfer1::PluginFieldCollection collection_;
};
nb::object fieldsOf(const nvinfer1::PluginFieldCollection* collection);

template <class T>
nb::list listOf(const T* items, int32_t count) {
  nb::list list;
  for (int32_t i = 0; i < count; ++i) list.append(nb::cast(items[i], nb::rv_policy::copy));
  return list;
}
nb::list addressesOf(const void* const* pointers, int32_t count);

// Throws where an object is not of a class of camshaft's.
inline void requireClass(nb::handle object, const char* name) {
  if (!nb::isinstance(object, nb::module_::import_("camshaft").attr(name)))
    throw nb::type_error(("the plugin must be of a class made from " + std::string(name)).c_str());
}

// What a method of the user's returned as a status: None is 0.
inline int32_t statusOf(nb::handle result) {
  return result.is_none() ? 0 : nb::cast<int32_t>(result);
}

// The object behind an interface of the library: the user's own in Python, or one of C++.
nb::object objectOf(nvinfer1::IPluginV3* plugin, nb::rv_policy policy);
nb::object objectOf(nvinfer1::IPluginV2* plugin, nb::rv_policy policy);
nb::object objectOf(nvinfer1::IPluginCreatorInterface* creator);

// The interface of an object: owned by the result where the object is of Python.
template <class Interface, class Delete>
using Borrowed = std::unique_ptr<Interface, Delete>;
struct DestroyV2 {
  bool ours = false;
  void operator()(nvinfer1::IPluginV2* plugin) const {
    if (ours) plugin->destroy();
  }
};
struct DeleteV3 {
  bool ours = false;
  void operator()(nvinfer1::IPluginV3* plugin) const {
    if (ours) delete plugin;
  }
};
Borrowed<nvinfer1::IPluginV3, DeleteV3> pluginV3From(nb::handle object);
Borrowed<nvinfer1::IPluginV2, DestroyV2> pluginV2From(nb::handle object);
// For the library to own.
nvinfer1::IPluginV3* ownedV3From(nb::object object);
nvinfer1::IPluginV2* ownedV2From(nb::object object);

void bindPluginValues(nb::module_& m);
void bindPluginsV3(nb::module_& m);
void bindPluginsV2(nb::module_& m);

}  // namespace camshaft::python
