#include "api/plugins/tensors.h"

#include <algorithm>

#include "api/convert.h"

namespace camshaft::api {

nvinfer1::PluginTensorDesc describe(DataType type, std::span<const int64_t> dims) {
  return {toPublic(dims), toPublic(type), nvinfer1::TensorFormat::kLINEAR, 1.0f};
}

std::vector<nvinfer1::PluginTensorDesc> describe(std::span<const TensorArg> args) {
  std::vector<nvinfer1::PluginTensorDesc> descs;
  for (const TensorArg& arg : args) descs.push_back(describe(arg.type, arg.shape()));
  return descs;
}

namespace {

bool isOf(const nvinfer1::PluginTensorDesc& desc, const TensorArg& arg) {
  return desc.type == toPublic(arg.type) && desc.dims.nbDims == arg.rank &&
         std::equal(arg.dims, arg.dims + arg.rank, desc.dims.d);
}

bool areOf(const std::vector<nvinfer1::PluginTensorDesc>& descs, std::span<const TensorArg> args) {
  return std::equal(descs.begin(), descs.end(), args.begin(), args.end(), isOf);
}

}  // namespace

bool LaunchTensors::update(const LaunchArgs& args) {
  const bool isSame = areOf(inputDescs, args.inputs) && areOf(outputDescs, args.outputs);
  if (!isSame) {
    inputDescs = describe(args.inputs);
    outputDescs = describe(args.outputs);
    inputs.resize(args.inputs.size());
    outputs.resize(args.outputs.size());
  }
  const auto addressOf = [](const TensorArg& arg) { return arg.data; };
  std::ranges::transform(args.inputs, inputs.begin(), addressOf);
  std::ranges::transform(args.outputs, outputs.begin(), addressOf);
  return !isSame;
}

nvinfer1::DynamicPluginTensorDesc fixed(const nvinfer1::PluginTensorDesc& desc) {
  return {desc, desc.dims, desc.dims, desc.dims};
}

}  // namespace camshaft::api
