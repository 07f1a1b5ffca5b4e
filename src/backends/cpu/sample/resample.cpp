// The last resized dimension is that of columns. A row of the result is a weighted sum of rows of
// the input, which those before it say, and then each of its columns one of columns of that sum.
#include "backends/cpu/sample/resample.h"

#include <algorithm>
#include <bit>

#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/sample/taps.h"
#include "backends/cpu/sample/weighted_rows.h"
#include "support/text.h"

namespace camshaft::cpu::sample {

namespace {

// Adds rows up, several at a time.
class RowSum {
 public:
  RowSum(float* memory, int64_t length) : memory_(memory), length_(length) {}

  void add(const float* row, float weight) {
    if (number_ == kRowsAtOnce) flush();
    rows_[number_++] = {row, weight};
  }
  // In its memory, or where the only row lies, if that counts as it is.
  const float* finish() {
    if (!adds_ && number_ == 1 && rows_[0].weight == 1) return rows_[0].row;
    flush();
    return memory_;
  }

 private:
  void flush() {
    sumRows(rows_, number_, adds_, memory_, length_);
    number_ = 0;
    adds_ = true;
  }

  float* const memory_;
  const int64_t length_;
  WeightedRow rows_[kRowsAtOnce] = {};
  int number_ = 0;
  bool adds_ = false;
};

class Resampling {
 public:
  Resampling(const ResampleParams& params, const TensorArg& x, const TensorArg& y)
      : columns_(std::bit_width(params.resized) - 1),
        crops_(params.coordinates == Coordinates::kCropAndResize),
        extrapolation_(static_cast<float>(params.extrapolation)) {
    for (int i = 0; i <= columns_; ++i) {
      Dimension& dimension = dimensions_[i];
      dimension = {.in = x.dims[i], .out = y.dims[i]};
      if (i < columns_) rows_ *= y.dims[i];
      if (!(params.resized >> i & 1)) continue;
      dimension.isResized = true;
      dimension.taps = Taps(params, {dimension.in, dimension.out, params.scales[i],
                                     params.starts[i], params.ends[i]});
    }
    for (int i = columns_ + 1; i < x.rank; ++i) inner_ *= x.dims[i];
  }

  int64_t rows() const { return rows_; }
  int64_t rowFloats() const { return dimensions_[columns_].in * inner_; }  // of a worker's memory

  int64_t tapBytes() const {
    int64_t bytes = 0;
    for (const Dimension& dimension : dimensions_)
      if (dimension.isResized) bytes += dimension.taps.bytes();
    return bytes;
  }
  void fillTaps(std::byte* memory) {
    for (Dimension& dimension : dimensions_) {
      if (!dimension.isResized) continue;
      dimension.taps.fill(memory);
      memory += dimension.taps.bytes();
    }
  }

  double workPerRow() const {
    int64_t rows = 1;
    for (int i = 0; i < columns_; ++i)
      if (dimensions_[i].isResized) rows *= dimensions_[i].taps.count();
    const Dimension& columns = dimensions_[columns_];
    return static_cast<double>((rows * columns.in + columns.taps.count() * columns.out) * inner_);
  }

  void computeRow(const float* x, float* y, int64_t row, float* memory) const {
    const Dimension& columns = dimensions_[columns_];
    float* to = y + row * columns.out * inner_;
    int64_t positions[kMaxRank] = {};
    for (int i = columns_ - 1; i >= 0; --i) {
      positions[i] = row % dimensions_[i].out;
      row /= dimensions_[i].out;
      if (dimensions_[i].isResized && dimensions_[i].taps.isOutside(positions[i])) {
        std::fill_n(to, columns.out * inner_, extrapolation_);
        return;
      }
    }
    RowSum sum(memory, rowFloats());
    addRows(x, positions, 0, 0, 1, sum);
    computeColumns(sum.finish(), to);
  }

 private:
  struct Dimension {
    int64_t in = 0, out = 0;
    bool isResized = false;
    Taps taps = {};
  };

  // Rows of x that dimensions from `axis` on choose, in the part that those before it chose.
  void addRows(const float* x, const int64_t* positions, int axis, int64_t place, float weight,
               RowSum& sum) const {
    if (axis == columns_) return sum.add(x + place * rowFloats(), weight);
    const Dimension& dimension = dimensions_[axis];
    const int64_t position = positions[axis];
    place *= dimension.in;
    if (!dimension.isResized) return addRows(x, positions, axis + 1, place + position, weight, sum);
    for (int64_t tap = 0; tap < dimension.taps.count(); ++tap) {
      const int64_t at = tap * dimension.out + position;
      if (const float its = dimension.taps.weights()[at]; its != 0)
        addRows(x, positions, axis + 1, place + dimension.taps.places()[at], weight * its, sum);
    }
  }

  void computeColumns(const float* row, float* y) const {
    const Dimension& columns = dimensions_[columns_];
    const Taps& taps = columns.taps;
    if (inner_ == 1) {
      sumTaps(row, taps.places(), taps.weights(), taps.count(), y, columns.out);
      if (!crops_) return;
    }
    for (int64_t i = 0; i < columns.out; ++i, y += inner_) {
      if (taps.isOutside(i)) {
        std::fill_n(y, inner_, extrapolation_);
      } else if (inner_ > 1) {
        RowSum sum(y, inner_);
        for (int64_t tap = 0; tap < taps.count(); ++tap) {
          const int64_t at = tap * columns.out + i;
          if (taps.weights()[at] != 0)
            sum.add(row + taps.places()[at] * inner_, taps.weights()[at]);
        }
        if (const float* one = sum.finish(); one != y) std::copy_n(one, inner_, y);
      }
    }
  }

  const int columns_;  // the dimension
  const bool crops_;
  const float extrapolation_;
  Dimension dimensions_[kMaxRank];
  int64_t rows_ = 1, inner_ = 1;
};

}  // namespace

bool fitsResample(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ResampleParams*>(state);
  if (!hasF32Operands(args, 1) || worksInPlace(args)) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  if (x.rank != y.rank || params.resized >> x.rank != 0) return false;
  for (int i = 0; i < x.rank; ++i)
    if (params.resized >> i & 1 ? x.dims[i] > INT32_MAX : x.dims[i] != y.dims[i])
      return false;  // places are 32 bits wide
  return true;
}

void launchResample(const void* state, const LaunchArgs& args) {
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  if (y.count() == 0) return;
  if (x.count() == 0)
    fail(ErrorKind::kInvalidArgument, "a tensor of sizes [", join(x.shape(), ", "),
         "] has nothing to resize");
  Resampling resampling(*static_cast<const ResampleParams*>(state), x, y);
  const int64_t tapFloats = resampling.tapBytes() / static_cast<int64_t>(sizeof(float));
  const int64_t rowFloats = resampling.rowFloats();
  const WorkersWithin workers(args, [&](int threads) { return tapFloats + threads * rowFloats; });
  resampling.fillTaps(args.workspace);
  float* const memory = workspaceFloats(args) + tapFloats;
  const auto run = [&](int64_t begin, int64_t end, int worker) {
    for (int64_t row = begin; row < end; ++row)
      resampling.computeRow(x.as<float>(), y.as<float>(), row, memory + worker * rowFloats);
  };
  const double work = std::max(1.0, resampling.workPerRow());
  if (isWorthSharing(work * static_cast<double>(resampling.rows())))
    args.threads->parallelFor(resampling.rows(), 1 + static_cast<int64_t>(kWorthSharing / work),
                              run);
  else
    run(0, resampling.rows(), 0);
}

}  // namespace camshaft::cpu::sample
