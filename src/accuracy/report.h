// What an accuracy-aware build found: for people, and as a recipe that later builds can follow.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accuracy/bound.h"
#include "support/tensor_range.h"

namespace camshaft {

// What makes an ordinary build the one that was found.
struct PrecisionRecipe {
  bool allowF16 = false, allowBF16 = false, allowI8 = false, allowTf32 = true;
  std::map<std::string, DataType> layers;  // what they are asked to compute in
  TensorRanges ranges;                     // where bytes are
};

struct AccuracyReport {
  // One group of layers.
  struct Layer {
    std::string name;  // of its first product
    std::string op;
    std::vector<std::string> with;        // other products that have its precision
    DataType precision = DataType::kF32;  // chosen
    double millisecondsF32 = 0;
    struct Lowered {
      DataType type = DataType::kF32;
      double milliseconds = 0;
      double error = 0;  // of the outputs, with this group alone lowered
    };
    std::vector<Lowered> lowered;  // to types that are faster
    std::string reason;
  };
  struct Engine {
    std::string name;  // "chosen"
    double milliseconds = 0;
    Accuracy tuning;
    std::optional<Accuracy> heldOut;
    bool keeps = false;
  };
  std::string device;
  std::vector<std::string> outputs;
  AccuracyBound bound;
  int tuningSamples = 0, heldOutSamples = 0, builds = 0;
  double tuningMetric = 0, heldOutMetric = 0;  // of f32, where there is a metric
  std::vector<Layer> layers;
  std::vector<Engine> engines;  // f32, all lowered to each type, and the one chosen, last
  PrecisionRecipe recipe;

  std::string table() const;
  std::string json() const;
};

}  // namespace camshaft
