#include "backends/cpu/attention/deformable.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/attention/deformable.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::attention::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // hn

// y[i] += the sum of weights[r] * rows[r][i], four vectors at a time: a head of 32 in one go.
void addRows(const float* const* rows, const float* weights, int64_t count, int64_t size,
             float* y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d), total = static_cast<size_t>(size);
  size_t i = 0;
  for (; i + 4 * lanes <= total; i += 4 * lanes) {
    float* to = y + i;
    auto sum0 = hn::LoadU(d, to), sum1 = hn::LoadU(d, to + lanes),
         sum2 = hn::LoadU(d, to + 2 * lanes), sum3 = hn::LoadU(d, to + 3 * lanes);
    for (int64_t r = 0; r < count; ++r) {
      const auto weight = hn::Set(d, weights[r]);
      const float* from = rows[r] + i;
      sum0 = hn::MulAdd(weight, hn::LoadU(d, from), sum0);
      sum1 = hn::MulAdd(weight, hn::LoadU(d, from + lanes), sum1);
      sum2 = hn::MulAdd(weight, hn::LoadU(d, from + 2 * lanes), sum2);
      sum3 = hn::MulAdd(weight, hn::LoadU(d, from + 3 * lanes), sum3);
    }
    hn::StoreU(sum0, d, to);
    hn::StoreU(sum1, d, to + lanes);
    hn::StoreU(sum2, d, to + 2 * lanes);
    hn::StoreU(sum3, d, to + 3 * lanes);
  }
  for (; i + lanes <= total; i += lanes) {
    auto sum = hn::LoadU(d, y + i);
    for (int64_t r = 0; r < count; ++r)
      sum = hn::MulAdd(hn::Set(d, weights[r]), hn::LoadU(d, rows[r] + i), sum);
    hn::StoreU(sum, d, y + i);
  }
  for (; i < total; ++i)
    for (int64_t r = 0; r < count; ++r) y[i] += weights[r] * rows[r][i];
}

}  // namespace camshaft::cpu::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::attention {

HWY_EXPORT(addRows);

namespace {

int64_t integerAt(const TensorArg& tensor, int64_t i) {
  return tensor.type == DataType::kI64 ? tensor.as<int64_t>()[i] : tensor.as<int32_t>()[i];
}

// An image of height x width pixels, which are rows `start` and later of the values.
struct Level {
  int64_t start, height, width;

  // Sizes that no image has stay small enough for positions to be computed.
  Level(const TensorArg& sizes, const TensorArg& starts, int64_t level) {
    constexpr int64_t kFar = int64_t{1} << 30;
    const auto bounded = [&](int64_t size) { return std::clamp(size, -kFar, kFar); };
    start = bounded(integerAt(starts, level));
    height = bounded(integerAt(sizes, level * 2));
    width = bounded(integerAt(sizes, level * 2 + 1));
  }
};

// The pixels that one query sees in one head, whose values are the `size` elements at
// `values` + pixel * `stride`.
class SeenPixels {
 public:
  SeenPixels(const float* values, int64_t pixels, int64_t stride, int64_t size, float* y)
      : values_(values), pixels_(pixels), stride_(stride), size_(size), y_(y) {
    std::fill_n(y, size, 0.0f);
  }

  // Those around a location, of which a level is 0 to 1.
  void add(const Level& level, const float* location, float weight) {
    const double x = static_cast<double>(location[0]) * static_cast<double>(level.width) - 0.5,
                 y = static_cast<double>(location[1]) * static_cast<double>(level.height) - 0.5;
    if (!(y > -1 && x > -1 && y < static_cast<double>(level.height) &&
          x < static_cast<double>(level.width)))
      return;
    const double top = std::floor(y), left = std::floor(x);
    const double down = y - top, right = x - left;
    if (count_ + 4 > kMost) flush();
    for (int corner = 0; corner < 4; ++corner) {
      const int64_t i = static_cast<int64_t>(top) + corner / 2,
                    j = static_cast<int64_t>(left) + corner % 2;
      const int64_t pixel = level.start + i * level.width + j;
      const double share = (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right);
      const bool isInside =
          i >= 0 && i < level.height && j >= 0 && j < level.width && pixel >= 0 && pixel < pixels_;
      if (!isInside || share == 0) continue;
      rows_[count_] = values_ + pixel * stride_;
      weights_[count_++] = weight * static_cast<float>(share);
    }
  }
  // Adds what has been seen to the result.
  void flush() {
    HWY_DYNAMIC_DISPATCH(addRows)(rows_, weights_, count_, size_, y_);
    count_ = 0;
  }

 private:
  static constexpr int64_t kMost = 128;
  const float* values_;
  int64_t pixels_, stride_, size_, count_ = 0;
  float* y_;
  const float* rows_[kMost];
  float weights_[kMost];
};

}  // namespace

// As ops/attention.h has them: value, sizes, starts, locations, weights.
bool fitsDeformable(const void*, const LaunchArgs& args) {
  if (!hasOperands(args, 5) || worksInPlace(args)) return false;
  const TensorArg &value = args.inputs[0], &sizes = args.inputs[1], &starts = args.inputs[2];
  const TensorArg &at = args.inputs[3], &weights = args.inputs[4], &y = args.outputs[0];
  if (value.rank != 4 || sizes.rank != 2 || starts.rank != 1 || at.rank != 6 || weights.rank != 5 ||
      y.rank != 4)
    return false;
  for (int i = 0; i < 5; ++i)
    if (weights.dims[i] != at.dims[i]) return false;
  return isF32(value) && isIndex(sizes) && isIndex(starts) && isF32(at) && isF32(weights) &&
         isF32(y) && at.dims[0] == value.dims[0] && at.dims[2] == value.dims[2] &&
         at.dims[5] == 2 && sizes.dims[0] == at.dims[3] && sizes.dims[1] == 2 &&
         starts.dims[0] == at.dims[3] && y.dims[0] == at.dims[0] && y.dims[1] == at.dims[1] &&
         y.dims[2] == at.dims[2] && y.dims[3] == value.dims[3];
}

void launchDeformable(const void*, const LaunchArgs& args) {
  const TensorArg &value = args.inputs[0], &at = args.inputs[3], &y = args.outputs[0];
  if (y.count() == 0) return;
  const int64_t pixels = value.dims[1], heads = y.dims[2], size = y.dims[3];
  const int64_t perBatch = y.dims[1] * heads, levels = at.dims[3], points = at.dims[4];
  const float* weights = args.inputs[4].as<float>();
  const double work = static_cast<double>(levels * points) * (40 + static_cast<double>(size));
  parallelItems(args.threads, y.dims[0] * perBatch, work, [&](int64_t begin, int64_t end) {
    for (int64_t query = begin; query < end; ++query) {
      SeenPixels seen(
          value.as<float>() + (query / perBatch * pixels * heads + query % heads) * size, pixels,
          heads * size, size, y.as<float>() + query * size);
      for (int64_t i = 0; i < levels; ++i) {
        const Level level(args.inputs[1], args.inputs[2], i);
        const int64_t first = (query * levels + i) * points;
        for (int64_t point = first; point < first + points; ++point)
          seen.add(level, at.as<float>() + point * 2, weights[point]);
      }
      seen.flush();
    }
  });
}

}  // namespace camshaft::cpu::attention
#endif  // HWY_ONCE
