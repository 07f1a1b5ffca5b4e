// Convolution as a matrix product: rows are output pixels, k runs over kernel taps and channels.
// A pointwise convolution reads its rows where they lie. Short patches are read from lines with
// their padding, where each row of a kernel is one run and neighbouring patches overlap; any other
// convolution gathers a block of rows at a time. Both are in the worker's workspace.
#include <algorithm>
#include <vector>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/conv/gather.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/gemm/partition.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {

namespace {

// One group as a product.
struct Product {
  int64_t m, n, k;
};

Product productOf(const ConvShape& shape, const ConvExtent& extent) {
  return {extent.batch * shape.outSize(0, extent.height) * shape.outSize(1, extent.width),
          shape.outChannels / shape.groups, patchFloats(shape)};
}

// Rows gathered at a time, at most. While B stays in L2, low blocks keep the gathered rows in L1;
// otherwise B is read once per block, and blocks are as high as the partition makes them.
int64_t maxGatheredRows(const Product& p) {
  constexpr int64_t kSmallB = 192 * 1024, kBlockFloats = 5 * 1024, kMinTiles = 4;
  const int64_t mr = gemmGeometry().mr;
  if (p.k * p.n > kSmallB) return maxTaskRows(p.k);
  return std::min(maxTaskRows(p.k), std::max(kMinTiles * mr, kBlockFloats / p.k / mr * mr));
}

int64_t bufferFloats(const Product& p) {
  return (std::min(p.m, maxGatheredRows(p)) * p.k + 15) / 16 * 16;
}

// Whether patches may be read from lines: products this small stay in L2 beside them.
bool mayReadLines(const ConvShape& shape) {
  constexpr int64_t kSmallB = 48 * 1024;
  const int64_t k = patchFloats(shape);
  return shape.groups == 1 && shape.dilation[1] == 1 && !isPointwise(shape) &&
         k <= kMostSegmented && k * shape.outChannels <= kSmallB;
}

// Lines of the image with their padding, as far as `outLines` lines of the result reach.
class LineStrip {
 public:
  LineStrip(const ConvShape& shape, const ConvExtent& extent)
      : shape_(shape),
        extent_(extent),
        pitch_(((shape.outSize(1, extent.width) - 1) * shape.stride[1] + shape.kernel[1]) *
               shape.inChannels),
        // So many lines of the result that theirs stay in L1 beside B.
        outLines_(std::max<int64_t>(1, kCached / (pitch_ * shape.stride[0]))) {}

  int64_t pitch() const { return pitch_; }
  int64_t outLines() const { return outLines_; }
  // Grows with the width, as there are no more lines than are cached.
  int64_t floats() const {
    return kCached + (shape_.dilation[0] * (shape_.kernel[0] - 1) + 1) * pitch_ + 16;
  }

  // For `count` lines of the result of an image from line y on.
  void fill(const float* image, int64_t y, int64_t count, float* to) const {
    const int64_t lines =
        (count - 1) * shape_.stride[0] + shape_.dilation[0] * (shape_.kernel[0] - 1) + 1;
    for (int64_t line = 0; line < lines; ++line, to += pitch_)
      fillLine(image, y * shape_.stride[0] - shape_.padBegin[0] + line, to);
  }

 private:
  static constexpr int64_t kCached = 8 * 1024;  // floats

  void fillLine(const float* image, int64_t y, float* to) const {
    const int64_t channels = shape_.inChannels;
    const int64_t left = std::min(shape_.padBegin[1] * channels, pitch_);
    const int64_t inside =
        y >= 0 && y < extent_.height ? std::min(pitch_ - left, extent_.width * channels) : 0;
    std::fill(to, to + left, 0.0f);
    const float* from = inside > 0 ? image + y * extent_.width * extent_.inPixelStride : image;
    if (extent_.inPixelStride == channels)
      std::copy(from, from + inside, to + left);
    else
      for (int64_t i = 0; i < inside; i += channels, from += extent_.inPixelStride)
        std::copy(from, from + channels, to + left + i);
    std::fill(to + left + inside, to + pitch_, 0.0f);
  }

  const ConvShape& shape_;
  const ConvExtent& extent_;
  const int64_t pitch_, outLines_;
};

// Strips of an image that keep every thread busy; 0: too few lines for that.
int64_t stripsOf(const LineStrip& strip, const ConvCall& call) {
  constexpr int64_t kStripsPerThread = 4;
  const int64_t height = call.outHeight();
  const int64_t wanted = ceilDiv(kStripsPerThread * call.pool.threads(), call.extent.batch);
  return height < wanted ? 0 : std::max(wanted, ceilDiv(height, strip.outLines()));
}

void convolveStrips(const ConvCall& call, const LineStrip& strip, int64_t strips) {
  const ConvShape& shape = call.shape;
  const int64_t height = call.outHeight(), width = call.outWidth();
  const int64_t imageFloats = call.extent.height * call.extent.width * call.extent.inPixelStride;
  GemmBlock line;
  line.rows = width;
  line.columns = shape.outChannels;
  line.k = patchFloats(shape);
  line.lda = shape.stride[1] * shape.inChannels;
  line.segments = shape.kernel[0];
  line.segmentStride = shape.dilation[0] * strip.pitch();
  line.packedB = call.packed;
  line.ldc = call.extent.outPixelStride;
  call.pool.parallelFor(call.extent.batch * strips, 1, [&](int64_t begin, int64_t end, int worker) {
    float* const lines = call.workspace + worker * strip.floats();
    for (int64_t task = begin; task < end; ++task) {
      const int64_t image = task / strips, part = task % strips;
      const int64_t first = part * height / strips, last = (part + 1) * height / strips;
      strip.fill(call.input + image * imageFloats, first, last - first, lines);
      GemmBlock block = line;
      for (int64_t y = first; y < last; ++y) {
        block.row = (image * height + y) * width;
        block.a = lines + (y - first) * shape.stride[0] * strip.pitch();
        block.c = call.output + block.row * block.ldc;
        gemmBlock(block, call.epilogue);
      }
    }
  });
}

}  // namespace

int64_t packedGemmConvFloats(const ConvShape& shape) {
  const Product p = productOf(shape, {});
  return shape.groups * packedBFloats(p.k, p.n);
}

void packGemmConv(const ConvShape& shape, const float* weights, float* packed) {
  const Product p = productOf(shape, {});
  for (int64_t group = 0; group < shape.groups; ++group) {
    const std::vector<float> rows = tapsFirst(shape, weights + group * p.n * p.k);
    packB(p.k, p.n, rows.data(), p.k, true, packed + group * packedBFloats(p.k, p.n));
  }
}

int64_t gemmConvWorkspaceFloats(const ConvShape& shape, const ConvExtent& extent, int threads) {
  if (isPointwise(shape)) return 0;
  const int64_t gathered = bufferFloats(productOf(shape, extent));
  if (!mayReadLines(shape)) return threads * gathered;
  return threads * std::max(gathered, LineStrip(shape, extent).floats());
}

void gemmConv(const ConvCall& call) {
  const ConvShape& shape = call.shape;
  if (mayReadLines(shape)) {
    const LineStrip strip(shape, call.extent);
    if (const int64_t strips = stripsOf(strip, call); strips > 0)
      return convolveStrips(call, strip, strips);
  }
  const Product p = productOf(shape, call.extent);
  const Partition grid = partitionGemm(p.m, p.n, p.k, call.pool.threads());
  const bool inPlace = isPointwise(shape);
  const int64_t channels = shape.inChannels / shape.groups;
  const int64_t rowsAtOnce = inPlace ? grid.rows : std::min(grid.rows, maxGatheredRows(p));

  auto runTask = [&](int64_t task, float* buffer) {
    const int64_t group = task / grid.tasks(), cell = task % grid.tasks();
    const int64_t firstRow = cell % grid.rowTasks * grid.rows;
    const int64_t column = cell / grid.rowTasks * grid.columns;
    const int64_t endRow = std::min(p.m, firstRow + grid.rows);
    const float* input = call.input + group * channels;

    GemmBlock block;
    block.columns = std::min(grid.columns, p.n - column);
    block.k = p.k;
    block.lda = inPlace ? call.extent.inPixelStride : p.k;
    block.packedB = call.packed + group * packedBFloats(p.k, p.n) + column * p.k;
    block.ldc = call.extent.outPixelStride;
    block.column = group * p.n + column;
    for (int64_t row = firstRow; row < endRow; row += rowsAtOnce) {
      block.rows = std::min(rowsAtOnce, endRow - row);
      block.row = row;
      block.c = call.output + row * block.ldc + block.column;
      if (inPlace) {
        block.a = input + row * block.lda;
      } else {
        gatherPatches(shape, call.extent, input, channels, row, block.rows, buffer);
        block.a = buffer;
      }
      gemmBlock(block, call.epilogue);
    }
  };
  call.pool.parallelFor(
      shape.groups * grid.tasks(), 1, [&](int64_t begin, int64_t end, int worker) {
        float* buffer = inPlace ? nullptr : call.workspace + worker * bufferFloats(p);
        for (int64_t task = begin; task < end; ++task) runTask(task, buffer);
      });
}

}  // namespace camshaft::cpu
