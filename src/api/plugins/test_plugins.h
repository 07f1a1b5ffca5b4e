// Plugins of every class, for tests. They run on the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "NvInfer.h"

namespace camshaft::api {

using namespace nvinfer1;

inline int64_t elementsOf(const nvinfer1::Dims& dims) {
  int64_t count = 1;
  for (int32_t i = 0; i < dims.nbDims; ++i) count *= dims.d[i];
  return count;
}

// Counts objects that are alive, and what was done to them.
struct PluginLog {
  std::atomic<int> alive = 0, initialized = 0, terminated = 0, attached = 0, detached = 0,
                   shapeChanges = 0;
};
inline PluginLog& pluginLog() {
  static PluginLog log;
  return log;
}
struct Counted {
  Counted() { ++pluginLog().alive; }
  Counted(const Counted&) { ++pluginLog().alive; }
  ~Counted() { --pluginLog().alive; }
};

// All capabilities in one object, with one field of floats.
template <class Derived, class Build = IPluginV3OneBuild>
class TestV3 : public IPluginV3,
               public IPluginV3OneCore,
               public Build,
               public IPluginV3OneRuntime,
               private Counted {
 public:
  explicit TestV3(std::vector<float> values = {}) : values_(std::move(values)) {}
  TestV3(const TestV3& other) : Counted(), values_(other.values_) {}
  ~TestV3() override = default;

  IPluginCapability* getCapabilityInterface(PluginCapabilityType type) noexcept override {
    if (type == PluginCapabilityType::kCORE) return static_cast<IPluginV3OneCore*>(this);
    if (type == PluginCapabilityType::kBUILD) return static_cast<Build*>(this);
    return static_cast<IPluginV3OneRuntime*>(this);
  }
  IPluginV3* clone() noexcept override { return new Derived(static_cast<Derived&>(*this)); }
  const char* getPluginName() const noexcept override { return Derived::kName; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }

  int32_t configurePlugin(const DynamicPluginTensorDesc*, int32_t, const DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nvinfer1::DataType* outputs, int32_t count,
                             const nvinfer1::DataType* inputs, int32_t) const noexcept override {
    std::fill(outputs, outputs + count, inputs[0]);
    return 0;
  }
  int32_t getOutputShapes(const DimsExprs* inputs, int32_t, const DimsExprs*, int32_t,
                          DimsExprs* outputs, int32_t count, IExprBuilder&) noexcept override {
    std::fill(outputs, outputs + count, inputs[0]);
    return 0;
  }
  bool supportsFormatCombination(int32_t position, const DynamicPluginTensorDesc* all, int32_t,
                                 int32_t) noexcept override {
    const PluginTensorDesc& desc = all[position].desc;
    return desc.format == TensorFormat::kLINEAR && desc.type == nvinfer1::DataType::kFLOAT;
  }
  int32_t onShapeChange(const PluginTensorDesc*, int32_t, const PluginTensorDesc*,
                        int32_t) noexcept override {
    ++pluginLog().shapeChanges;
    return 0;
  }
  IPluginV3* attachToContext(IPluginResourceContext*) noexcept override {
    ++pluginLog().attached;
    return clone();
  }
  const PluginFieldCollection* getFieldsToSerialize() noexcept override {
    field_ = PluginField("values", values_.data(), PluginFieldType::kFLOAT32,
                         static_cast<int32_t>(values_.size()));
    fields_ = {1, &field_};
    return &fields_;
  }

 protected:
  std::vector<float> values_;

 private:
  PluginField field_;
  PluginFieldCollection fields_;
};

template <class P>
class CreatorOf : public IPluginCreatorV3One {
 public:
  const char* getPluginName() const noexcept override { return P::kName; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  const PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  IPluginV3* createPlugin(const char*, const PluginFieldCollection* fc,
                          TensorRTPhase) noexcept override {
    std::vector<float> values;
    for (int32_t i = 0; i < fc->nbFields; ++i) {
      if (std::string_view(fc->fields[i].name) != "values") continue;
      const auto* data = static_cast<const float*>(fc->fields[i].data);
      values.assign(data, data + fc->fields[i].length);
    }
    return new P(std::move(values));
  }

 private:
  PluginField field_{"values", nullptr, PluginFieldType::kFLOAT32, 1};
  PluginFieldCollection fields_{1, &field_};
};

// y = a x + b, and the sum of each row of y: values are a and b.
class ScalePlugin final : public TestV3<ScalePlugin> {
 public:
  static constexpr char kName[] = "TestScale";
  using TestV3::TestV3;

  int32_t getNbOutputs() const noexcept override { return 2; }
  int32_t getOutputShapes(const DimsExprs* inputs, int32_t, const DimsExprs*, int32_t,
                          DimsExprs* outputs, int32_t, IExprBuilder&) noexcept override {
    outputs[0] = outputs[1] = inputs[0];
    --outputs[1].nbDims;
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc*,
                  const void* const* inputs, void* const* outputs, void*,
                  cudaStream_t) noexcept override {
    const nvinfer1::Dims& dims = inputDesc[0].dims;
    const int64_t width = dims.d[dims.nbDims - 1], rows = elementsOf(dims) / width;
    const auto* x = static_cast<const float*>(inputs[0]);
    auto *y = static_cast<float*>(outputs[0]), *sums = static_cast<float*>(outputs[1]);
    for (int64_t row = 0; row < rows; ++row) {
      sums[row] = 0;
      for (int64_t i = row * width; i < (row + 1) * width; ++i)
        sums[row] += y[i] = values_[0] * x[i] + values_[1];
    }
    return 0;
  }
};

// Its input in reverse, by way of the workspace; how often it ran is added, and it fails with the
// status that values say.
class ReversePlugin final : public TestV3<ReversePlugin> {
 public:
  static constexpr char kName[] = "TestReverse";
  using TestV3::TestV3;

  size_t getWorkspaceSize(const DynamicPluginTensorDesc* inputs, int32_t,
                          const DynamicPluginTensorDesc*, int32_t) const noexcept override {
    return static_cast<size_t>(elementsOf(inputs[0].max)) * sizeof(float);
  }
  int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc*,
                  const void* const* inputs, void* const* outputs, void* workspace,
                  cudaStream_t) noexcept override {
    if (!values_.empty()) return static_cast<int32_t>(values_[0]);
    const int64_t count = elementsOf(inputDesc[0].dims);
    auto *room = static_cast<float*>(workspace), *y = static_cast<float*>(outputs[0]);
    std::memcpy(room, inputs[0], static_cast<size_t>(count) * sizeof(float));
    for (int64_t i = 0; i < count; ++i) y[i] = room[count - 1 - i] + static_cast<float>(runs_);
    ++runs_;
    return 0;
  }

 private:
  int runs_ = 0;
};

// The elements above 0, and how many they are.
class PositivePlugin final : public TestV3<PositivePlugin> {
 public:
  static constexpr char kName[] = "TestPositive";
  using TestV3::TestV3;

  int32_t getNbOutputs() const noexcept override { return 2; }
  int32_t getOutputDataTypes(nvinfer1::DataType* outputs, int32_t, const nvinfer1::DataType*,
                             int32_t) const noexcept override {
    outputs[0] = nvinfer1::DataType::kFLOAT;
    outputs[1] = nvinfer1::DataType::kINT64;
    return 0;
  }
  bool supportsFormatCombination(int32_t, const DynamicPluginTensorDesc*, int32_t,
                                 int32_t) noexcept override {
    return true;
  }
  int32_t getOutputShapes(const DimsExprs* inputs, int32_t, const DimsExprs*, int32_t,
                          DimsExprs* outputs, int32_t, IExprBuilder& builder) noexcept override {
    const IDimensionExpr& most = *inputs[0].d[0];
    outputs[0] = {2, {builder.declareSizeTensor(1, most, most), builder.constant(1)}};
    outputs[1] = {0, {}};
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc*,
                  const void* const* inputs, void* const* outputs, void*,
                  cudaStream_t) noexcept override {
    const auto* x = static_cast<const float*>(inputs[0]);
    auto* y = static_cast<float*>(outputs[0]);
    int64_t& count = *static_cast<int64_t*>(outputs[1]);
    count = 0;
    for (int64_t i = 0; i < inputDesc[0].dims.d[0]; ++i)
      if (x[i] > 0) y[count++] = x[i];
    return 0;
  }
};

// Its shape input says its output's shape, which it fills with the number of elements.
class FillPlugin final : public TestV3<FillPlugin> {
 public:
  static constexpr char kName[] = "TestFill";
  using TestV3::TestV3;

  int32_t getOutputShapes(const DimsExprs*, int32_t, const DimsExprs* shapeInputs, int32_t count,
                          DimsExprs* outputs, int32_t, IExprBuilder&) noexcept override {
    if (count != 1) return 5;
    outputs[0] = shapeInputs[0];
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc*, const PluginTensorDesc* outputDesc, const void* const*,
                  void* const* outputs, void*, cudaStream_t) noexcept override {
    auto* y = static_cast<float*>(outputs[0]);
    const int64_t elements = elementsOf(outputDesc[0].dims);
    std::fill(y, y + elements, static_cast<float>(elements));
    return 0;
  }
};

// Adds 1 to the first element of its input, in place.
class BumpPlugin final : public TestV3<BumpPlugin, IPluginV3OneBuildV2> {
 public:
  static constexpr char kName[] = "TestBump";
  using TestV3::TestV3;

  int32_t getAliasedInput(int32_t) noexcept override { return 0; }
  int32_t enqueue(const PluginTensorDesc*, const PluginTensorDesc*, const void* const* inputs,
                  void* const* outputs, void*, cudaStream_t) noexcept override {
    if (inputs[0] != outputs[0]) return 1;
    ++*static_cast<float*>(outputs[0]);
    return 0;
  }
};

// Gives the number of its tactic, of which 7 takes long and 4 does not.
class TacticPlugin final : public TestV3<TacticPlugin> {
 public:
  static constexpr char kName[] = "TestTactic";
  using TestV3::TestV3;

  int32_t getNbTactics() noexcept override { return 2; }
  int32_t getValidTactics(int32_t* tactics, int32_t) noexcept override {
    tactics[0] = 7;
    tactics[1] = 4;
    return 0;
  }
  int32_t setTactic(int32_t tactic) noexcept override {
    tactic_ = tactic;
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc*, const void* const*,
                  void* const* outputs, void*, cudaStream_t) noexcept override {
    if (tactic_ == 7) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    auto* y = static_cast<float*>(outputs[0]);
    std::fill(y, y + elementsOf(inputDesc[0].dims), static_cast<float>(tactic_));
    return 0;
  }

 private:
  int32_t tactic_ = 0;
};

// What classes of version 2 share: a number that is serialised.
template <class Base, class Derived>
class TestV2 : public Base, private Counted {
 public:
  explicit TestV2(float value) : value_(value) {}
  TestV2(const TestV2& other) : Base(), Counted(), value_(other.value_) {}
  ~TestV2() override = default;

  const char* getPluginType() const noexcept override { return Derived::kName; }
  const char* getPluginVersion() const noexcept override { return "2"; }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t initialize() noexcept override {
    ++pluginLog().initialized;
    return 0;
  }
  void terminate() noexcept override { ++pluginLog().terminated; }
  size_t getSerializationSize() const noexcept override { return sizeof value_; }
  void serialize(void* buffer) const noexcept override {
    std::memcpy(buffer, &value_, sizeof value_);
  }
  void destroy() noexcept override { delete this; }
  Base* clone() const noexcept override { return new Derived(static_cast<const Derived&>(*this)); }
  void setPluginNamespace(const char* space) noexcept override { space_ = space; }
  const char* getPluginNamespace() const noexcept override { return space_.c_str(); }
  nvinfer1::DataType getOutputDataType(int32_t, const nvinfer1::DataType* inputs,
                                       int32_t) const noexcept override {
    return inputs[0];
  }
  void attachToContext(cudnnContext*, cublasContext*, IGpuAllocator*) noexcept override {
    ++pluginLog().attached;
  }
  void detachFromContext() noexcept override { ++pluginLog().detached; }

 protected:
  float value_;

 private:
  std::string space_;
};

template <class P>
class CreatorOfV2 : public IPluginCreator {
 public:
  const char* getPluginName() const noexcept override { return P::kName; }
  const char* getPluginVersion() const noexcept override { return "2"; }
  const PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  IPluginV2* createPlugin(const char*, const PluginFieldCollection* fc) noexcept override {
    return new P(fc->nbFields ? *static_cast<const float*>(fc->fields[0].data) : 0);
  }
  IPluginV2* deserializePlugin(const char*, const void* data, size_t size) noexcept override {
    float value = 0;
    if (size != sizeof value) return nullptr;
    std::memcpy(&value, data, sizeof value);
    return new P(value);
  }
  void setPluginNamespace(const char* space) noexcept override { space_ = space; }
  const char* getPluginNamespace() const noexcept override { return space_.c_str(); }

 private:
  std::string space_;
  PluginField field_{"value", nullptr, PluginFieldType::kFLOAT32, 1};
  PluginFieldCollection fields_{1, &field_};
};

// Its input twice, one after the other, plus the number.
class TwicePlugin final : public TestV2<IPluginV2DynamicExt, TwicePlugin> {
 public:
  static constexpr char kName[] = "TestTwice";
  using TestV2::TestV2;
  DimsExprs getOutputDimensions(int32_t, const DimsExprs* inputs, int32_t,
                                IExprBuilder& builder) noexcept override {
    DimsExprs dims = inputs[0];
    dims.d[0] = builder.operation(DimensionOperation::kPROD, *dims.d[0], *builder.constant(2));
    return dims;
  }
  bool supportsFormatCombination(int32_t position, const PluginTensorDesc* all, int32_t,
                                 int32_t) noexcept override {
    return all[position].type == nvinfer1::DataType::kFLOAT;
  }
  void configurePlugin(const DynamicPluginTensorDesc* in, int32_t, const DynamicPluginTensorDesc*,
                       int32_t) noexcept override {
    if (in[0].desc.dims.d[0] >= 0) ++pluginLog().shapeChanges;
  }
  size_t getWorkspaceSize(const PluginTensorDesc*, int32_t, const PluginTensorDesc*,
                          int32_t) const noexcept override {
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc*,
                  const void* const* inputs, void* const* outputs, void*,
                  cudaStream_t) noexcept override {
    const int64_t count = elementsOf(inputDesc[0].dims);
    const auto* x = static_cast<const float*>(inputs[0]);
    auto* y = static_cast<float*>(outputs[0]);
    for (int64_t i = 0; i < 2 * count; ++i) y[i] = x[i % count] + value_;
    return 0;
  }
};

// Adds the number to each element; sees a row, and the batch as a number of them.
class AddPlugin final : public TestV2<IPluginV2IOExt, AddPlugin> {
 public:
  static constexpr char kName[] = "TestAdd";
  using TestV2::TestV2;
  AddPlugin(const AddPlugin& other) : TestV2(other), width_(other.width_) {}

  nvinfer1::Dims getOutputDimensions(int32_t, const nvinfer1::Dims* inputs,
                                     int32_t) noexcept override {
    return inputs[0];
  }
  bool supportsFormatCombination(int32_t position, const PluginTensorDesc* all, int32_t,
                                 int32_t) const noexcept override {
    return all[position].type == nvinfer1::DataType::kFLOAT;
  }
  void configurePlugin(const PluginTensorDesc* in, int32_t, const PluginTensorDesc*,
                       int32_t) noexcept override {
    width_ = static_cast<float>(elementsOf(in[0].dims));
  }
  bool isOutputBroadcastAcrossBatch(int32_t, const bool*, int32_t) const noexcept override {
    return false;
  }
  bool canBroadcastInputAcrossBatch(int32_t) const noexcept override { return false; }
  size_t getWorkspaceSize(int32_t) const noexcept override { return 0; }
  size_t getSerializationSize() const noexcept override { return 2 * sizeof(float); }
  void serialize(void* buffer) const noexcept override {
    const float both[] = {value_, width_};
    std::memcpy(buffer, both, sizeof both);
  }
  int32_t enqueue(int32_t batchSize, const void* const* inputs, void* const* outputs, void*,
                  cudaStream_t) noexcept override {
    const auto* x = static_cast<const float*>(inputs[0]);
    auto* y = static_cast<float*>(outputs[0]);
    for (int64_t i = 0; i < batchSize * static_cast<int64_t>(width_); ++i) y[i] = x[i] + value_;
    return 0;
  }
  void setWidth(float width) { width_ = width; }

 private:
  float width_ = 0;
};

// Subtracts its second input and the number; is told sizes and types one by one.
class SubtractPlugin final : public TestV2<IPluginV2Ext, SubtractPlugin> {
 public:
  static constexpr char kName[] = "TestSubtract";
  using TestV2::TestV2;
  SubtractPlugin(const SubtractPlugin& other) : TestV2(other), width_(other.width_) {}

  nvinfer1::Dims getOutputDimensions(int32_t, const nvinfer1::Dims* inputs,
                                     int32_t) noexcept override {
    return inputs[0];
  }
  bool supportsFormat(nvinfer1::DataType type, PluginFormat format) const noexcept override {
    return type == nvinfer1::DataType::kFLOAT && format == PluginFormat::kLINEAR;
  }
  void configurePlugin(const nvinfer1::Dims* inputs, int32_t inputCount, const nvinfer1::Dims*,
                       int32_t outputCount, const nvinfer1::DataType* inputTypes,
                       const nvinfer1::DataType* outputTypes, const bool* inputIsBroadcast,
                       const bool* outputIsBroadcast, PluginFormat format,
                       int32_t maxBatchSize) noexcept override {
    const bool isRight =
        inputCount == 2 && outputCount == 1 && inputTypes[1] == nvinfer1::DataType::kFLOAT &&
        outputTypes[0] == nvinfer1::DataType::kFLOAT && !inputIsBroadcast[1] &&
        !outputIsBroadcast[0] && format == PluginFormat::kLINEAR && maxBatchSize == 4;
    width_ = isRight ? elementsOf(inputs[0]) : 0;
  }
  bool isOutputBroadcastAcrossBatch(int32_t, const bool*, int32_t) const noexcept override {
    return false;
  }
  bool canBroadcastInputAcrossBatch(int32_t) const noexcept override { return false; }
  size_t getWorkspaceSize(int32_t batch) const noexcept override { return sizeof(float) * batch; }
  size_t getSerializationSize() const noexcept override { return sizeof value_ + sizeof width_; }
  void serialize(void* buffer) const noexcept override {
    std::memcpy(buffer, &value_, sizeof value_);
    std::memcpy(static_cast<char*>(buffer) + sizeof value_, &width_, sizeof width_);
  }
  int32_t enqueue(int32_t batchSize, const void* const* inputs, void* const* outputs,
                  void* workspace, cudaStream_t) noexcept override {
    const auto *x = static_cast<const float*>(inputs[0]), *z = static_cast<const float*>(inputs[1]);
    auto *y = static_cast<float*>(outputs[0]), *room = static_cast<float*>(workspace);
    for (int32_t row = 0; row < batchSize; ++row) room[row] = value_;
    for (int64_t i = 0; i < batchSize * width_; ++i) y[i] = x[i] - z[i] - room[i / width_];
    return 0;
  }
  void setWidth(int64_t width) { width_ = width; }

 private:
  int64_t width_ = 0;
};

class SubtractCreator final : public CreatorOfV2<SubtractPlugin> {
 public:
  IPluginV2* deserializePlugin(const char*, const void* data, size_t size) noexcept override {
    float value = 0;
    int64_t width = 0;
    if (size != sizeof value + sizeof width) return nullptr;
    std::memcpy(&value, data, sizeof value);
    std::memcpy(&width, static_cast<const char*>(data) + sizeof value, sizeof width);
    auto* plugin = new SubtractPlugin(value);
    plugin->setWidth(width);
    return plugin;
  }
};

class AddCreator final : public CreatorOfV2<AddPlugin> {
 public:
  IPluginV2* deserializePlugin(const char*, const void* data, size_t size) noexcept override {
    float both[2];
    if (size != sizeof both) return nullptr;
    std::memcpy(both, data, sizeof both);
    auto* plugin = new AddPlugin(both[0]);
    plugin->setWidth(both[1]);
    return plugin;
  }
};

}  // namespace camshaft::api
