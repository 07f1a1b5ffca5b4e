// A cuDNN operation graph as plain data, and as the library's descriptors.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/data_type.h"

namespace camshaft::cuda {

// Bytes; what operands begin at a multiple of, as engines' buffers do.
inline constexpr int64_t kTensorAlignment = 16;

cudnnDataType_t cudnnTypeOf(DataType type);

struct GraphTensor {
  enum class Role : uint8_t {
    kOperand,  // memory, bound by its id when the plan runs
    kVirtual,  // between operations, never stored
    kScalar,   // one number, passed by value
  };
  int64_t id = 0;
  Role role = Role::kVirtual;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> dims, strides;
  union {
    float real = 0;
    int32_t integer;
  };
};

struct GraphOperation {
  enum class Kind : uint8_t { kConvolution, kMatmul, kReduction, kPointwise };
  Kind kind = Kind::kPointwise;
  cudnnDataType_t computeType = CUDNN_DATA_FLOAT;
  int a = -1, b = -1, condition = -1, y = -1;  // tensors

  cudnnPointwiseMode_t pointwise = CUDNN_POINTWISE_ADD;
  float lowerClip = 0, upperClip = 0;  // of CUDNN_POINTWISE_RELU_FWD
  int64_t axis = -1;                   // of CUDNN_POINTWISE_GEN_INDEX

  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;

  std::vector<int64_t> strides, dilations, padsBegin, padsEnd;  // of a convolution
};

// Operations in order. Tensors are named by their index.
struct OperationGraph {
  std::vector<GraphTensor> tensors;
  std::vector<GraphOperation> operations;

  int operand(int64_t id, cudnnDataType_t type, std::vector<int64_t> dims,
              std::vector<int64_t> strides);
  // Between operations, shaped like `like`.
  int between(int like, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  int between(cudnnDataType_t type, std::vector<int64_t> dims);
  int scalar(float value, int rank);
  int scalar(int32_t value, int rank);
  // y = mode(a, b); the result is a new tensor between operations.
  int pointwise(cudnnPointwiseMode_t mode, int a, int b = -1,
                cudnnDataType_t type = CUDNN_DATA_FLOAT);
};

// Ids of tensors that are not operands start here.
inline constexpr int64_t kFirstOtherId = 1000;

std::vector<int64_t> rowMajorStrides(std::span<const int64_t> dims);

// What cuDNN may count on, in bytes: every row and pixel of an operand begins at a multiple of it.
// Engines that are compiled late take it for that, and read 16 bytes at any pixel where they were
// promised 16: with 21 channels of f16, that is a misaligned address.
int64_t alignmentOf(const GraphTensor& tensor);

// One descriptor of cuDNN's backend interface.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : raw_(other.raw_) { other.raw_ = nullptr; }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
           const void* values);
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, std::span<const int64_t> values) {
    set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.raw_);
  }
  void finalize(const char* doing);
  // Success, or cuDNN's reason.
  cudnnStatus_t tryFinalize();
  // How many values the attribute has, up to `count` of them written.
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
              void* values) const;
  cudnnBackendDescriptor_t raw() const { return raw_; }

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

// The graph in cuDNN's form. `handle` may be null for plans made without a device.
class LoweredGraph {
 public:
  LoweredGraph(const OperationGraph& graph, cudnnHandle_t handle);
  const Descriptor& get() const { return graph_; }

 private:
  std::vector<Descriptor> parts_;  // what the graph refers to
  Descriptor graph_;
};

}  // namespace camshaft::cuda
