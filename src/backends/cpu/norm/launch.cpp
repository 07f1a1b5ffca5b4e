#include "backend/launch.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/families.h"
#include "backends/cpu/norm/lrn.h"
#include "backends/cpu/norm/moments.h"
#include "backends/cpu/norm/params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/rows_in_f32.h"
#include "support/error.h"

namespace camshaft::cpu::norm {

namespace {

constexpr double kWorkPerElement = 2;

const float* operand(const LaunchArgs& args, size_t input, int64_t count) {
  if (args.inputs.size() <= input || !args.inputs[input].data) return nullptr;
  if (args.inputs[input].count() != count)
    fail(ErrorKind::kInvalidArgument, "a normalisation has ", args.inputs[input].count(),
         " scales or biases for ", count, " elements");
  return args.inputs[input].as<float>();
}

bool fits(const void*, const LaunchArgs& args) {
  return hasF32Operands(args, 1) && sameSizes(args.inputs[0], args.outputs[0]);
}

int64_t rowSize(const LayerNormParams& params, const TensorArg& x) {
  int64_t size = 1;
  for (int i = params.axis; i < x.rank; ++i) size *= x.dims[i];
  return size;
}

bool fitsLayerNorm(const void* state, const LaunchArgs& args) {
  if (!hasF32OrBf16Operands(args)) return false;
  const TensorArg& x = args.inputs[0];
  const bool isShort = rowSize(*static_cast<const LayerNormParams*>(state), x) <= kLongestBf16Row;
  return sameSizes(x, args.outputs[0]) && (isShort || isF32(x));
}

float factorOf(double squares, int64_t count, double epsilon) {
  return static_cast<float>(1 / std::sqrt(squares / static_cast<double>(count) + epsilon));
}

void launchLayerNorm(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const LayerNormParams*>(state);
  const TensorArg& x = args.inputs[0];
  if (x.count() == 0) return;
  requireAxis(x, params.axis);
  const int64_t size = rowSize(params, x), rows = x.count() / size;
  const float* scale = operand(args, 1, size);
  const float* bias = operand(args, 2, size);
  const auto normalise = [&](const float* from, float* to) {
    const float mean =
        params.rms ? 0.0f : static_cast<float>(sumOfRow(from, size) / static_cast<double>(size));
    const float factor = factorOf(squaresOfRow(from, size, mean), size, params.epsilon);
    normaliseRow(from, to, size, mean, factor, scale, bias);
  };
  parallelItems(args.threads, rows, kWorkPerElement * static_cast<double>(size),
                [&](int64_t begin, int64_t end) {
                  forRows(x, args.outputs[0], size, begin, end, normalise);
                });
}

struct GroupNorm {
  const float* x;
  float* y;
  const float* scale;
  const float* bias;
  double epsilon;
  int64_t channels, groupChannels, space;

  float scaleOf(int64_t channel) const { return scale ? scale[channel] : 1.0f; }
  float biasOf(int64_t channel) const { return bias ? bias[channel] : 0.0f; }

  // A group is one contiguous piece, of groupChannels images.
  void contiguous(int64_t batch, int64_t group) const {
    const int64_t first = group * groupChannels, size = groupChannels * space;
    const int64_t at = (batch * channels + first) * space;
    const float mean = static_cast<float>(sumOfRow(x + at, size) / static_cast<double>(size));
    const float factor = factorOf(squaresOfRow(x + at, size, mean), size, epsilon);
    for (int64_t c = 0; c < groupChannels; ++c) {
      const int64_t image = at + c * space;
      const float factorHere = factor * scaleOf(first + c), biasHere = biasOf(first + c);
      for (int64_t i = 0; i < space; ++i)
        y[image + i] = (x[image + i] - mean) * factorHere + biasHere;
    }
  }

  // Neighbouring groups with kColumnBlock channels in all, or one group with more: columns of a
  // matrix with one row per pixel.
  void interleaved(int64_t batch, int64_t firstGroup, int64_t groups) const {
    const int64_t first = firstGroup * groupChannels, end = first + groups * groupChannels;
    const int64_t base = batch * space * channels;
    const double size = static_cast<double>(groupChannels * space);
    double groupTotals[kColumnBlock] = {}, totals[kColumnBlock];
    float groupMeans[kColumnBlock], groupFactors[kColumnBlock];
    float means[kColumnBlock], factors[kColumnBlock], biases[kColumnBlock];
    const auto groupOf = [&](int64_t channel) { return channel / groupChannels - firstGroup; };
    const auto forBlocks = [&](auto&& body) {
      for (int64_t c = first; c < end; c += kColumnBlock) body(c, std::min(kColumnBlock, end - c));
    };

    forBlocks([&](int64_t c, int64_t columns) {
      std::fill(totals, totals + columns, 0.0);
      sumOfColumns(x + base + c, space, channels, columns, totals);
      for (int64_t i = 0; i < columns; ++i) groupTotals[groupOf(c + i)] += totals[i];
    });
    for (int64_t g = 0; g < groups; ++g) {
      groupMeans[g] = static_cast<float>(groupTotals[g] / size);
      groupTotals[g] = 0;
    }
    forBlocks([&](int64_t c, int64_t columns) {
      std::fill(totals, totals + columns, 0.0);
      for (int64_t i = 0; i < columns; ++i) means[i] = groupMeans[groupOf(c + i)];
      squaresOfColumns(x + base + c, space, channels, columns, means, totals);
      for (int64_t i = 0; i < columns; ++i) groupTotals[groupOf(c + i)] += totals[i];
    });
    for (int64_t g = 0; g < groups; ++g)
      groupFactors[g] = factorOf(groupTotals[g], groupChannels * space, epsilon);
    forBlocks([&](int64_t c, int64_t columns) {
      for (int64_t i = 0; i < columns; ++i) {
        means[i] = groupMeans[groupOf(c + i)];
        factors[i] = groupFactors[groupOf(c + i)] * scaleOf(c + i);
        biases[i] = biasOf(c + i);
      }
      normaliseColumns(x + base + c, y + base + c, space, channels, columns, means, factors,
                       biases);
    });
  }
};

void launchGroupNorm(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const GroupNormParams*>(state);
  const TensorArg& x = args.inputs[0];
  if (x.count() == 0) return;
  requireAxis(x, 1);
  const int64_t batches = x.dims[0], channels = x.dims[params.channelsLast ? x.rank - 1 : 1];
  const int64_t groups = params.groups == 0 ? channels : params.groups;
  if (channels % groups != 0)
    fail(ErrorKind::kInvalidArgument, channels, " channels do not divide into ", groups, " groups");
  const GroupNorm norm{.x = x.as<float>(),
                       .y = args.outputs[0].as<float>(),
                       .scale = operand(args, 1, channels),
                       .bias = operand(args, 2, channels),
                       .epsilon = params.epsilon,
                       .channels = channels,
                       .groupChannels = channels / groups,
                       .space = x.count() / (batches * channels)};
  const double groupWork = kWorkPerElement * static_cast<double>(norm.groupChannels * norm.space);
  if (!params.channelsLast) {
    parallelItems(args.threads, batches * groups, groupWork, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) norm.contiguous(i / groups, i % groups);
    });
    return;
  }
  const int64_t atOnce = std::max<int64_t>(1, kColumnBlock / norm.groupChannels);
  const int64_t units = (groups + atOnce - 1) / atOnce;
  parallelItems(args.threads, batches * units, groupWork * static_cast<double>(atOnce),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t group = i % units * atOnce;
                    norm.interleaved(i / units, group, std::min(atOnce, groups - group));
                  }
                });
}

bool fitsLrn(const void* state, const LaunchArgs& args) {
  return fits(state, args) && args.inputs[0].rank >= 2 && !worksInPlace(args);
}

void launchLrn(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const LrnParams*>(state);
  const TensorArg& x = args.inputs[0];
  if (x.count() == 0) return;
  const int64_t channels = x.dims[1], rows = x.dims[0] * channels, space = x.count() / rows;
  const double neighbours =
      static_cast<double>(std::min(params.before, channels) + std::min(params.after, channels));
  const double work = (kWorkPerElement + neighbours / 2) * static_cast<double>(space);
  parallelItems(args.threads, rows, work, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t channel = row % channels;
      lrnRow(x.as<float>() + row * space, args.outputs[0].as<float>() + row * space, space, space,
             -std::min(params.before, channel), std::min(params.after, channels - 1 - channel),
             params.bias, params.alpha, params.beta);
    }
  });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/layer_norm_f32", loadParams<LayerNormParams>, launchLayerNorm, fitsLayerNorm},
    {"cpu/group_norm_f32", loadParams<GroupNormParams>, launchGroupNorm, fits},
    {"cpu/lrn_f32", loadParams<LrnParams>, launchLrn, fitsLrn}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::norm
