// Operators that move elements without computing.
#pragma once

#include "ops/ops.h"

namespace camshaft {

struct TransposeAttrs : AttrsOf<TransposeAttrs> {
  std::vector<int64_t> order;  // output dimension i is input dimension order[i]
  void fields(AttrVisitor& visit) override { visit("order", order); }
};

// Reshape(x): same elements, other shape. Squeeze, Unsqueeze and Flatten are this operator.
struct ReshapeAttrs : AttrsOf<ReshapeAttrs> {
  Shape shape;
  void fields(AttrVisitor& visit) override { visit("shape", shape); }
};

// BitCast(x): the bits of each element read as another type of the same width, never bool, whose
// bits are not free.
struct BitCastAttrs : AttrsOf<BitCastAttrs> {
  DataType to = DataType::kF32;
  void fields(AttrVisitor& visit) override { visit("to", to); }
};

// Expand(x): x broadcast to the shape (which already is the broadcast of both). Filling is
// Expand of a scalar constant.
struct ExpandAttrs : AttrsOf<ExpandAttrs> {
  Shape shape;
  void fields(AttrVisitor& visit) override { visit("shape", shape); }
};

// Slice(x): along axes[i], sizes[i] elements from starts[i] by steps[i] (which may be negative).
// Resolved: starts are valid indices, nothing is negative but steps.
struct SliceAttrs : AttrsOf<SliceAttrs> {
  std::vector<int64_t> axes;
  std::vector<Dim> starts, sizes;
  std::vector<int64_t> steps;
  void fields(AttrVisitor& visit) override {
    visit("axes", axes);
    visit("starts", starts);
    visit("sizes", sizes);
    visit("steps", steps);
  }
};

struct ConcatAttrs : AttrsOf<ConcatAttrs> {
  int64_t axis = 0;  // non-negative
  void fields(AttrVisitor& visit) override { visit("axis", axis); }
};

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

// Pad(x, value?): pads (or crops, when negative) every dimension. The value is a scalar of x's
// type, zero when left out.
struct PadAttrs : AttrsOf<PadAttrs> {
  PadMode mode = PadMode::kConstant;
  std::vector<Dim> begin, end;  // one per dimension of x
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kModes[] = {"constant", "reflect", "edge", "wrap"};
    visit("mode", mode, kModes);
    visit("begin", begin);
    visit("end", end);
  }
};

struct TileAttrs : AttrsOf<TileAttrs> {
  std::vector<Dim> repeats;  // one per dimension
  void fields(AttrVisitor& visit) override { visit("repeats", repeats); }
};

// Trilu(x): keeps the upper or lower triangle of the last two dimensions, zeroes the rest.
struct TriluAttrs : AttrsOf<TriluAttrs> {
  bool upper = true;
  Dim diagonal = 0;
  void fields(AttrVisitor& visit) override {
    visit("upper", upper);
    visit("diagonal", diagonal);
  }
};

}  // namespace camshaft
