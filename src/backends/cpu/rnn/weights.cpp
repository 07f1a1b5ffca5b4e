#include "backends/cpu/rnn/weights.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/partition.h"

namespace camshaft::cpu::rnn {
namespace {

constexpr int64_t kMostLanes = 16;

int64_t padded(int64_t floats) { return ceilDiv(floats, kMostLanes) * kMostLanes; }

}  // namespace

int64_t gateStride(const Params& p) { return padded(p.width() + kMostLanes - 1); }
int64_t stateStride(const Params& p) { return padded(p.hidden); }

int64_t productColumns(int64_t width) {
  const int64_t nr = gemmGeometry().nr;
  return std::min(padded(width), ceilDiv(width, nr) * nr);
}

PackedLayout::PackedLayout(const Params& p) {
  floats = 0;
  const auto take = [this](int64_t count) {
    const int64_t begin = floats;
    floats += count;
    return begin;
  };
  input = take(packedBFloats(p.inputs, p.width()));
  early = take(packedBFloats(p.hidden, p.earlyWidth()));
  late = take(packedBFloats(p.hidden, p.lateWidth()));
  inputBias = take(gateStride(p));
  stateBias = take(gateStride(p));
  peepholes = take(p.kind == CellKind::kLstm ? gateStride(p) : 0);
}

void packDirection(const Params& p, const RawWeights& raw, int64_t direction, float* packed) {
  const PackedLayout at(p);
  const int64_t width = p.width(), early = p.earlyWidth();
  const float* w = raw.w + direction * width * p.inputs;
  const float* r = raw.r + direction * width * p.hidden;
  packB(p.inputs, width, w, p.inputs, true, packed + at.input);
  packB(p.hidden, early, r, p.hidden, true, packed + at.early);
  packB(p.hidden, p.lateWidth(), r + early * p.hidden, p.hidden, true, packed + at.late);
  std::fill(packed + at.inputBias, packed + at.floats, 0.0f);
  if (raw.bias) {
    const float* bias = raw.bias + direction * 2 * width;
    std::copy_n(bias, width, packed + at.inputBias);
    std::copy_n(bias + width, width, packed + at.stateBias);
  }
  if (raw.peepholes)
    std::copy_n(raw.peepholes + direction * 3 * p.hidden, 3 * p.hidden, packed + at.peepholes);
}

}  // namespace camshaft::cpu::rnn
