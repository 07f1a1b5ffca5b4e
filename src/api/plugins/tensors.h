// Tensors as plugins get them described: linear, and of a scale that says nothing.
#pragma once

#include <span>
#include <vector>

#include "NvInferRuntime.h"
#include "backend/launch.h"
#include "ir/tensor.h"

namespace camshaft {
struct PluginTensor;
}

namespace camshaft::api {

nvinfer1::PluginTensorDesc describe(DataType type, std::span<const int64_t> dims);
std::vector<nvinfer1::PluginTensorDesc> describe(std::span<const TensorArg> args);
// What a plugin's launch hands over; nothing is allocated while the shapes stay.
struct LaunchTensors {
  std::vector<nvinfer1::PluginTensorDesc> inputDescs, outputDescs;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;

  bool update(const LaunchArgs& args);  // whether types or shapes are others than the last ones
};

// Of fixed sizes, all of them.
nvinfer1::DynamicPluginTensorDesc fixed(const nvinfer1::PluginTensorDesc& desc);

// Sizes that a profile leaves open are -1 in the description.
nvinfer1::DynamicPluginTensorDesc describe(const PluginTensor& tensor);
std::vector<nvinfer1::DynamicPluginTensorDesc> describe(std::span<const PluginTensor> tensors);
// At the largest sizes of the profile.
std::vector<nvinfer1::PluginTensorDesc> describeLargest(std::span<const PluginTensor> tensors);

}  // namespace camshaft::api
