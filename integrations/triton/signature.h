// What a model takes and gives, read from its ONNX file or its engine.
#pragma once

#include <string>
#include <vector>

#include "NvInfer.h"
#include "settings.h"
#include "triton_api.h"

namespace triton_backend {

struct Tensor {
  std::string name;
  nvinfer1::DataType type;
  Shape shape;            // -1 where a request decides
  std::string batchName;  // what the model calls the first dimension; empty where it says nothing
};

struct Signature {
  std::vector<Tensor> inputs, outputs;
};

Signature signatureOf(const nvinfer1::INetworkDefinition& network);
Signature signatureOf(const nvinfer1::ICudaEngine& engine);

Shape toShape(const nvinfer1::Dims& dims);
nvinfer1::Dims toDims(const Shape& shape);
std::string toText(const Shape& shape);

// Whether a shape of a configuration or a request can be that of a tensor: -1 is any size on either
// side, and what has rank 0 may have one element, since a configuration cannot do without.
bool fits(const Shape& given, const Shape& own);

// Throws where Triton has no such type: nobody could send or get such a tensor.
TRITONSERVER_DataType toTriton(const Tensor& tensor);
uint64_t bytesOf(const Tensor& tensor, const Shape& shape);
std::string nameOf(TRITONSERVER_DataType type);  // "FP32", as protocols and messages have it

}  // namespace triton_backend
