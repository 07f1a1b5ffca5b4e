// An engine with contexts for as many runs as there are at once.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "NvInferRuntime.h"
#include "onnxruntime/engine_builder.h"

namespace camshaft::ort {

struct RunInput {
  const void* data = nullptr;  // on the host
  std::span<const int64_t> shape;
  size_t bytes = 0;
};

struct HostMemory {
  void* data = nullptr;
  size_t bytes = 0;
};
// For an output of that shape.
using OutputMemory = std::function<HostMemory(size_t output, std::span<const int64_t> shape)>;

class EngineContext;

class LoadedEngine {
 public:
  LoadedEngine(std::unique_ptr<nvinfer1::ICudaEngine> engine, const Subgraph& subgraph);
  ~LoadedEngine();

  const std::vector<ShapeRange>& ranges() const { return ranges_; }  // one for each input
  bool holds(std::span<const std::span<const int64_t>> shapes) const;

  // Throws Error. From any number of threads at once: a context is kept for each.
  void run(std::span<const RunInput> inputs, const OutputMemory& outputMemory);

 private:
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  const Subgraph& subgraph_;
  std::vector<ShapeRange> ranges_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<EngineContext>> idle_;
};

}  // namespace camshaft::ort
