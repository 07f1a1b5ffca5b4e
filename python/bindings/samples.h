// Calibration data of Python's.
#pragma once

#include <vector>

#include "CamshaftQuantize.h"
#include "bindings.h"

namespace camshaft::python {

// Samples as Python holds them: for each a list of arrays, contiguous and in the right types.
class ListedSamples final : public ICalibrationSamples {
 public:
  explicit ListedSamples(const nb::list& samples) {
    for (const nb::handle sample : samples) {
      auto& inputs = samples_.emplace_back();
      for (const nb::handle array : nb::cast<nb::list>(sample)) {
        auto& input = inputs.emplace_back();
        input.keep = nb::borrow(array);
        input.data =
            reinterpret_cast<const void*>(nb::cast<uintptr_t>(array.attr("ctypes").attr("data")));
        for (const nb::handle size : nb::cast<nb::tuple>(array.attr("shape"))) {
          if (input.dims.nbDims == nvinfer1::Dims::MAX_DIMS)
            throw nb::value_error("a calibration sample has more dimensions than tensors may have");
          input.dims.d[input.dims.nbDims++] = nb::cast<int64_t>(size);
        }
      }
    }
  }
  int32_t getCount() noexcept override { return static_cast<int32_t>(samples_.size()); }
  bool getSample(int32_t index, const void** data, nvinfer1::Dims* dims) noexcept override {
    for (const Input& input : samples_[static_cast<size_t>(index)]) {
      *data++ = input.data;
      *dims++ = input.dims;
    }
    return true;
  }

 private:
  struct Input {
    nb::object keep;
    const void* data = nullptr;
    nvinfer1::Dims dims{};
  };
  std::vector<std::vector<Input>> samples_;
};

}  // namespace camshaft::python
