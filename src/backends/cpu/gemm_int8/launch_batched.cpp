#include "backends/cpu/gemm_int8/launch_batched.h"

#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

struct BatchedState {
  BatchedParams params;
  ProductState product;
};

// What the operands say: matrices [m][k] by [k][n]. A single second one takes all rows at once, a
// single first one is multiplied by each of the others.
struct Sizes {
  int64_t matrices, m;
  int64_t firstStep;  // rows from one first matrix to the next
  ProductParams product;

  Sizes(const ProductParams& params, const LaunchArgs& args) : product(params) {
    const TensorArg &b = args.inputs[1], &out = args.outputs[0];
    product.k = b.dims[b.rank - 2];
    product.n = b.dims[b.rank - 1];
    const int64_t rows = product.n == 0 ? 0 : out.count() / product.n;
    matrices = 1;
    for (int i = 0; i < b.rank - 2; ++i) matrices *= b.dims[i];
    m = matrices == 0 ? 0 : rows / matrices;
    firstStep = args.inputs[0].count() == volumeOf({m, product.k}) ? 0 : m;
  }
};

int64_t packedBytes(int64_t matrices, const ProductParams& params) {
  const int64_t bytes = packedColumnsBytes(layoutFor(params), params.k, params.n);
  return ceilDiv(matrices * bytes, 64) * 64;
}

// The second operands as blocks, and what the zero points add to every row of their products:
// -za * sum b + k * za * zb, modulo 2^32.
void packSecond(const BatchedParams& params, const Sizes& sizes, const LaunchArgs& args,
                uint32_t zero, uint8_t* packed, int32_t* offsets) {
  const Layout& layout = layoutFor(sizes.product);
  const int64_t k = sizes.product.k, n = sizes.product.n;
  const int64_t blocks = ceilDiv(n, kBlockColumns), blockBytes = layout.blockBytes(k);
  const auto* b = args.inputs[1].as<const uint8_t>();
  const auto perColumn = static_cast<uint32_t>(k) * static_cast<uint32_t>(params.zero);
  const double work = static_cast<double>(k * kBlockColumns) / 4;
  parallelItems(args.threads, sizes.matrices * blocks, work, [&](int64_t begin, int64_t end) {
    int32_t sums[kBlockColumns];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t matrix = i / blocks, column = i % blocks * kBlockColumns;
      packBlock(layout, k, n, b + matrix * k * n, column, static_cast<uint8_t>(params.flip),
                packed + i * blockBytes, sums);
      int32_t* to = offsets + matrix * columnElements(n) + column;
      for (int64_t j = 0; j < kBlockColumns; ++j)
        to[j] = static_cast<int32_t>(zero * (perColumn - static_cast<uint32_t>(sums[j])));
    }
  });
}

}  // namespace

int64_t batchedWorkspaceBytes(int64_t matrices, int64_t m, const ProductParams& params,
                              int threads) {
  return finishWorkspaceBytes(matrices * m, params, matrices) + packedBytes(matrices, params) +
         multiplyWorkspaceBytes(layoutFor(params), m, params.k, threads);
}

std::shared_ptr<const void> loadBatched(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a product of integers");
  auto state = std::make_shared<BatchedState>();
  state->params = reader.read<BatchedParams>();
  state->product = ProductState(reader);
  reader.expectEnd();
  return state;
}

bool fitsBatched(const void* opaque, const LaunchArgs& args) {
  const auto& [params, product] = *static_cast<const BatchedState*>(opaque);
  if (!hasOperands(args, 2)) return false;
  const TensorArg &a = args.inputs[0], &b = args.inputs[1], &out = args.outputs[0];
  const DataType second = params.flip ? DataType::kU8 : DataType::kI8;
  if (a.rank < 2 || b.rank < 2 || b.type != second || a.dims[a.rank - 1] != b.dims[b.rank - 2] ||
      a.dims[a.rank - 2] != out.dims[out.rank - 2])
    return false;
  if (out.count() == 0) return true;  // nothing to do, whichever operand is empty
  const Sizes sizes(product.params, args);
  const int64_t rows = volumeOf({sizes.matrices, sizes.m});
  return fitsEpilogue(sizes.product, product.scale, args) &&
         b.count() == volumeOf({sizes.matrices, sizes.product.k, sizes.product.n}) &&
         out.count() == volumeOf({rows, sizes.product.n}) &&
         a.count() == volumeOf({sizes.firstStep == 0 ? sizes.m : rows, sizes.product.k});
}

void launchBatched(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const BatchedState*>(opaque);
  const BatchedParams& params = state.params;
  const Sizes sizes(state.product.params, args);
  const int64_t k = sizes.product.k, n = sizes.product.n, m = sizes.m, matrices = sizes.matrices;
  if (matrices * m == 0 || n == 0) return;
  const WorkersWithin workers(args, [&](int threads) {
    return batchedWorkspaceBytes(matrices, m, sizes.product, threads) /
           static_cast<int64_t>(sizeof(float));
  });
  const Layout& layout = layoutFor(sizes.product);
  const uint8_t flip = rowFlip(layout, sizes.product.isSigned != 0);
  const LaunchedFinish finish(sizes.product, state.product.scale, args, matrices * m, matrices);
  std::byte* workspace =
      args.workspace + finishWorkspaceBytes(matrices * m, sizes.product, matrices);
  auto* packed = reinterpret_cast<uint8_t*>(workspace);
  const int32_t zero = rowValue(layout, zeroPointOf(sizes.product, args) ^ flip);
  packSecond(params, sizes, args, static_cast<uint32_t>(zero), packed, finish.offsets());
  if (params.zero != 0) std::fill(finish.zeros(), finish.zeros() + columnElements(n), params.zero);
  const auto* a = args.inputs[0].as<const uint8_t>();
  multiply(
      {.layout = &layout,
       .m = m,
       .n = n,
       .k = k,
       .packedColumns = packed,
       .sumsRows = params.zero != 0,
       .parts = matrices},
      [&](int64_t matrix, int64_t row, int64_t count, uint8_t* strip, uint8_t*) {
        packRows(layout, a + (matrix * sizes.firstStep + row) * k, count, k, flip, strip);
      },
      *args.threads, workspace + packedBytes(matrices, sizes.product),
      [&](Sums sums) {
        Finish ofMatrix = finish.get();
        ofMatrix.columnOffsets += sums.part * columnElements(n);
        ofMatrix.columnZeros = params.zero != 0 ? finish.zeros() : nullptr;
        sums.row += sums.part * m;
        finishSums(ofMatrix, sums);
      });
}

}  // namespace camshaft::cpu::gemm_int8
