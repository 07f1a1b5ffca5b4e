#include "api/plugins/standard.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>

#include "api/plugins/params.h"
#include "api/plugins/registry.h"
#include "onnx/standard_plugins.h"
#include "support/half.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using onnx::StandardField;
using onnx::StandardPlugin;

template <class T>
std::vector<T> elementsOf(const PluginField& field) {
  std::vector<T> elements(static_cast<size_t>(field.length));
  std::memcpy(elements.data(), field.data, elements.size() * sizeof(T));
  return elements;
}

template <class T>
std::vector<int64_t> integersOf(const PluginField& field) {
  const std::vector<T> elements = elementsOf<T>(field);
  return {elements.begin(), elements.end()};
}

template <class T>
std::vector<double> realsOf(const PluginField& field) {
  std::vector<double> reals;
  for (const T element : elementsOf<T>(field)) reals.push_back(static_cast<float>(element));
  return reals;
}

PluginAttribute attributeOf(const PluginField& field) {
  const auto named = [&](auto value) { return PluginAttribute{field.name, std::move(value)}; };
  switch (field.type) {
    case PluginFieldType::kINT8:
      return named(integersOf<int8_t>(field));
    case PluginFieldType::kINT16:
      return named(integersOf<int16_t>(field));
    case PluginFieldType::kINT32:
      return named(integersOf<int32_t>(field));
    case PluginFieldType::kINT64:
      return named(integersOf<int64_t>(field));
    case PluginFieldType::kFLOAT16:
      return named(realsOf<Half>(field));
    case PluginFieldType::kFLOAT32:
      return named(realsOf<float>(field));
    case PluginFieldType::kFLOAT64:
      return named(realsOf<double>(field));
    case PluginFieldType::kCHAR: {
      const std::vector<char> text = elementsOf<char>(field);
      return named(std::string(text.begin(), std::find(text.begin(), text.end(), '\0')));
    }
    default:
      fail(ErrorKind::kInvalidArgument, "its field '", field.name, "' is of type ",
           static_cast<int>(field.type), ", where it takes numbers or text");
  }
}

std::vector<PluginAttribute> attributesOf(PluginFields fields) {
  const PluginFieldCollection view = fields.view();
  std::vector<PluginAttribute> attributes;
  for (int32_t i = 0; i < view.nbFields; ++i) attributes.push_back(attributeOf(view.fields[i]));
  return attributes;
}

// What an object of either class knows. Objects are found again by their address: what others wrote
// may have no run-time type information.
class StandardObject {
 public:
  StandardObject(const StandardPlugin& plugin, std::string version, std::string space,
                 PluginFields fields)
      : plugin(plugin),
        version(std::move(version)),
        space(std::move(space)),
        fields(std::move(fields)),
        name_(plugin.name),
        outputs_(onnx::outputTypesOf(plugin, attributesOf(this->fields))) {}

  const StandardPlugin& plugin;
  std::string version, space;
  PluginFields fields;

  const char* name() const { return name_.c_str(); }
  int32_t outputs() const { return static_cast<int32_t>(outputs_.size()); }

  std::vector<Value*> add(Graph& graph, const std::string& layer, const std::vector<Value*>& inputs,
                          Node* before) const {
    std::vector<PluginAttribute> attributes = attributesOf(fields);
    attributes.push_back({"plugin_version", version});
    return onnx::addStandardPlugin(graph, plugin, layer, inputs, attributes, before);
  }

  nvinfer1::DataType outputType(size_t i, const nvinfer1::DataType* inputs) const {
    const char letter = i < outputs_.size() ? outputs_[i] : 'x';
    return letter == 'i'   ? nvinfer1::DataType::kINT32
           : letter == 'f' ? nvinfer1::DataType::kFLOAT
                           : inputs[0];
  }

  // Sizes that are numbers or those of an input; nbDims is -1 where there is another.
  std::vector<DimsExprs> outputShapes(const DimsExprs* inputs, int32_t count,
                                      IExprBuilder& builder) const {
    Graph graph;
    std::vector<Value*> values;
    std::vector<std::pair<Dim, const IDimensionExpr*>> known;
    for (int32_t i = 0; i < count; ++i) {
      Shape shape;
      for (int32_t k = 0; k < inputs[i].nbDims; ++k) {
        const IDimensionExpr* size = inputs[i].d[k];
        shape.push_back(size->isConstant() ? Dim(size->getConstantValue())
                                           : graph.newSymbol(str("d", i, "_", k)));
        known.emplace_back(shape.back(), size);
      }
      const auto at = static_cast<size_t>(i);
      const bool isInteger = at < plugin.inputs.size() && plugin.inputs[at] == 'i';
      values.push_back(graph.addInput(
          str("input", i),
          {isInteger ? camshaft::DataType::kI32 : camshaft::DataType::kF32, std::move(shape)}));
    }
    std::vector<DimsExprs> shapes;
    for (const Value* output : add(graph, name_, values, nullptr)) {
      DimsExprs& dims = shapes.emplace_back(DimsExprs{static_cast<int32_t>(output->rank()), {}});
      for (int32_t k = 0; k < dims.nbDims; ++k) {
        const Dim& size = output->shape()[static_cast<size_t>(k)];
        const auto same = std::ranges::find(known, size, [](const auto& one) { return one.first; });
        dims.d[k] = size.isConstant()     ? builder.constant(size.value())
                    : same != known.end() ? same->second
                                          : nullptr;
      }
      if (std::find(dims.d, dims.d + dims.nbDims, nullptr) != dims.d + dims.nbDims)
        dims.nbDims = -1;
    }
    return shapes;
  }

 private:
  std::string name_, outputs_;
};

struct LiveObjects {
  std::mutex mutex;
  std::map<const void*, const StandardObject*> byAddress;
};
LiveObjects& liveObjects() {
  static auto* objects = new LiveObjects;
  return *objects;
}

// Known under the address of I while it lives.
template <class I>
class Known {
 public:
  Known(const I* address, const StandardObject& object) : address_(address) {
    const std::lock_guard lock(liveObjects().mutex);
    liveObjects().byAddress[address_] = &object;
  }
  ~Known() {
    const std::lock_guard lock(liveObjects().mutex);
    liveObjects().byAddress.erase(address_);
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

 private:
  const void* address_;
};

Reporter reporter() { return Reporter(getLogger()); }

class StandardV2 final : public IPluginV2DynamicExt {
 public:
  explicit StandardV2(StandardObject object) : object_(std::move(object)) {}

  const char* getPluginType() const noexcept override { return object_.name(); }
  const char* getPluginVersion() const noexcept override { return object_.version.c_str(); }
  int32_t getNbOutputs() const noexcept override { return object_.outputs(); }
  int32_t initialize() noexcept override { return 0; }
  void terminate() noexcept override {}
  size_t getSerializationSize() const noexcept override { return object_.fields.bytes().size(); }
  void serialize(void* buffer) const noexcept override {
    const std::vector<std::byte> bytes = object_.fields.bytes();
    std::memcpy(buffer, bytes.data(), bytes.size());
  }
  void destroy() noexcept override { delete this; }
  IPluginV2DynamicExt* clone() const noexcept override {
    return guarded<StandardV2*>(reporter(), nullptr, [&] { return new StandardV2(object_); });
  }
  void setPluginNamespace(const char* space) noexcept override {
    object_.space = space ? space : "";
  }
  const char* getPluginNamespace() const noexcept override { return object_.space.c_str(); }
  nvinfer1::DataType getOutputDataType(int32_t index, const nvinfer1::DataType* inputs,
                                       int32_t) const noexcept override {
    return object_.outputType(static_cast<size_t>(index), inputs);
  }
  DimsExprs getOutputDimensions(int32_t index, const DimsExprs* inputs, int32_t count,
                                IExprBuilder& builder) noexcept override {
    return guarded(reporter(), DimsExprs{-1, {}}, [&] {
      return object_.outputShapes(inputs, count, builder).at(static_cast<size_t>(index));
    });
  }
  bool supportsFormatCombination(int32_t position, const PluginTensorDesc* all, int32_t,
                                 int32_t) noexcept override {
    return all[position].format == TensorFormat::kLINEAR;
  }
  void configurePlugin(const DynamicPluginTensorDesc*, int32_t, const DynamicPluginTensorDesc*,
                       int32_t) noexcept override {}
  size_t getWorkspaceSize(const PluginTensorDesc*, int32_t, const PluginTensorDesc*,
                          int32_t) const noexcept override {
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc*, const PluginTensorDesc*, const void* const*,
                  void* const*, void*, cudaStream_t) noexcept override {
    return 1;
  }

 private:
  StandardObject object_;
  Known<IPluginV2> known_{this, object_};
};

class StandardV3 final : public IPluginV3,
                         public IPluginV3OneCore,
                         public IPluginV3OneBuild,
                         public IPluginV3OneRuntime {
 public:
  explicit StandardV3(StandardObject object) : object_(std::move(object)) {}

  IPluginCapability* getCapabilityInterface(PluginCapabilityType type) noexcept override {
    if (type == PluginCapabilityType::kCORE) return static_cast<IPluginV3OneCore*>(this);
    if (type == PluginCapabilityType::kBUILD) return static_cast<IPluginV3OneBuild*>(this);
    return static_cast<IPluginV3OneRuntime*>(this);
  }
  IPluginV3* clone() noexcept override {
    return guarded<StandardV3*>(reporter(), nullptr, [&] { return new StandardV3(object_); });
  }
  const char* getPluginName() const noexcept override { return object_.name(); }
  const char* getPluginVersion() const noexcept override { return object_.version.c_str(); }
  const char* getPluginNamespace() const noexcept override { return object_.space.c_str(); }

  int32_t configurePlugin(const DynamicPluginTensorDesc*, int32_t, const DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getNbOutputs() const noexcept override { return object_.outputs(); }
  int32_t getOutputDataTypes(nvinfer1::DataType* outputs, int32_t count,
                             const nvinfer1::DataType* inputs, int32_t) const noexcept override {
    for (int32_t i = 0; i < count; ++i)
      outputs[i] = object_.outputType(static_cast<size_t>(i), inputs);
    return 0;
  }
  int32_t getOutputShapes(const DimsExprs* inputs, int32_t count, const DimsExprs*, int32_t,
                          DimsExprs* outputs, int32_t outputCount,
                          IExprBuilder& builder) noexcept override {
    return guarded(reporter(), 1, [&] {
      const std::vector<DimsExprs> shapes = object_.outputShapes(inputs, count, builder);
      std::copy_n(shapes.begin(), std::min(shapes.size(), static_cast<size_t>(outputCount)),
                  outputs);
      return 0;
    });
  }
  bool supportsFormatCombination(int32_t position, const DynamicPluginTensorDesc* all, int32_t,
                                 int32_t) noexcept override {
    return all[position].desc.format == TensorFormat::kLINEAR;
  }
  int32_t onShapeChange(const PluginTensorDesc*, int32_t, const PluginTensorDesc*,
                        int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc*, const PluginTensorDesc*, const void* const*,
                  void* const*, void*, cudaStream_t) noexcept override {
    return 1;
  }
  IPluginV3* attachToContext(IPluginResourceContext*) noexcept override { return clone(); }
  const PluginFieldCollection* getFieldsToSerialize() noexcept override {
    view_ = object_.fields.view();
    return &view_;
  }

 private:
  StandardObject object_;
  Known<IPluginV3> known_{this, object_};
  PluginFieldCollection view_{};
};

// What the creators of both classes say.
class StandardCreator {
 public:
  StandardCreator(const StandardPlugin& plugin, std::string version, const char* space)
      : plugin_(plugin), name_(plugin.name), version_(std::move(version)), space_(space) {
    using Kind = StandardField::Kind;
    for (const StandardField& field : plugin.fields)
      fields_.emplace_back(field.name.c_str(), nullptr,
                           field.kind == Kind::kInteger ? PluginFieldType::kINT32
                           : field.kind == Kind::kReal  ? PluginFieldType::kFLOAT32
                                                        : PluginFieldType::kCHAR,
                           std::max(field.count, 1));
    view_ = {static_cast<int32_t>(fields_.size()), fields_.data()};
  }

 protected:
  StandardObject object(PluginFields fields) const {
    return {plugin_, version_, space_, std::move(fields)};
  }

  const StandardPlugin& plugin_;
  std::string name_, version_, space_;
  std::vector<PluginField> fields_;
  PluginFieldCollection view_{};
};

class StandardCreatorV2 final : public IPluginCreator, private StandardCreator {
 public:
  using StandardCreator::StandardCreator;
  const char* getPluginName() const noexcept override { return name_.c_str(); }
  const char* getPluginVersion() const noexcept override { return version_.c_str(); }
  const PluginFieldCollection* getFieldNames() noexcept override { return &view_; }
  IPluginV2* createPlugin(const char*, const PluginFieldCollection* fields) noexcept override {
    return guarded<IPluginV2*>(reporter(), nullptr,
                               [&] { return new StandardV2(object(PluginFields(fields))); });
  }
  IPluginV2* deserializePlugin(const char*, const void* data, size_t size) noexcept override {
    const std::span bytes(static_cast<const std::byte*>(data), size);
    return guarded<IPluginV2*>(reporter(), nullptr,
                               [&] { return new StandardV2(object(PluginFields(bytes))); });
  }
  void setPluginNamespace(const char* space) noexcept override { space_ = space ? space : ""; }
  const char* getPluginNamespace() const noexcept override { return space_.c_str(); }
};

class StandardCreatorV3 final : public IPluginCreatorV3One, private StandardCreator {
 public:
  using StandardCreator::StandardCreator;
  const char* getPluginName() const noexcept override { return name_.c_str(); }
  const char* getPluginVersion() const noexcept override { return version_.c_str(); }
  const char* getPluginNamespace() const noexcept override { return space_.c_str(); }
  const PluginFieldCollection* getFieldNames() noexcept override { return &view_; }
  IPluginV3* createPlugin(const char*, const PluginFieldCollection* fields,
                          TensorRTPhase) noexcept override {
    return guarded<IPluginV3*>(reporter(), nullptr,
                               [&] { return new StandardV3(object(PluginFields(fields))); });
  }
};

}  // namespace

void registerStandardPlugins(PluginRegistry& registry, const char* pluginNamespace) {
  const auto add = [&](IPluginCreatorInterface* creator) {
    registry.registerCreator(*creator, pluginNamespace);
  };
  for (const StandardPlugin& plugin : onnx::standardPlugins()) {
    const auto isNew = [&](const std::string& version) {
      return !registry.getCreator(std::string(plugin.name).c_str(), version.c_str(),
                                  pluginNamespace);
    };
    for (const std::string& version : plugin.versions)
      if (isNew(version)) add(new StandardCreatorV2(plugin, version, pluginNamespace));
    for (const std::string& version : plugin.versionsV3)
      if (isNew(version)) add(new StandardCreatorV3(plugin, version, pluginNamespace));
  }
}

std::vector<Value*> addStandardObject(const void* object, Graph& graph, const std::string& name,
                                      const std::vector<Value*>& inputs, Node* before) {
  const StandardObject* found = nullptr;
  {
    const std::lock_guard lock(liveObjects().mutex);
    const auto it = liveObjects().byAddress.find(object);
    if (it != liveObjects().byAddress.end()) found = it->second;
  }
  return found ? found->add(graph, name, inputs, before) : std::vector<Value*>();
}

}  // namespace camshaft::api
