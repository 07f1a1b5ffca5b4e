#include "api/plugins/operators.h"

#include <atomic>
#include <random>

#include "api/convert.h"

namespace camshaft::api {

std::string labelOf(const PluginName& name, const char* identity) {
  static const uint64_t process = (uint64_t{std::random_device{}()} << 32) + std::random_device{}();
  static std::atomic<uint64_t> count = 0;
  return str(name.space.empty() ? "" : name.space + "::", name.name, " ", name.version, " ",
             identity ? std::string(identity) : str("#", process, ".", ++count));
}

std::vector<nvinfer1::DataType> typesOf(std::span<const TensorType> tensors) {
  std::vector<nvinfer1::DataType> types;
  for (const TensorType& tensor : tensors) types.push_back(toPublic(tensor.type));
  return types;
}

size_t requireOutputs(const PluginName& name, int32_t count) {
  constexpr int32_t kMost = 1 << 16;
  if (count <= 0 || count > kMost)
    fail(ErrorKind::kInvalidArgument, "plugin ", toString(name), " says that it has ", count,
         " outputs");
  return static_cast<size_t>(count);
}

DataType requireType(const PluginName& name, size_t output, nvinfer1::DataType type) {
  const auto own = fromPublic(type);
  if (!own)
    fail(ErrorKind::kInvalidArgument, "plugin ", toString(name), " gives its output ", output,
         " an unknown type ", static_cast<int>(type));
  return *own;
}

void requireSizeTensors(const PluginName& name, const PluginResults& results) {
  for (const PluginSize& size : results.sizes) {
    const auto index = static_cast<size_t>(size.output);
    const bool exists = size.output >= 0 && index < results.outputs.size();
    if (exists && results.outputs[index].rank() == 0 && isInteger(results.outputs[index].type))
      continue;
    fail(ErrorKind::kInvalidArgument, "plugin ", toString(name), " declares output ", size.output,
         " a size tensor, which must be a scalar of type int64 or int32");
  }
}

std::string whyUnsupported(const PluginTensors& tensors,
                           const std::function<bool(int32_t position)>& supports) {
  const size_t inputs = tensors.inputs.size();
  for (size_t i = 0; i < inputs + tensors.outputs.size(); ++i) {
    if (supports(static_cast<int32_t>(i))) continue;
    const bool isInput = i < inputs;
    const TensorType& type = (isInput ? tensors.inputs[i] : tensors.outputs[i - inputs]).type;
    return str("does not take linear ", type.type, " as its ", isInput ? "input " : "output ",
               isInput ? i : i - inputs,
               "; cast the tensors around it to types that its supportsFormatCombination() takes");
  }
  return {};
}

}  // namespace camshaft::api
