// IPluginV2DynamicExt of Python's as the library sees it, and plugins of version 2 the other way
// round.
#include <cstring>

#include "plugin_fields.h"
#include "plugin_shapes.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

class PyPluginV2 final : public IPluginV2DynamicExt {
 public:
  explicit PyPluginV2(nb::object object) : object_(std::move(object)) {}
  nb::handle object() const { return object_.get(); }

  const char* getPluginType() const noexcept override { return type_.of(object_, "plugin_type"); }
  const char* getPluginVersion() const noexcept override {
    return version_.of(object_, "plugin_version");
  }
  const char* getPluginNamespace() const noexcept override {
    return space_.of(object_, "plugin_namespace");
  }
  void setPluginNamespace(const char* space) noexcept override {
    fromPython(0, [&] {
      return nb::setattr(object_.get(), "plugin_namespace", textOf(space ? space : "")), 0;
    });
  }
  int32_t getNbOutputs() const noexcept override {
    return fromPython(-1, [&] { return nb::cast<int32_t>(object_.attr("num_outputs")); });
  }
  int32_t initialize() noexcept override {
    return fromPython(-1, [&] { return statusOf(object_.attr("initialize")()); });
  }
  void terminate() noexcept override {
    fromPython(0, [&] { return object_.attr("terminate")(), 0; });
  }
  size_t getSerializationSize() const noexcept override {
    return fromPython<size_t>(
        0, [&] { return nb::cast<size_t>(object_.attr("get_serialization_size")()); });
  }
  void serialize(void* buffer) const noexcept override {
    fromPython(0, [&] {
      nb::object result = object_.attr("serialize")();
      const Bytes bytes(nb::isinstance<nb::str>(result) ? nb::object(result.attr("encode")())
                                                        : result);
      const auto size = nb::cast<size_t>(object_.attr("get_serialization_size")());
      if (bytes.size() != size)
        throw nb::value_error(
            "serialize() gave another number of bytes than "
            "get_serialization_size() said");
      if (size > 0) std::memcpy(buffer, bytes.data(), size);
      return 0;
    });
  }
  DataType getOutputDataType(int32_t index, const DataType* types,
                             int32_t inputs) const noexcept override {
    return fromPython(DataType::kFLOAT, [&] {
      return nb::cast<DataType>(object_.attr("get_output_datatype")(index, listOf(types, inputs)));
    });
  }
  DimsExprs getOutputDimensions(int32_t output, const DimsExprs* in, int32_t inputs,
                                IExprBuilder& builder) noexcept override {
    inputs_ = inputs;
    return fromPython(DimsExprs{-1, {}}, [&] {
      const CurrentShapeCall call(builder);
      return call.fromPython(nb::cast<SizeExprs>(object_.attr("get_output_dimensions")(
          output, call.toPython(in, inputs), call.builder())));
    });
  }
  bool supportsFormatCombination(int32_t position, const PluginTensorDesc* inOut, int32_t inputs,
                                 int32_t outputs) noexcept override {
    inputs_ = inputs;
    return fromPython(false, [&] {
      nb::object result = object_.attr("supports_format_combination")(
          position, listOf(inOut, inputs + outputs), inputs);
      return nb::cast<bool>(nb::bool_(result));
    });
  }
  void configurePlugin(const DynamicPluginTensorDesc* in, int32_t inputs,
                       const DynamicPluginTensorDesc* out, int32_t outputs) noexcept override {
    inputs_ = inputs;
    fromPython(0, [&] {
      return object_.attr("configure_plugin")(listOf(in, inputs), listOf(out, outputs)), 0;
    });
  }
  size_t getWorkspaceSize(const PluginTensorDesc* in, int32_t inputs, const PluginTensorDesc* out,
                          int32_t outputs) const noexcept override {
    return fromPython<size_t>(0, [&] {
      return nb::cast<size_t>(
          object_.attr("get_workspace_size")(listOf(in, inputs), listOf(out, outputs)));
    });
  }
  int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc* outputDesc,
                  const void* const* inputs, void* const* outputs, void* workspace,
                  cudaStream_t stream) noexcept override {
    const int32_t outputCount = getNbOutputs();
    return fromPython(-1, [&] {
      return statusOf(object_.attr("enqueue")(
          listOf(inputDesc, inputs_), listOf(outputDesc, outputCount), addressesOf(inputs, inputs_),
          addressesOf(outputs, outputCount), address(workspace), address(stream)));
    });
  }
  void destroy() noexcept override {
    fromPython(0, [&] { return object_.attr("destroy")(), 0; });
    delete this;
  }
  IPluginV2DynamicExt* clone() const noexcept override {
    return fromPython<IPluginV2DynamicExt*>(nullptr, [&]() -> IPluginV2DynamicExt* {
      nb::object copy = object_.attr("clone")();
      requireClass(copy, "IPluginV2DynamicExt");
      auto* plugin = new PyPluginV2(copy);
      plugin->inputs_ = inputs_;
      return plugin;
    });
  }

 private:
  Kept object_;
  int32_t inputs_ = 0;  // enqueue() is not told
  mutable AttributeText type_, version_, space_;
};

}  // namespace

IPluginV2* ownedV2From(nb::object object) {
  if (object.is_none()) return nullptr;
  if (nb::isinstance<IPluginV2>(object)) return nb::cast<IPluginV2*>(object)->clone();
  requireClass(object, "IPluginV2DynamicExt");
  return new PyPluginV2(std::move(object));
}

Borrowed<IPluginV2, DestroyV2> pluginV2From(nb::handle object) {
  if (nb::isinstance<IPluginV2>(object)) return {nb::cast<IPluginV2*>(object), {false}};
  requireClass(object, "IPluginV2DynamicExt");
  return {new PyPluginV2(nb::borrow(object)), {true}};
}

nb::object objectOf(IPluginV2* plugin, nb::rv_policy policy) {
  if (auto* ours = dynamic_cast<PyPluginV2*>(plugin)) {
    nb::object object = nb::borrow(ours->object());
    if (policy == nb::rv_policy::take_ownership) delete ours;
    return object;
  }
  return nb::cast(plugin, policy);
}

void bindPluginsV2(nb::module_& m) {
  nb::class_<IPluginV2>(m, "_LibraryPluginV2")
      .def_prop_ro("num_outputs", &IPluginV2::getNbOutputs)
      .def_prop_ro("tensorrt_version", &IPluginV2::getTensorRTVersion)
      .def_prop_ro("plugin_type", text(&IPluginV2::getPluginType))
      .def_prop_ro("plugin_version", text(&IPluginV2::getPluginVersion))
      .def_prop_rw("plugin_namespace", text(&IPluginV2::getPluginNamespace),
                   &IPluginV2::setPluginNamespace)
      .def_prop_ro("serialization_size", &IPluginV2::getSerializationSize)
      .def("serialize",
           [](const IPluginV2& self) {
             std::string bytes(self.getSerializationSize(), '\0');
             self.serialize(bytes.data());
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("clone", [](const IPluginV2& self) {
        return objectOf(self.clone(), nb::rv_policy::take_ownership);
      });
}

}  // namespace camshaft::python
