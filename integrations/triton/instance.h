// An instance of a model: a context of its engine, and the memory that requests pass through.
#pragma once

#include <memory>
#include <vector>

#include "NvInfer.h"
#include "memory.h"
#include "model.h"
#include "request.h"
#include "signature.h"
#include "triton_api.h"

namespace triton_backend {

// An output of the engine: its memory, of which a run may want more than was known before it.
class EngineOutput : public nvinfer1::IOutputAllocator {
 public:
  EngineOutput(Tensor tensor, nvinfer1::IDevice* device)
      : tensor_(std::move(tensor)), buffer_(device) {}

  // Before a run: the engine writes to `target`, or where that is null to memory of this object's.
  void place(nvinfer1::IExecutionContext& context, const Shape& shape, uint64_t bytes,
             void* target);
  // The same where the run decides the shape.
  void placeGrowing(nvinfer1::IExecutionContext& context);

  const Tensor& tensor() const { return tensor_; }
  const Shape& shape() const { return shape_; }                            // after the run
  const char* data() const { return static_cast<const char*>(address_); }  // likewise

  void* reallocateOutput(const char* name, void* current, uint64_t bytes,
                         uint64_t alignment) noexcept override;
  void notifyShape(const char* name, const nvinfer1::Dims& dims) noexcept override;

 private:
  Tensor tensor_;
  Buffer buffer_;
  Shape shape_;
  void* address_ = nullptr;
};

// Used by one thread at a time, as Triton does.
class Instance {
 public:
  Instance(TRITONBACKEND_ModelInstance* handle, Model& model);

  // Answers every request. Those of one shape run together as one batch; what fails together is
  // tried one by one, so that a bad request costs nobody else anything.
  void execute(TRITONBACKEND_Request** requests, uint32_t count);

 private:
  using Group = std::vector<Request*>;

  bool splitsByBatch();
  std::vector<Group> groupsOf(const std::vector<std::unique_ptr<Request>>& requests) const;
  void answerGroup(const Group& group);
  void run(const Group& group);

  void setShapes(const Request& request, int64_t batch);
  void selectProfile(const std::vector<Shape>& shapes);
  void gather(const Group& group);
  void* gatherInput(const Group& group, size_t input);
  void deliver(const Group& group, size_t output, int64_t batch);
  bool isOnHost(const Tensor& tensor) const;
  bool canUse(const void* data, const Place& place, const Tensor& tensor) const;

  TRITONBACKEND_ModelInstance* handle_;
  const Signature& signature_;
  bool isBatched_;
  int64_t maxBatch_;
  int32_t gpu_ = 0;
  std::shared_ptr<nvinfer1::ICudaEngine> engine_;
  Stream stream_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::vector<Buffer> inputs_;
  std::vector<std::unique_ptr<EngineOutput>> outputs_;
  bool splits_;  // the results of a batch can be given back request by request
};

}  // namespace triton_backend
