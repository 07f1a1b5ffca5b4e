// The execution provider of one session.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "onnxruntime/engine_builder.h"
#include "onnxruntime/graph_reader.h"
#include "onnxruntime/logger.h"
#include "onnxruntime/options.h"
#include "onnxruntime/ort_api.h"

namespace camshaft::ort {

inline constexpr const char* kProviderName = "CamshaftExecutionProvider";

class Provider : public OrtEp {
 public:
  Provider(const OrtApi& api, const OrtLogger* log, Options options);

 private:
  // Claims subgraphs of a graph; of a control-flow node's body only where the node itself stays
  // with ONNX Runtime.
  void findCapability(const OrtGraph* graph, OrtEpGraphSupportInfo* info);
  void compile(const OrtGraph* graph, const OrtNode* fusedNode, OrtNodeComputeInfo*& made);
  void dump(const GraphReader& reader, const std::vector<size_t>& nodes,
            const std::vector<std::string>& outputs);
  bool isFree(const OrtNode* node) const;  // of other providers

  const OrtApi& api_;
  Logger logger_;
  Options options_;
  EngineBuilder builder_;
  std::atomic<int> dumped_ = 0;
};

}  // namespace camshaft::ort
