// A model that Triton has loaded, which its instances share.
#pragma once

#include <memory>
#include <string>

#include "engine_source.h"
#include "settings.h"
#include "signature.h"
#include "triton_api.h"

namespace triton_backend {

class Model {
 public:
  // Reads the configuration, completes and checks it. Engines are built for the first instance.
  explicit Model(TRITONBACKEND_Model* model);

  const Signature& signature() const { return signature_; }
  bool isBatched() const { return maxBatchSize_ > 0; }  // the first dimension joins requests
  int64_t maxBatchSize() const { return maxBatchSize_; }

  std::shared_ptr<nvinfer1::ICudaEngine> engineFor(TRITONBACKEND_ModelInstance* instance);

 private:
  std::unique_ptr<EngineSource> source_;
  Settings settings_;
  Signature signature_;
  int64_t maxBatchSize_ = 0;
};

}  // namespace triton_backend
