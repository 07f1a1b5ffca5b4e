// What calibration found, as text that outlives a build.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "calibration/histogram.h"

namespace camshaft {

using TensorScales = std::map<std::string, float, std::less<>>;  // what one step is, by tensor
using TensorHistograms = std::map<std::string, Histogram, std::less<>>;

// TensorRT's calibration cache: "TRT-101600-EntropyCalibration2" on a line of its own, then
// "name: 3c010a14" for each tensor, the bits of its scale as an f32. Names may hold anything but
// line breaks, ": " among it.
std::string writeScales(int version, std::string_view algorithm, const TensorScales& scales);

struct CalibrationCache {
  std::string algorithm;  // "EntropyCalibration2"
  TensorScales scales;
};
// Of any version. Nothing when it is no such text; lines that are none are left out.
std::optional<CalibrationCache> readScales(std::string_view text);

// Histograms likewise, with a line of numbers each; of our own.
std::string writeHistograms(const TensorHistograms& histograms);
std::optional<TensorHistograms> readHistograms(std::string_view text);

}  // namespace camshaft
