#include "signature.h"

#include <algorithm>
#include <numeric>

#include "errors.h"

namespace triton_backend {
namespace {

using nvinfer1::DataType;

struct TypeNames {
  DataType type;
  TRITONSERVER_DataType triton;
  const char* name;
  uint64_t bytes;
};
constexpr TypeNames kTypes[] = {
    {DataType::kBOOL, TRITONSERVER_TYPE_BOOL, "BOOL", 1},
    {DataType::kUINT8, TRITONSERVER_TYPE_UINT8, "UINT8", 1},
    {DataType::kUINT16, TRITONSERVER_TYPE_UINT16, "UINT16", 2},
    {DataType::kUINT32, TRITONSERVER_TYPE_UINT32, "UINT32", 4},
    {DataType::kUINT64, TRITONSERVER_TYPE_UINT64, "UINT64", 8},
    {DataType::kINT8, TRITONSERVER_TYPE_INT8, "INT8", 1},
    {DataType::kINT16, TRITONSERVER_TYPE_INT16, "INT16", 2},
    {DataType::kINT32, TRITONSERVER_TYPE_INT32, "INT32", 4},
    {DataType::kINT64, TRITONSERVER_TYPE_INT64, "INT64", 8},
    {DataType::kHALF, TRITONSERVER_TYPE_FP16, "FP16", 2},
    {DataType::kFLOAT, TRITONSERVER_TYPE_FP32, "FP32", 4},
    {DataType::kDOUBLE, TRITONSERVER_TYPE_FP64, "FP64", 8},
    {DataType::kBF16, TRITONSERVER_TYPE_BF16, "BF16", 2},
};

const TypeNames& rowOf(const Tensor& tensor) {
  for (const TypeNames& row : kTypes)
    if (row.type == tensor.type) return row;
  fail(TRITONSERVER_ERROR_UNSUPPORTED, "'", tensor.name,
       "' has a type that Triton's protocol cannot carry; cast it to one of 8 bits or more in the "
       "model");
}

Tensor toTensor(const nvinfer1::ITensor& tensor) {
  const char* first = tensor.getDimensions().nbDims > 0 ? tensor.getDimensionName(0) : nullptr;
  return {tensor.getName(), tensor.getType(), toShape(tensor.getDimensions()), first ? first : ""};
}

}  // namespace

Signature signatureOf(const nvinfer1::INetworkDefinition& network) {
  Signature signature;
  for (int32_t i = 0; i < network.getNbInputs(); ++i)
    signature.inputs.push_back(toTensor(*network.getInput(i)));
  for (int32_t i = 0; i < network.getNbOutputs(); ++i)
    signature.outputs.push_back(toTensor(*network.getOutput(i)));
  return signature;
}

Signature signatureOf(const nvinfer1::ICudaEngine& engine) {
  Signature signature;
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    const bool isInput = engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
    (isInput ? signature.inputs : signature.outputs)
        .push_back(
            {name, engine.getTensorDataType(name), toShape(engine.getTensorShape(name)), ""});
  }
  return signature;
}

Shape toShape(const nvinfer1::Dims& dims) { return {dims.d, dims.d + std::max(dims.nbDims, 0)}; }

nvinfer1::Dims toDims(const Shape& shape) {
  if (shape.size() > nvinfer1::Dims::MAX_DIMS)
    fail(TRITONSERVER_ERROR_INVALID_ARG, "a tensor has at most ", nvinfer1::Dims::MAX_DIMS,
         " dimensions, and ", toText(shape), " has ", shape.size());
  nvinfer1::Dims dims{};
  dims.nbDims = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), dims.d);
  return dims;
}

std::string toText(const Shape& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ",") + std::to_string(size);
  return "[" + text + "]";
}

bool fits(const Shape& given, const Shape& own) {
  if (own.empty()) return given.empty() || given == Shape{1};
  return std::equal(given.begin(), given.end(), own.begin(), own.end(),
                    [](int64_t a, int64_t b) { return a == -1 || b == -1 || a == b; });
}

TRITONSERVER_DataType toTriton(const Tensor& tensor) { return rowOf(tensor).triton; }

uint64_t bytesOf(const Tensor& tensor, const Shape& shape) {
  return std::accumulate(
      shape.begin(), shape.end(), rowOf(tensor).bytes,
      [](uint64_t product, int64_t size) { return product * static_cast<uint64_t>(size); });
}

std::string nameOf(TRITONSERVER_DataType type) {
  for (const TypeNames& row : kTypes)
    if (row.triton == type) return row.name;
  return type == TRITONSERVER_TYPE_BYTES ? "BYTES" : "INVALID";
}

}  // namespace triton_backend
