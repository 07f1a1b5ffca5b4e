// IEngineInspector: every layer, its origin, its kernel and why.
#pragma once

#include <memory>
#include <string>

#include "api/implements.h"
#include "api/report.h"
#include "runtime/context.h"

namespace camshaft::api {

class EngineInspector final : public Implements<nvinfer1::IEngineInspector> {
 public:
  EngineInspector(std::shared_ptr<const LoadedEngine> engine, const Reporter& reporter)
      : engine_(std::move(engine)), reporter_(reporter) {}

  nvinfer1::IEngineInspector* getPImpl() noexcept override { return this; }
  bool setExecutionContext(const nvinfer1::IExecutionContext* context) noexcept override;
  const nvinfer1::IExecutionContext* getExecutionContext() const noexcept override {
    return shapes_.expired() ? nullptr : context_;
  }
  const char* getLayerInformation(int32_t index,
                                  nvinfer1::LayerInformationFormat format) const noexcept override;
  const char* getEngineInformation(nvinfer1::LayerInformationFormat format) const noexcept override;
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override {
    reporter_.setRecorder(recorder);
  }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override {
    return reporter_.recorder();
  }

 private:
  const ProfilePlan& profile() const;
  Step shown(Step step) const;

  std::shared_ptr<const LoadedEngine> engine_;
  Reporter reporter_;
  const nvinfer1::IExecutionContext* context_ = nullptr;
  std::weak_ptr<const Context> shapes_;  // its own, which may end before the inspector
  mutable std::string text_;             // what the last call returned
};

}  // namespace camshaft::api
