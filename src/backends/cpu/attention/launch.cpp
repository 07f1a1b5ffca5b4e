// Attention head by head. A worker packs the keys and values of a head once, then takes blocks of
// its queries from scores to results while both stay in its cache.
#include <algorithm>
#include <limits>
#include <memory>

#include "backend/launch.h"
#include "backends/cpu/attention/params.h"
#include "backends/cpu/attention/score_rows.h"
#include "backends/cpu/compute/gemm.h"
#include "backends/cpu/compute/gemm_block.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "support/byte_reader.h"

namespace camshaft::cpu::attention {
namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t aligned(int64_t floats) { return ceilDiv(floats, 16) * 16; }

// Queries at a time: enough to amortise reading the packed keys, few enough for their scores to
// stay in L2.
constexpr int64_t kMaxBlockRows = 64;
int64_t blockRows() { return std::min(kMaxBlockRows, 6 * gemmGeometry().mr); }

// Queries are rows [batch][key head][head of the group][query]: those that share a key head lie
// together.
struct Problem {
  int64_t batch, heads, keyHeads, queries, keys, size, valueSize;
  const float *q, *k, *v;
  float* out;
  TensorArg mask;
  int64_t maskStrides[4] = {};
  int64_t causalOffset = 0;
  Params params;

  Problem(const Params& params, const LaunchArgs& args);
  int64_t units() const { return batch * keyHeads; }
  int64_t rowsPerUnit() const { return heads / keyHeads * queries; }

  // Keys that row `row` of a unit may see.
  int64_t visibleKeys(int64_t row) const {
    if (!params.causal) return keys;
    return std::clamp<int64_t>(row % queries + causalOffset + 1, 0, keys);
  }
  RowMask maskOf(int64_t unit, int64_t row) const;
};

Problem::Problem(const Params& params, const LaunchArgs& args) : params(params) {
  const TensorArg &qArg = args.inputs[0], &kArg = args.inputs[1], &vArg = args.inputs[2];
  batch = qArg.dims[0];
  heads = qArg.dims[1];
  queries = qArg.dims[2];
  size = qArg.dims[3];
  keyHeads = vArg.dims[1];
  keys = vArg.dims[2];
  valueSize = vArg.dims[3];
  q = qArg.as<const float>();
  k = kArg.as<const float>();
  v = vArg.as<const float>();
  out = args.outputs[0].as<float>();
  if (keyHeads < 1 || heads % keyHeads != 0 || kArg.count() != batch * keyHeads * keys * size)
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
  const int64_t offset =
      unit / keyHeads * maskStrides[0] + head * maskStrides[1] + row % queries * maskStrides[2];
  if (mask.type == DataType::kBool) return {.selected = mask.as<const bool>() + offset};
  return {.added = mask.as<const float>() + offset};
}

bool isOpen(const RowMask& mask) {
  return mask.selected ? *mask.selected : *mask.added != -std::numeric_limits<float>::infinity();
}

// The weights of one row in place, their sum returned; keys beyond its own count get none.
float weigh(const Problem& p, int64_t unit, int64_t row, float* scores, int64_t count) {
  const int64_t visible = std::min(count, p.visibleKeys(row));
  std::fill(scores + visible, scores + count, 0.0f);
  const RowMask mask = p.maskOf(unit, row);
  const bool oneForAll = p.mask.data && p.maskStrides[3] == 0 && p.keys != 1;
  if (!oneForAll) return weighRow(scores, visible, p.params.softcap, mask);
  if (isOpen(mask)) return weighRow(scores, visible, p.params.softcap, {});
  std::fill(scores, scores + visible, 0.0f);
  return 0;
}

class Worker {
 public:
  Worker(const Problem& problem, float* workspace) : p_(problem), stride_(aligned(problem.keys)) {
    const Buffers buffers = buffersFor(p_.keys, p_.size, p_.valueSize);
    keys_ = workspace;
    values_ = keys_ + buffers.keys;
    scores_ = values_ + buffers.values;
  }

  void take(int64_t unit, int64_t firstRow, int64_t endRow) {
    const float* k = p_.k + unit * p_.keys * p_.size;
    packB(p_.size, p_.keys, k, p_.params.transposedKeys ? p_.keys : p_.size,
          !p_.params.transposedKeys, keys_);
    packB(p_.keys, p_.valueSize, p_.v + unit * p_.keys * p_.valueSize, p_.valueSize, false,
          values_);
    const int64_t step = blockRows();
    for (int64_t row = firstRow; row < endRow; row += step)
      attend(unit, row, std::min(step, endRow - row));
  }

 private:
  void attend(int64_t unit, int64_t row, int64_t rows) {
    int64_t visible = 0;
    for (int64_t i = 0; i < rows; ++i) visible = std::max(visible, p_.visibleKeys(row + i));
    const int64_t place = unit * p_.rowsPerUnit() + row;
    float* out = p_.out + place * p_.valueSize;
    gemmBlock({.rows = rows,
               .columns = visible,
               .k = p_.size,
               .a = p_.q + place * p_.size,
               .lda = p_.size,
               .packedB = keys_,
               .c = scores_,
               .ldc = stride_},
              {.scale = p_.params.scale});
    float sums[kMaxBlockRows];
    for (int64_t i = 0; i < rows; ++i)
      sums[i] = weigh(p_, unit, row + i, scores_ + i * stride_, visible);
    // Panel by panel, because the panels are as deep as there are keys.
    const int64_t width = gemmGeometry().nr;
    for (int64_t column = 0; column < p_.valueSize; column += width)
      gemmBlock({.rows = rows,
                 .columns = std::min(width, p_.valueSize - column),
                 .k = visible,
                 .a = scores_,
                 .lda = stride_,
                 .packedB = values_ + column * p_.keys,
                 .c = out + column,
                 .ldc = p_.valueSize},
                {});
    for (int64_t i = 0; i < rows; ++i)
      scaleRow(out + i * p_.valueSize, p_.valueSize, sums[i] == 0 ? 0.0f : 1 / sums[i]);
  }

  const Problem& p_;
  const int64_t stride_;
  float *keys_, *values_, *scores_;
};

std::shared_ptr<const void> load(std::span<const std::byte> bytes) {
  return std::make_shared<Params>(ByteReader(bytes, "the parameters of attention").read<Params>());
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

bool fits(const void* state, const LaunchArgs& args) {
  if (!hasOperands(args, 3)) return false;
  for (int i = 0; i < 3; ++i)
    if (args.inputs[i].rank != 4 || !isF32(args.inputs[i])) return false;
  const TensorArg &q = args.inputs[0], &k = args.inputs[1], &v = args.inputs[2];
  const TensorArg& out = args.outputs[0];
  const int64_t results[] = {q.dims[0], q.dims[1], q.dims[2], v.dims[3]};
  if (!isF32(out) || !std::ranges::equal(out.shape(), results)) return false;
  if (k.dims[0] != q.dims[0] || v.dims[0] != q.dims[0] || k.dims[1] != v.dims[1]) return false;
  const int64_t scores[] = {q.dims[0], q.dims[1], q.dims[2], v.dims[2]};
  const auto& params = *static_cast<const Params*>(state);
  return !params.hasMask || (args.inputs.size() > 3 && fitsMask(args.inputs[3], scores));
}

void launch(const void* state, const LaunchArgs& args) {
  if (args.outputs[0].count() == 0) return;
  const Problem problem(*static_cast<const Params*>(state), args);
  const int64_t floats = buffersFor(problem.keys, problem.size, problem.valueSize).total();
  const WorkersWithin limit(args, [&](int threads) { return threads * floats; });
  ThreadPool& pool = *args.threads;
  // Heads are split only when there are too few of them: each part packs the keys again.
  const int64_t rows = problem.rowsPerUnit(), units = problem.units();
  const int64_t parts =
      std::clamp<int64_t>(ceilDiv(2 * pool.threads(), units), 1, ceilDiv(rows, blockRows()));
  const int64_t split = pool.threads() == 1 ? 1 : parts;
  pool.parallelFor(units * split, 1, [&](int64_t begin, int64_t end, int index) {
    Worker worker(problem, workspaceFloats(args) + index * floats);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t part = task % split;
      worker.take(task / split, rows * part / split, rows * (part + 1) / split);
    }
  });
}

constexpr RuntimeKernel kLaunchers[] = {{kName, load, launch, fits}};

}  // namespace

Buffers buffersFor(int64_t keyLength, int64_t size, int64_t valueSize) {
  return {.keys = aligned(packedBFloats(size, keyLength)),
          .values = aligned(packedBFloats(keyLength, valueSize)),
          .scores = blockRows() * aligned(keyLength)};
}

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::attention
