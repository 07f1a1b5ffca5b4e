#include <algorithm>
#include <memory>

#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/epilogue_state.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm_nbits/blocks.h"
#include "backends/cpu/gemm_nbits/params.h"
#include "backends/cpu/gemm_nbits/rows.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "support/error.h"

namespace camshaft::cpu::gemm_nbits {

namespace {

struct State {
  BlockParams params;
  EpilogueState epilogue;
};

std::shared_ptr<const void> load(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a product with weights of a few bits");
  auto state = std::make_shared<State>();
  state->params = reader.read<BlockParams>();
  state->epilogue = EpilogueState(reader);
  reader.expectEnd();
  const BlockParams& p = state->params;
  constexpr int64_t kMost = int64_t{1} << 31;
  if (p.k < 0 || p.n < 0 || p.blockSize <= 0 || p.k > kMost || p.n > kMost || p.blockSize > kMost ||
      (p.bits != 2 && p.bits != 4 && p.bits != 8) || p.blockSize % (32 / p.bits) != 0)
    fail(ErrorKind::kInvalidEngine, "the engine holds damaged parameters of a kernel");
  return state;
}

BlockWeights weightsOf(const BlockParams& params, const LaunchArgs& args) {
  return {.bits = params.bits,
          .n = params.n,
          .blocks = params.blocks(),
          .blockSize = params.blockSize,
          .words = args.inputs[1].as<const uint32_t>(),
          .scales = args.inputs[2].as<const float>(),
          .zeros = params.hasZeros ? args.inputs[3].as<const float>() : nullptr};
}

int64_t rowsOf(const BlockParams& params, const TensorArg& out) {
  return params.n == 0 ? 0 : out.count() / params.n;
}

bool fits(const void* opaque, const LaunchArgs& args) {
  const BlockParams& params = static_cast<const State*>(opaque)->params;
  if (!hasOperands(args, params.hasZeros ? 4 : 3)) return false;
  const TensorArg &a = args.inputs[0], &out = args.outputs[0];
  if (!isF32(a) || !isF32(out) || out.rank < 1 || out.dims[out.rank - 1] != params.n) return false;
  const BlockWeights weights = weightsOf(params, args);
  const auto isPerBlock = [&](const TensorArg& tensor) {
    return isF32(tensor) && tensor.count() == weights.scaleCount();
  };
  return a.count() == volumeOf({rowsOf(params, out), params.k}) &&
         args.inputs[1].type == DataType::kU32 && args.inputs[1].count() == weights.wordCount() &&
         isPerBlock(args.inputs[2]) && (!params.hasZeros || isPerBlock(args.inputs[3]));
}

// Copies rows into the workspace, as Rows has them, and sums their blocks.
void packRows(const BlockParams& params, const float* a, int64_t m, float* packed, float* sums,
              ThreadPool* pool) {
  const int64_t depth = paddedDepth(params), blocks = params.blocks();
  const double work = static_cast<double>(depth * std::min(m, kMaxRows));
  parallelItems(pool, ceilDiv(m, kMaxRows), work, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * kMaxRows; row < std::min(m, end * kMaxRows); row += kMaxRows) {
      const int64_t count = std::min(kMaxRows, m - row);
      float* to = packed + row * depth;
      std::fill(to + params.k * count, to + depth * count, 0.0f);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < params.k; ++k) to[k * count + i] = a[(row + i) * params.k + k];
      if (!sums) continue;
      float* sum = sums + row * blocks;
      std::fill(sum, sum + blocks * count, 0.0f);
      for (int64_t k = 0; k < params.k; ++k)
        for (int64_t i = 0; i < count; ++i)
          sum[k / params.blockSize * count + i] += to[k * count + i];
    }
  });
}

void launch(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const State*>(opaque);
  const BlockParams& params = state.params;
  const TensorArg& out = args.outputs[0];
  const int64_t m = rowsOf(params, out), depth = paddedDepth(params);
  if (m == 0) return;
  if (rowsWorkspaceBytes(m, params) > args.workspaceBytes)
    fail(ErrorKind::kInvalidEngine,
         "a product with weights of a few bits has too little workspace");
  float* rows = reinterpret_cast<float*>(args.workspace);
  float* sums = params.hasZeros ? rows + m * depth : nullptr;
  packRows(params, args.inputs[0].as<const float>(), m, rows, sums, args.threads);

  const BlockWeights weights = weightsOf(params, args);
  const LaunchedEpilogue epilogue(state.epilogue, args);
  const double work = static_cast<double>(m * depth);
  parallelItems(args.threads, panelsOf(params.n), work, [&](int64_t begin, int64_t end) {
    alignas(64) float products[kMaxRows * kPanelColumns];
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t column = panel * kPanelColumns;
      for (int64_t row = 0; row < m; row += kMaxRows) {
        const int64_t count = std::min(kMaxRows, m - row);
        const Rows part{rows + row * depth, sums ? sums + row * weights.blocks : nullptr, count};
        multiplyPanel(weights, panel, part, products);
        finishBlock(products, kPanelColumns, count, std::min(kPanelColumns, params.n - column), row,
                    column, out.as<float>(), params.n, epilogue.get());
      }
    }
  });
}

constexpr RuntimeKernel kLaunchers[] = {{kBlocks, load, launch, fits}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::gemm_nbits
