// Transposed convolutions whose kernel is as large as their stride: every input pixel gives a patch
// of the output of its own. The product of an input line is cut into the output lines.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/conv/state.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/simd/amx_tiles.h"

namespace camshaft::cpu::conv {
namespace {

// `count` parts of a line from one place to another, `stride` elements apart there.
template <class T>
void gatherParts(const T* from, int64_t stride, int64_t count, int64_t part, T* to) {
  if (part == 2) {  // one channel of kernels that are two wide
    for (int64_t i = 0; i < count; ++i, from += stride, to += 2) to[0] = from[0], to[1] = from[1];
    return;
  }
  for (int64_t i = 0; i < count; ++i, from += stride, to += part)
    std::memcpy(to, from, static_cast<size_t>(part) * sizeof(T));
}

class PatchLines {
 public:
  PatchLines(const ConvShape& shape, const LaunchArgs& args, const Epilogue& epilogue, bool is16)
      : shape_(shape),
        x_(args.inputs[0]),
        y_(args.outputs[0]),
        packed_(args.inputs[1].as<const float>()),
        epilogue_(epilogue),
        is16_(is16),
        in_(extentOf(x_)),
        part_(shape.kernel[1] * shape.outChannels),
        columns_(shape.kernel[0] * part_),
        endsInProduct_(!epilogue.post && !epilogue.residual && !epilogue.bf16Residual) {
    if (!endsInProduct_) return;
    ofProduct_ = epilogue_;
    if (!epilogue.bias) return;
    for (int64_t tap = 0; tap < shape.kernel[0] * shape.kernel[1]; ++tap)
      bias_.insert(bias_.end(), epilogue.bias, epilogue.bias + shape.outChannels);
    ofProduct_.bias = bias_.data();
  }

  // All patches of input line `line`, counted over all images.
  void compute(int64_t line, float* workspace) const {
    float* products = workspace;
    auto* halves = reinterpret_cast<BFloat16*>(products);
    const bool givesHalves = isBf16(y_) && endsInProduct_;
    if (is16_)
      multiply16(line,
                 {.f32 = givesHalves ? nullptr : products,
                  .stride = columns_,
                  .bf16 = givesHalves ? halves : nullptr},
                 products + (in_.width + kRows16) * productsPerPixel(shape_));
    else
      gemmBlock({.rows = in_.width,
                 .columns = columns_,
                 .k = shape_.inChannels,
                 .a = x_.as<const float>() + line * in_.width * shape_.inChannels,
                 .lda = shape_.inChannels,
                 .packedB = packed_,
                 .c = products,
                 .ldc = columns_},
                ofProduct_);
    for (int64_t ky = 0; ky < shape_.kernel[0]; ++ky) {
      const int64_t pixel = (line * shape_.kernel[0] + ky) * in_.width * shape_.kernel[1];
      const int64_t place = pixel * shape_.outChannels;
      if (givesHalves)
        gatherParts(halves + ky * part_, columns_, in_.width, part_, y_.as<BFloat16>() + place);
      else if (endsInProduct_)
        gatherParts(products + ky * part_, columns_, in_.width, part_, y_.as<float>() + place);
      else
        finish(products + ky * part_, pixel);
    }
  }

 private:
  void multiply16(int64_t line, const Result16& c, float* workspace) const {
    const int64_t k = shape_.inChannels, place = line * in_.width * k;
    const auto* halves = isBf16(x_) ? x_.as<const uint16_t>() + place : nullptr;
    const auto pack = [&](int64_t row, int64_t rows, const Panel16& panel) {
      if (halves)
        packPanel16(halves + row * k, k, k, rows, panel);
      else
        packPanel16(x_.as<const float>() + place + row * k, k, k, rows, panel);
    };
    multiplyBlock16({.rows = in_.width,
                     .columns = columns_,
                     .k = k,
                     .a = {.data = halves, .stride = k},
                     .packedB = reinterpret_cast<const uint16_t*>(packed_),
                     .c = c},
                    pack, ofProduct_, workspace);
  }

  // The residual may lie where the result goes, so it is not gathered there.
  void finish(const float* products, int64_t pixel) const {
    constexpr int64_t kTogether = 1024;
    float values[kTogether];
    const int64_t together = std::max<int64_t>(1, kTogether / part_);
    std::vector<float> longer(part_ > kTogether ? static_cast<size_t>(part_) : 0);
    float* memory = longer.empty() ? values : longer.data();
    const int64_t channels = shape_.outChannels;
    for (int64_t x = 0; x < in_.width; x += together) {
      const int64_t count = std::min(together, in_.width - x), row = pixel + x * shape_.kernel[1];
      gatherParts(products + x * columns_, columns_, count, part_, memory);
      if (isBf16(y_))
        finishBlock(memory, channels, count * shape_.kernel[1], channels, row, 0, y_.as<BFloat16>(),
                    channels, epilogue_);
      else
        finishBlock(memory, channels, count * shape_.kernel[1], channels, row, 0, y_.as<float>(),
                    channels, epilogue_);
    }
  }

  const ConvShape& shape_;
  const TensorArg &x_, &y_;
  const float* const packed_;
  const Epilogue& epilogue_;
  const bool is16_;
  const ConvExtent in_;
  const int64_t part_, columns_;  // of an output line what one input pixel gives, and of them all
  // The epilogue's columns are those of the product; where rows matter too, it follows.
  const bool endsInProduct_;
  Epilogue ofProduct_;
  std::vector<float> bias_;
};

}  // namespace

void transposePatches(const ConvShape& shape, const LaunchArgs& args, const Epilogue& epilogue,
                      bool is16) {
  const ConvExtent in = extentOf(args.inputs[0]);
  const int64_t lineFloats = (in.width + kRows16) * floatsPerPixel(shape, is16);
  const PatchLines patches(shape, args, epilogue, is16);
  const WorkersWithin limit(args, [&](int threads) { return threads * lineFloats; });
  args.threads->parallelFor(in.batch * in.height, 1, [&](int64_t begin, int64_t end, int worker) {
    const TileScope tiles(is16 && bf16UsesTiles());
    for (int64_t line = begin; line < end; ++line)
      patches.compute(line, workspaceFloats(args) + worker * lineFloats);
  });
}

}  // namespace camshaft::cpu::conv
