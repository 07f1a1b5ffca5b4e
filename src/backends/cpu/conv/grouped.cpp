// Convolutions of groups of few channels, f32. A vector of output channels belongs to some groups,
// or to a part of one: for each input channel of a group, its lanes find theirs in a vector of the
// input, or all read the same one. Several neighbouring pixels share each load of the weights and,
// as far as their patches overlap, of the input.
#include <algorithm>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/conv/group_blocks.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "support/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/grouped.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

constexpr int kGroupPixels = 7;  // divides the widths that are usual in networks
constexpr int kLanes = hn::MaxLanes(F32());
// The widest vectors come with 32 registers.
constexpr int kGroupVectors = kLanes == 16 ? 2 : 1;
static_assert(kGroupBlock % kLanes == 0);

// A vector of output channels.
struct GroupVector {
  const float* weights;    // [row of the kernel][input channel of a group][tap][kGroupBlock]
  int64_t input;           // the channel that is loaded first, or the first of the group
  int64_t column;          // among the task's
  int32_t places[kLanes];  // of the first input channel of each lane's group, counted from `input`
};

// kGroupPixels output pixels of a line.
struct GroupSegment {
  const float* line;  // of the input, that under the first row of the kernel that is inside
  int64_t left;       // where the first pixel's patch begins
  int64_t row, endRow;
  float* sums;  // [kGroupPixels][sumStride]
  int64_t sumStride;
};

// The input of each lane, `input` channels behind the first of its group.
template <bool kSpreads>
struct LaneInput;
template <>
struct LaneInput<true> {
  using Places = decltype(hn::IndicesFromVec(F32(), hn::Zero(hn::RebindToSigned<F32>())));
  Places places;
  LaneInput(const GroupVector& vector, int64_t input)
      : places(hn::IndicesFromVec(
            F32(), hn::Add(hn::LoadU(hn::RebindToSigned<F32>(), vector.places),
                           hn::Set(hn::RebindToSigned<F32>(), static_cast<int32_t>(input))))),
        first(vector.input) {}
  VF32 operator()(const float* pixel) const {
    return hn::TableLookupLanes(hn::LoadU(F32(), pixel + first), places);
  }
  int64_t first;
};
template <>
struct LaneInput<false> {
  LaneInput(const GroupVector& vector, int64_t input) : channel(vector.input + input) {}
  VF32 operator()(const float* pixel) const { return hn::Set(F32(), pixel[channel]); }
  int64_t channel;
};

// One row of a kernel, for one input channel of each group. kTaps and kStride are 0 for any.
template <int kTaps, int kStride, bool kInside, bool kSpreads, int kVectors>
HWY_INLINE void addTaps(const ConvCall& call, const float* pixel, int64_t left,
                        const GroupVector* vectors, int64_t input, int64_t at,
                        VF32 (&sum)[kGroupPixels][kVectors]) {
  const F32 d;
  const int64_t width = call.extent.width, pixelStride = call.extent.inPixelStride;
  const auto isOutside = [&](int64_t column) {
    // Unsigned, columns left of the image are beyond its width too.
    return !kInside && static_cast<uint64_t>(left + column) >= static_cast<uint64_t>(width);
  };
  if constexpr (kTaps > 0) {
    constexpr int kColumns = (kGroupPixels - 1) * kStride + kTaps;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      VF32 weight[kTaps];
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap)
        weight[tap] = hn::LoadU(d, vectors[v].weights + at + tap * kGroupBlock);
      const LaneInput<kSpreads> inputOf(vectors[v], input);
#pragma GCC unroll 20
      for (int column = 0; column < kColumns; ++column) {
        if (isOutside(column)) continue;
        const VF32 x = inRegister(inputOf(pixel + column * pixelStride));
#pragma GCC unroll 8
        for (int p = 0; p < kGroupPixels; ++p) {
          const int tap = column - p * kStride;
          if (tap >= 0 && tap < kTaps) sum[p][v] = hn::MulAdd(x, weight[tap], sum[p][v]);
        }
      }
    }
  } else {
    const ConvShape& shape = call.shape;
    for (int64_t tap = 0; tap < shape.kernel[1]; ++tap) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        const LaneInput<kSpreads> inputOf(vectors[v], input);
        const VF32 weight = hn::LoadU(d, vectors[v].weights + at + tap * kGroupBlock);
#pragma GCC unroll 8
        for (int p = 0; p < kGroupPixels; ++p) {
          const int64_t column = tap * shape.dilation[1] + p * shape.stride[1];
          if (!isOutside(column))
            sum[p][v] = hn::MulAdd(inputOf(pixel + column * pixelStride), weight, sum[p][v]);
        }
      }
    }
  }
}

template <int kTaps, int kStride, bool kInside, bool kSpreads, int kVectors>
HWY_NOINLINE void sumGroups(const ConvCall& call, const GroupSegment& s,
                            const GroupVector* vectors) {
  const F32 d;
  const ConvShape& shape = call.shape;
  const int64_t inputs = shape.inChannels / shape.groups, taps = shape.kernel[1];
  const int64_t lineStride = shape.dilation[0] * call.extent.width * call.extent.inPixelStride;
  VF32 sum[kGroupPixels][kVectors];
#pragma GCC unroll 8
  for (int p = 0; p < kGroupPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[p][v] = hn::Zero(d);
  const float* pixel = s.line + s.left * call.extent.inPixelStride;
  int64_t at = s.row * inputs * taps * kGroupBlock;
  for (int64_t row = s.row; row < s.endRow; ++row, pixel += lineStride)
    for (int64_t input = 0; input < inputs; ++input, at += taps * kGroupBlock)
      addTaps<kTaps, kStride, kInside, kSpreads>(call, pixel, s.left, vectors, input, at, sum);
#pragma GCC unroll 8
  for (int p = 0; p < kGroupPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sum[p][v], d, s.sums + p * s.sumStride + vectors[v].column);
}

template <bool kInside, bool kSpreads, int kVectors>
void sumPixels(const ConvCall& call, const GroupSegment& s, const GroupVector* vectors) {
  const int64_t taps = call.shape.kernel[1], stride = call.shape.stride[1];
  const bool isDilated = call.shape.dilation[1] != 1;
  if (!isDilated && taps == 1 && stride == 1)
    return sumGroups<1, 1, kInside, kSpreads, kVectors>(call, s, vectors);
  if (!isDilated && taps == 3 && stride == 1)
    return sumGroups<3, 1, kInside, kSpreads, kVectors>(call, s, vectors);
  if (!isDilated && taps == 3 && stride == 2)
    return sumGroups<3, 2, kInside, kSpreads, kVectors>(call, s, vectors);
  if (!isDilated && taps == 7 && stride == 2)
    return sumGroups<7, 2, kInside, kSpreads, kVectors>(call, s, vectors);
  sumGroups<0, 0, kInside, kSpreads, kVectors>(call, s, vectors);
}

template <bool kInside, bool kSpreads>
void sumVectors(const ConvCall& call, const GroupSegment& s, const GroupVector* vectors,
                int count) {
  int i = 0;
  for (; i + kGroupVectors <= count; i += kGroupVectors)
    sumPixels<kInside, kSpreads, kGroupVectors>(call, s, vectors + i);
  for (; i < count; ++i) sumPixels<kInside, kSpreads, 1>(call, s, vectors + i);
}

// The vectors of a task's blocks, of which there are so many.
int vectorsOf(const ConvCall& call, const GroupTask& task, GroupVector* vectors) {
  const ConvShape& shape = call.shape;
  const int64_t outputs = shape.outChannels / shape.groups,
                inputs = shape.inChannels / shape.groups;
  const int64_t blockFloats = shape.kernel[0] * shape.kernel[1] * inputs * kGroupBlock;
  int count = 0;
  for (int64_t block = task.firstBlock; block < task.endBlock; ++block) {
    const int64_t begin = groupBlockChannel(shape, block);
    for (int64_t lane = 0; lane < kGroupBlock; lane += kLanes) {
      GroupVector& vector = vectors[count++];
      const int64_t channel = begin + lane, first = channel / outputs * inputs;
      vector = {.weights = call.packed + block * blockFloats + lane,
                .input = outputs < kLanes ? std::min(first, shape.inChannels - kLanes) : first,
                .column = channel - task.channel};
      for (int l = 0; l < kLanes; ++l)
        vector.places[l] = static_cast<int32_t>((channel + l) / outputs * inputs - vector.input);
    }
  }
  return count;
}

// The last pixels of a line are computed with some in front of them, which are finished by then.
void computeGroups(const ConvCall& call, const GroupTask& task) {
  const ConvShape& shape = call.shape;
  const ConvExtent& extent = call.extent;
  const int64_t outWidth = call.outWidth(), outHeight = call.outHeight();
  const int64_t span =
      (kGroupPixels - 1) * shape.stride[1] + shape.dilation[1] * (shape.kernel[1] - 1);
  const bool spreads = shape.outChannels / shape.groups < kLanes;
  constexpr int64_t kColumns = kMostGroupBlocks * kGroupBlock;
  alignas(64) float sums[kGroupPixels * kColumns];
  GroupVector vectors[kColumns / kLanes];
  const int count = vectorsOf(call, task, vectors);
  GroupSegment s{.sums = sums, .sumStride = kColumns};
  for (int64_t line = task.line; line < task.endLine; ++line) {
    const int64_t top = line % outHeight * shape.stride[0] - shape.padBegin[0];
    s.row = std::min(shape.kernel[0], std::max<int64_t>(0, ceilDiv(-top, shape.dilation[0])));
    s.endRow = std::min(shape.kernel[0], ceilDiv(extent.height - top, shape.dilation[0]));
    s.line = call.input + (line / outHeight * extent.height + top + s.row * shape.dilation[0]) *
                              extent.width * extent.inPixelStride;
    int64_t x = 0;
    for (int64_t done = 0; done < outWidth; done = x + kGroupPixels) {
      x = std::max<int64_t>(0, std::min(done, outWidth - kGroupPixels));
      s.left = x * shape.stride[1] - shape.padBegin[1];
      const bool isInside = s.left >= 0 && s.left + span < extent.width;
      const auto sum = isInside ? (spreads ? sumVectors<true, true> : sumVectors<true, false>)
                                : (spreads ? sumVectors<false, true> : sumVectors<false, false>);
      sum(call, s, vectors, count);
      const int64_t pixels = std::min<int64_t>(kGroupPixels, outWidth - x) - (done - x);
      finishBlock(sums + (done - x) * kColumns + (task.ownChannel - task.channel), kColumns, pixels,
                  task.endChannel - task.ownChannel, line * outWidth + done, task.ownChannel,
                  call.output, extent.outPixelStride, call.epilogue);
    }
  }
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(computeGroups);

void groupedConv(const ConvCall& call) {
  const GroupTasks tasks(call);
  call.pool.parallelFor(tasks.count(), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t task = begin; task < end; ++task)
      HWY_DYNAMIC_DISPATCH(computeGroups)(call, tasks.at(task));
  });
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
