#include "backends/cuda/runtime/libraries/cudnn_graph.h"

#include <numeric>

#include "backends/cuda/runtime/libraries/cudnn.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

int64_t bytesOf(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_BOOLEAN:
    case CUDNN_DATA_FP8_E4M3:
    case CUDNN_DATA_FP8_E5M2:
      return 1;
    default:
      return 4;
  }
}

Descriptor tensorDescriptor(const GraphTensor& tensor) {
  Descriptor descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, tensor.id);
  descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, tensor.type);
  descriptor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.dims);
  descriptor.set(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides);
  descriptor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignmentOf(tensor));
  if (tensor.role == GraphTensor::Role::kVirtual) {
    descriptor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
  } else if (tensor.role == GraphTensor::Role::kScalar) {
    descriptor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
  }
  descriptor.finalize("describing a tensor");
  return descriptor;
}

// What an operation computes, apart from its tensors.
Descriptor settingsOf(const GraphOperation& op) {
  switch (op.kind) {
    case GraphOperation::Kind::kConvolution: {
      Descriptor settings(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
      settings.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, op.computeType);
      settings.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                   CUDNN_CROSS_CORRELATION);
      settings.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
                   static_cast<int64_t>(op.strides.size()));
      settings.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, op.strides);
      settings.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, op.dilations);
      settings.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, op.padsBegin);
      settings.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, op.padsEnd);
      return settings;
    }
    case GraphOperation::Kind::kMatmul: {
      Descriptor settings(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
      settings.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, op.computeType);
      return settings;
    }
    case GraphOperation::Kind::kReduction: {
      Descriptor settings(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
      settings.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, op.computeType);
      settings.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op.reduction);
      return settings;
    }
    case GraphOperation::Kind::kPointwise:
      break;
  }
  Descriptor settings(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  settings.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, op.pointwise);
  settings.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, op.computeType);
  if (op.pointwise == CUDNN_POINTWISE_RELU_FWD) {
    settings.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE,
                 static_cast<double>(op.lowerClip));
    settings.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE,
                 static_cast<double>(op.upperClip));
  }
  if (op.axis >= 0) settings.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, op.axis);
  return settings;
}

Descriptor operationDescriptor(const GraphOperation& op, const Descriptor& settings,
                               std::span<const Descriptor> tensors) {
  switch (op.kind) {
    case GraphOperation::Kind::kConvolution: {
      Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
      operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, settings);
      operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensors[op.a]);
      operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, tensors[op.b]);
      operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, tensors[op.y]);
      operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0f);
      operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0f);
      return operation;
    }
    case GraphOperation::Kind::kMatmul: {
      Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
      operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, settings);
      operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, tensors[op.a]);
      operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, tensors[op.b]);
      operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, tensors[op.y]);
      return operation;
    }
    case GraphOperation::Kind::kReduction: {
      Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
      operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, settings);
      operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, tensors[op.a]);
      operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, tensors[op.y]);
      return operation;
    }
    case GraphOperation::Kind::kPointwise:
      break;
  }
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, settings);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensors[op.a]);
  if (op.b >= 0) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tensors[op.b]);
  if (op.condition >= 0) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, tensors[op.condition]);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensors[op.y]);
  return operation;
}

}  // namespace

cudnnDataType_t cudnnTypeOf(DataType type) {
  switch (type) {
    case DataType::kF16:
      return CUDNN_DATA_HALF;
    case DataType::kBF16:
      return CUDNN_DATA_BFLOAT16;
    case DataType::kF32:
      return CUDNN_DATA_FLOAT;
    case DataType::kI8:
      return CUDNN_DATA_INT8;
    case DataType::kI32:
      return CUDNN_DATA_INT32;
    case DataType::kF8E4M3:
      return CUDNN_DATA_FP8_E4M3;
    case DataType::kF8E5M2:
      return CUDNN_DATA_FP8_E5M2;
    default:
      fail(ErrorKind::kUnsupported, "cuDNN takes no ", type);
  }
}

std::vector<int64_t> rowMajorStrides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

int64_t alignmentOf(const GraphTensor& tensor) {
  // What is never stored lies nowhere.
  if (tensor.role != GraphTensor::Role::kOperand) return kTensorAlignment;
  int64_t alignment = kTensorAlignment;
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i] > 1 && tensor.strides[i] != 1)
      alignment = std::gcd(alignment, tensor.strides[i] * bytesOf(tensor.type));
  return alignment;
}

int OperationGraph::operand(int64_t id, cudnnDataType_t type, std::vector<int64_t> dims,
                            std::vector<int64_t> strides) {
  tensors.push_back({id, GraphTensor::Role::kOperand, type, std::move(dims), std::move(strides)});
  return static_cast<int>(tensors.size()) - 1;
}

int OperationGraph::between(int like, cudnnDataType_t type) {
  const int64_t id = kFirstOtherId + static_cast<int64_t>(tensors.size());
  tensors.push_back(
      {id, GraphTensor::Role::kVirtual, type, tensors[like].dims, tensors[like].strides});
  return static_cast<int>(tensors.size()) - 1;
}

int OperationGraph::between(cudnnDataType_t type, std::vector<int64_t> dims) {
  const int64_t id = kFirstOtherId + static_cast<int64_t>(tensors.size());
  std::vector<int64_t> strides = rowMajorStrides(dims);
  tensors.push_back({id, GraphTensor::Role::kVirtual, type, std::move(dims), std::move(strides)});
  return static_cast<int>(tensors.size()) - 1;
}

int OperationGraph::scalar(float value, int rank) {
  const std::vector<int64_t> ones(rank, 1);
  const int64_t id = kFirstOtherId + static_cast<int64_t>(tensors.size());
  tensors.push_back(
      {id, GraphTensor::Role::kScalar, CUDNN_DATA_FLOAT, ones, ones, {.real = value}});
  return static_cast<int>(tensors.size()) - 1;
}

int OperationGraph::scalar(int32_t value, int rank) {
  const int index = scalar(0.0f, rank);
  tensors[index].type = CUDNN_DATA_INT32;
  tensors[index].integer = value;
  return index;
}

int OperationGraph::pointwise(cudnnPointwiseMode_t mode, int a, int b, cudnnDataType_t type) {
  const int y = between(a, type);
  operations.push_back({.a = a, .b = b, .y = y, .pointwise = mode});
  return y;
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  cudnn().check(cudnn().createDescriptor(type, &raw_), "creating a descriptor");
}

Descriptor::~Descriptor() {
  if (raw_) cudnn().destroyDescriptor(raw_);
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     int64_t count, const void* values) {
  cudnn().check(cudnn().setAttribute(raw_, name, type, count, values), "describing an operation");
}

void Descriptor::finalize(const char* doing) { cudnn().check(tryFinalize(), doing); }

cudnnStatus_t Descriptor::tryFinalize() { return cudnn().finalize(raw_); }

int64_t Descriptor::get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                        int64_t count, void* values) const {
  int64_t available = 0;
  cudnn().check(cudnn().getAttribute(raw_, name, type, count, &available, values),
                "reading an attribute");
  return available;
}

LoweredGraph::LoweredGraph(const OperationGraph& graph, cudnnHandle_t handle)
    : graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  parts_.reserve(graph.tensors.size() + 2 * graph.operations.size());
  for (const GraphTensor& tensor : graph.tensors) parts_.push_back(tensorDescriptor(tensor));
  const std::span<const Descriptor> tensors(parts_.data(), graph.tensors.size());
  std::vector<cudnnBackendDescriptor_t> operations;
  for (const GraphOperation& op : graph.operations) {
    parts_.push_back(settingsOf(op));
    parts_.back().finalize("describing an operation");
    Descriptor operation = operationDescriptor(op, parts_.back(), tensors);
    operation.finalize("describing an operation");
    operations.push_back(operation.raw());
    parts_.push_back(std::move(operation));
  }
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
             static_cast<int64_t>(operations.size()), operations.data());
  if (handle) graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph_.finalize("describing a graph");
}

}  // namespace camshaft::cuda
