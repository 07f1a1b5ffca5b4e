// IRefitter: sets an engine's weights by name or by layer, and builds its plan again from them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/implements.h"
#include "api/report.h"
#include "runtime/loaded_engine.h"

namespace camshaft::api {

class Refitter final : public Implements<nvinfer1::IRefitter> {
 public:
  Refitter(std::shared_ptr<const LoadedEngine> engine, nvinfer1::ILogger* logger);

  // For the parser's refitter.
  const RefitRecord& record() const { return *engine_->plan().refit; }
  bool knows(const std::string& name) const { return byName_.contains(name); }
  // Throws Error when they do not fit. The memory stays until others take their place.
  void set(const std::string& name, const nvinfer1::Weights& weights,
           std::shared_ptr<const void> memory);

  nvinfer1::IRefitter* getPImpl() noexcept override { return this; }
  bool setWeights(const char* layer, nvinfer1::WeightsRole role,
                  const nvinfer1::Weights weights) noexcept override;
  bool setNamedWeights(const char* name, nvinfer1::Weights weights) noexcept override;
  bool setNamedWeightsWithLocation(const char* name, nvinfer1::Weights weights,
                                   nvinfer1::TensorLocation location) noexcept override;
  bool unsetNamedWeights(const char* name) noexcept override;
  nvinfer1::Weights getNamedWeights(const char* name) const noexcept override;
  nvinfer1::TensorLocation getWeightsLocation(const char* name) const noexcept override;
  nvinfer1::Weights getWeightsPrototype(const char* name) const noexcept override;

  int32_t getMissing(int32_t size, const char** layers,
                     nvinfer1::WeightsRole* roles) noexcept override;
  int32_t getAll(int32_t size, const char** layers, nvinfer1::WeightsRole* roles) noexcept override;
  int32_t getMissingWeights(int32_t size, const char** names) noexcept override;
  int32_t getAllWeights(int32_t size, const char** names) noexcept override;

  bool refitCudaEngine() noexcept override;
  bool refitCudaEngineAsync(cudaStream_t stream) noexcept override;

  void setWeightsValidation(bool validates) noexcept override { validates_ = validates; }
  bool getWeightsValidation() const noexcept override { return validates_; }
  bool setMaxThreads(int32_t maxThreads) noexcept override;
  int32_t getMaxThreads() const noexcept override { return maxThreads_; }
  nvinfer1::ILogger* getLogger() const noexcept override { return reporter_.logger(); }
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override {
    reporter_.setRecorder(recorder);
  }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override {
    return reporter_.recorder();
  }

  // Engines have no dynamic ranges: types are those of the network.
  bool setDynamicRange(const char* tensor, float min, float max) noexcept override;
  float getDynamicRangeMin(const char* tensor) const noexcept override;
  float getDynamicRangeMax(const char* tensor) const noexcept override;
  int32_t getTensorsWithDynamicRange(int32_t, const char**) const noexcept override { return 0; }

 private:
  struct Refittable {
    size_t source;  // of the record's
    std::string name, layer;
    nvinfer1::WeightsRole role;
    nvinfer1::Weights prototype;
    nvinfer1::Weights given = {};  // no values: none
    nvinfer1::TensorLocation location = nvinfer1::TensorLocation::kHOST;
    std::shared_ptr<const void> memory = nullptr;  // where it is this object's to keep
  };

  Refittable& named(const char* name);
  const Refittable& named(const char* name) const;
  Refittable& of(const char* layer, nvinfer1::WeightsRole role);
  void give(Refittable& weights, const nvinfer1::Weights& given, nvinfer1::TensorLocation location,
            std::shared_ptr<const void> memory = nullptr);
  bool isMissing(const Refittable& weights) const;
  template <class Wanted>
  int32_t list(int32_t size, const char** names, nvinfer1::WeightsRole* roles, bool byLayer,
               Wanted&& wanted) const;
  std::vector<std::byte> bytesOf(const Refittable& weights) const;
  void validate(const Refittable& weights, std::span<const std::byte> bytes) const;
  bool refit(std::optional<void*> stream) noexcept;

  std::shared_ptr<const LoadedEngine> engine_;
  Reporter reporter_;
  std::vector<Refittable> weights_;  // by source
  std::map<std::string, size_t, std::less<>> byName_;
  int32_t maxThreads_;
  bool validates_ = true;
};

}  // namespace camshaft::api
