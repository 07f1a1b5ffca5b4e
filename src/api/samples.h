// Data of the user's, as the library reads it.
#pragma once

#include "CamshaftQuantize.h"
#include "api/convert.h"
#include "calibration/samples.h"
#include "support/error.h"

namespace camshaft::api {

class SamplesOfUser final : public Samples {
 public:
  SamplesOfUser(ICalibrationSamples& samples, size_t inputs) : samples_(samples), inputs_(inputs) {}
  int count() const override { return samples_.getCount(); }
  std::vector<SampleInput> at(int index) const override {
    std::vector<const void*> data(inputs_, nullptr);
    std::vector<nvinfer1::Dims> dims(inputs_);
    if (!samples_.getSample(index, data.data(), dims.data()))
      fail(ErrorKind::kInvalidArgument, "there is no calibration sample ", index,
           ": getSample() returned false");
    std::vector<SampleInput> sample;
    for (size_t i = 0; i < inputs_; ++i) sample.push_back({data[i], fromPublic(dims[i])});
    return sample;
  }

 private:
  ICalibrationSamples& samples_;
  const size_t inputs_;
};

}  // namespace camshaft::api
