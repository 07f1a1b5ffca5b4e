// Running an engine: one context with its memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "io_tensor.h"
#include "options.h"
#include "report.h"

namespace trtexec {

// A context with memory for everything it reads and writes, and on a device a stream of its own.
// What fails throws, without words where the library reported them already.
class Stream {
 public:
  Stream(nvinfer1::ICudaEngine& engine, const Options& options, ConsoleLogger& log, bool announce);
  ~Stream();

  bool isOnDevice() const { return device_ != nullptr; }
  nvinfer1::IExecutionContext& context() { return *context_; }

  // Times are counted from here.
  void startClock();
  // Queues one run: inputs to the device, compute, outputs back. On a CPU it is over on return.
  void enqueue();
  // Waits for all queued runs and appends their times.
  void finish(std::vector<RunTimes>& runs);
  void run();  // one, without times

  // What the last run computed; call fetchOutputs() first.
  void fetchOutputs();
  std::string outputsJson() const;
  void printOutputs(ConsoleLogger& log) const;

 private:
  using Mark = std::shared_ptr<void>;
  struct Queued {
    RunTimes times;
    Mark begin, computeBegin, computeEnd, end;  // null on a CPU
  };

  void setShape(const std::string& name, const Options& options);
  void fillInput(IoTensor& tensor, const Options& options, ConsoleLogger& log, bool announce);
  void prepareOutput(IoTensor& tensor);
  void launch();
  void copyInputs();
  void copyOutputs();
  Mark mark();
  double milliseconds() const;  // since startClock(), by the host's clock

  nvinfer1::ICudaEngine& engine_;
  nvinfer1::IDevice* device_;  // null on a CPU
  bool transfers_;             // inputs and outputs travel with every run
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::vector<std::unique_ptr<IoTensor>> tensors_;
  cudaStream_t stream_ = nullptr;
  double clockStart_ = 0;
  Mark firstMark_;
  std::vector<Queued> queued_;
};

}  // namespace trtexec
