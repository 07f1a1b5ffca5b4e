// Engines for subgraphs: built, or found in a folder of engines.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "onnxruntime/graph_reader.h"
#include "onnxruntime/logger.h"
#include "onnxruntime/options.h"

namespace camshaft::ort {

// Whether a range, of what an engine takes of one input, has this shape in it.
bool holds(const ShapeRange& range, std::span<const int64_t> shape);

// What an engine is built from. Its weights may be gone once the session has been made.
struct Subgraph {
  std::string bytes;               // SubgraphModel::bytes
  std::vector<ModelInput> inputs;  // likewise
  std::vector<std::string> outputs;
  std::string name;  // of its engine file, by everything it depends on
};

// One per provider. Builds wait for one another; they use all threads as it is.
class EngineBuilder {
 public:
  EngineBuilder(const Options& options, Logger& logger);

  // Throws Error with the reason where there is none. `ranges` has one for each input; none at all
  // where all shapes are fixed. Goes to the folder of engines, if there is one and `keep`.
  std::unique_ptr<nvinfer1::ICudaEngine> build(const Subgraph& subgraph,
                                               std::span<const Weight> weights,
                                               std::span<const ShapeRange> ranges, bool keep);
  // Null where the folder has none that can be used.
  std::unique_ptr<nvinfer1::ICudaEngine> load(const Subgraph& subgraph);

  // Once, after the session was made: ONNX Runtime has freed the model's weights by then, and glibc
  // would keep their memory for allocations to come.
  void releaseFreed();

  // A name by content: model, weights, settings and machine.
  std::string nameOf(const SubgraphModel& model) const;

 private:
  struct Build;

  std::string pathOf(const Subgraph& subgraph) const;
  Build prepare(const Subgraph& subgraph, std::span<const Weight> weights,
                std::span<const ShapeRange> ranges);
  bool buildInto(const std::string& path, const Build& build);
  std::unique_ptr<nvinfer1::ICudaEngine> buildInScratchFile(Build& build);
  void useTimingCache(nvinfer1::IBuilderConfig& config);
  void saveTimingCache();

  const Options& options_;
  Logger& logger_;
  std::once_flag released_;
  std::mutex building_;
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<nvinfer1::ITimingCache> timings_;
};

}  // namespace camshaft::ort
