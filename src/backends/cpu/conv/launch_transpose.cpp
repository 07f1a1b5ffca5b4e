// Transposed convolution: one matrix product gives what every tap of every input pixel adds, then
// each output row collects its share.
#include <algorithm>

#include "backends/cpu/conv/state.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "support/volume.h"

namespace camshaft::cpu::conv {
namespace {

constexpr char kDoesNotFit[] = "a transposed convolution of the engine does not fit its operands";

struct Image {
  const ConvShape& shape;
  ConvExtent in;
  int64_t outHeight, outWidth;
  const float* taps;  // [height][width][kernel height][kernel width][outChannels]
};

// Adds the taps that kernel column kx puts into one output row; `row` is their input row.
void addTaps(const Image& image, const float* row, int64_t kx, float* out) {
  const ConvShape& shape = image.shape;
  const int64_t channels = shape.outChannels, stride = shape.stride[1];
  const int64_t shift =
      kx * shape.dilation[1] - shape.padBegin[1];  // pixel x goes to x * stride + this
  const int64_t begin = shift < 0 ? ceilDiv(-shift, stride) : 0;
  const int64_t end = std::min(image.in.width, ceilDiv(image.outWidth - shift, stride));
  const float* __restrict from = row + begin * scatteredColumns(shape) + kx * channels;
  float* __restrict to = out + (begin * stride + shift) * channels;
  for (int64_t x = begin; x < end; ++x) {
    for (int64_t c = 0; c < channels; ++c) to[c] += from[c];
    from += scatteredColumns(shape);
    to += stride * channels;
  }
}

// What every pixel of the row begins with.
void fillRow(const Image& image, const float* bias, float* out) {
  const int64_t channels = image.shape.outChannels;
  if (!bias || channels == 1)
    return std::fill(out, out + image.outWidth * channels, bias ? *bias : 0);
  for (int64_t x = 0; x < image.outWidth; ++x) std::copy(bias, bias + channels, out + x * channels);
}

void collectRow(const Image& image, const float* bias, int64_t y, float* out) {
  const ConvShape& shape = image.shape;
  fillRow(image, bias, out);
  for (int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
    const int64_t scaled = y + shape.padBegin[0] - ky * shape.dilation[0];
    if (scaled < 0 || scaled % shape.stride[0] != 0 || scaled / shape.stride[0] >= image.in.height)
      continue;
    const int64_t inY = scaled / shape.stride[0];
    const float* row = image.taps + inY * image.in.width * scatteredColumns(shape) +
                       ky * shape.kernel[1] * shape.outChannels;
    for (int64_t kx = 0; kx < shape.kernel[1]; ++kx) addTaps(image, row, kx, out);
  }
}

// Any of them, with products in f32.
void collectTaps(const ConvShape& shape, const LaunchArgs& args, const Epilogue& epilogue) {
  const TensorArg &x = args.inputs[0], &weights = args.inputs[1], &y = args.outputs[0];
  const ConvExtent in = extentOf(x), out = extentOf(y);
  const int64_t columns = scatteredColumns(shape), pixels = in.height * in.width,
                floats = volumeOf({pixels, columns});
  if (floats < 0 || args.workspaceBytes / static_cast<int64_t>(sizeof(float)) < floats)
    fail(ErrorKind::kInvalidEngine, kDoesNotFit);
  float* taps = workspaceFloats(args);
  Epilogue finish = epilogue;
  finish.bias = nullptr;  // rows begin with it
  finish.scale = 1;       // of products, which are scaled
  const Image image{shape, in, out.height, out.width, taps};
  const int64_t rowFloats = out.width * shape.outChannels;
  for (int64_t n = 0; n < in.batch; ++n) {
    packedGemm(pixels, columns, shape.inChannels,
               x.as<const float>() + n * pixels * shape.inChannels, shape.inChannels,
               weights.as<const float>(), taps, columns, {.scale = epilogue.scale}, *args.threads);
    args.threads->parallelFor(out.height, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t line = n * out.height + row;
        float* sums = y.as<float>() + line * rowFloats;
        collectRow(image, epilogue.bias, row, sums);
        finishBlock(sums, shape.outChannels, out.width, shape.outChannels, line * out.width, 0,
                    y.as<float>(), shape.outChannels, finish);
      }
    });
  }
}

void transpose(const void* opaque, const LaunchArgs& args, bool is16) {
  const auto& state = *static_cast<const State*>(opaque);
  const ConvShape& shape = state.shape;
  const TensorArg &x = args.inputs[0], &weights = args.inputs[1], &y = args.outputs[0];
  if (y.count() == 0) return;
  const ConvExtent in = extentOf(x), out = extentOf(y);
  const int64_t columns = scatteredColumns(shape);
  const int64_t packed = is16 ? packedB16Floats(Type16::kBf16, shape.inChannels, columns)
                              : packedBFloats(shape.inChannels, columns);
  const bool areLines = givesPatches(shape) && out.height == in.height * shape.stride[0] &&
                        out.width == in.width * shape.stride[1];
  if (in.inPixelStride != shape.inChannels || out.inPixelStride != shape.outChannels ||
      weights.count() != packed || (is16 && !areLines))
    fail(ErrorKind::kInvalidEngine, kDoesNotFit);
  const LaunchedEpilogue epilogue(state.epilogue, args, isBf16(x));
  if (areLines) return transposePatches(shape, args, epilogue.get(), is16);
  collectTaps(shape, args, epilogue.get());
}

}  // namespace

void launchTranspose(const void* opaque, const LaunchArgs& args) { transpose(opaque, args, false); }
void launchTranspose16(const void* opaque, const LaunchArgs& args) {
  transpose(opaque, args, true);
}

}  // namespace camshaft::cpu::conv
