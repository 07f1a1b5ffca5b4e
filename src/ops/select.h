// Operators whose results are as many as the data decides. Their results lie at the beginning of
// tensors as large as they may ever become, and the last output, i64[1], counts them: what lies
// behind is unspecified. A BindDims of the count and a Slice make the tensor of its true size.
#pragma once

#include "ir/graph.h"
#include "ops/ops.h"

namespace camshaft {

// NonZero(x): indices of the elements that are not zero, in row-major order, one row of
// i64[elements, rank] each; the count.

// NonMaxSuppression(boxes, scores, iouThreshold?, scoreThreshold?): for every batch and class of
// scores[batches, classes, boxes], the best boxes of boxes[batches, boxes, 4] that overlap no
// better one by more than a threshold: rows (batch, class, box), best first, of equal scores the
// lower box; the count. Thresholds are f32 scalars; without them nothing is dropped for its score,
// and boxes may overlap by nothing.
struct NonMaxSuppressionAttrs : AttrsOf<NonMaxSuppressionAttrs> {
  Dim limit = 0;         // boxes per batch and class at most
  bool centred = false;  // boxes are x, y of the centre, width, height; else two opposite corners
  void fields(AttrVisitor& visit) override {
    visit("limit", limit);
    visit("centred", centred);
  }
};

// Unique(x): the distinct slices along an axis, in ascending order (NaN last) or that of their
// first occurrence. Outputs, all i64 vectors as long as the axis: the first occurrence of each
// distinct slice, for each slice which distinct one it is (as long as x, not as the count), how
// often each distinct one occurs; the count.
struct UniqueAttrs : AttrsOf<UniqueAttrs> {
  int64_t axis = 0;  // non-negative
  bool sorted = true;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("sorted", sorted);
  }
};

// How many elements of output `index` are results when the node counted `count`; `elements` is how
// many the output has. All of them, for other operators.
int64_t resultElements(const Node& node, size_t index, int64_t elements, int64_t count);

// The results at the beginning of an output, `size` of them along dimension 0.
Value* takeResults(Graph& graph, Value* output, const Dim& size, Node* before = nullptr);

}  // namespace camshaft
