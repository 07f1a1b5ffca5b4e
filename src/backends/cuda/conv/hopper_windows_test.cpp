#include "backends/cuda/conv/hopper_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/cuda/conv/partial_windows.h"
#include "backends/cuda/gemm/hopper/geometry.h"
#include "backends/cuda/gemm/hopper/params.h"
#include "backends/cuda/kernel_harness.h"
#include "ops/ops.h"
#include "support/byte_reader.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

using testing::HasSubstr;

int byteAt(int64_t index) { return static_cast<int>(index * index * 7 + index * 13) % 17 - 8; }

struct Shape2D {
  int64_t count, height, breadth, channels, outputs;
  HopperWindows windows;
};

std::string pairOf(int y, int x) { return str("[", y, ", ", x, "]"); }

// i8 images and weights, both of which are byteAt().
std::string graphOf(const Shape2D& s, std::string_view zero = "") {
  const HopperWindow &y = s.windows.y, &x = s.windows.x;
  return str("graph g(%x: i8[", s.count, ", ", s.height, ", ", s.breadth, ", ", s.channels,
             "], %w: i8[", s.outputs, ", ", s.channels, ", ", y.kernel, ", ", x.kernel, "]) { ",
             zero.empty() ? "" : str("%z: i8[] = constant [", zero, "] "),
             "%y = ConvInteger(%x, %w", zero.empty() ? "" : ", %z",
             ") {channels_last = true, strides = ", pairOf(y.stride, x.stride),
             ", dilations = ", pairOf(y.dilation, x.dilation),
             ", pads_begin = ", pairOf(y.padBegin, x.padBegin),
             ", pads_end = ", pairOf(y.padEnd, x.padEnd), "} return %y }");
}

Graph withWeights(const std::string& text) {
  Graph graph = parseGraph(text, findOp);
  Value* input = graph.find("w");
  std::vector<std::byte> bytes(numElements(input->shape()).value() * bitsOf(input->dataType()) / 8);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(byteAt(static_cast<int64_t>(i)));
  graph.replaceUses(input,
                    graph.addConstant("data", input->type, ConstantData::own(std::move(bytes))));
  graph.removeInput(input);
  return graph;
}

BuildContext contextFor(int64_t size) {
  BuildContext context;
  context.opt = context.min = context.max = [=](const Dim& dim) {
    return evaluate(dim, [=](const std::string&) { return size; });
  };
  return context;
}

// The copy engine as its documentation has it: pixels from one on, through the corners.
struct Walk {
  const BoxedImages& map;
  int64_t x, y, n;

  void next() {
    const auto last = [&](int axis) {
      return static_cast<int64_t>(map.dims[axis]) - 1 + map.upper[axis - 1];
    };
    x += map.steps[1];
    if (x <= last(1)) return;
    x = map.lower[0];
    y += map.steps[2];
    if (y <= last(2)) return;
    y = map.lower[1];
    ++n;
  }
  // The channel of the pixel at an offset; outside of the images there are zeros.
  int element(int64_t c, int64_t right, int64_t down) const {
    const int64_t at[] = {c, x + right, y + down, n};
    int64_t index = 0;
    for (int axis = 3; axis >= 0; --axis) {
      const auto size = static_cast<int64_t>(map.dims[axis]);
      if (at[axis] < 0 || at[axis] >= size) return 0;
      index = index * size + at[axis];
    }
    return byteAt(index);
  }
};

// What the kernel adds up: the sums of a tile's rows, in the order of gemm.cuh.
std::vector<int> sumsOf(const Shape2D& s, const BoxedImages& map, const std::byte* weights,
                        int64_t depth, int64_t firstRow) {
  const HopperImages images{s.count, s.height, s.breadth, s.channels, s.windows};
  const ChannelBlocks blocks = blocksOf(s.windows, s.channels, DataType::kI8);
  const int64_t across = outBreadth(images), down = outHeight(images);
  const HopperWindow &y = s.windows.y, &x = s.windows.x;
  std::vector<int> sums(map.pixels * s.outputs);
  for (int64_t unit = 0; unit < depth / blocks.elements; ++unit) {
    const int64_t tap = unit / blocks.number, first = unit % blocks.number * blocks.elements;
    Walk walk{map, firstRow % across * x.stride - x.padBegin,
              firstRow / across % down * y.stride - y.padBegin, firstRow / across / down};
    for (int64_t row = 0; row < map.pixels; ++row, walk.next())
      for (int64_t i = 0; i < map.channels; ++i) {
        const int a =
            walk.element(first + i, tap % x.kernel * x.dilation, tap / x.kernel * y.dilation);
        for (int64_t m = 0; m < s.outputs; ++m)
          sums[row * s.outputs + m] +=
              a * static_cast<int8_t>(weights[m * depth + unit * blocks.elements + i]);
      }
  }
  return sums;
}

// A sum of the convolution itself, whose images are `zero` outside.
int convolved(const Shape2D& s, int64_t row, int64_t m, int zero) {
  const HopperImages images{s.count, s.height, s.breadth, s.channels, s.windows};
  const HopperWindow &wy = s.windows.y, &wx = s.windows.x;
  const int64_t across = outBreadth(images), down = outHeight(images);
  const int64_t n = row / across / down;
  int sum = 0;
  for (int64_t c = 0; c < s.channels; ++c)
    for (int64_t ky = 0; ky < wy.kernel; ++ky)
      for (int64_t kx = 0; kx < wx.kernel; ++kx) {
        const int64_t y = row / across % down * wy.stride - wy.padBegin + ky * wy.dilation;
        const int64_t x = row % across * wx.stride - wx.padBegin + kx * wx.dilation;
        if (y < 0 || y >= s.height || x < 0 || x >= s.breadth) continue;
        const int a = byteAt(((n * s.height + y) * s.breadth + x) * s.channels + c) - zero;
        sum += a * byteAt(((m * s.channels + c) * wy.kernel + ky) * wx.kernel + kx);
      }
  return sum;
}

const Shape2D kShapes[] = {
    {2, 5, 7, 16, 3, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}},
    {3, 9, 6, 64, 2, {{3, 2, 1, 1, 0}, {3, 2, 1, 0, 1}}},
    {1, 8, 8, 48, 2, {{2, 2, 2, 1, 0}, {2, 1, 3, -1, 2}}},
    {2, 7, 5, 144, 2, {{1, 2, 1, 0, 0}, {1, 3, 1, 0, 0}}},
    {1, 4, 4, 192, 2, {{5, 1, 1, 2, 2}, {3, 1, 1, 1, 1}}},
};

TEST(HopperWindows, CopiesWalkOverTheConvolutionsWindows) {
  for (const Shape2D& s : kShapes) {
    const std::string text = graphOf(s);
    SCOPED_TRACE(text);
    const Graph graph = withWeights(text);
    const Node& node = *graph.nodes().back();
    const Kernel& kernel = hopperConvKernel();
    const BuildContext context = contextFor(1);
    const Verdict verdict = kernel.supports(node, context);
    ASSERT_TRUE(verdict) << verdict.reason;
    const HopperConfig config{.tileM = 64, .tileN = 8, .consumers = 1};
    const Prepared prepared = kernel.prepare(node, context, pack(config));
    ASSERT_EQ(prepared.verdict.reason, "");
    ASSERT_EQ(prepared.inputs.size(), 2u);
    const int64_t m = prepared.dimArgs[0].value(), depth = prepared.dimArgs[2].value();
    const BoxedImages map =
        boxed(config, {s.count, s.height, s.breadth, s.channels, s.windows}, DataType::kI8);
    EXPECT_EQ(map.channels, static_cast<uint32_t>(map.swizzleBytes));
    for (int64_t first = 0; first < m; first += map.pixels) {
      const std::vector<int> sums = sumsOf(s, map, prepared.inputs[1].packed.data(), depth, first);
      for (int64_t i = 0; i < map.pixels * s.outputs && first + i / s.outputs < m; ++i)
        ASSERT_EQ(sums[i], convolved(s, first + i / s.outputs, i % s.outputs, 0))
            << "row " << first + i / s.outputs;
    }
  }
}

TEST(HopperWindows, ZeroPointsCountForWhatAWindowHasOnTheImage) {
  constexpr int kZero = 5;
  for (const Shape2D& s : kShapes) {
    const HopperImages images{s.count, s.height, s.breadth, s.channels, s.windows};
    const auto windowOf = [](const HopperWindow& w) {
      return Window{w.kernel, w.stride, w.dilation, w.padBegin, w.padEnd};
    };
    const Graph graph = withWeights(graphOf(s));
    const PartialWindows partial =
        partialWindows({windowOf(s.windows.y), windowOf(s.windows.x)}, {s.height, s.breadth},
                       HostTensor(graph.nodes().back()->inputs[1]->view()));
    const auto kindAlong = [](const HopperWindow& w, int64_t size, int64_t count, int64_t place) {
      int64_t first = 0, last = count - 1;
      const auto at = [&](int64_t o, int64_t tap) {
        return o * w.stride - w.padBegin + tap * w.dilation;
      };
      while (first < count && at(first, 0) < 0) ++first;
      while (last >= 0 && at(last, w.kernel - 1) >= size) --last;
      if (first > last) return place;
      return std::min(place, first) + std::max<int64_t>(place - last, 0);
    };
    const int64_t across = outBreadth(images), down = outHeight(images);
    const int64_t kindsX = kindAlong(s.windows.x, s.breadth, across, across - 1) + 1;
    for (int64_t row = 0; row < s.count * across * down; ++row) {
      const int64_t kind = kindAlong(s.windows.y, s.height, down, row / across % down) * kindsX +
                           kindAlong(s.windows.x, s.breadth, across, row % across);
      ASSERT_LT(kind, partial.kinds);
      for (int64_t m = 0; m < s.outputs; ++m)
        ASSERT_EQ(convolved(s, row, m, 0) - kZero * partial.sums[kind * s.outputs + m],
                  convolved(s, row, m, kZero));
    }
  }
  const HostTensor ones(DataType::kI8, {1, 1, 3, 3});
  EXPECT_EQ(partialWindows({{3, 1, 1, 1, 1}, {3, 2, 1, 1, 1}}, {6, 8}, ones).kindOf,
            "(min((at.row / 4 % 6), 1) + max((at.row / 4 % 6) - 4, 0)) * 2 + "
            "min((at.row / 1 % 4), 1) + max((at.row / 1 % 4) - 3, 0)");
}

TEST(HopperWindows, PaddedZeroPointsAreRowsOfTheirSums) {
  const Graph graph = withWeights(graphOf(kShapes[0], "-128"));
  const Node& node = *graph.nodes().back();
  const Prepared prepared = hopperConvKernel().prepare(
      node, contextFor(1), pack({.tileM = 64, .tileN = 8, .consumers = 1}));
  ASSERT_EQ(prepared.inputs.size(), 3u);
  EXPECT_EQ(prepared.inputs[2].packedType.shape, (Shape{9, 3}));
  EXPECT_THAT(prepared.source, HasSubstr("max((at.row / 7 % 5) - 3, 0)"));
  EXPECT_THAT(prepared.source, HasSubstr("kColumnEpilogue = false"));
  // Sums are multiplied by a zero point that is known.
  int32_t corner = 0, wanted = 0;
  std::memcpy(&corner, prepared.inputs[2].packed.data(), sizeof corner);
  for (int64_t c = 0; c < 16; ++c)
    for (int tap : {4, 5, 7, 8}) wanted += byteAt(c * 9 + tap);
  EXPECT_EQ(corner, -128 * wanted);
}

TEST(HopperWindows, AZeroPointOfZeroIsNone) {
  const Graph graph = withWeights(graphOf(kShapes[0], "0"));
  const Prepared prepared = hopperConvKernel().prepare(
      *graph.nodes().back(), contextFor(1), pack({.tileM = 64, .tileN = 8, .consumers = 1}));
  EXPECT_EQ(prepared.inputs.size(), 2u);
}

// Taps one after the other, the 8 channels of each in a block of 16.
TEST(HopperWindows, FloatsArePackedOnceTheyAreChosen) {
  std::string weights;
  for (int i = 0; i < 2 * 8 * 2; ++i) weights += str(i ? ", " : "", i);
  const Graph graph = parseGraph(
      str("graph g(%x: f16[1, 1, 9, 8]) { %w: f16[2, 8, 1, 2] = constant [", weights,
          "] %y = Conv(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], "
          "pads_end = [0, 0], channels_last = true} return %y }"),
      findOp);
  Prepared prepared = hopperConvKernel().prepare(*graph.nodes().back(), contextFor(1),
                                                 pack({.tileM = 64, .tileN = 8, .consumers = 1}));
  ASSERT_EQ(prepared.verdict.reason, "");
  EXPECT_TRUE(prepared.inputs[1].packed.empty());
  EXPECT_EQ(prepared.inputs[1].packedType.shape, (Shape{2, 32}));
  packNow(prepared);
  const std::vector<std::byte>& packed = prepared.inputs[1].packed;
  ASSERT_EQ(packed.size(), 2 * 32 * 2u);
  for (int m = 0; m < 2; ++m)
    for (int k = 0; k < 32; ++k) {
      const int tap = k / 16, c = k % 16;
      EXPECT_EQ(readElement(DataType::kF16, packed.data(), m * 32 + k),
                c < 8 ? (m * 8 + c) * 2 + tap : 0)
          << "row " << m << ", element " << k;
    }
}

TEST(HopperWindows, TheBatchMayBeDynamicAndTheEpilogueReadImages) {
  const Graph graph = withWeights(
      "symbols n graph g(%x: f16[n, 14, 14, 64], %w: f16[96, 64, 3, 3], %b: f16[96], %r: f16[n, 7, "
      "7, 96]) { %y = Conv(%x, %w, %b) {strides = [2, 2], dilations = [1, 1], pads_begin = [1, 1], "
      "pads_end = [1, 1], channels_last = true} epilogue(%r) {relu(add(x0:f16, x1:f16))} return "
      "%y }");
  const Node& node = *graph.nodes().back();
  const Kernel& kernel = hopperConvKernel();
  const BuildContext context = contextFor(8);
  const Verdict verdict = kernel.supports(node, context);
  ASSERT_TRUE(verdict) << verdict.reason;
  const std::vector<int64_t> configs = kernel.configurations(node, context);
  ASSERT_GE(configs.size(), 4u);
  const Prepared prepared = kernel.prepare(node, context, configs.front());
  ASSERT_EQ(prepared.verdict.reason, "");
  EXPECT_EQ(prepared.runtimeKernel, kHopperGemmKernel);
  ASSERT_EQ(prepared.inputs.size(), 4u);
  EXPECT_EQ(prepared.inputs[1].packedType.shape, (Shape{96, 576}));
  for (int i : {0, 2, 3}) EXPECT_EQ(prepared.inputs[i].nodeInput, i);
  const Dim n = node.output()->shape()[0];
  EXPECT_EQ(prepared.dimArgs, (std::vector<Dim>{n * Dim(49), 96, 576, 1, n, 14, 14, 64}));
  EXPECT_THAT(prepared.source,
              HasSubstr(str("CAMSHAFT_GEMM conv_hopper_3x3_", toString(unpackHopper(configs[0])))));
  EXPECT_TRUE(kernel.inPlace(node, 3));
  EXPECT_FALSE(kernel.inPlace(node, 0));
  ByteReader reader(prepared.params);
  EXPECT_EQ(reader.read<HopperParams>().config, configs.front());
  EXPECT_EQ(reader.read<HopperWindows>().x.stride, 2);
  reader.expectEnd();
}

// What is timed is what a fixed batch of that size would have.
TEST(HopperWindows, ConfigurationsAreThoseOfTheProfilesOptimum) {
  const auto configurations = [](const char* batch, int64_t opt) {
    const Graph graph = withWeights(
        str("graph g(%x: f16[", batch,
            ", 56, 56, 64], %w: f16[64, 64, 3, 3]) { %y = Conv(%x, %w) {channels_last = true, "
            "strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} "
            "return %y }"));
    return hopperConvKernel().configurations(*graph.nodeList().front(), contextFor(opt));
  };
  EXPECT_EQ(configurations("n", 32), configurations("32", 32));
  EXPECT_EQ(configurations("n", 1), configurations("1", 1));
  EXPECT_NE(configurations("n", 1), configurations("n", 32));
}

TEST(HopperWindows, RefusalsSayWhy) {
  const auto refusal = [](const std::string& text) {
    const Graph graph = withWeights(text);
    return hopperConvKernel().supports(*graph.nodes().back(), contextFor(1)).reason;
  };
  EXPECT_THAT(refusal(graphOf({1, 5, 5, 16, 8, {}})), HasSubstr("single pixels"));
  EXPECT_THAT(refusal(graphOf({1, 5, 5, 24, 8, {{3}, {3}}})), HasSubstr("16 bytes"));
  EXPECT_THAT(refusal(graphOf({1, 20, 20, 16, 8, {{3, 9}, {3}}})), HasSubstr("strides of up to 8"));
  EXPECT_THAT(refusal(graphOf({1, 300, 5, 16, 8, {{2, 1, 256}, {3}}})), HasSubstr("255 pixels"));
  EXPECT_THAT(refusal(graphOf({1, 9, 9, 16, 8, {{3, 1, 1, 200, 0}, {3}}})),
              HasSubstr("128 pixels"));
  std::string dynamic = graphOf({1, 9, 9, 16, 8, {{3, 1, 1, 1, 1}, {3}}}, "3");
  dynamic.replace(dynamic.find("[1, 9,"), 6, "[1, h,");
  EXPECT_THAT(refusal("symbols h " + dynamic), HasSubstr("images' sizes"));
}

TEST(HopperWindows, BlocksOfChannelsFollowTheirBytes) {
  const HopperWindows windows{{3}, {3}};
  const auto bytes = [&](int64_t channels, DataType type) {
    return blocksOf(windows, channels, type).bytes;
  };
  EXPECT_EQ(bytes(16, DataType::kI8), 32);
  EXPECT_EQ(bytes(64, DataType::kI8), 64);
  EXPECT_EQ(bytes(96, DataType::kI8), 128);
  EXPECT_EQ(bytes(192, DataType::kI8), 64);
  EXPECT_EQ(bytes(512, DataType::kI8), 128);
  EXPECT_EQ(bytes(64, DataType::kF16), 128);
  EXPECT_EQ(depthOf(windows, 192, DataType::kI8), 9 * 192);
  EXPECT_EQ(depthOf(windows, 16, DataType::kF16), 9 * 16);
}

// Kernels are compiled for Hopper where NVRTC is; others run.
TEST(HopperWindows, AreCompiled) {
  for (const char* type : {"f16", "bf16"})
    expectKernelsMatch(
        {.graph =
             str("graph g(%x: ", type, "[1, 6, 5, 32], %w: ", type, "[16, 32, 3, 3], %r: ", type,
                 "[1, 6, 5, 16]) { %y = Conv(%x, %w) {channels_last = true, strides = "
                 "[1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} "
                 "epilogue(%r) {relu(add(x0:",
                 type, ", x1:", type, "))} return %y }"),
         .sizes = {{}},
         .constants = {"w"},
         .ranges = {{"w", {-0.3, 0.3}}},
         .tolerance = 2e-2});
  expectKernelsMatch({.graph = graphOf({1, 6, 5, 64, 16, {{3, 2, 1, 1, 1}, {3, 1, 1, 1, 1}}}, "3"),
                      .sizes = {{}},
                      .constants = {"w"},
                      .ranges = {{"x", {-128, 127}}, {"w", {-128, 127}}},
                      .tolerance = 0});
}

}  // namespace
}  // namespace camshaft::cuda
