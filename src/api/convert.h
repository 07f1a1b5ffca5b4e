// Between the public types and ours.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "NvInferRuntime.h"
#include "support/data_type.h"

namespace camshaft::api {

nvinfer1::DataType toPublic(DataType type);
std::optional<DataType> fromPublic(nvinfer1::DataType type);

nvinfer1::Dims toPublic(std::span<const int64_t> dims);
nvinfer1::Dims invalidDims();  // nbDims -1, what getters return for an unknown name
std::vector<int64_t> fromPublic(
    const nvinfer1::Dims& dims);  // throws Error when nbDims is out of range

// Bytes handed to the caller.
nvinfer1::IHostMemory* makeHostMemory(std::vector<std::byte> bytes);

}  // namespace camshaft::api
