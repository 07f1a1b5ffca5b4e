#include <algorithm>
#include <memory>

#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/epilogue_state.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/params.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm/split_gemm.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/move/transpose_block.h"
#include "backends/cpu/operands.h"

namespace camshaft::cpu::gemm {
namespace {

template <class Params>
struct State {
  Params params;
  EpilogueState epilogue;
};

std::shared_ptr<const void> loadPacked(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a matrix product");
  requireIsa(reader);
  auto state = std::make_shared<State<PackedParams>>();
  state->params = reader.read<PackedParams>();
  state->epilogue = EpilogueState(reader);
  reader.expectEnd();
  return state;
}

void requireWorkspace(const LaunchArgs& args, int64_t floats) {
  if (floats * static_cast<int64_t>(sizeof(float)) > args.workspaceBytes)
    fail(ErrorKind::kInvalidEngine, "a matrix product of the engine has too little workspace");
}

// Apart from the elements' types.
bool fitsSizes(const void* opaque, const LaunchArgs& args) {
  const PackedParams& params = static_cast<const State<PackedParams>*>(opaque)->params;
  constexpr int64_t kMost = int64_t{1} << 31;
  if (params.k < 0 || params.n < 0 || params.k > kMost || params.n > kMost) return false;
  if (args.inputs.size() < 2 || !hasOperands(args, args.inputs.size())) return false;
  const TensorArg &a = args.inputs[0], &out = args.outputs[0];
  const bool hasRows = !params.transposeA || (a.rank > 1 && a.dims[a.rank - 2] == params.k);
  return isF32(args.inputs[1]) && out.rank > 0 && hasRows && out.dims[out.rank - 1] == params.n;
}

bool fitsPacked(const void* opaque, const LaunchArgs& args) {
  return fitsSizes(opaque, args) && isF32(args.inputs[0]) && isF32(args.outputs[0]);
}

// Only what is computed from bf16 is stored in it.
bool fitsBf16(const void* opaque, const LaunchArgs& args) {
  if (!fitsSizes(opaque, args)) return false;
  const TensorArg &a = args.inputs[0], &out = args.outputs[0];
  return isBf16(a) ? isF32(out) || isBf16(out) : isF32(a) && isF32(out);
}

// A first operand by rows of k, in one of two types, and what is left of the workspace.
struct Rows {
  int64_t count;
  const float* data;
  const uint16_t* halves;
  float* workspace;
};

// Makes A row-major in `memory` where it is not.
void transposeMatrices(const TensorArg& a, ThreadPool& pool, float* memory) {
  const int64_t width = isBf16(a) ? sizeof(BFloat16) : sizeof(float);
  const auto* from = a.as<const std::byte>();
  auto* to = reinterpret_cast<std::byte*>(memory);
  const int64_t k = a.dims[a.rank - 2], m = a.dims[a.rank - 1], size = k * m;
  constexpr int64_t kStrip = 64;
  const int64_t strips = ceilDiv(m, kStrip);
  pool.parallelFor(strips * (size == 0 ? 0 : a.count() / size), 1,
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t task = begin; task < end; ++task) {
                       const int64_t matrix = task / strips * size, column = task % strips * kStrip;
                       move::transposeBlock(from + (matrix + column) * width, m,
                                            to + (matrix + column * k) * width, k, k,
                                            std::min(kStrip, m - column), width);
                     }
                   });
}

Rows rowsOf(const PackedParams& params, const LaunchArgs& args, int64_t packedFloats) {
  const TensorArg& a = args.inputs[0];
  Rows rows{.count = params.n == 0 ? 0 : args.outputs[0].count() / params.n,
            .data = isBf16(a) ? nullptr : a.as<const float>(),
            .halves = isBf16(a) ? a.as<const uint16_t>() : nullptr,
            .workspace = workspaceFloats(args)};
  if (args.inputs[1].count() != packedFloats || a.count() != volumeOf({rows.count, params.k}))
    fail(ErrorKind::kInvalidEngine, "a matrix product of the engine does not fit its operands");
  if (!params.transposeA) return rows;
  requireWorkspace(args, a.count());
  transposeMatrices(a, *args.threads, rows.workspace);
  if (isBf16(a))
    rows.halves = reinterpret_cast<const uint16_t*>(rows.workspace);
  else
    rows.data = rows.workspace;
  rows.workspace += a.count();
  return rows;
}

std::shared_ptr<const void> loadWithoutIsa(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a matrix product");
  auto state = std::make_shared<State<PackedParams>>();
  state->params = reader.read<PackedParams>();
  state->epilogue = EpilogueState(reader);
  reader.expectEnd();
  return state;
}

std::shared_ptr<const void> loadSplit(std::span<const std::byte> bytes) {
  if (!hasSplitGemm())
    fail(ErrorKind::kInvalidEngine,
         "the engine was built for a CPU with bf16 tiles (AMX), which this one "
         "lacks; build it again on this machine");
  return loadWithoutIsa(bytes);
}

template <Type16 kType>
std::shared_ptr<const void> load16(std::span<const std::byte> bytes) {
  requireGemm16(kType);
  return loadPacked(bytes);
}

template <Type16 kType>
void launch16(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const State<PackedParams>*>(opaque);
  const int64_t k = state.params.k, n = state.params.n;
  const Rows a = rowsOf(state.params, args, packedB16Floats(kType, k, n));
  const int64_t used = a.workspace - workspaceFloats(args);
  const WorkersWithin limit(
      args, [&](int threads) { return used + gemm16WorkspaceFloats(kType, a.count, k, threads); });
  const TensorArg& out = args.outputs[0];
  const LaunchedEpilogue epilogue(state.epilogue, args, a.halves != nullptr);
  gemm16(
      kType, a.count, n, k,
      [&](int64_t row, int64_t rows, const Panel16& panel) {
        if (a.halves)
          packPanel16(a.halves + row * k, k, k, rows, panel);
        else
          packPanel16(a.data + row * k, k, k, rows, panel);
      },
      args.inputs[1].as<const uint16_t>(),
      {.f32 = isBf16(out) ? nullptr : out.as<float>(),
       .stride = n,
       .bf16 = isBf16(out) ? out.as<BFloat16>() : nullptr},
      epilogue.get(), *args.threads, a.workspace, {a.halves, k}, args.upcoming);
}

void launchSplit(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const State<PackedParams>*>(opaque);
  const int64_t k = state.params.k, n = state.params.n;
  const Rows a = rowsOf(state.params, args, splitPackedBFloats(k, n));
  requireWorkspace(args,
                   a.workspace - workspaceFloats(args) + splitGemmWorkspaceFloats(a.count, k));
  const LaunchedEpilogue epilogue(state.epilogue, args);
  splitGemm(a.count, n, k, a.data, k, args.inputs[1].as<const float>(), args.outputs[0].as<float>(),
            n, epilogue.get(), *args.threads, a.workspace);
}

void launchPacked(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const State<PackedParams>*>(opaque);
  const int64_t k = state.params.k, n = state.params.n;
  const Rows a = rowsOf(state.params, args, packedBFloats(k, n));
  const LaunchedEpilogue epilogue(state.epilogue, args);
  packedGemm(a.count, n, k, a.data, k, args.inputs[1].as<const float>(),
             args.outputs[0].as<float>(), n, epilogue.get(), *args.threads);
}

std::shared_ptr<const void> loadBatched(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a matrix product");
  auto state = std::make_shared<State<BatchedParams>>();
  state->params.transposeA = reader.read<bool>();
  state->params.transposeB = reader.read<bool>();
  state->epilogue = EpilogueState(reader);
  reader.expectEnd();
  return state;
}

// A dimension of the batch, with the floats between its matrices.
struct BatchDim {
  int64_t size, a, b, c;
};

// Dimensions of the batch with neighbours merged wherever all three strides allow, innermost first.
struct Batch {
  BatchDim dims[kMaxRank];
  int count = 0;

  Batch(const TensorArg& a, const TensorArg& b, const TensorArg& c) {
    int64_t aStride = matrixSize(a), bStride = matrixSize(b), cStride = matrixSize(c);
    for (int i = 3; i <= c.rank; ++i) {
      const int64_t size = c.dims[c.rank - i];
      const int64_t aSize = i <= a.rank ? a.dims[a.rank - i] : 1,
                    bSize = i <= b.rank ? b.dims[b.rank - i] : 1;
      if (size != 1) append({size, aSize == 1 ? 0 : aStride, bSize == 1 ? 0 : bStride, cStride});
      aStride *= aSize;
      bStride *= bSize;
      cStride *= size;
    }
    while (count < 2) dims[count++] = {1, 0, 0, 0};
  }

 private:
  static int64_t matrixSize(const TensorArg& tensor) {
    return tensor.dims[tensor.rank - 2] * tensor.dims[tensor.rank - 1];
  }
  void append(BatchDim dim) {
    if (count > 0) {
      BatchDim& inner = dims[count - 1];
      if (dim.a == inner.a * inner.size && dim.b == inner.b * inner.size &&
          dim.c == inner.c * inner.size) {
        inner.size *= dim.size;
        return;
      }
    }
    dims[count++] = dim;
  }
};

BatchedGemm productOf(const BatchedParams& params, const LaunchArgs& args, const Batch& batch) {
  const TensorArg &a = args.inputs[0], &b = args.inputs[1], &c = args.outputs[0];
  BatchedGemm p;
  p.m = c.dims[c.rank - 2];
  p.n = c.dims[c.rank - 1];
  p.k = a.dims[a.rank - (params.transposeA ? 2 : 1)];
  p.a = {
      .data = a.as<const float>(), .stride = a.dims[a.rank - 1], .transposed = params.transposeA};
  p.b = {
      .data = b.as<const float>(), .stride = b.dims[b.rank - 1], .transposed = params.transposeB};
  p.c = {.data = c.as<float>(), .stride = p.n};
  for (int i = 0; i < 2; ++i) {
    const BatchDim& dim = batch.dims[1 - i];
    p.batches[i] = dim.size;
    p.a.batchStrides[i] = dim.a;
    p.b.batchStrides[i] = dim.b;
    p.c.batchStrides[i] = dim.c;
  }
  return p;
}

// Products of the two innermost dimensions of the batch, for every index of the outer ones.
void multiplyAll(BatchedGemm product, Epilogue epilogue, const Batch& batch, ThreadPool& pool,
                 float* workspace) {
  int64_t outer = 1;
  for (int i = 2; i < batch.count; ++i) outer *= batch.dims[i].size;
  const BatchedGemm first = product;
  const float* residual = epilogue.residual;
  for (int64_t flat = 0; flat < outer; ++flat) {
    int64_t rest = flat, a = 0, b = 0, c = 0;
    for (int i = 2; i < batch.count; ++i) {
      const BatchDim& dim = batch.dims[i];
      const int64_t index = rest % dim.size;
      rest /= dim.size;
      a += index * dim.a;
      b += index * dim.b;
      c += index * dim.c;
    }
    product.a.data = first.a.data + a;
    product.b.data = first.b.data + b;
    product.c.data = first.c.data + c;
    if (residual) epilogue.residual = residual + c;
    batchedGemm(product, epilogue, pool, workspace);
  }
}

bool broadcasts(const TensorArg& from, const TensorArg& to) {
  if (from.rank < 2 || from.rank > to.rank) return false;
  for (int i = 3; i <= from.rank; ++i) {
    const int64_t size = from.dims[from.rank - i];
    if (size != 1 && size != to.dims[to.rank - i]) return false;
  }
  return true;
}

bool fitsBatched(const void* opaque, const LaunchArgs& args) {
  const BatchedParams& params = static_cast<const State<BatchedParams>*>(opaque)->params;
  if (args.inputs.size() < 2 || !hasOperands(args, args.inputs.size())) return false;
  const TensorArg &a = args.inputs[0], &b = args.inputs[1], &c = args.outputs[0];
  if (!isF32(a) || !isF32(b) || !isF32(c) || !broadcasts(a, c) || !broadcasts(b, c)) return false;
  const auto size = [](const TensorArg& t, bool column) { return t.dims[t.rank - 2 + column]; };
  return size(a, params.transposeA) == size(c, false) &&
         size(b, !params.transposeB) == size(c, true) &&
         size(a, !params.transposeA) == size(b, params.transposeB);
}

void launchBatched(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const State<BatchedParams>*>(opaque);
  if (args.outputs[0].count() == 0) return;
  const Batch batch(args.inputs[0], args.inputs[1], args.outputs[0]);
  const BatchedGemm product = productOf(state.params, args, batch);
  const WorkersWithin limit(
      args, [&](int threads) { return batchedGemmWorkspaceFloats(product, threads); });
  const LaunchedEpilogue epilogue(state.epilogue, args);
  multiplyAll(product, epilogue.get(), batch, *args.threads, workspaceFloats(args));
}

constexpr RuntimeKernel kLaunchers[] = {
    {kBf16, load16<Type16::kBf16>, launch16<Type16::kBf16>, fitsBf16},
    {kF16, load16<Type16::kF16>, launch16<Type16::kF16>, fitsPacked},
    {kSplit, loadSplit, launchSplit, fitsPacked},
    {kPacked, loadPacked, launchPacked, fitsPacked},
    {kBatched, loadBatched, launchBatched, fitsBatched},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::gemm
