// The descriptions that builds need; runtimes have no profiles' bounds.
#include "api/convert.h"
#include "api/plugins/tensors.h"
#include "ops/plugin.h"

namespace camshaft::api {

nvinfer1::DynamicPluginTensorDesc describe(const PluginTensor& tensor) {
  Dims dims;
  for (const Dim& dim : tensor.type.shape) dims.push_back(dim.isConstant() ? dim.value() : -1);
  return {describe(tensor.type.type, dims), toPublic(tensor.min), toPublic(tensor.max),
          toPublic(tensor.opt)};
}

std::vector<nvinfer1::DynamicPluginTensorDesc> describe(std::span<const PluginTensor> tensors) {
  std::vector<nvinfer1::DynamicPluginTensorDesc> descs;
  for (const PluginTensor& tensor : tensors) descs.push_back(describe(tensor));
  return descs;
}

std::vector<nvinfer1::PluginTensorDesc> describeLargest(std::span<const PluginTensor> tensors) {
  std::vector<nvinfer1::PluginTensorDesc> descs;
  for (const PluginTensor& tensor : tensors)
    descs.push_back(describe(tensor.type.type, tensor.max));
  return descs;
}

}  // namespace camshaft::api
