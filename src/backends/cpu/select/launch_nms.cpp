#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/select/launchers.h"
#include "backends/cpu/select/params.h"
#include "support/error.h"

namespace camshaft::cpu::select {

namespace {

struct Box {
  float left, top, right, bottom, area;
};

Box boxOf(const float* box, bool centred) {
  Box corners;
  if (centred)
    corners = {box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2};
  else
    corners = {std::min(box[1], box[3]), std::min(box[0], box[2]), std::max(box[1], box[3]),
               std::max(box[0], box[2])};
  corners.area = (corners.right - corners.left) * (corners.bottom - corners.top);
  return corners;
}

// Boxes that stay, as columns: a candidate is compared with many at a time.
class KeptBoxes {
 public:
  KeptBoxes(float* memory, int64_t room)
      : left_(memory),
        top_(left_ + room),
        right_(top_ + room),
        bottom_(right_ + room),
        area_(bottom_ + room) {}

  int64_t size() const { return size_; }
  void clear() { size_ = 0; }
  void add(const Box& box) {
    left_[size_] = box.left;
    top_[size_] = box.top;
    right_[size_] = box.right;
    bottom_[size_] = box.bottom;
    area_[size_++] = box.area;
  }
  // Whether intersection over union with one of them is above the threshold. Boxes without area
  // overlap nothing.
  bool overlap(const Box& box, float threshold) const {
    constexpr int64_t kAtOnce = 32;
    if (!(box.area > 0)) return false;
    for (int64_t begin = 0; begin < size_; begin += kAtOnce) {
      const int64_t end = std::min(size_, begin + kAtOnce);
      int found = 0;
      for (int64_t i = begin; i < end; ++i) {
        const float width = std::min(box.right, right_[i]) - std::max(box.left, left_[i]);
        const float height = std::min(box.bottom, bottom_[i]) - std::max(box.top, top_[i]);
        const float common = width * height, all = area_[i] + box.area - common;
        found |= (width > 0) & (height > 0) & (common > 0) & (area_[i] > 0) & (all > 0) &
                 (common / all > threshold);
      }
      if (found) return true;
    }
    return false;
  }

 private:
  float *left_, *top_, *right_, *bottom_, *area_;
  int64_t size_ = 0;
};

// Greater for better candidates: scores in order of their bits, then the lower position. NaN is
// worse than every number, and the zeros are equal.
uint64_t keyOf(float score, int64_t position) {
  uint32_t bits = score == 0 ? 0 : std::bit_cast<uint32_t>(score);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  if (std::isnan(score)) bits = 0;
  return uint64_t{bits} << 32 | static_cast<uint32_t>(~static_cast<uint32_t>(position));
}
int64_t positionIn(uint64_t key) { return static_cast<uint32_t>(~static_cast<uint32_t>(key)); }

// Batches and classes share nothing: each is one row of scores.
class Suppression {
 public:
  Suppression(const LaunchArgs& args, bool centred)
      : args_(args),
        centred_(centred),
        classes_(args.inputs[1].dims[1]),
        boxes_(args.inputs[1].dims[2]),
        limit_(args.dims[0]) {
    const auto threshold = [&](size_t i) {
      return i < args.inputs.size() ? args.inputs[i].as<const float>() : nullptr;
    };
    if (const float* iou = threshold(2)) iouThreshold_ = *iou;
    scoreThreshold_ = threshold(3);
  }

  int64_t rows() const { return args_.inputs[1].dims[0] * classes_; }
  int64_t bytesPerThread() const { return boxes_ * kBytesPerCandidate + limit_ * kBytesPerKept; }

  // Writes the boxes that stay to the row's own place in the output; returns their number.
  int64_t runRow(int64_t row, std::byte* memory) const {
    auto* candidates = reinterpret_cast<uint64_t*>(memory);
    KeptBoxes kept(reinterpret_cast<float*>(candidates + boxes_), limit_);
    const int64_t count = collect(row, candidates);
    const float* boxes = args_.inputs[0].as<const float>() + row / classes_ * boxes_ * 4;
    int64_t* to = args_.outputs[0].as<int64_t>() + row * limit_ * 3;
    // The best are sorted first, more only when they are needed.
    int64_t sorted = 0;
    for (int64_t next = 0; next < count && kept.size() < limit_; ++next) {
      if (next == sorted) {
        sorted = std::min(count, std::max<int64_t>(256, sorted * 4));
        if (sorted < count)
          std::nth_element(candidates + next, candidates + sorted, candidates + count,
                           std::greater<>());
        std::sort(candidates + next, candidates + sorted, std::greater<>());
      }
      const int64_t position = positionIn(candidates[next]);
      const Box box = boxOf(boxes + position * 4, centred_);
      if (kept.overlap(box, iouThreshold_)) continue;
      kept.add(box);
      *to++ = row / classes_;
      *to++ = row % classes_;
      *to++ = position;
    }
    return kept.size();
  }

 private:
  int64_t collect(int64_t row, uint64_t* candidates) const {
    const float* scores = args_.inputs[1].as<const float>() + row * boxes_;
    int64_t count = 0;
    for (int64_t i = 0; i < boxes_; ++i) {
      if (scoreThreshold_ && !(scores[i] > *scoreThreshold_)) continue;
      candidates[count++] = keyOf(scores[i], i);
    }
    return count;
  }

  const LaunchArgs& args_;
  const bool centred_;
  const int64_t classes_, boxes_, limit_;
  float iouThreshold_ = 0;
  const float* scoreThreshold_;
};

// Rows wrote to places of their own; what stays moves together.
int64_t compact(int64_t* results, const int64_t* counts, int64_t rows, int64_t limit) {
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (total != row * limit && counts[row] > 0)
      std::memmove(results + total * 3, results + row * limit * 3,
                   static_cast<size_t>(counts[row]) * 3 * sizeof(int64_t));
    total += counts[row];
  }
  return total;
}

}  // namespace

bool fitsNms(const void*, const LaunchArgs& args) {
  if (!hasOperands(args, 2, 2) || args.dims.size() != 1) return false;
  const TensorArg &boxes = args.inputs[0], &scores = args.inputs[1], &y = args.outputs[0],
                  &count = args.outputs[1];
  if (!isF32(boxes) || !isF32(scores) || boxes.rank != 3 || scores.rank != 3) return false;
  for (size_t i = 2; i < args.inputs.size(); ++i)
    if (args.inputs[i].data && (!isF32(args.inputs[i]) || args.inputs[i].count() != 1))
      return false;
  const int64_t limit = args.dims[0], rows = scores.dims[0] * scores.dims[1];
  return boxes.dims[0] == scores.dims[0] && boxes.dims[1] == scores.dims[2] && boxes.dims[2] == 4 &&
         scores.dims[2] <= INT32_MAX && limit >= 0 && limit <= scores.dims[2] &&
         y.type == DataType::kI64 && y.count() == volumeOf({rows, limit, 3}) &&
         count.type == DataType::kI64 && count.count() == 1 &&
         args.workspaceBytes >=
             scores.dims[2] * kBytesPerCandidate + limit * kBytesPerKept + rows * kBytesPerClass;
}

void launchNms(const void* state, const LaunchArgs& args) {
  const Suppression suppression(args, static_cast<const NmsParams*>(state)->centred != 0);
  const int64_t rows = suppression.rows(), limit = args.dims[0],
                each = suppression.bytesPerThread();
  auto* counts = reinterpret_cast<int64_t*>(args.workspace);
  std::byte* memory = args.workspace + rows * kBytesPerClass;
  int64_t total = 0;
  if (rows > 0 && each > 0) {
    // Each part of the rows has room of its own in the workspace, whoever works on it.
    const int64_t rooms = (args.workspaceBytes - rows * kBytesPerClass) / each;
    const int64_t parts = std::min(rows, rooms);
    parallelItems(args.threads, parts,
                  static_cast<double>(args.inputs[1].count()) / static_cast<double>(parts),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t part = begin; part < end; ++part)
                      for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts;
                           ++row)
                        counts[row] = suppression.runRow(row, memory + part * each);
                  });
    total = compact(args.outputs[0].as<int64_t>(), counts, rows, limit);
  }
  *args.outputs[1].as<int64_t>() = total;
}

}  // namespace camshaft::cpu::select
