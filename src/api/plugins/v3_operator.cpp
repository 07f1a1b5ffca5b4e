// IPluginV3 while an engine is built.
#include <algorithm>

#include "api/plugins/expressions.h"
#include "api/plugins/operators.h"
#include "api/plugins/standard.h"
#include "api/plugins/tensors.h"
#include "api/plugins/v3.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

class V3Operator final : public PluginOp {
 public:
  explicit V3Operator(IPluginV3& given)
      : object_(given.clone(), "clone()"),
        label_(labelOf(object_.name(), object_.build().getTimingCacheID())) {}

  IPluginV3& object() const { return object_.get(); }
  const std::string& label() const override { return label_; }
  std::vector<Value*> addOperators(Graph& graph, const std::string& name,
                                   const std::vector<Value*>& inputs, Node* before) const override {
    return addStandardObject(&object_.get(), graph, name, inputs, before);
  }

  PluginResults infer(std::span<const TensorType> inputs,
                      std::span<const Shape> sizes) const override {
    const std::lock_guard lock(mutex_);
    IPluginV3OneBuild& build = object_.build();
    PluginResults results;
    results.outputs.resize(requireOutputs(object_.name(), build.getNbOutputs()));
    inferTypes(build, inputs, results);
    inferShapes(build, inputs, sizes, results);
    requireSizeTensors(object_.name(), results);
    return results;
  }

  std::string whyNot(const PluginTensors& tensors) const override {
    const std::lock_guard lock(mutex_);
    const V3Object copy = object_.clone();
    IPluginV3OneBuild& build = copy.build();
    const auto count = static_cast<int32_t>(tensors.outputs.size());
    if (std::string reason = whyNotInPlace(aliasesOf(copy, tensors), tensors); !reason.empty())
      return reason;
    std::vector<DynamicPluginTensorDesc> all = describe(tensors.inputs);
    std::ranges::copy(describe(tensors.outputs), std::back_inserter(all));
    return whyUnsupported(tensors, [&](int32_t position) {
      return build.supportsFormatCombination(position, all.data(),
                                             static_cast<int32_t>(tensors.inputs.size()), count);
    });
  }

  std::vector<int32_t> tactics(const PluginTensors& tensors) const override {
    const std::lock_guard lock(mutex_);
    const V3Object copy = configured(tensors);
    IPluginV3OneBuild& build = copy.build();
    std::vector<int32_t> tactics(std::clamp(build.getNbTactics(), 0, kMostTactics));
    if (tactics.empty()) return {0};
    copy.require(build.getValidTactics(tactics.data(), static_cast<int32_t>(tactics.size())),
                 "getValidTactics()");
    if (std::ranges::any_of(tactics, [](int32_t tactic) { return tactic <= 0; }))
      copy.refuse("gave a tactic that is not positive");
    return tactics;
  }

  PluginConfiguration configure(const PluginTensors& tensors, int32_t tactic) const override {
    const std::lock_guard lock(mutex_);
    const V3Object copy = configured(tensors);
    const auto inputs = describe(tensors.inputs), outputs = describe(tensors.outputs);
    const size_t workspace =
        copy.build().getWorkspaceSize(inputs.data(), static_cast<int32_t>(inputs.size()),
                                      outputs.data(), static_cast<int32_t>(outputs.size()));
    const PluginParams params{.version = PluginParams::Version::kV3,
                              .name = copy.name(),
                              .tactic = tactic,
                              .aliases = aliasesOf(copy, tensors),
                              .data = PluginFields(copy.runtime().getFieldsToSerialize()).bytes()};
    return {params.bytes(), static_cast<int64_t>(workspace)};
  }

 private:
  static constexpr int32_t kMostTactics = 1 << 16;

  void inferTypes(IPluginV3OneBuild& build, std::span<const TensorType> inputs,
                  PluginResults& results) const {
    const std::vector<nvinfer1::DataType> given = typesOf(inputs);
    std::vector<nvinfer1::DataType> types(results.outputs.size());
    object_.require(build.getOutputDataTypes(types.data(), static_cast<int32_t>(types.size()),
                                             given.data(), static_cast<int32_t>(given.size())),
                    "getOutputDataTypes()");
    for (size_t i = 0; i < types.size(); ++i)
      results.outputs[i].type = requireType(object_.name(), i, types[i]);
  }

  void inferShapes(IPluginV3OneBuild& build, std::span<const TensorType> inputs,
                   std::span<const Shape> sizes, PluginResults& results) const {
    Expressions expressions;
    std::vector<DimsExprs> given, values, shapes(results.outputs.size());
    for (const TensorType& input : inputs) given.push_back(expressions.of(input.shape));
    for (const Shape& list : sizes) values.push_back(expressions.of(list));
    const int32_t status =
        build.getOutputShapes(given.data(), static_cast<int32_t>(given.size()), values.data(),
                              static_cast<int32_t>(values.size()), shapes.data(),
                              static_cast<int32_t>(shapes.size()), expressions);
    naming(object_.name(), [&] { expressions.requireSound(); });
    object_.require(status, "getOutputShapes()");
    naming(object_.name(), [&] {
      for (size_t i = 0; i < shapes.size(); ++i)
        results.outputs[i].shape = expressions.shapeOf(shapes[i], static_cast<int32_t>(i));
    });
    results.sizes = expressions.sizes();
  }

  // For each output the input that it changes in place, or -1.
  static std::vector<int32_t> aliasesOf(const V3Object& copy, const PluginTensors& tensors) {
    IPluginV3OneBuild& build = copy.build();
    std::vector<int32_t> aliases;
    if (build.getInterfaceInfo().major < 2) return aliases;
    for (size_t i = 0; i < tensors.outputs.size(); ++i)
      aliases.push_back(
          static_cast<IPluginV3OneBuildV2&>(build).getAliasedInput(static_cast<int32_t>(i)));
    return aliases;
  }

  static std::string whyNotInPlace(const std::vector<int32_t>& aliases,
                                   const PluginTensors& tensors) {
    for (size_t i = 0; i < aliases.size(); ++i) {
      const int32_t input = aliases[i];
      if (input < 0) continue;
      if (static_cast<size_t>(input) >= tensors.inputs.size() ||
          std::ranges::count(aliases, input) > 1 ||
          tensors.inputs[static_cast<size_t>(input)].type != tensors.outputs[i].type)
        return str("cannot change its input ", input, " in place as its output ", i,
                   ": the two must be alike, and each input of one output");
    }
    return {};
  }

  V3Object configured(const PluginTensors& tensors) const {
    V3Object copy = object_.clone();
    const auto inputs = describe(tensors.inputs), outputs = describe(tensors.outputs);
    copy.require(copy.build().configurePlugin(inputs.data(), static_cast<int32_t>(inputs.size()),
                                              outputs.data(), static_cast<int32_t>(outputs.size())),
                 "configurePlugin()");
    return copy;
  }

  mutable std::mutex mutex_;
  V3Object object_;
  std::string label_;
};

}  // namespace

std::shared_ptr<const PluginOp> makeV3Operator(IPluginV3& plugin) {
  return std::make_shared<V3Operator>(plugin);
}

IPluginV3* v3ObjectOf(const PluginOp& plugin) {
  const auto* own = dynamic_cast<const V3Operator*>(&plugin);
  return own ? &own->object() : nullptr;
}

}  // namespace camshaft::api
