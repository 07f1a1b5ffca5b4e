#include "backend/launch.h"

#include "backends/cpu/families.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/rows_in_f32.h"
#include "backends/cpu/softmax/params.h"
#include "backends/cpu/softmax/rows.h"

namespace camshaft::cpu::softmax {

namespace {

constexpr double kWorkPerElement = 10;

bool fits(const void* state, const LaunchArgs& args) {
  if (!hasF32OrBf16Operands(args)) return false;
  const TensorArg& x = args.inputs[0];
  const int axis = static_cast<const SoftmaxParams*>(state)->axis;
  const bool isRow = axis + 1 == x.rank && x.dims[axis] <= kLongestBf16Row;
  return sameSizes(x, args.outputs[0]) && (isRow || isF32(x));
}

void launch(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const SoftmaxParams*>(state);
  const TensorArg& x = args.inputs[0];
  requireAxis(x, params.axis);
  if (x.count() == 0) return;
  const bool logarithm = params.logarithm != 0;
  const int64_t size = x.dims[params.axis];
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < params.axis; ++i) outer *= x.dims[i];
  for (int i = params.axis + 1; i < x.rank; ++i) inner *= x.dims[i];

  const double work = kWorkPerElement * static_cast<double>(size);
  if (inner == 1) {
    parallelItems(args.threads, outer, work, [&](int64_t begin, int64_t end) {
      forRows(x, args.outputs[0], size, begin, end,
              [&](const float* from, float* to) { softmaxRow(from, to, size, logarithm); });
    });
    return;
  }
  const float* from = x.as<float>();
  float* to = args.outputs[0].as<float>();
  const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
  parallelItems(args.threads, outer * blocks, work * kColumnBlock, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t column = unit % blocks * kColumnBlock,
                    at = unit / blocks * size * inner + column;
      softmaxColumns(from + at, to + at, size, inner, std::min(kColumnBlock, inner - column),
                     logarithm);
    }
  });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/softmax_f32", loadParams<SoftmaxParams>, launch, fits}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::softmax
