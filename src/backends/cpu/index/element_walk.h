// Elements of an indices tensor that say where along one dimension of another tensor something is,
// while their own places say where along the others. They are walked through by runs, with no
// division for each.
#pragma once

#include "backend/launch.h"
#include "backends/cpu/index/indices.h"

namespace camshaft::cpu::index {

class ElementWalk {
 public:
  ElementWalk(const TensorArg& indices, const TensorArg& target, int axis)
      : axisSize_(target.dims[axis]), axisStride_(countOf(target.dims, axis + 1, target.rank)) {
    // Dimensions of one element lead nowhere, and those that are walked through alike are one.
    for (int i = 0; i < indices.rank; ++i) {
      if (indices.dims[i] == 1) continue;
      const Dimension next = {indices.dims[i],
                              i == axis ? 0 : countOf(target.dims, i + 1, target.rank),
                              countOf(indices.dims, i + 1, indices.rank)};
      Dimension& before = dimensions_[rank_ - (rank_ > 0)];
      if (rank_ > 0 && next.stride > 0 && before.stride == next.size * next.stride)
        before = {before.size * next.size, next.stride, next.step};
      else
        dimensions_[rank_++] = next;
    }
    if (rank_ == 0) dimensions_[rank_++] = {1, 0, 1};
  }

  // Cuts it into slices along its longest dimension. Elements of different slices point at
  // different places if slices `areApart`.
  void cut(bool areApart) {
    cut_ = -1;
    for (int i = 0; i < rank_; ++i)
      if ((!areApart || dimensions_[i].stride > 0) &&
          (cut_ < 0 || dimensions_[i].size > dimensions_[cut_].size))
        cut_ = i;
  }
  int64_t slices() const { return cut_ < 0 ? 1 : dimensions_[cut_].size; }

  // Calls run(element, place, count) for elements that lie side by side: the first one, where it
  // points at if its index is 0, and how many there are. Those after it point runStep() further.
  template <class F>
  void forEachRun(int64_t beginSlice, int64_t endSlice, F&& run) const {
    int64_t sizes[kMaxRank], at[kMaxRank] = {}, element = 0, place = 0;
    for (int i = 0; i < rank_; ++i) sizes[i] = dimensions_[i].size;
    if (cut_ >= 0) {
      sizes[cut_] = endSlice - beginSlice;
      element = beginSlice * dimensions_[cut_].step;
      place = beginSlice * dimensions_[cut_].stride;
    }
    for (int i = rank_ - 1; i >= 0;) {
      run(element, place, sizes[rank_ - 1]);
      for (i = rank_ - 2; i >= 0; --i) {
        element += dimensions_[i].step;
        place += dimensions_[i].stride;
        if (++at[i] < sizes[i]) break;
        element -= sizes[i] * dimensions_[i].step;
        place -= sizes[i] * dimensions_[i].stride;
        at[i] = 0;
      }
    }
  }

  int64_t runStep() const { return dimensions_[rank_ - 1].stride; }
  int64_t axisSize() const { return axisSize_; }
  int64_t axisStride() const { return axisStride_; }

 private:
  struct Dimension {
    int64_t size, stride, step;  // elements between neighbours, in the target and in the indices
  };

  const int64_t axisSize_, axisStride_;
  Dimension dimensions_[kMaxRank] = {};
  int rank_ = 0;
  int cut_ = -1;
};

}  // namespace camshaft::cpu::index
