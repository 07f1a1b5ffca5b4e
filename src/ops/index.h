// Operators that read or write at computed positions. Negative indices count from the end. One that
// lies outside fails the run, unless the node says what it means: zero where elements are read
// (zeroOutside), nothing where they are written (skipsOutside).
#pragma once

#include "ops/ops.h"

namespace camshaft {

// Gather(data, indices): indices (i32 or i64, any shape) replace dimension `axis`.
struct GatherAttrs : AttrsOf<GatherAttrs> {
  int64_t axis = 0;  // non-negative
  bool zeroOutside = false;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("zero_outside", zeroOutside);
  }
};

// GatherElements(data, indices): out[i][j] = data[indices[i][j]][j] for axis 0.
struct GatherElementsAttrs : AttrsOf<GatherElementsAttrs> {
  int64_t axis = 0;  // non-negative
  bool zeroOutside = false;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("zero_outside", zeroOutside);
  }
};

struct GatherNDAttrs : AttrsOf<GatherNDAttrs> {
  int64_t batchDims = 0;
  bool zeroOutside = false;
  void fields(AttrVisitor& visit) override {
    visit("batch_dims", batchDims);
    visit("zero_outside", zeroOutside);
  }
};

enum class ScatterReduction { kNone, kAdd, kMul, kMin, kMax };
inline constexpr std::string_view kScatterReductions[] = {"none", "add", "mul", "min", "max"};

// ScatterElements(data, indices, updates)
struct ScatterElementsAttrs : AttrsOf<ScatterElementsAttrs> {
  int64_t axis = 0;  // non-negative
  ScatterReduction reduction = ScatterReduction::kNone;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("reduction", reduction, kScatterReductions);
  }
};

// ScatterND(data, indices, updates). A result that takes the place of the data, as that of a cache,
// may be asked to lie where a caller's input lies.
struct ScatterNDAttrs : AttrsOf<ScatterNDAttrs> {
  ScatterReduction reduction = ScatterReduction::kNone;
  bool skipsOutside = false;
  bool replacesData = false;
  void fields(AttrVisitor& visit) override {
    visit("reduction", reduction, kScatterReductions);
    visit("skips_outside", skipsOutside);
    visit("replaces_data", replacesData);
  }
};

// OneHot(indices, values): values is [off, on]; `depth` becomes dimension `axis` of the output.
struct OneHotAttrs : AttrsOf<OneHotAttrs> {
  int64_t axis = 0;  // non-negative, position in the output
  Dim depth = 0;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("depth", depth);
  }
};

// TopK(x): values and i64 indices of the k largest or smallest along an axis, in order; of equal
// elements the lower index comes first.
struct TopKAttrs : AttrsOf<TopKAttrs> {
  int64_t axis = 0;  // non-negative
  Dim k = 1;
  bool largest = true;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("k", k);
    visit("largest", largest);
  }
};

// ReverseSequence(x, lengths): reverses the first lengths[b] elements along timeAxis.
struct ReverseSequenceAttrs : AttrsOf<ReverseSequenceAttrs> {
  int64_t batchAxis = 1, timeAxis = 0;
  void fields(AttrVisitor& visit) override {
    visit("batch_axis", batchAxis);
    visit("time_axis", timeAxis);
  }
};

}  // namespace camshaft
