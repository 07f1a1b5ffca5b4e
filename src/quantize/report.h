// What quantising did, layer by layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "quantize/product.h"
#include "quantize/range.h"

namespace camshaft {

struct QuantizeReport {
  struct Layer {
    std::string name, op;
    std::string input;   // the tensor that is quantised for it; "": only weights are
    Range range;         // of that tensor
    float scale = 0;     // likewise
    double clipped = 0;  // the part of its elements that lies outside
    std::optional<double> signalToNoise;  // of the layer's results, dB
  };
  struct Output {
    std::string name;
    double signalToNoise = 0;  // dB
  };
  std::string format;
  int samples = 0;
  int64_t opsetBefore = 0, opsetAfter = 0;
  int foldedBatchNorms = 0, equalized = 0, correctedBiases = 0, residuals = 0;
  std::vector<Layer> layers;
  std::vector<Output> outputs;
  std::vector<SkippedNode> skipped;
  int64_t bytesBefore = 0, bytesAfter = 0;  // after: once the model was encoded or written

  std::string table() const;  // for people
  std::string json() const;
};

// Of two results that should be equal, summed up over runs.
class NoiseMeter {
 public:
  void add(std::span<const float> expected, std::span<const float> actual);
  double decibels() const;  // at most 200

 private:
  double signal_ = 0, noise_ = 0;
};

}  // namespace camshaft
