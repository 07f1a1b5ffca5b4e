// IPluginV3: objects of Python's as the library sees them, and the other way round.
#include "plugin_fields.h"
#include "plugin_shapes.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

class PyCore final : public IPluginV3OneCore {
 public:
  explicit PyCore(nb::object object) : object_(std::move(object)) {}
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  const char* getPluginName() const noexcept override { return name_.of(object_, "plugin_name"); }
  const char* getPluginVersion() const noexcept override {
    return version_.of(object_, "plugin_version");
  }
  const char* getPluginNamespace() const noexcept override {
    return space_.of(object_, "plugin_namespace");
  }

 private:
  Kept object_;
  mutable AttributeText name_, version_, space_;
};

class PyBuild final : public IPluginV3OneBuildV2 {
 public:
  explicit PyBuild(nb::object object) : object_(std::move(object)) {}
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  int32_t configurePlugin(const DynamicPluginTensorDesc* in, int32_t inputs,
                          const DynamicPluginTensorDesc* out, int32_t outputs) noexcept override {
    return fromPython(-1, [&] {
      return statusOf(object_.attr("configure_plugin")(listOf(in, inputs), listOf(out, outputs)));
    });
  }
  int32_t getOutputDataTypes(DataType* types, int32_t outputs, const DataType* inputTypes,
                             int32_t inputs) const noexcept override {
    return fromPython(-1, [&] {
      nb::object result = object_.attr("get_output_data_types")(listOf(inputTypes, inputs));
      return take(nb::cast<std::vector<DataType>>(result), types, outputs, "types");
    });
  }
  int32_t getOutputShapes(const DimsExprs* in, int32_t inputs, const DimsExprs* shapeInputs,
                          int32_t shapes, DimsExprs* out, int32_t outputs,
                          IExprBuilder& builder) noexcept override {
    return fromPython(-1, [&] {
      const CurrentShapeCall call(builder);
      nb::object result = object_.attr("get_output_shapes")(
          call.toPython(in, inputs), call.toPython(shapeInputs, shapes), call.builder());
      std::vector<DimsExprs> given;
      for (const SizeExprs& shape : nb::cast<std::vector<SizeExprs>>(result))
        given.push_back(call.fromPython(shape));
      return take(given, out, outputs, "shapes");
    });
  }
  bool supportsFormatCombination(int32_t position, const DynamicPluginTensorDesc* inOut,
                                 int32_t inputs, int32_t outputs) noexcept override {
    return fromPython(false, [&] {
      nb::object result = object_.attr("supports_format_combination")(
          position, listOf(inOut, inputs + outputs), inputs);
      return nb::cast<bool>(nb::bool_(result));
    });
  }
  int32_t getNbOutputs() const noexcept override { return number("num_outputs", -1); }
  size_t getWorkspaceSize(const DynamicPluginTensorDesc* in, int32_t inputs,
                          const DynamicPluginTensorDesc* out,
                          int32_t outputs) const noexcept override {
    return fromPython<size_t>(0, [&] {
      return nb::cast<size_t>(
          object_.attr("get_workspace_size")(listOf(in, inputs), listOf(out, outputs)));
    });
  }
  int32_t getNbTactics() noexcept override {
    return fromPython(0, [&] {
      tactics_ = nb::cast<std::vector<int32_t>>(object_.attr("get_valid_tactics")());
      return static_cast<int32_t>(tactics_.size());
    });
  }
  int32_t getValidTactics(int32_t* tactics, int32_t count) noexcept override {
    getNbTactics();
    if (static_cast<size_t>(count) != tactics_.size()) return -1;
    std::copy(tactics_.begin(), tactics_.end(), tactics);
    return 0;
  }
  const char* getTimingCacheID() noexcept override {
    return cacheId_.of(object_, "timing_cache_id");
  }
  int32_t getFormatCombinationLimit() noexcept override {
    return number("format_combination_limit", kDEFAULT_FORMAT_COMBINATION_LIMIT);
  }
  const char* getMetadataString() noexcept override {
    return metadata_.of(object_, "metadata_string");
  }
  int32_t getAliasedInput(int32_t output) noexcept override {
    return fromPython(-1, [&] {
      if (!nb::hasattr(object_.get(), "get_aliased_input")) return -1;
      return nb::cast<int32_t>(object_.attr("get_aliased_input")(output));
    });
  }

 private:
  template <class T>
  static int32_t take(const std::vector<T>& values, T* to, int32_t count, const char* what) {
    if (static_cast<int32_t>(values.size()) != count)
      throw nb::value_error(("the plugin has " + std::to_string(count) + " outputs and gave " +
                             std::to_string(values.size()) + " " + what)
                                .c_str());
    std::copy(values.begin(), values.end(), to);
    return 0;
  }
  int32_t number(const char* attribute, int32_t fallback) const {
    return fromPython(fallback, [&] { return nb::cast<int32_t>(object_.attr(attribute)); });
  }

  Kept object_;
  std::vector<int32_t> tactics_;
  AttributeText cacheId_, metadata_;
};

class PyRuntime final : public IPluginV3OneRuntime {
 public:
  explicit PyRuntime(nb::object object) : object_(std::move(object)) {}
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  int32_t setTactic(int32_t tactic) noexcept override {
    return fromPython(-1, [&] { return statusOf(object_.attr("set_tactic")(tactic)); });
  }
  int32_t onShapeChange(const PluginTensorDesc* in, int32_t inputs, const PluginTensorDesc* out,
                        int32_t outputs) noexcept override {
    inputs_ = inputs;
    outputs_ = outputs;
    return fromPython(-1, [&] {
      return statusOf(object_.attr("on_shape_change")(listOf(in, inputs), listOf(out, outputs)));
    });
  }
  int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc* outputDesc,
                  const void* const* inputs, void* const* outputs, void* workspace,
                  cudaStream_t stream) noexcept override {
    return fromPython(-1, [&] {
      return statusOf(object_.attr("enqueue")(
          listOf(inputDesc, inputs_), listOf(outputDesc, outputs_), addressesOf(inputs, inputs_),
          addressesOf(outputs, outputs_), address(workspace), address(stream)));
    });
  }
  IPluginV3* attachToContext(IPluginResourceContext* context) noexcept override {
    return fromPython<IPluginV3*>(nullptr, [&] {
      return ownedV3From(
          object_.attr("attach_to_context")(nb::cast(context, nb::rv_policy::reference)));
    });
  }
  const PluginFieldCollection* getFieldsToSerialize() noexcept override {
    return fromPython<const PluginFieldCollection*>(
        nullptr, [&] { return fields_.assign(object_.attr("get_fields_to_serialize")()); });
  }

 private:
  Kept object_;
  int32_t inputs_ = 0, outputs_ = 0;  // enqueue() is not told
  Fields fields_;
};

// Usually one object has all the capabilities.
class PyPluginV3 final : public IPluginV3 {
 public:
  explicit PyPluginV3(nb::object object) : object_(std::move(object)) {}
  nb::handle object() const { return object_.get(); }
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  IPluginCapability* getCapabilityInterface(PluginCapabilityType type) noexcept override {
    auto& capability = capabilities_[static_cast<size_t>(type)];
    if (capability) return capability.get();
    return fromPython<IPluginCapability*>(nullptr, [&]() -> IPluginCapability* {
      nb::object object = object_.attr("get_capability_interface")(type);
      if (object.is_none()) return nullptr;
      if (type == PluginCapabilityType::kCORE)
        capability = std::make_unique<PyCore>(object);
      else if (type == PluginCapabilityType::kBUILD)
        capability = std::make_unique<PyBuild>(object);
      else
        capability = std::make_unique<PyRuntime>(object);
      return capability.get();
    });
  }
  IPluginV3* clone() noexcept override {
    return fromPython<IPluginV3*>(nullptr, [&] { return ownedV3From(object_.attr("clone")()); });
  }

 private:
  Kept object_;
  std::array<std::unique_ptr<IPluginCapability>, 3> capabilities_;
};

}  // namespace

IPluginV3* ownedV3From(nb::object object) {
  if (object.is_none()) return nullptr;
  if (nb::isinstance<IPluginV3>(object)) return nb::cast<IPluginV3*>(object)->clone();
  requireClass(object, "IPluginV3");
  return new PyPluginV3(std::move(object));
}

Borrowed<IPluginV3, DeleteV3> pluginV3From(nb::handle object) {
  if (nb::isinstance<IPluginV3>(object)) return {nb::cast<IPluginV3*>(object), {false}};
  requireClass(object, "IPluginV3");
  return {new PyPluginV3(nb::borrow(object)), {true}};
}

nb::object objectOf(IPluginV3* plugin, nb::rv_policy policy) {
  if (auto* ours = dynamic_cast<PyPluginV3*>(plugin)) {
    nb::object object = nb::borrow(ours->object());
    if (policy == nb::rv_policy::take_ownership) delete ours;
    return object;
  }
  return nb::cast(plugin, policy);
}

void bindPluginsV3(nb::module_& m) {
  nb::class_<IPluginV3, IVersionedInterface>(m, "_LibraryPluginV3")
      .def("clone",
           [](IPluginV3& self) { return objectOf(self.clone(), nb::rv_policy::take_ownership); })
      .def("destroy", [](nb::handle) {});
}

}  // namespace camshaft::python
