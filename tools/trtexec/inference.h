// Running an engine: inputs, streams, timing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "options.h"
#include "report.h"

namespace trtexec {

// A context with memory for everything it reads and writes.
class Stream {
 public:
  Stream(nvinfer1::ICudaEngine& engine, const Options& options, ConsoleLogger& log, bool announce);
  void run();  // throws when the library reported an error
  nvinfer1::IExecutionContext& context() { return *context_; }
  std::string outputsJson() const;
  void printOutputs(ConsoleLogger& log) const;

 private:
  struct Tensor;
  void setShape(const std::string& name, const Options& options);
  void fillInput(Tensor& tensor, const Options& options, ConsoleLogger& log, bool announce);

  nvinfer1::ICudaEngine& engine_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::vector<std::unique_ptr<Tensor>> tensors_;

 public:
  ~Stream();
};

struct TimedRuns {
  std::vector<RunTimes> runs;
  double wallMs = 0;
};

// Warms up, then runs all streams until both --iterations and --duration are reached.
TimedRuns timeStreams(std::vector<std::unique_ptr<Stream>>& streams, const Options& options,
                      ConsoleLogger& log);

}  // namespace trtexec
