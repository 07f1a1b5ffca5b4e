// IPluginV2 while an engine is built.
#include <algorithm>
#include <mutex>

#include "api/convert.h"
#include "api/plugins/expressions.h"
#include "api/plugins/operators.h"
#include "api/plugins/standard.h"
#include "api/plugins/tensors.h"
#include "api/plugins/v2.h"
#include "ops/rules.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

std::vector<PluginTensorDesc> joined(std::vector<PluginTensorDesc> a,
                                     const std::vector<PluginTensorDesc>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::byte> serialized(const IPluginV2& object) {
  std::vector<std::byte> data(object.getSerializationSize());
  object.serialize(data.data());
  return data;
}

// What both kinds do alike. Answers come from a clone where they change the object.
class V2Operator : public PluginOp {
 public:
  explicit V2Operator(V2Object object)
      : object_(std::move(object)), label_(labelOf(object_.name(), nullptr)) {}

  IPluginV2& object() const { return object_.get(); }
  const std::string& label() const override { return label_; }
  std::vector<Value*> addOperators(Graph& graph, const std::string& name,
                                   const std::vector<Value*>& inputs, Node* before) const override {
    return addStandardObject(&object_.get(), graph, name, inputs, before);
  }

  PluginResults infer(std::span<const TensorType> inputs,
                      std::span<const Shape> /*sizes*/) const override {
    const std::lock_guard lock(mutex_);
    PluginResults results;
    results.outputs.resize(requireOutputs(object_.name(), object_.get().getNbOutputs()));
    const std::vector<nvinfer1::DataType> types = typesOf(inputs);
    for (size_t i = 0; i < results.outputs.size(); ++i)
      results.outputs[i].type = outputType(i, types);
    naming(object_.name(), [&] { inferShapes(inputs, results.outputs); });
    return results;
  }

  std::vector<int32_t> tactics(const PluginTensors&) const override { return {0}; }

  PluginConfiguration configure(const PluginTensors& tensors, int32_t /*tactic*/) const override {
    const std::lock_guard lock(mutex_);
    const V2Object copy = object_.clone();
    const auto workspace = static_cast<int64_t>(configure(copy, tensors));
    const PluginParams params{.version = PluginParams::Version::kV2,
                              .name = copy.name(),
                              .tactic = 0,
                              .aliases = {},
                              .data = serialized(copy.get())};
    return {params.bytes(), workspace};
  }

 protected:
  virtual void inferShapes(std::span<const TensorType> inputs,
                           std::vector<TensorType>& outputs) const = 0;
  // Bytes of workspace.
  virtual size_t configure(const V2Object& copy, const PluginTensors& tensors) const = 0;

  // IPluginV2 itself has no say: its outputs are of its input's type.
  DataType outputType(size_t output, const std::vector<nvinfer1::DataType>& inputs) const {
    if (object_.version() == PluginVersion::kV2)
      return inputs.empty() ? DataType::kF32 : *fromPublic(inputs.front());
    return requireType(object_.name(), output,
                       object_.ext().getOutputDataType(static_cast<int32_t>(output), inputs.data(),
                                                       static_cast<int32_t>(inputs.size())));
  }

  mutable std::mutex mutex_;
  V2Object object_;

 private:
  std::string label_;
};

class DynamicOperator final : public V2Operator {
 public:
  using V2Operator::V2Operator;

  std::string whyNot(const PluginTensors& tensors) const override {
    const std::lock_guard lock(mutex_);
    std::vector<PluginTensorDesc> all;
    for (const auto* list : {&tensors.inputs, &tensors.outputs})
      for (const PluginTensor& tensor : *list) all.push_back(describe(tensor).desc);
    return whyUnsupported(tensors, [&](int32_t position) {
      return object_.dynamicExt().supportsFormatCombination(
          position, all.data(), static_cast<int32_t>(tensors.inputs.size()),
          static_cast<int32_t>(tensors.outputs.size()));
    });
  }

 private:
  void inferShapes(std::span<const TensorType> inputs,
                   std::vector<TensorType>& outputs) const override {
    Expressions expressions;
    std::vector<DimsExprs> given;
    for (const TensorType& input : inputs) given.push_back(expressions.of(input.shape));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      outputs[i].shape = expressions.shapeOf(
          object_.dynamicExt().getOutputDimensions(index, given.data(),
                                                   static_cast<int32_t>(given.size()), expressions),
          index);
    }
    if (!expressions.sizes().empty())
      fail(ErrorKind::kUnsupported, "size tensors are for plugins of version 3");
  }

  size_t configure(const V2Object& copy, const PluginTensors& tensors) const override {
    const auto inputs = describe(tensors.inputs), outputs = describe(tensors.outputs);
    const auto in = static_cast<int32_t>(inputs.size()), out = static_cast<int32_t>(outputs.size());
    copy.dynamicExt().configurePlugin(inputs.data(), in, outputs.data(), out);
    const auto largestIn = describeLargest(tensors.inputs);
    const auto largestOut = describeLargest(tensors.outputs);
    return copy.dynamicExt().getWorkspaceSize(largestIn.data(), in, largestOut.data(), out);
  }
};

// The first dimension is the batch, which the plugin does not see.
class BatchedOperator final : public V2Operator {
 public:
  using V2Operator::V2Operator;

  std::string whyNot(const PluginTensors& tensors) const override {
    const std::lock_guard lock(mutex_);
    const auto inputs = withoutBatch(tensors.inputs), outputs = withoutBatch(tensors.outputs);
    const auto all = joined(inputs, outputs);
    return whyUnsupported(tensors, [&](int32_t position) {
      if (object_.version() == PluginVersion::kV2_IOEXT)
        return object_.ioExt().supportsFormatCombination(position, all.data(),
                                                         static_cast<int32_t>(inputs.size()),
                                                         static_cast<int32_t>(outputs.size()));
      // Of integers it is not asked: it said itself which outputs are some.
      const nvinfer1::DataType type = all[static_cast<size_t>(position)].type;
      return isInteger(*fromPublic(type)) ||
             object_.get().supportsFormat(type, TensorFormat::kLINEAR);
    });
  }

 private:
  static std::vector<PluginTensorDesc> withoutBatch(std::span<const PluginTensor> tensors) {
    std::vector<PluginTensorDesc> descs;
    for (const PluginTensor& tensor : tensors)
      descs.push_back(api::describe(tensor.type.type, std::span(tensor.max).subspan(1)));
    return descs;
  }

  void inferShapes(std::span<const TensorType> inputs,
                   std::vector<TensorType>& outputs) const override {
    if (inputs.empty()) fail(ErrorKind::kUnsupported, "it has no input, and so no batch");
    std::vector<nvinfer1::Dims> given;
    for (const TensorType& input : inputs) {
      if (input.shape.empty()) fail(ErrorKind::kUnsupported, "an input has no batch dimension");
      const Shape rest(input.shape.begin() + 1, input.shape.end());
      if (!isStatic(rest))
        fail(ErrorKind::kUnsupported, "an input has the shape ", toString(input.shape),
             ", and all but the batch must be known for a plugin of its class; write it as "
             "IPluginV3");
      requireSame(input.shape[0], inputs[0].shape[0], "the inputs of a plugin differ in batch");
      given.push_back(toPublic(staticDims(rest)));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const nvinfer1::Dims dims = object_.get().getOutputDimensions(
          static_cast<int32_t>(i), given.data(), static_cast<int32_t>(given.size()));
      outputs[i].shape = {inputs[0].shape[0]};
      for (const int64_t size : fromPublic(dims)) {
        if (size < 0)
          fail(ErrorKind::kInvalidArgument, "it gives its output ", i, " a dimension of size ",
               size);
        outputs[i].shape.emplace_back(size);
      }
    }
  }

  size_t configure(const V2Object& copy, const PluginTensors& tensors) const override {
    const auto batch = static_cast<int32_t>(tensors.inputs[0].max[0]);
    const auto inputs = withoutBatch(tensors.inputs), outputs = withoutBatch(tensors.outputs);
    const auto in = static_cast<int32_t>(inputs.size()), out = static_cast<int32_t>(outputs.size());
    if (copy.version() == PluginVersion::kV2_IOEXT)
      copy.ioExt().configurePlugin(inputs.data(), in, outputs.data(), out);
    else
      configureByDims(copy, inputs, outputs, batch);
    return copy.get().getWorkspaceSize(batch);
  }

  static void configureByDims(const V2Object& copy, const std::vector<PluginTensorDesc>& inputs,
                              const std::vector<PluginTensorDesc>& outputs, int32_t batch) {
    const auto dimsOf = [](const std::vector<PluginTensorDesc>& descs) {
      std::vector<nvinfer1::Dims> dims;
      for (const PluginTensorDesc& desc : descs) dims.push_back(desc.dims);
      return dims;
    };
    const auto listTypes = [](const std::vector<PluginTensorDesc>& descs) {
      std::vector<nvinfer1::DataType> types;
      for (const PluginTensorDesc& desc : descs) types.push_back(desc.type);
      return types;
    };
    const auto inputDims = dimsOf(inputs), outputDims = dimsOf(outputs);
    const auto inputTypes = listTypes(inputs), outputTypes = listTypes(outputs);
    const auto in = static_cast<int32_t>(inputs.size()), out = static_cast<int32_t>(outputs.size());
    if (copy.version() == PluginVersion::kV2)
      return copy.get().configureWithFormat(inputDims.data(), in, outputDims.data(), out,
                                            inputTypes[0], TensorFormat::kLINEAR, batch);
    const std::unique_ptr<bool[]> isBroadcast(new bool[std::max(inputs.size(), outputs.size())]());
    copy.ext().configurePlugin(inputDims.data(), in, outputDims.data(), out, inputTypes.data(),
                               outputTypes.data(), isBroadcast.get(), isBroadcast.get(),
                               TensorFormat::kLINEAR, batch);
  }
};

}  // namespace

std::shared_ptr<const PluginOp> makeV2Operator(IPluginV2& plugin) {
  V2Object object = V2Object::cloneOf(plugin);
  if (isDynamic(object.version())) return std::make_shared<DynamicOperator>(std::move(object));
  return std::make_shared<BatchedOperator>(std::move(object));
}

IPluginV2* v2ObjectOf(const PluginOp& plugin) {
  const auto* own = dynamic_cast<const V2Operator*>(&plugin);
  return own ? &own->object() : nullptr;
}

}  // namespace camshaft::api
