#include "backend/launch.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/families.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/reduce/params.h"
#include "backends/cpu/reduce/rows.h"
#include "backends/cpu/rows_in_f32.h"
#include "support/error.h"

namespace camshaft::cpu::reduce {

namespace {

// Dimensions of one sort (kept or reduced), neighbours merged where they lie together.
struct Group {
  int rank = 0;
  int64_t dims[kMaxRank], strides[kMaxRank];

  // Dimensions come from the last to the first.
  void addOuter(int64_t size, int64_t stride, bool touchesPrevious) {
    if (touchesPrevious) {
      dims[rank - 1] *= size;
      return;
    }
    dims[rank] = size;
    strides[rank++] = stride;
  }
  int64_t count(int from = 0) const {
    int64_t product = 1;
    for (int i = from; i < rank; ++i) product *= dims[i];
    return product;
  }
  // Offset of position `index`, counted from the innermost dimension `from`.
  int64_t offset(int64_t index, int from = 0) const {
    int64_t offset = 0;
    for (int i = from; i + 1 < rank; ++i) {
      offset += index % dims[i] * strides[i];
      index /= dims[i];
    }
    return from < rank ? offset + index * strides[rank - 1] : offset;
  }
};

struct Problem {
  Group kept, reduced;
  bool endsReduced = false;  // the last dimension is a reduced one
};

Problem problemOf(const TensorArg& x, uint32_t axes) {
  Problem problem;
  int64_t stride = 1;
  int previous = -1;  // sort of the dimension just inside
  for (int i = x.rank - 1; i >= 0; --i) {
    if (x.dims[i] == 1) continue;
    const int sort = static_cast<int>((axes >> i) & 1);
    if (previous < 0) problem.endsReduced = sort == 1;
    (sort ? problem.reduced : problem.kept).addOuter(x.dims[i], stride, sort == previous);
    stride *= x.dims[i];
    previous = sort;
  }
  return problem;
}

double partOfRow(Kind kind, const float* x, int64_t count) { return reduceRow(kind, x, count); }
double partOfRow(Kind kind, const BFloat16* x, int64_t count) {
  float values[kLongestBf16Row];
  double total = identityOf(kind);
  for (int64_t i = 0; i < count; i += kLongestBf16Row) {
    const int64_t part = std::min(kLongestBf16Row, count - i);
    widenRow(x + i, part, values);
    total = combine(kind, total, reduceRow(kind, values, part));
  }
  return total;
}

template <class T>
void addColumns(Kind kind, const T* x, int64_t rows, int64_t stride, int64_t columns,
                double* totals) {
  for (int64_t row = 0; row < rows; row += kStepsInF32)
    reduceColumns(kind, x + row * stride, std::min(kStepsInF32, rows - row), stride, columns,
                  totals);
}

// Each result is made of rows of the input. T is f32 or bf16.
template <class T>
void reduceRows(const Problem& problem, Kind kind, const T* x, T* y, ThreadPool* pool) {
  const Group& reduced = problem.reduced;
  const int64_t length = reduced.dims[0], rows = reduced.count(1), count = reduced.count();
  parallelItems(pool, problem.kept.count(), static_cast<double>(count) / 2 + 8,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const T* from = x + problem.kept.offset(i);
                    double total = identityOf(kind);
                    for (int64_t row = 0; row < rows; ++row)
                      total = combine(kind, total,
                                      partOfRow(kind, from + reduced.offset(row, 1), length));
                    y[i] = T(static_cast<float>(finish(kind, total, count)));
                  }
                });
}

// Neighbouring results are made of neighbouring columns: blocks of those, and of tensors with few
// of them the rows of a block in parts.
template <class T>
class ColumnBlocks {
 public:
  ColumnBlocks(const Problem& problem, Kind kind, const T* x, int threads)
      : kept_(problem.kept),
        reduced_(problem.reduced),
        kind_(kind),
        x_(x),
        inner_(kept_.dims[0]),
        blocks_((inner_ + kColumnBlock - 1) / kColumnBlock) {
    if (reduced_.rank > 0) {
      rows_ = reduced_.dims[0];
      stride_ = reduced_.strides[0];
      repeats_ = reduced_.count(1);
    }
    // What is worth a part: its totals are added up again.
    constexpr int64_t kLeastElements = 16 * 1024;
    const int64_t most = count() * std::min(inner_, kColumnBlock) / kLeastElements;
    // Pixels are divided among threads as the convolution in front divides them.
    if (kept_.count(1) < threads && most >= threads && !splitsColumns(count(), inner_))
      parts_ = threads;
    else if (units() < threads)
      parts_ = std::clamp<int64_t>(most, 1, (2 * threads + units() - 1) / units());
  }

  int64_t units() const { return kept_.count(1) * blocks_; }
  int64_t parts() const { return parts_; }
  int64_t count() const { return rows_ * repeats_; }
  int64_t columnsOf(int64_t unit) const {
    return std::min(kColumnBlock, inner_ - unit % blocks_ * kColumnBlock);
  }

  void add(int64_t unit, int64_t part, double* totals) const {
    const T* from = x_ + kept_.offset(unit / blocks_, 1) + unit % blocks_ * kColumnBlock;
    std::fill(totals, totals + columnsOf(unit), identityOf(kind_));
    // Of several repeats whole ones.
    const int64_t pieces = repeats_ > 1 ? repeats_ : rows_;
    const int64_t begin = pieces * part / parts_, end = pieces * (part + 1) / parts_;
    if (repeats_ == 1)
      return addColumns(kind_, from + begin * stride_, end - begin, stride_, columnsOf(unit),
                        totals);
    for (int64_t repeat = begin; repeat < end; ++repeat)
      addColumns(kind_, from + reduced_.offset(repeat, 1), rows_, stride_, columnsOf(unit), totals);
  }

  void store(int64_t unit, const double* totals, T* y) const {
    T* to = y + unit / blocks_ * inner_ + unit % blocks_ * kColumnBlock;
    const int64_t columns = columnsOf(unit), all = count();
    const auto storeAs = [&](auto finished) {
      for (int64_t c = 0; c < columns; ++c) to[c] = T(static_cast<float>(finished(totals[c])));
    };
    if (kind_ == Kind::kMean)
      storeAs([&](double total) { return finish(Kind::kMean, total, all); });
    else if (kind_ == Kind::kL2 || kind_ == Kind::kLogSum)
      storeAs([&](double total) { return finish(kind_, total, all); });
    else
      storeAs([](double total) { return total; });
  }

 private:
  const Group &kept_, &reduced_;
  const Kind kind_;
  const T* const x_;
  const int64_t inner_, blocks_;
  int64_t rows_ = 1, stride_ = 0, repeats_ = 1, parts_ = 1;
};

template <class T>
void reduceInner(const Problem& problem, Kind kind, const T* x, T* y, ThreadPool* pool) {
  const ColumnBlocks<T> blocks(problem, kind, x, pool ? pool->threads() : 1);
  const int64_t parts = blocks.parts(), width = std::min(problem.kept.dims[0], kColumnBlock);
  const double work = static_cast<double>(blocks.count() * width / parts) / 2 + 32;
  if (parts == 1) {
    parallelItems(pool, blocks.units(), work, [&](int64_t begin, int64_t end) {
      double totals[kColumnBlock];
      for (int64_t unit = begin; unit < end; ++unit) {
        blocks.add(unit, 0, totals);
        blocks.store(unit, totals, y);
      }
    });
    return;
  }
  std::vector<double> totals(static_cast<size_t>(blocks.units() * parts * kColumnBlock));
  const int64_t units = blocks.units();
  parallelItems(pool, units * parts, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      blocks.add(i % units, i / units,
                 totals.data() + (i % units * parts + i / units) * kColumnBlock);
  });
  for (int64_t unit = 0; unit < blocks.units(); ++unit) {
    double* all = totals.data() + unit * parts * kColumnBlock;
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t c = 0; c < width; ++c)
        all[c] = combine(kind, all[c], all[part * kColumnBlock + c]);
    blocks.store(unit, all, y);
  }
}

bool fitsReduce(const void* state, const LaunchArgs& args) {
  if (!hasF32OrBf16Operands(args)) return false;
  const uint32_t axes = static_cast<const ReduceParams*>(state)->axes;
  int64_t results = 1;
  for (int i = 0; i < args.inputs[0].rank; ++i)
    if (!((axes >> i) & 1)) results *= args.inputs[0].dims[i];
  return args.outputs[0].count() == results;
}

template <class T>
void reduceTensor(const ReduceParams& params, const LaunchArgs& args) {
  const TensorArg& x = args.inputs[0];
  T* y = args.outputs[0].as<T>();
  const int64_t results = args.outputs[0].count();
  if (results == 0) return;
  if (x.count() == 0) {
    std::fill(y, y + results,
              T(static_cast<float>(finish(params.kind, identityOf(params.kind), 0))));
    return;
  }
  Problem problem = problemOf(x, params.axes);
  if (problem.kept.rank + problem.reduced.rank == 0) problem.kept.addOuter(1, 1, false);
  if (problem.endsReduced)
    reduceRows(problem, params.kind, x.as<const T>(), y, args.threads);
  else
    reduceInner(problem, params.kind, x.as<const T>(), y, args.threads);
}

void launchReduce(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ReduceParams*>(state);
  (isBf16(args.inputs[0]) ? reduceTensor<BFloat16> : reduceTensor<float>)(params, args);
}

// Position of the first (or last) best element; a NaN in front wins, later ones do not count.
struct ArgSearch {
  bool largest, selectLast;

  bool isStrictlyBetter(float x, float best) const { return largest ? x > best : x < best; }
  bool isBetter(float x, float best) const {
    return isStrictlyBetter(x, best) || (selectLast && x == best);
  }

  int64_t row(const float* x, int64_t count) const {
    float best = x[0];
    if (best != best) return 0;
    // Several candidates at a time, which compilers turn into vectors.
    constexpr int64_t kLanes = 16;
    float candidates[kLanes];
    std::fill(candidates, candidates + kLanes, best);
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const float value = largest ? x[i + lane] : -x[i + lane];
        const float before = largest ? candidates[lane] : -candidates[lane];
        candidates[lane] = value > before ? x[i + lane] : candidates[lane];
      }
    for (float candidate : candidates) best = isStrictlyBetter(candidate, best) ? candidate : best;
    for (; i < count; ++i) best = isStrictlyBetter(x[i], best) ? x[i] : best;
    int64_t at = selectLast ? count - 1 : 0;
    while (x[at] != best) at += selectLast ? -1 : 1;
    return at;
  }

  void columns(const float* x, int64_t size, int64_t stride, int64_t count,
               int64_t* positions) const {
    float best[kColumnBlock];
    for (int64_t c = 0; c < count; ++c) {
      best[c] = x[c];
      positions[c] = 0;
    }
    for (int64_t i = 1; i < size; ++i) {
      for (int64_t c = 0; c < count; ++c) {
        const float value = x[i * stride + c];
        if (!isBetter(value, best[c])) continue;
        best[c] = value;
        positions[c] = i;
      }
    }
  }
};

bool fitsArgReduce(const void* state, const LaunchArgs& args) {
  const int axis = static_cast<const ArgReduceParams*>(state)->axis;
  if (!hasOperands(args, 1) || !isF32(args.inputs[0]) || axis >= args.inputs[0].rank ||
      worksInPlace(args))
    return false;
  const TensorArg& y = args.outputs[0];
  return y.type == DataType::kI64 &&
         volumeOf({y.count(), args.inputs[0].dims[axis]}) == args.inputs[0].count();
}

void launchArgReduce(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ArgReduceParams*>(state);
  const TensorArg& x = args.inputs[0];
  requireAxis(x, params.axis);
  if (x.count() == 0) return;
  const float* from = x.as<float>();
  int64_t* to = args.outputs[0].as<int64_t>();
  const ArgSearch search{params.largest != 0, params.selectLast != 0};
  const int64_t size = x.dims[params.axis];
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < params.axis; ++i) outer *= x.dims[i];
  for (int i = params.axis + 1; i < x.rank; ++i) inner *= x.dims[i];
  if (inner == 1) {
    parallelItems(args.threads, outer, static_cast<double>(size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = search.row(from + i * size, size);
    });
    return;
  }
  const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
  parallelItems(args.threads, outer * blocks, static_cast<double>(2 * size * kColumnBlock),
                [&](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end; ++unit) {
                    const int64_t column = unit % blocks * kColumnBlock;
                    search.columns(from + unit / blocks * size * inner + column, size, inner,
                                   std::min(kColumnBlock, inner - column),
                                   to + unit / blocks * inner + column);
                  }
                });
}

// Running totals of neighbouring columns, `stride` elements from one row to the next. Of a single
// column the total stays in a register.
template <class T, class Total, int64_t kMost>
void cumulateColumns(const CumSumParams& params, const T* x, T* y, int64_t rows, int64_t stride,
                     int64_t columns) {
  Total totals[kMost];
  std::fill(totals, totals + kMost, static_cast<Total>(params.product ? 1 : 0));
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t at = (params.reverse ? rows - 1 - row : row) * stride;
    for (int64_t c = 0; c < (kMost == 1 ? 1 : columns); ++c) {
      const Total before = totals[c], value = static_cast<Total>(x[at + c]);
      totals[c] = params.product ? before * value : before + value;
      y[at + c] = static_cast<T>(params.exclusive ? before : totals[c]);
    }
  }
}

template <class T, class Total>
void cumulate(const CumSumParams& params, const LaunchArgs& args) {
  const TensorArg& x = args.inputs[0];
  const T* from = x.as<T>();
  T* to = args.outputs[0].as<T>();
  const int64_t rows = x.dims[params.axis];
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < params.axis; ++i) outer *= x.dims[i];
  for (int i = params.axis + 1; i < x.rank; ++i) inner *= x.dims[i];
  const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
  const double work = static_cast<double>(rows * std::min(inner, kColumnBlock)) * 2;
  parallelItems(args.threads, outer * blocks, work, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t column = unit % blocks * kColumnBlock;
      const int64_t at = unit / blocks * rows * inner + column;
      const auto run =
          inner == 1 ? cumulateColumns<T, Total, 1> : cumulateColumns<T, Total, kColumnBlock>;
      run(params, from + at, to + at, rows, inner, std::min(kColumnBlock, inner - column));
    }
  });
}

bool fitsCumSum(const void* state, const LaunchArgs& args) {
  return hasOperands(args, 1) && sameType(args.inputs[0], args.outputs[0]) &&
         sameSizes(args.inputs[0], args.outputs[0]) &&
         static_cast<const CumSumParams*>(state)->axis < args.inputs[0].rank;
}

void launchCumSum(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const CumSumParams*>(state);
  if (args.inputs[0].count() == 0) return;
  switch (args.inputs[0].type) {
    case DataType::kF32:
      return cumulate<float, double>(params, args);
    case DataType::kI32:  // unsigned, because sums wrap around
      return cumulate<int32_t, uint32_t>(params, args);
    case DataType::kI64:
      return cumulate<int64_t, uint64_t>(params, args);
    default:
      fail(ErrorKind::kInvalidEngine, "the engine adds up elements of type ", args.inputs[0].type);
  }
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/reduce_f32", loadParams<ReduceParams>, launchReduce, fitsReduce},
    {"cpu/arg_reduce_f32", loadParams<ArgReduceParams>, launchArgReduce, fitsArgReduce},
    {"cpu/cumsum", loadParams<CumSumParams>, launchCumSum, fitsCumSum}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::reduce
