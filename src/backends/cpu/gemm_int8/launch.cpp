#include <algorithm>
#include <cmath>
#include <memory>

#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm_int8/launch_batched.h"
#include "backends/cpu/gemm_int8/launch_conv.h"
#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/gemm_int8/quantize.h"
#include "backends/cpu/gemm_int8/windows.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

std::shared_ptr<const void> loadMatMul(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a product of integers");
  auto state = std::make_shared<ProductState>(reader);
  reader.expectEnd();
  return state;
}

int64_t rowsOf(const ProductParams& params, const TensorArg& out) {
  return params.n == 0 ? 0 : out.count() / params.n;
}

bool fitsMatMul(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ProductState*>(opaque);
  return fitsProduct(state, args) &&
         args.inputs[0].count() ==
             volumeOf({rowsOf(state.params, args.outputs[0]), state.params.k});
}

void launchMatMul(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ProductState*>(opaque);
  const int64_t m = rowsOf(state.params, args.outputs[0]);
  const int64_t k = state.params.k;
  const auto* a = args.inputs[0].as<const uint8_t>();
  const uint8_t flip = rowFlip(layoutFor(state.params), state.params.isSigned != 0);
  runProduct(
      state, args, m,
      [&](const Layout& layout, int64_t, int64_t row, int64_t count, uint8_t* strip, uint8_t*) {
        packRows(layout, a + row * k, count, k, flip, strip);
      },
      1, a);
}

bool fitsQuantize(const void*, const LaunchArgs& args) {
  if (!hasOperands(args, 1, 3) || !isF32(args.inputs[0])) return false;
  const TensorArg &y = args.outputs[0], &scale = args.outputs[1], &zero = args.outputs[2];
  return y.type == DataType::kU8 && y.count() == args.inputs[0].count() && isF32(scale) &&
         scale.count() == 1 && zero.type == DataType::kU8 && zero.count() == 1;
}

Range wholeRange(const float* x, int64_t count, ThreadPool* pool) {
  constexpr int64_t kParts = 64;
  Range ranges[kParts];
  const int64_t part = ceilDiv(count, kParts);
  parallelItems(pool, kParts, static_cast<double>(part) / 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = std::min(i * part, count);
      ranges[i] = rangeOf(x + first, std::min(part, count - first));
    }
  });
  Range whole;
  for (const Range& range : ranges)
    whole = {std::min(whole.low, range.low), std::max(whole.high, range.high)};
  return whole;
}

void launchQuantize(const void*, const LaunchArgs& args) {
  const float* x = args.inputs[0].as<const float>();
  const int64_t count = args.inputs[0].count();
  const Range range = wholeRange(x, count, args.threads);
  const float scale = range.high == range.low ? 1.0f : (range.high - range.low) / 255.0f;
  const float middle = std::nearbyint(std::clamp(-range.low / scale, 0.0f, 255.0f));
  const uint8_t zero = middle == middle ? static_cast<uint8_t>(middle) : 0;
  uint8_t* to = args.outputs[0].as<uint8_t>();
  constexpr int64_t kPiece = 4096;
  parallelItems(
      args.threads, ceilDiv(count, kPiece), 2.0 * kPiece, [&](int64_t begin, int64_t end) {
        const int64_t first = begin * kPiece;
        quantize(x + first, std::min(end * kPiece, count) - first, scale, zero, to + first);
      });
  *args.outputs[1].as<float>() = scale;
  *args.outputs[2].as<uint8_t>() = zero;
}

constexpr RuntimeKernel kLaunchers[] = {
    {kMatMul, loadMatMul, launchMatMul, fitsMatMul},
    {kBatched, loadBatched, launchBatched, fitsBatched},
    {kConv, loadConv, launchConv, fitsConv},
    {kDepthwise, loadConv, launchDepthwise, fitsDepthwise},
    {kGroups, loadConv, launchGroups, fitsGroups},
    {kQuantize, nullptr, launchQuantize, fitsQuantize},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::gemm_int8
