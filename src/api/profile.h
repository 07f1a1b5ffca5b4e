// IOptimizationProfile over a ShapeProfile.
#pragma once

#include "api/report.h"
#include "NvInferRuntime.h"
#include "plan/profile.h"

namespace camshaft::api {

class OptimizationProfile final : public nvinfer1::IOptimizationProfile {
 public:
  explicit OptimizationProfile(const Reporter& reporter) : reporter_(reporter) {}
  ~OptimizationProfile() override = default;
  const ShapeProfile& profile() const { return profile_; }

  bool setDimensions(const char* input, nvinfer1::OptProfileSelector select,
                     const nvinfer1::Dims& dims) noexcept override;
  nvinfer1::Dims getDimensions(const char* input,
                               nvinfer1::OptProfileSelector select) const noexcept override;
  bool setShapeValues(const char* input, nvinfer1::OptProfileSelector select, const int32_t* values,
                      int32_t count) noexcept override;
  bool setShapeValuesV2(const char* input, nvinfer1::OptProfileSelector select,
                        const int64_t* values, int32_t count) noexcept override;
  int32_t getNbShapeValues(const char* input) const noexcept override;
  const int64_t* getShapeValuesV2(const char* input,
                                  nvinfer1::OptProfileSelector select) const noexcept override;
  bool isValid() const noexcept override;

 private:
  Reporter reporter_;
  ShapeProfile profile_;
};

}  // namespace camshaft::api
