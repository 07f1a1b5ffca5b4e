// Tensors inside an engine, written to files as runs reach them.
#pragma once

#include <string>
#include <vector>

#include "NvInfer.h"
#include "options/options.h"
#include "report.h"

namespace trtexec {

// --saveDebugTensors and --saveAllDebugTensors. A tensor that several runs reach is that of the
// last one.
class DebugTensorWriter : public nvinfer1::IDebugListener {
 public:
  // The device is null for a CPU engine.
  DebugTensorWriter(nvinfer1::IDevice* device, const InferenceOptions& inference,
                    ConsoleLogger& log);

  bool processDebugTensor(const void* address, nvinfer1::TensorLocation location,
                          nvinfer1::DataType type, const nvinfer1::Dims& shape, const char* name,
                          cudaStream_t stream) override;

 private:
  struct Tensor {
    std::string name;
    nvinfer1::DataType type;
    nvinfer1::Dims dims;
    std::string bytes;
  };

  void write(const Tensor& tensor);
  void summarize(const Tensor& tensor);

  nvinfer1::IDevice* device_;
  const InferenceOptions& inference_;
  ConsoleLogger& log_;
  std::map<std::string, std::string> summaries_;  // JSON, by name
};

}  // namespace trtexec
