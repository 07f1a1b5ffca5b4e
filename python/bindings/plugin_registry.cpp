// Registries of plugins, creators, and the layers that plugins become.
#include <mutex>
#include <unordered_map>

#include "NvInferPlugin.h"
#include "plugin_fields.h"
#include "plugin_shapes.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// A creator of Python's, of either kind.
class PyCreator {
 public:
  explicit PyCreator(nb::object object) : object(std::move(object)) {}
  virtual ~PyCreator() = default;
  virtual IPluginCreatorInterface& creator() = 0;
  Kept object;
};

template <class Interface>
class PyCreatorOf : public Interface, public PyCreator {
 public:
  using PyCreator::PyCreator;
  IPluginCreatorInterface& creator() final { return *this; }
  APILanguage getAPILanguage() const noexcept final { return APILanguage::kPYTHON; }
  const char* getPluginName() const noexcept final { return name_.of(object, "name"); }
  const char* getPluginVersion() const noexcept final {
    return version_.of(object, "plugin_version");
  }
  const char* getPluginNamespace() const noexcept final {
    return space_.of(object, "plugin_namespace");
  }
  const PluginFieldCollection* getFieldNames() noexcept final {
    return fromPython<const PluginFieldCollection*>(
        nullptr, [&] { return fields_.assign(object.attr("field_names")); });
  }

 private:
  Fields fields_;
  mutable AttributeText name_, version_, space_;
};

class PyCreatorV3 final : public PyCreatorOf<IPluginCreatorV3One> {
 public:
  using PyCreatorOf::PyCreatorOf;
  IPluginV3* createPlugin(const char* layer, const PluginFieldCollection* fc,
                          TensorRTPhase phase) noexcept override {
    return fromPython<IPluginV3*>(nullptr, [&] {
      return ownedV3From(object.attr("_create")(textOf(layer), fieldsOf(fc), phase));
    });
  }
};

class PyCreatorV1 final : public PyCreatorOf<IPluginCreator> {
 public:
  using PyCreatorOf::PyCreatorOf;
  void setPluginNamespace(const char* value) noexcept override {
    fromPython(0, [&] {
      return nb::setattr(object.get(), "plugin_namespace", textOf(value ? value : "")), 0;
    });
  }
  IPluginV2* createPlugin(const char* layer, const PluginFieldCollection* fc) noexcept override {
    return fromPython<IPluginV2*>(nullptr, [&] {
      return ownedV2From(object.attr("create_plugin")(textOf(layer), fieldsOf(fc)));
    });
  }
  IPluginV2* deserializePlugin(const char* layer, const void* data, size_t size) noexcept override {
    return fromPython<IPluginV2*>(nullptr, [&] {
      return ownedV2From(object.attr("deserialize_plugin")(
          textOf(layer), nb::bytes(static_cast<const char*>(data), size)));
    });
  }
};

class PyResource final : public IPluginResource {
 public:
  explicit PyResource(nb::object object) : object_(std::move(object)) {}
  nb::handle object() const { return object_.get(); }
  int32_t release() noexcept override {
    return fromPython(-1, [&] { return statusOf(object_.attr("release")()); });
  }
  IPluginResource* clone() noexcept override {
    return fromPython<IPluginResource*>(
        nullptr, [&] { return new PyResource(nb::object(object_.attr("clone")())); });
  }

 private:
  Kept object_;
};

// Creators of Python's that are registered, by object. Registries of the process outlive
// everything, so nothing here is destroyed.
class Creators {
 public:
  IPluginCreatorInterface& of(nb::handle object) {
    if (nb::isinstance<IPluginCreatorInterface>(object))
      return nb::cast<IPluginCreatorInterface&>(object);
    auto& creator = creators_[object.ptr()];
    if (!creator) {
      nb::module_ camshaft = nb::module_::import_("camshaft");
      if (nb::isinstance(object, camshaft.attr("IPluginCreatorV3One")))
        creator = std::make_unique<PyCreatorV3>(nb::borrow(object));
      else if (nb::isinstance(object, camshaft.attr("IPluginCreator")))
        creator = std::make_unique<PyCreatorV1>(nb::borrow(object));
    }
    if (!creator) {
      creators_.erase(object.ptr());
      throw nb::type_error("a creator is an IPluginCreatorV3One or an IPluginCreator");
    }
    return creator->creator();
  }
  void forget(nb::handle object) { creators_.erase(object.ptr()); }

 private:
  std::unordered_map<PyObject*, std::unique_ptr<PyCreator>> creators_;
};

Creators& creators() {
  static auto& all = *new Creators;
  return all;
}

using Registry = IPluginRegistry;

nb::list creatorsIn(IPluginCreatorInterface* const* list, int32_t count) {
  nb::list all;
  for (int32_t i = 0; i < count; ++i) all.append(objectOf(list[i]));
  return all;
}

// A registry has no logger of its own, and says why through that of the last builder or runtime.
bool registerCreator(Registry& self, nb::handle creator, const char* space) {
  IPluginCreatorInterface& added = creators().of(creator);
  return checked("register_creator", [&] { return self.registerCreator(added, space); });
}

bool deregisterCreator(Registry& self, nb::handle creator) {
  const bool ok = self.deregisterCreator(creators().of(creator));
  if (ok) creators().forget(creator);
  return ok;
}

void bindRegistry(nb::module_& m) {
  nb::class_<Registry>(m, "IPluginRegistry")
      .def_prop_ro("plugin_creator_list",
                   [](Registry& self) {
                     int32_t count = 0;
                     IPluginCreator* const* list = self.getPluginCreatorList(&count);
                     nb::list all;
                     for (int32_t i = 0; i < count; ++i) all.append(objectOf(list[i]));
                     return all;
                   })
      .def_prop_ro("all_creators",
                   [](Registry& self) {
                     int32_t count = 0;
                     IPluginCreatorInterface* const* list = self.getAllCreators(&count);
                     return creatorsIn(list, count);
                   })
      .def_prop_ro("all_creators_recursive",
                   [](Registry& self) {
                     int32_t count = 0;
                     IPluginCreatorInterface* const* list = self.getAllCreatorsRecursive(&count);
                     return creatorsIn(list, count);
                   })
      .def("register_creator", &registerCreator, "creator"_a, "plugin_namespace"_a = "")
      .def("deregister_creator", &deregisterCreator, "creator"_a)
      .def(
          "get_creator",
          [](Registry& self, const char* type, const char* version, const char* space) {
            return objectOf(self.getCreator(type, version, space));
          },
          "type"_a, "version"_a, "plugin_namespace"_a = "")
      .def(
          "get_plugin_creator",
          [](Registry& self, const char* type, const char* version, const char* space) {
            return objectOf(self.getPluginCreator(type, version, space));
          },
          "type"_a, "version"_a, "plugin_namespace"_a = "")
      .def_prop_rw("error_recorder", &Registry::getErrorRecorder, &Registry::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()))
      .def_prop_rw("parent_search_enabled", &Registry::isParentSearchEnabled,
                   &Registry::setParentSearchEnabled)
      .def(
          "load_library",
          [](Registry& self, const char* path) {
            return address(checked("load_library", [&] { return self.loadLibrary(path); }));
          },
          "plugin_path"_a)
      .def(
          "deregister_library",
          [](Registry& self, uintptr_t handle) { self.deregisterLibrary(pointer(handle)); },
          "handle"_a)
      .def(
          "acquire_plugin_resource",
          [](Registry& self, const char* key, nb::object resource) {
            PyResource given(resource);
            IPluginResource* shared = checked(
                "acquire_plugin_resource", [&] { return self.acquirePluginResource(key, &given); });
            const auto* ours = dynamic_cast<PyResource*>(shared);
            return ours ? nb::borrow(ours->object()) : nb::object(nb::none());
          },
          "key"_a, "resource"_a)
      .def("release_plugin_resource", &Registry::releasePluginResource, "key"_a);
  m.def("get_plugin_registry", &getPluginRegistry, nb::rv_policy::reference);
  m.def(
      "init_libnvinfer_plugins",
      [](ILogger* logger, const char* space) { return initLibNvInferPlugins(logger, space); },
      "logger"_a.none(), "namespace"_a);
  m.def("get_builder_plugin_registry", &getBuilderPluginRegistry, "capability"_a,
        nb::rv_policy::reference);
}

// A creator of a library's, called from Python.
template <class Creator>
nb::class_<Creator, IPluginCreatorInterface> bindLibraryCreator(nb::module_& m, const char* name) {
  return nb::class_<Creator, IPluginCreatorInterface>(m, name)
      .def_prop_ro("name", text(&Creator::getPluginName))
      .def_prop_ro("plugin_version", text(&Creator::getPluginVersion))
      .def_prop_ro("plugin_namespace", text(&Creator::getPluginNamespace))
      .def_prop_ro("field_names", [](Creator& self) { return fieldsOf(self.getFieldNames()); });
}

void bindLibraryCreators(nb::module_& m) {
  nb::class_<IPluginCreatorInterface, IVersionedInterface> base(m, "_LibraryCreator");
  using V3 = IPluginCreatorV3One;
  bindLibraryCreator<V3>(m, "_LibraryCreatorV3One")
      .def(
          "create_plugin",
          [](V3& self, const char* name, nb::handle collection, TensorRTPhase phase) {
            Fields fields;
            return objectOf(self.createPlugin(name, fields.assign(collection), phase),
                            nb::rv_policy::take_ownership);
          },
          "name"_a, "field_collection"_a, "phase"_a);
  using V1 = IPluginCreator;
  bindLibraryCreator<V1>(m, "_LibraryCreatorV1")
      .def_prop_rw("plugin_namespace", text(&V1::getPluginNamespace), &V1::setPluginNamespace)
      .def(
          "create_plugin",
          [](V1& self, const char* name, nb::handle collection) {
            Fields fields;
            return objectOf(self.createPlugin(name, fields.assign(collection)),
                            nb::rv_policy::reference);
          },
          "name"_a, "field_collection"_a)
      .def(
          "deserialize_plugin",
          [](V1& self, const char* name, nb::handle serialized) {
            const Bytes bytes(serialized);
            return objectOf(self.deserializePlugin(name, bytes.data(), bytes.size()),
                            nb::rv_policy::reference);
          },
          "name"_a, "serialized_plugin"_a);
}

using Tensors = std::vector<ITensor*>;
using Net = INetworkDefinition;

IPluginV3Layer* addPluginV3(Net& network, const Tensors& inputs, const Tensors& shapes,
                            nb::handle plugin) {
  const auto borrowed = pluginV3From(plugin);
  return checked("add_plugin_v3", [&] {
    return network.addPluginV3(inputs.data(), static_cast<int32_t>(inputs.size()), shapes.data(),
                               static_cast<int32_t>(shapes.size()), *borrowed);
  });
}

// From inputs, shape inputs and the plugin.
IPluginV3Layer* addPlugin(Net& network, nb::tuple parts, std::optional<bool> aot) {
  if (aot.value_or(false))
    throw nb::value_error(
        "add_plugin cannot use a kernel that aot_impl compiled; leave aot out and give the plugin "
        "an impl");
  if (parts.size() != 3)
    throw nb::value_error("add_plugin takes inputs, shape inputs and a plugin");
  return addPluginV3(network, nb::cast<Tensors>(parts[0]), nb::cast<Tensors>(parts[1]), parts[2]);
}

void bindPluginLayers(nb::module_& m) {
  nb::class_<IPluginV2Layer, ILayer>(m, "IPluginV2Layer")
      .def_prop_ro("plugin", [](IPluginV2Layer& self) {
        return objectOf(&self.getPlugin(), nb::rv_policy::reference);
      });
  nb::class_<IPluginV3Layer, ILayer>(m, "IPluginV3Layer")
      .def_prop_ro("plugin", [](IPluginV3Layer& self) {
        return objectOf(&self.getPlugin(), nb::rv_policy::reference);
      });
  auto network = nb::borrow<nb::class_<Net>>(nb::type<Net>());
  add(
      network, "add_plugin_v2",
      [](Net& n, const Tensors& inputs, nb::handle plugin) {
        const auto borrowed = pluginV2From(plugin);
        return checked("add_plugin_v2", [&] {
          return n.addPluginV2(inputs.data(), static_cast<int32_t>(inputs.size()), *borrowed);
        });
      },
      "inputs"_a, "plugin"_a);
  add(network, "add_plugin_v3", &addPluginV3, "inputs"_a, "shape_inputs"_a, "plugin"_a);
  // What calling a function of camshaft.plugin.op gives, or a function that gives it.
  add(network, "add_plugin", &addPlugin, "tuple"_a, "aot"_a = nb::none());
  add(
      network, "add_plugin",
      [](Net& n, nb::callable function, std::optional<bool> aot) {
        return addPlugin(n, nb::cast<nb::tuple>(function()), aot);
      },
      "func"_a, "aot"_a = nb::none());
}

}  // namespace

nb::object objectOf(IPluginCreatorInterface* creator) {
  if (!creator) return nb::none();
  if (const auto* ours = dynamic_cast<PyCreator*>(creator)) return nb::borrow(ours->object.get());
  if (auto* third = dynamic_cast<IPluginCreatorV3One*>(creator))
    return nb::cast(third, nb::rv_policy::reference);
  if (auto* first = dynamic_cast<IPluginCreator*>(creator))
    return nb::cast(first, nb::rv_policy::reference);
  return nb::cast(creator, nb::rv_policy::reference);
}

void bindPlugins(nb::module_& m) {
  bindPluginShapes(m);
  bindPluginValues(m);
  bindPluginsV3(m);
  bindPluginsV2(m);
  bindLibraryCreators(m);
  bindRegistry(m);
  bindPluginLayers(m);
}

}  // namespace camshaft::python
