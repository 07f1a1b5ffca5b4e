// Running an engine: one context with its memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "debug_tensors.h"
#include "io_tensor.h"
#include "options/options.h"
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

  // Gives inputs the values of files, and all others random ones.
  void setInputs(const FilesByName& files);
  // All inputs and outputs; call fetchOutputs() for what the last run computed.
  const std::vector<std::unique_ptr<IoTensor>>& tensors() const { return tensors_; }
  void fetchOutputs();

 private:
  using Mark = std::shared_ptr<void>;
  struct Queued {
    RunTimes times;
    Mark begin, computeBegin, computeEnd, end;  // null on a CPU
  };

  void setShape(const std::string& name, const Options& options);
  void prepareInput(IoTensor& tensor);
  void prepareOutput(IoTensor& tensor);
  void giveMemory();
  void watchDebugTensors(const Options& options, ConsoleLogger& log);
  void launch();
  void copyInputs();
  void copyOutputs();
  Mark mark();
  double milliseconds() const;  // since startClock(), by the host's clock

  nvinfer1::ICudaEngine& engine_;
  nvinfer1::IDevice* device_;  // null on a CPU
  bool transfers_;             // inputs and outputs travel with every run
  Memory arena_;               // where the context has none of its own
  std::unique_ptr<DebugTensorWriter> debugTensors_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::vector<std::unique_ptr<IoTensor>> tensors_;
  cudaStream_t stream_ = nullptr;
  double clockStart_ = 0;
  Mark firstMark_;
  std::vector<Queued> queued_;
};

}  // namespace trtexec
