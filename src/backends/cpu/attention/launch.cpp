// Attention head by head. A worker packs the keys and values of a head once, then takes blocks of
// its queries from scores to results while both stay in its cache. Few queries, as in a step of a
// decoder, read keys and values where they lie. Windows of images are gathered, their results
// scattered.
#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include "backend/launch.h"
#include "backends/cpu/attention/deformable.h"
#include "backends/cpu/attention/gemv.h"
#include "backends/cpu/attention/head_products.h"
#include "backends/cpu/attention/masked_softmax.h"
#include "backends/cpu/attention/params.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "support/byte_reader.h"

namespace camshaft::cpu::attention {
namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Up to here packing costs more than it saves.
constexpr int64_t kFewRows = 4;

// An operand or the result as [batch][head][token][feature], whichever way it is stored.
struct Heads {
  int64_t batch, heads, length, size;
  int64_t batchStride, headStride, tokenStride;
  int64_t offset = 0;
  TokenWindows windows = {};
  // Without windows; forEachRow() walks through one of those.
  int64_t at(int64_t batch, int64_t head, int64_t token) const {
    return offset + batch * batchStride + head * headStride + token * tokenStride;
  }
};

// Images of tokens as their windows.
Heads inWindows(Heads heads, const TokenWindows& windows) {
  if (!windows.areThere()) return heads;
  heads.batch *= windows.perImage();
  heads.length = windows.tokens();
  heads.windows = windows;
  return heads;
}

Heads tokens(const TensorArg& arg, int64_t heads, int64_t size, int64_t offset) {
  return {.batch = arg.dims[0],
          .heads = heads,
          .length = arg.dims[1],
          .size = size,
          .batchStride = arg.dims[1] * arg.dims[2],
          .headStride = size,
          .tokenStride = arg.dims[2],
          .offset = offset};
}

// tokenStride is the distance of rows, which are features where the keys are transposed.
Heads headsFirst(const TensorArg& arg, bool transposed) {
  return {.batch = arg.dims[0],
          .heads = arg.dims[1],
          .length = arg.dims[transposed ? 3 : 2],
          .size = arg.dims[transposed ? 2 : 3],
          .batchStride = arg.dims[1] * arg.dims[2] * arg.dims[3],
          .headStride = arg.dims[2] * arg.dims[3],
          .tokenStride = arg.dims[3]};
}

// All that lies there.
Heads wholeOperandOf(const Params& params, const LaunchArgs& args, int i) {
  const TensorArg& arg = args.inputs[i];
  if (arg.rank == 4) return headsFirst(arg, i == 1 && params.transposedKeys);
  const Heads heads = tokens(arg, i == 0 ? params.heads : params.kvHeads,
                             i == 2 ? params.valueSize : params.size, params.offsets[i]);
  return inWindows(heads, params.windows);
}

Heads operandOf(const Params& params, const LaunchArgs& args, int i) {
  Heads heads = wholeOperandOf(params, args, i);
  if (i > 0 && params.countsKeys) heads.length = args.dims[0];
  return heads;
}

// Queries are rows [batch][key head][head of the group][query]: those that share a key head are
// taken together.
struct Problem {
  int64_t batch, heads, keyHeads, queries, keys, size, valueSize;
  Heads qHeads, kHeads, vHeads, outHeads;
  TensorArg q, k, v, out;  // floats, all of bf16, or keys and values bytes
  TensorArg mask;
  int64_t maskStrides[4] = {};
  int64_t causalOffset = 0;
  Params params;

  Problem(const Params& params, const LaunchArgs& args);
  int64_t units() const { return batch * keyHeads; }
  int64_t rowsPerUnit() const { return heads / keyHeads * queries; }
  // Rows from this one on that lie at equal distances, in q and in the result.
  int64_t evenRows(int64_t row) const {
    const bool headsFollow = qHeads.headStride == queries * qHeads.tokenStride &&
                             outHeads.headStride == queries * outHeads.tokenStride;
    return headsFollow ? rowsPerUnit() - row : queries - row % queries;
  }
  int64_t placeOf(const Heads& heads, int64_t unit, int64_t row) const {
    const int64_t group = this->heads / keyHeads;
    return heads.at(unit / keyHeads, unit % keyHeads * group + row / queries, row % queries);
  }

  // Keys that row `row` of a unit may see.
  int64_t visibleKeys(int64_t row) const {
    if (!params.causal) return keys;
    return std::clamp<int64_t>(row % queries + causalOffset + 1, 0, keys);
  }
  RowMask maskOf(int64_t unit, int64_t row) const;
};

Problem::Problem(const Params& params, const LaunchArgs& args) : params(params) {
  qHeads = operandOf(params, args, 0);
  kHeads = operandOf(params, args, 1);
  vHeads = operandOf(params, args, 2);
  batch = qHeads.batch;
  heads = qHeads.heads;
  queries = qHeads.length;
  size = qHeads.size;
  keyHeads = vHeads.heads;
  keys = vHeads.length;
  valueSize = vHeads.size;
  outHeads = params.heads > 0
                 ? inWindows(tokens(args.outputs[0], heads, valueSize, 0), params.windows)
                 : headsFirst(args.outputs[0], false);
  q = args.inputs[0];
  k = args.inputs[1];
  v = args.inputs[2];
  out = args.outputs[0];
  if (keyHeads < 1 || heads % keyHeads != 0 || kHeads.length != keys || kHeads.size != size)
    fail(ErrorKind::kInvalidArgument, "attention over ", heads, " heads of queries has ", keyHeads,
         " heads of keys, which do not fit");
  causalOffset = params.alignEnd ? keys - queries : 0;
  if (!params.hasMask) return;
  if (args.inputs.size() < 4 || args.inputs[3].rank > 4)
    fail(ErrorKind::kInvalidEngine, "the engine masks attention with a tensor that does not fit");
  mask = args.inputs[3];
  int64_t stride = 1;
  for (int i = 0; i < mask.rank; ++i) {
    const int64_t dim = mask.dims[mask.rank - 1 - i];
    maskStrides[3 - i] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
}

// Where the mask has one key for all, every key shares what it says.
RowMask Problem::maskOf(int64_t unit, int64_t row) const {
  if (!mask.data) return {};
  const int64_t group = heads / keyHeads;
  const int64_t head = unit % keyHeads * group + row / queries;
  int64_t batch = unit / keyHeads;
  if (params.maskBatches > 0) batch %= params.maskBatches;
  const int64_t offset =
      batch * maskStrides[0] + head * maskStrides[1] + row % queries * maskStrides[2];
  if (mask.type == DataType::kBool) return {.selected = mask.as<const Bool>() + offset};
  return {.added = mask.as<const float>() + offset};
}

bool isOpen(const RowMask& mask) {
  if (mask.selected) return static_cast<bool>(*mask.selected);
  return *mask.added != -std::numeric_limits<float>::infinity();
}

// The weights of one row, their sum returned: weighs(count, mask) makes them of the first scores.
template <class Weighs>
float weigh(const Problem& p, int64_t unit, int64_t row, float* scores, int64_t visible,
            Weighs weighs) {
  const RowMask mask = p.maskOf(unit, row);
  const bool oneForAll = p.mask.data && p.maskStrides[3] == 0 && p.keys != 1;
  if (!oneForAll) return weighs(visible, mask);
  if (isOpen(mask)) return weighs(visible, RowMask());
  std::fill(scores, scores + visible, -std::numeric_limits<float>::infinity());
  return weighs(visible, RowMask());
}

// visit(where a token of a window is in the tensor, which row it is), in the order of rows.
template <class Visit>
void forEachRow(const Heads& heads, int64_t batch, int64_t head, int64_t first, int64_t count,
                const Visit& visit) {
  const int64_t column = heads.offset + head * heads.headStride;
  int64_t row = 0;
  heads.windows.forEachRun(batch, first, count, [&](int64_t token, int64_t run) {
    int64_t at = column + token * heads.tokenStride;
    for (int64_t i = 0; i < run; ++i, at += heads.tokenStride) visit(at, row++);
  });
}

template <class T>
void gather(const Heads& heads, const T* from, int64_t batch, int64_t head, int64_t first,
            int64_t count, T* rows) {
  forEachRow(heads, batch, head, first, count, [&](int64_t at, int64_t row) {
    std::copy_n(from + at, heads.size, rows + row * heads.size);
  });
}

template <class T>
void scatter(const Heads& heads, const T* rows, int64_t batch, int64_t head, int64_t first,
             int64_t count, T* to) {
  forEachRow(heads, batch, head, first, count, [&](int64_t at, int64_t row) {
    std::copy_n(rows + row * heads.size, heads.size, to + at);
  });
}

// Queries and results are T.
template <class T>
class Worker {
 public:
  Worker(const Problem& problem, const HeadProducts::Sizes& sizes, float* workspace)
      : p_(problem),
        q_(problem.q.as<const T>()),
        out_(problem.out.as<T>()),
        step_(HeadProducts::blockRows(sizes.type)),
        products_(sizes, workspace),
        gathered_(reinterpret_cast<T*>(workspace + HeadProducts::workspaceFloats(sizes))) {}

  void take(int64_t unit, int64_t firstRow, int64_t endRow) {
    if (p_.params.windows.areThere())
      takeWindow(unit, firstRow, endRow);
    else if (p_.k.type == DataType::kI8)
      takeOf<int8_t>(unit, firstRow, endRow);
    else
      takeOf<T>(unit, firstRow, endRow);
  }

 private:
  // Of keys and values that are K.
  template <class K>
  void takeOf(int64_t unit, int64_t firstRow, int64_t endRow) {
    const int64_t batch = unit / p_.keyHeads, head = unit % p_.keyHeads;
    const K* k = p_.k.as<const K>() + p_.kHeads.at(batch, head, 0);
    const K* v = p_.v.as<const K>() + p_.vHeads.at(batch, head, 0);
    if constexpr (std::is_same_v<T, float>) {
      if (endRow - firstRow <= kFewRows) {
        for (int64_t row = firstRow; row < endRow; ++row) attendUnpacked(unit, row, k, v);
        return;
      }
    }
    pack(k, v);
    for (int64_t row = firstRow, rows = 0; row < endRow; row += rows) {
      rows = std::min({step_, endRow - row, p_.evenRows(row)});
      attend(unit, row, rows, {q_ + p_.placeOf(p_.qHeads, unit, row), p_.qHeads.tokenStride},
             out_ + p_.placeOf(p_.outHeads, unit, row), p_.outHeads.tokenStride);
    }
  }

  void takeWindow(int64_t unit, int64_t firstRow, int64_t endRow) {
    const int64_t batch = unit / p_.keyHeads, keyHead = unit % p_.keyHeads;
    T* const keys = gathered_;
    T* const values = keys + p_.keys * p_.size;
    T* const queries = values + p_.keys * p_.valueSize;
    T* const results = queries + step_ * p_.size;
    gather(p_.kHeads, p_.k.as<const T>(), batch, keyHead, 0, p_.keys, keys);
    gather(p_.vHeads, p_.v.as<const T>(), batch, keyHead, 0, p_.keys, values);
    products_.packKeys({keys, p_.size}, false);
    products_.packValues({values, p_.valueSize});
    for (int64_t row = firstRow, rows = 0; row < endRow; row += rows) {
      const int64_t head = keyHead * (p_.heads / p_.keyHeads) + row / p_.queries,
                    query = row % p_.queries;
      rows = std::min({step_, endRow - row, p_.queries - query});
      gather(p_.qHeads, q_, batch, head, query, rows, queries);
      attend(unit, row, rows, {queries, p_.size}, results, p_.valueSize);
      scatter(p_.outHeads, results, batch, head, query, rows, out_);
    }
  }

  void pack(const T* k, const T* v) {
    products_.packKeys({k, p_.kHeads.tokenStride}, p_.params.transposedKeys);
    products_.packValues({v, p_.vHeads.tokenStride});
  }
  void pack(const int8_t* k, const int8_t* v) {
    products_.packKeys(k, p_.kHeads.tokenStride);
    products_.packValues(v, p_.vHeads.tokenStride);
  }

  template <class K>
  void attendUnpacked(int64_t unit, int64_t row, const K* k, const K* v) {
    const int64_t visible = p_.visibleKeys(row), stride = p_.kHeads.tokenStride;
    const float* q = q_ + p_.placeOf(p_.qHeads, unit, row);
    const float scale = p_.params.scale;
    float* scores = products_.scores(0);
    if (p_.params.transposedKeys)
      combineRows(q, Matrix<K>{.data = k, .count = p_.size, .size = visible, .stride = stride},
                  scale, scores);
    else
      multiplyByRows(q, Matrix<K>{.data = k, .count = visible, .size = p_.size, .stride = stride},
                     scale, scores);
    const float sum =
        weigh(p_, unit, row, scores, visible, [&](int64_t count, const RowMask& mask) {
          return weighRow(scores, count, {.softcap = p_.params.softcap, .mask = mask});
        });
    const Matrix<K> values{
        .data = v, .count = visible, .size = p_.valueSize, .stride = p_.vHeads.tokenStride};
    combineRows(scores, values, sum == 0 ? 0.0f : 1 / sum,
                out_ + p_.placeOf(p_.outHeads, unit, row));
  }

  void attend(int64_t unit, int64_t row, int64_t rows, RowsOf queries, T* out, int64_t outStride) {
    int64_t visible = 0;
    for (int64_t i = 0; i < rows; ++i) visible = std::max(visible, p_.visibleKeys(row + i));
    products_.score(rows, visible, queries, p_.params.scale);
    float factors[HeadProducts::kMaxBlockRows];
    for (int64_t i = 0; i < rows; ++i) {
      const float sum = weigh(p_, unit, row + i, products_.scores(i), p_.visibleKeys(row + i),
                              [&](int64_t count, const RowMask& mask) {
                                return products_.weigh(i, count, p_.params.softcap, mask);
                              });
      factors[i] = sum == 0 ? 0.0f : 1 / sum;
    }
    products_.combine(factors, out, outStride);
  }

  const Problem& p_;
  const T* const q_;
  T* const out_;
  const int64_t step_;
  HeadProducts products_;
  T* const gathered_;  // where there are windows
};

std::shared_ptr<const void> load(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of attention");
  auto params = std::make_shared<Params>(reader.read<Params>());
  reader.expectEnd();
  return params;
}

template <Type16 kType>
std::shared_ptr<const void> load16(std::span<const std::byte> bytes) {
  requireGemm16(kType);
  return load(bytes);
}

bool fitsMask(const TensorArg& mask, const int64_t (&scores)[4]) {
  if (!isThere(mask) || mask.rank > 4) return false;
  if (mask.type != DataType::kF32 && mask.type != DataType::kBool) return false;
  for (int i = 0; i < mask.rank; ++i) {
    const int64_t size = mask.dims[mask.rank - 1 - i];
    if (size != 1 && size != scores[3 - i]) return false;
  }
  return true;
}

bool fitsHeads(const TensorArg& arg, const Params& params, int i, DataType type) {
  if (i > 0 && type == DataType::kF32 && arg.type == DataType::kI8)
    return arg.rank == 4 && !params.transposedKeys;
  if (!isThere(arg) || arg.type != type) return false;
  if (arg.rank == 4) return true;
  const int64_t heads = i == 0 ? params.heads : params.kvHeads,
                size = i == 2 ? params.valueSize : params.size, offset = params.offsets[i];
  if (arg.rank != 3 || heads < 1 || size < 1 || offset < 0 || (i == 1 && params.transposedKeys))
    return false;
  const int64_t width = arg.dims[2];
  return offset <= width && size <= width && heads <= (width - offset) / size;
}

bool fitsWindows(const TokenWindows& windows, const LaunchArgs& args) {
  if (!windows.areThere()) return true;
  if (!windows.divideImage()) return false;
  for (int i = 0; i < 3; ++i)
    if (args.inputs[i].rank != 3 ||
        args.inputs[i].dims[1] != volumeOf({windows.height, windows.width}))
      return false;
  return true;
}

bool fits(ProductType product, const void* state, const LaunchArgs& args) {
  if (!hasOperands(args, 3)) return false;
  const auto& params = *static_cast<const Params*>(state);
  const DataType type = args.inputs[0].type;
  if (type != DataType::kF32 && !(type == DataType::kBF16 && takesBf16(product))) return false;
  for (int i = 0; i < 3; ++i)
    if (!fitsHeads(args.inputs[i], params, i, type)) return false;
  if (args.inputs[1].type != args.inputs[2].type) return false;
  if (!fitsWindows(params.windows, args)) return false;
  for (int i = 1; i < 3 && params.countsKeys; ++i)
    if (args.dims.size() != 1 || args.dims[0] < 0 ||
        args.dims[0] > wholeOperandOf(params, args, i).length)
      return false;
  const Heads q = operandOf(params, args, 0), k = operandOf(params, args, 1),
              v = operandOf(params, args, 2);
  const TensorArg& out = args.outputs[0];
  const int64_t apart[] = {q.batch, q.heads, q.length, v.size},
                together[] = {args.inputs[0].dims[0], args.inputs[0].dims[1],
                              volumeOf({q.heads, v.size})};
  const bool fitsOut = params.heads > 0 ? std::ranges::equal(out.shape(), together)
                                        : std::ranges::equal(out.shape(), apart);
  if (!isThere(out) || out.type != type || !fitsOut) return false;
  if (k.batch != q.batch || v.batch != q.batch || k.heads != v.heads) return false;
  const int64_t scores[] = {params.maskBatches > 0 ? params.maskBatches : q.batch, q.heads,
                            q.length, v.length};
  return !params.hasMask || (args.inputs.size() > 3 && fitsMask(args.inputs[3], scores));
}

void launch(ProductType type, const void* state, const LaunchArgs& args) {
  if (args.outputs[0].count() == 0) return;
  const Problem problem(*static_cast<const Params*>(state), args);
  const HeadProducts::Sizes sizes{type, problem.k.type == DataType::kI8, problem.keys, problem.size,
                                  problem.valueSize};
  const int64_t floats = workerFloats(sizes, problem.params.windows);
  const WorkersWithin limit(args, [&](int threads) { return threads * floats; });
  ThreadPool& pool = *args.threads;
  // Heads are split only when they cannot be divided evenly: each part packs the keys again.
  const int64_t rows = problem.rowsPerUnit(), units = problem.units();
  const int64_t split =
      partsOfUnits(units, pool.threads(), ceilDiv(rows, HeadProducts::blockRows(type)));
  const auto take = [&](auto worker, int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t part = task % split;
      worker.take(task / split, rows * part / split, rows * (part + 1) / split);
    }
  };
  pool.parallelFor(units * split, 1, [&](int64_t begin, int64_t end, int index) {
    float* workspace = workspaceFloats(args) + index * floats;
    if (isBf16(problem.q))
      take(Worker<BFloat16>(problem, sizes, workspace), begin, end);
    else
      take(Worker<float>(problem, sizes, workspace), begin, end);
  });
}

void launchF32(const void* state, const LaunchArgs& args) { launch(std::nullopt, state, args); }
bool fitsF32(const void* state, const LaunchArgs& args) { return fits(std::nullopt, state, args); }

template <Type16 kType>
bool fits16(const void* state, const LaunchArgs& args) {
  return fits(kType, state, args);
}

template <Type16 kType>
void launch16(const void* state, const LaunchArgs& args) {
  launch(kType, state, args);
}

constexpr RuntimeKernel kLaunchers[] = {
    {kBf16, load16<Type16::kBf16>, launch16<Type16::kBf16>, fits16<Type16::kBf16>},
    {kF16, load16<Type16::kF16>, launch16<Type16::kF16>, fits16<Type16::kF16>},
    {kName, load, launchF32, fitsF32},
    {kDeformable, nullptr, launchDeformable, fitsDeformable}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::attention
