// IOptimizationProfile over a ShapeProfile.
#pragma once

#include "api/implements.h"
#include "api/report.h"
#include "NvInferRuntime.h"
#include "plan/profile.h"

namespace camshaft::api {

class OptimizationProfile final : public Implements<nvinfer1::IOptimizationProfile> {
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
  const int32_t* getShapeValues(const char* input,
                                nvinfer1::OptProfileSelector select) const noexcept override;
  int32_t getNbShapeValues(const char* input) const noexcept override;
  const int64_t* getShapeValuesV2(const char* input,
                                  nvinfer1::OptProfileSelector select) const noexcept override;
  bool setExtraMemoryTarget(float target) noexcept override;
  float getExtraMemoryTarget() const noexcept override { return extraMemory_; }
  bool isValid() const noexcept override;

 private:
  Reporter reporter_;
  ShapeProfile profile_;
  float extraMemory_ = 1;
  // What getShapeValues returned, by input and selector.
  mutable std::map<std::pair<std::string, nvinfer1::OptProfileSelector>, std::vector<int32_t>>
      narrow_;
};

}  // namespace camshaft::api
