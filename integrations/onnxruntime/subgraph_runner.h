// A subgraph that ONNX Runtime calls: its engines, and the runs of these.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "onnxruntime/engine_builder.h"
#include "onnxruntime/engine_run.h"
#include "onnxruntime/ort_api.h"

namespace camshaft::ort {

// Sizes come in three ways. Where all are fixed or the user has given a profile, the one engine is
// built when the session is made. Otherwise the first run decides: its sizes are fixed in the first
// engine, which is as fast as one can be. A run of other sizes has it replaced by one that takes
// both and whatever is smaller or, from the second time on, up to twice as large, so there are few.
class SubgraphRunner {
 public:
  // `inputs` and `outputs` are the names that ONNX Runtime's node has, in the order of its kernel
  // context; weights are among the inputs where they stay with ONNX Runtime.
  SubgraphRunner(const OrtApi& api, EngineBuilder& builder, Logger& logger, const Options& options,
                 SubgraphModel model, std::span<const std::string> inputs,
                 std::vector<std::string> outputs);

  // From any number of threads at once.
  void run(OrtKernelContext* context);

 private:
  std::vector<ShapeRange> givenRanges(const Options& options) const;
  std::shared_ptr<LoadedEngine> engineFor(OrtKernelContext* context,
                                          std::span<const std::span<const int64_t>> shapes);
  std::shared_ptr<LoadedEngine> findEngine(std::span<const std::span<const int64_t>> shapes) const;
  std::shared_ptr<LoadedEngine> buildFor(std::span<const std::span<const int64_t>> shapes,
                                         std::span<const Weight> weights);
  std::vector<Weight> weightsOf(OrtKernelContext* context) const;
  std::shared_ptr<LoadedEngine> add(std::unique_ptr<nvinfer1::ICudaEngine> engine,
                                    bool replacesOthers);

  const OrtApi& api_;
  EngineBuilder& builder_;
  Logger& logger_;
  Subgraph subgraph_;
  std::vector<size_t> inputSlots_;  // of the subgraph's inputs, in the kernel context
  struct WeightSlot {
    std::string name;
    size_t slot;
  };
  std::vector<WeightSlot> weightSlots_;
  bool canRebuild_ = false;

  std::mutex building_;
  mutable std::mutex mutex_;  // for what follows
  std::vector<std::shared_ptr<LoadedEngine>> engines_;
};

}  // namespace camshaft::ort
