#include "backends/cpu/conv/conv.h"

#include "backends/cpu/gemm/test_support.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

struct Problem {
  ConvShape shape;
  ConvExtent extent;
  Epilogue epilogue = {};
  bool withBias = true, withResidual = false;
  int threads = 2;
  bool isBf16 = false;  // input, residual and output
};

std::vector<BFloat16> inBf16(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

double exactPixel(const Problem& p, const std::vector<float>& input,
                  const std::vector<float>& weights, int64_t image, int64_t oy, int64_t ox,
                  int64_t o) {
  const ConvShape& s = p.shape;
  const int64_t inPerGroup = s.inChannels / s.groups, outPerGroup = s.outChannels / s.groups;
  double sum = 0;
  for (int64_t ky = 0; ky < s.kernel[0]; ++ky) {
    for (int64_t kx = 0; kx < s.kernel[1]; ++kx) {
      const int64_t y = oy * s.stride[0] - s.padBegin[0] + ky * s.dilation[0];
      const int64_t x = ox * s.stride[1] - s.padBegin[1] + kx * s.dilation[1];
      if (y < 0 || y >= p.extent.height || x < 0 || x >= p.extent.width) continue;
      const int64_t pixel = (image * p.extent.height + y) * p.extent.width + x;
      for (int64_t c = 0; c < inPerGroup; ++c) {
        const int64_t channel = o / outPerGroup * inPerGroup + c;
        sum += double(input[static_cast<size_t>(pixel * p.extent.inPixelStride + channel)]) *
               weights[static_cast<size_t>(((o * inPerGroup + c) * s.kernel[0] + ky) * s.kernel[1] +
                                           kx)];
      }
    }
  }
  return sum;
}

// Relative L2 error; the tensors are slices of wider ones, and what is beside them must stay.
double check(ConvAlgorithm algorithm, Problem p) {
  const ConvShape& s = p.shape;
  SCOPED_TRACE(testing::Message() << s.inChannels << "->" << s.outChannels << " kernel "
                                  << s.kernel[0] << "x" << s.kernel[1] << " of " << p.extent.height
                                  << "x" << p.extent.width << " algorithm " << int(algorithm));
  EXPECT_TRUE(convSupports(algorithm, s));
  p.extent.inPixelStride = s.inChannels + 3;
  p.extent.outPixelStride = s.outChannels + 5;
  const int64_t outHeight = s.outSize(0, p.extent.height), outWidth = s.outSize(1, p.extent.width);
  const int64_t outPixels = p.extent.batch * outHeight * outWidth;
  const int64_t inPixels = p.extent.batch * p.extent.height * p.extent.width;
  const int64_t fanIn = s.inChannels / s.groups * s.kernel[0] * s.kernel[1];
  auto input = randomFloats(inPixels * p.extent.inPixelStride, 1);
  auto weights = randomFloats(s.outChannels * fanIn, 2);
  for (float& w : weights) w /= std::sqrt(float(fanIn));
  p.extent.isBf16 = p.isBf16;
  if (algorithm == ConvAlgorithm::kBf16 || p.isBf16) {  // which rounding changes no more
    input = roundedToBf16(std::move(input));
    weights = roundedToBf16(std::move(weights));
  }
  // Operands of f16 are rounded, and a few sums at a time.
  const double rounding = algorithm == ConvAlgorithm::kF16 ? 2e-3 : p.isBf16 ? 3e-3 : 1e-5;
  const double worst = algorithm == ConvAlgorithm::kF16 ? 2e-2 : 1e-3;
  const auto bias = randomFloats(s.outChannels, 3);
  const int64_t residualStride = s.outChannels + 1;
  auto residual = randomFloats(outPixels * residualStride, 4);
  if (p.isBf16) residual = roundedToBf16(std::move(residual));
  const std::vector<BFloat16> bf16Input = inBf16(input), bf16Residual = inBf16(residual);
  std::vector<BFloat16> bf16Output(static_cast<size_t>(outPixels * p.extent.outPixelStride),
                                   BFloat16(NAN));
  if (p.withBias) p.epilogue.bias = bias.data();
  if (p.withResidual) {
    p.epilogue.residual = p.isBf16 ? nullptr : residual.data();
    p.epilogue.bf16Residual = p.isBf16 ? bf16Residual.data() : nullptr;
    p.epilogue.residualStride = residualStride;
  }

  PoisonedBuffer packed(packedConvFloats(algorithm, s)),
      output(outPixels * p.extent.outPixelStride);
  PoisonedBuffer workspace(convWorkspaceFloats(algorithm, s, p.extent, p.threads));
  packConv(algorithm, s, weights.data(), packed.data());
  ThreadPool pool(p.threads);
  const ConvTensors inF32{.input = input.data(), .output = output.data()};
  const ConvTensors halves{.bf16Input = bf16Input.data(), .bf16Output = bf16Output.data()};
  convolve(algorithm, s, p.extent, p.isBf16 ? halves : inF32, packed.data(), p.epilogue, pool,
           workspace.data());
  packed.expectMarginsIntact();
  output.expectMarginsIntact();
  workspace.expectMarginsIntact();

  double error = 0, norm = 0;
  for (int64_t pixel = 0; pixel < outPixels; ++pixel) {
    const int64_t image = pixel / (outHeight * outWidth);
    for (int64_t o = 0; o < p.extent.outPixelStride; ++o) {
      const int64_t place = pixel * p.extent.outPixelStride + o;
      const float got =
          p.isBf16 ? static_cast<float>(bf16Output[static_cast<size_t>(place)]) : output[place];
      if (o >= s.outChannels) {
        EXPECT_TRUE(std::isnan(got));
        continue;
      }
      double want =
          p.epilogue.scale *
          exactPixel(p, input, weights, image, pixel / outWidth % outHeight, pixel % outWidth, o);
      if (p.withBias) want += bias[static_cast<size_t>(o)];
      if (p.withResidual) want += residual[static_cast<size_t>(pixel * residualStride + o)];
      want = exactActivation(p.epilogue, want);
      if (!(std::fabs(got - want) < (p.isBf16 ? 1e-3 + std::fabs(want) / 256 : worst))) {
        ADD_FAILURE() << "pixel " << pixel << " channel " << o << ": " << got << " not " << want;
        return 1;
      }
      error += (got - want) * (got - want);
      norm += want * want;
    }
  }
  const double relative = std::sqrt(error / norm);
  EXPECT_LT(relative, rounding);
  return relative;
}

using ConvTest = IsaTest;
INSTANTIATE_TEST_SUITE_P(Isas, ConvTest, testing::ValuesIn(availableIsas()), isaTestName);

ConvShape square(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad,
                 int64_t groups = 1) {
  return {.inChannels = in,
          .outChannels = out,
          .groups = groups,
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .padBegin = {pad, pad},
          .padEnd = {pad, pad}};
}

TEST_P(ConvTest, GemmTakesAnyShape) {
  const auto gemm = ConvAlgorithm::kGemm;
  check(gemm, {.shape = square(3, 16, 7, 2, 3), .extent = {2, 21, 30}});
  check(gemm, {.shape = square(16, 35, 1, 1, 0), .extent = {1, 7, 9}, .withResidual = true});
  check(gemm, {.shape = square(16, 64, 1, 2, 0), .extent = {1, 7, 9}});
  check(gemm, {.shape = square(20, 40, 3, 1, 1), .extent = {3, 6, 5}, .withResidual = true});
  check(gemm, {.shape = square(64, 64, 3, 2, 1), .extent = {1, 14, 14}, .threads = 3});
  check(gemm, {.shape = square(12, 18, 3, 1, 1, 3), .extent = {2, 8, 8}});
  check(gemm, {.shape = square(6, 12, 3, 1, 1, 6), .extent = {1, 8, 8}});
  ConvShape odd = {.inChannels = 5,
                   .outChannels = 7,
                   .kernel = {2, 5},
                   .stride = {3, 2},
                   .dilation = {2, 3},
                   .padBegin = {0, 4},
                   .padEnd = {3, 1}};
  check(gemm, {.shape = odd, .extent = {2, 11, 17}});
  odd.padBegin[1] = odd.padEnd[1] = 20;  // whole patches outside the image
  check(gemm, {.shape = odd, .extent = {1, 11, 5}});
}

TEST_P(ConvTest, GemmReadsShortPatchesFromLines) {
  ConvShape odd = {.inChannels = 3,
                   .outChannels = 24,
                   .kernel = {3, 5},
                   .stride = {2, 1},
                   .dilation = {2, 1},
                   .padBegin = {1, 4},
                   .padEnd = {3, 0}};
  for (int64_t outChannels : {24, 72, 150}) {
    odd.outChannels = outChannels;
    check(ConvAlgorithm::kGemm, {.shape = odd,
                                 .extent = {2, 33, 19},
                                 .epilogue = {.activation = Activation::kHardSwish},
                                 .withResidual = true});
  }
  odd.padBegin[1] = odd.padEnd[1] = 20;  // whole patches outside the image
  check(ConvAlgorithm::kGemm, {.shape = odd, .extent = {1, 40, 5}});
  // Lines that are longer than what is kept of several.
  check(ConvAlgorithm::kGemm,
        {.shape = square(3, 16, 3, 2, 1), .extent = {1, 34, 3001}, .threads = 3});
}

TEST_P(ConvTest, GemmBlocksTallAndDeepProducts) {
  check(ConvAlgorithm::kGemm, {.shape = square(256, 70, 3, 1, 1), .extent = {1, 10, 9}});
  check(ConvAlgorithm::kGemm, {.shape = square(8, 9, 3, 1, 1), .extent = {1, 60, 61}});
}

TEST_P(ConvTest, DepthwiseTakesAnyShape) {
  const auto depthwise = ConvAlgorithm::kDepthwise;
  for (int64_t channels : {1, 3, 8, 24, 37, 64}) {
    for (int64_t kernel : {3, 5, 7}) {
      for (int64_t stride : {1, 2}) {
        check(depthwise, {.shape = square(channels, channels, kernel, stride, kernel / 2, channels),
                          .extent = {2, 12, 23},
                          .epilogue = {.activation = Activation::kClip, .low = 0, .high = 6},
                          .withResidual = stride == 1});
      }
    }
  }
  ConvShape odd = {.inChannels = 20,
                   .outChannels = 20,
                   .groups = 20,
                   .kernel = {4, 2},
                   .stride = {2, 3},
                   .dilation = {1, 4},
                   .padBegin = {3, 0},
                   .padEnd = {0, 5}};
  check(depthwise, {.shape = odd, .extent = {1, 9, 33}});
  check(depthwise, {.shape = odd, .extent = {1, 9, 150}, .threads = 3});
  odd.padBegin[1] = 9;
  check(depthwise, {.shape = odd, .extent = {1, 9, 4}});
}

TEST_P(ConvTest, DepthwiseCutsFewLinesIntoBlocksOfChannels) {
  for (int64_t channels : {512, 531})
    check(ConvAlgorithm::kDepthwise, {.shape = square(channels, channels, 5, 1, 2, channels),
                                      .extent = {1, 3, 14},
                                      .epilogue = {.activation = Activation::kHardSwish},
                                      .withResidual = true,
                                      .threads = 16});
}

// Input and output channels of a group, and groups.
constexpr int64_t kGroups[][3] = {{4, 4, 8},   {4, 4, 5},  {8, 8, 3},   {1, 2, 24},  {1, 8, 17},
                                  {2, 4, 9},   {2, 8, 12}, {16, 16, 3}, {24, 24, 2}, {3, 16, 6},
                                  {40, 20, 3}, {5, 33, 4}, {1, 1, 19},  {9, 64, 2}};

TEST_P(ConvTest, GroupedTakesAnyShape) {
  const auto grouped = ConvAlgorithm::kGrouped;
  for (const auto& [inputs, outputs, groups] : kGroups) {
    const auto shape = [&](int64_t kernel, int64_t stride, int64_t pad) {
      return square(inputs * groups, outputs * groups, kernel, stride, pad, groups);
    };
    ASSERT_TRUE(convSupports(grouped, shape(3, 1, 1)));
    for (int64_t kernel : {1, 3, 5, 7})
      for (int64_t stride : {1, 2})
        check(grouped, {.shape = shape(kernel, stride, kernel / 2),
                        .extent = {2, 9, 23},
                        .epilogue = {.activation = Activation::kClip, .low = -1, .high = 6},
                        .withResidual = true,
                        .threads = 3});
    check(grouped, {.shape = shape(3, 1, 1), .extent = {1, 2, 3}});
    check(grouped, {.shape = shape(3, 2, 0), .extent = {3, 16, 15}, .threads = 16});
  }
  ConvShape odd = {.inChannels = 24,
                   .outChannels = 48,
                   .groups = 12,
                   .kernel = {4, 2},
                   .stride = {2, 3},
                   .dilation = {1, 4},
                   .padBegin = {3, 0},
                   .padEnd = {0, 5}};
  check(grouped, {.shape = odd, .extent = {1, 9, 33}});
  odd.padBegin[1] = 9;
  check(grouped, {.shape = odd, .extent = {1, 9, 4}});
}

TEST_P(ConvTest, WinogradTakesRaggedTilesAndChannels) {
  const auto winograd = ConvAlgorithm::kWinograd;
  for (int64_t pad : {0, 1, 2}) {
    check(winograd, {.shape = square(16, 32, 3, 1, pad), .extent = {1, 8, 8}});
    check(winograd, {.shape = square(5, 7, 3, 1, pad), .extent = {3, 7, 10}, .withResidual = true});
    check(winograd, {.shape = square(19, 21, 3, 1, pad), .extent = {1, 3, 5}});
  }
  check(
      winograd,
      {.shape = square(8, 70, 3, 1, 1), .extent = {1, 61, 45}, .withResidual = true, .threads = 3});
  ConvShape uneven = square(8, 8, 3, 1, 0);
  uneven.padBegin[0] = 1, uneven.padEnd[1] = 2;
  check(winograd, {.shape = uneven, .extent = {2, 9, 9}});
}

TEST_P(ConvTest, WinogradStaysAccurate) {
  const double error =
      check(ConvAlgorithm::kWinograd,
            {.shape = square(256, 64, 3, 1, 1), .extent = {1, 14, 14}, .withBias = false});
  RecordProperty("relativeError", std::to_string(error * 1e6) + "e-6");
}

TEST_P(ConvTest, DepthwiseTakesBf16) {
  const auto depthwise = ConvAlgorithm::kDepthwise;
  const auto checkBf16 = [&](Problem problem) {
    problem.isBf16 = true;
    check(depthwise, problem);
  };
  checkBf16({.shape = square(70, 70, 3, 1, 1, 70), .extent = {2, 19, 17}, .withResidual = true});
  checkBf16({.shape = square(130, 130, 5, 2, 2, 130), .extent = {1, 23, 16}, .threads = 3});
  checkBf16({.shape = square(3, 3, 3, 1, 1, 3), .extent = {3, 1, 1}});
  checkBf16({square(21, 21, 3, 1, 1, 21), {1, 7, 6}, {.activation = Activation::kSilu}});
  // Parts of wide lines.
  checkBf16({.shape = square(40, 40, 3, 1, 1, 40), .extent = {1, 9, 201}, .withResidual = true});
  checkBf16({.shape = square(33, 33, 5, 2, 2, 33), .extent = {2, 11, 190}, .threads = 3});
  ConvShape far = square(18, 18, 3, 1, 20, 18);  // not even a segment of all its lines in L1
  far.dilation[0] = far.dilation[1] = 20;
  for (int64_t width : {9, 13, 14, 15, 100})
    checkBf16({.shape = far, .extent = {1, 23, width}, .threads = 2});
  ConvShape odd = {.inChannels = 65,
                   .outChannels = 65,
                   .groups = 65,
                   .kernel = {3, 2},
                   .stride = {4, 1},  // lines between windows are not read
                   .dilation = {1, 3},
                   .padBegin = {4, 1},
                   .padEnd = {5, 2}};  // whole windows outside the image
  checkBf16({.shape = odd, .extent = {2, 11, 9}});
  odd.dilation[0] = 3;
  odd.stride[0] = 1;
  checkBf16({.shape = odd, .extent = {1, 11, 9}, .withResidual = true, .threads = 4});
}

TEST_P(ConvTest, SplitTakesAnyShapeOfOneGroup) {
  const auto split = ConvAlgorithm::kSplit;
  if (!convSupports(split, square(1, 1, 1, 1, 0))) GTEST_SKIP() << "this CPU has no bf16 tiles";
  check(split, {.shape = square(37, 51, 1, 1, 0), .extent = {2, 7, 9}, .withResidual = true});
  check(split, {.shape = square(64, 33, 1, 2, 0), .extent = {1, 9, 8}});
  check(split, {.shape = square(3, 20, 7, 2, 3), .extent = {1, 31, 30}, .threads = 3});
  check(split, {.shape = square(40, 16, 3, 1, 1), .extent = {3, 5, 6}, .withResidual = true});
}

void checkIn16Bits(ConvAlgorithm algorithm) {
  if (!convSupports(algorithm, square(1, 1, 1, 1, 0)))
    GTEST_SKIP() << "this CPU multiplies f32 sooner";
  check(algorithm, {.shape = square(37, 51, 1, 1, 0), .extent = {2, 7, 9}, .withResidual = true});
  check(algorithm, {.shape = square(64, 33, 1, 2, 0), .extent = {1, 9, 8}});
  check(algorithm, {.shape = square(3, 20, 7, 2, 3), .extent = {1, 31, 30}, .threads = 3});
  check(algorithm, {.shape = square(40, 16, 3, 1, 1), .extent = {3, 5, 6}, .withResidual = true});
  check(algorithm, {.shape = square(256, 24, 3, 1, 1), .extent = {1, 20, 9}});  // several passes
  check(algorithm, {.shape = square(8, 9, 3, 1, 1), .extent = {1, 60, 61}, .threads = 5});
  check(algorithm, {.shape = square(16, 40, 3, 1, 1), .extent = {1, 12, 13}});
  // Strips of large images.
  check(algorithm, {.shape = square(40, 9, 3, 1, 1), .extent = {2, 83, 90}, .withResidual = true});
  check(algorithm, {.shape = square(17, 5, 5, 2, 1), .extent = {1, 161, 170}, .threads = 3});
  check(algorithm, {.shape = square(64, 8, 3, 3, 2), .extent = {1, 130, 131}, .threads = 16});
  check(algorithm, {.shape = square(121, 8, 3, 2, 1), .extent = {1, 6, 7}});
  check(algorithm,
        {.shape = square(5, 8, 28, 1, 14), .extent = {1, 6, 7}});  // two patches at a time
  check(algorithm,
        {square(9, 21, 3, 1, 1), {1, 7, 6}, {.scale = 0.5f, .activation = Activation::kGelu}});
  ConvShape odd = {.inChannels = 12,
                   .outChannels = 7,
                   .kernel = {2, 5},
                   .stride = {3, 2},
                   .dilation = {2, 3},
                   .padBegin = {0, 20},
                   .padEnd = {3, 20}};  // whole patches outside the image
  check(algorithm, {.shape = odd, .extent = {2, 11, 5}});
  EXPECT_FALSE(convSupports(algorithm, square(8, 8, 3, 1, 1, 2)));
  EXPECT_FALSE(convSupports(algorithm, square(1, 8, 91, 1, 45)));
}

TEST_P(ConvTest, Bf16TakesAnyShapeOfOneGroup) { checkIn16Bits(ConvAlgorithm::kBf16); }
TEST_P(ConvTest, F16TakesAnyShapeOfOneGroup) { checkIn16Bits(ConvAlgorithm::kF16); }

TEST_P(ConvTest, EveryAlgorithmTakesEveryActivation) {
  for (Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kClip, Activation::kSigmoid,
        Activation::kSilu, Activation::kHardSwish, Activation::kGelu, Activation::kTanh}) {
    const Epilogue epilogue = {.scale = 0.5f,
                               .activation = activation,
                               .low = -0.5f,
                               .high = 0.75f,
                               .outScale = 1.5f,
                               .outShift = -0.25f};
    check(ConvAlgorithm::kGemm, {square(9, 21, 3, 1, 1), {1, 7, 6}, epilogue});
    check(ConvAlgorithm::kWinograd, {square(9, 21, 3, 1, 1), {1, 7, 6}, epilogue});
    check(ConvAlgorithm::kDepthwise, {square(21, 21, 3, 1, 1, 21), {1, 7, 6}, epilogue});
    check(ConvAlgorithm::kGrouped, {square(17, 34, 3, 1, 1, 17), {1, 7, 6}, epilogue});
    // Segments of whole pixels, the last of which begins in the one before.
    for (int64_t kernel : {3, 5})
      for (int64_t stride : {1, 2})
        for (bool withBias : {false, true})
          check(ConvAlgorithm::kDepthwise, {.shape = square(21, 21, kernel, stride, kernel / 2, 21),
                                            .extent = {2, 9, 19},
                                            .epilogue = epilogue,
                                            .withBias = withBias});
    for (auto algorithm : {ConvAlgorithm::kBf16, ConvAlgorithm::kF16})
      if (convSupports(algorithm, square(9, 21, 3, 1, 1)))
        check(algorithm, {square(9, 21, 3, 1, 1), {1, 7, 6}, epilogue});
  }
}

TEST_P(ConvTest, PostSeesEveryOutputOnce) {
  for (auto algorithm : {ConvAlgorithm::kGemm, ConvAlgorithm::kWinograd, ConvAlgorithm::kDepthwise,
                         ConvAlgorithm::kGrouped, ConvAlgorithm::kBf16, ConvAlgorithm::kF16}) {
    const int64_t channels = algorithm == ConvAlgorithm::kGrouped ? 18 : 6;
    const int64_t groups = algorithm == ConvAlgorithm::kDepthwise ? channels
                           : algorithm == ConvAlgorithm::kGrouped ? channels / 2
                                                                  : 1;
    const ConvShape shape = square(channels, channels, 3, 1, 1, groups);
    if (!convSupports(algorithm, shape)) continue;
    const ConvExtent extent = {2, 9, 7, channels, channels};
    const auto input = randomFloats(2 * 9 * 7 * channels, 1);
    const auto weights = randomFloats(channels * channels * 9, 2);
    std::vector<float> packed(static_cast<size_t>(packedConvFloats(algorithm, shape)));
    std::vector<float> workspace(
        static_cast<size_t>(convWorkspaceFloats(algorithm, shape, extent, 2)));
    packConv(algorithm, shape, weights.data(), packed.data());
    ThreadPool pool(2);
    std::vector<float> plain(input.size()), output(input.size());
    convolve(algorithm, shape, extent, {.input = input.data(), .output = plain.data()},
             packed.data(), {}, pool, workspace.data());
    Epilogue epilogue;
    epilogue.postContext = output.data();
    epilogue.post = [](void* context, float* block, int64_t row, int64_t column, int64_t rows,
                       int64_t columns, int64_t stride) {
      ASSERT_EQ(block, static_cast<float*>(context) + row * stride + column);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) block[i * stride + j] += 1000.0f;
      }
    };
    convolve(algorithm, shape, extent, {.input = input.data(), .output = output.data()},
             packed.data(), epilogue, pool, workspace.data());
    for (size_t i = 0; i < output.size(); ++i) ASSERT_EQ(output[i], plain[i] + 1000.0f) << i;
  }
}

TEST(ConvSupports, NamesWhatItCannotDo) {
  EXPECT_FALSE(convSupports(ConvAlgorithm::kWinograd, square(8, 8, 3, 2, 1)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kWinograd, square(8, 8, 5, 1, 1)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kWinograd, square(8, 8, 3, 1, 1, 2)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kDepthwise, square(8, 8, 3, 1, 1, 2)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kDepthwise, square(8, 16, 3, 1, 1, 8)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kGrouped, square(32, 32, 3, 1, 1, 1)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kGrouped, square(8, 8, 3, 1, 1, 2)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kGrouped, square(36, 36, 3, 1, 1, 3)));
  EXPECT_FALSE(convSupports(ConvAlgorithm::kGrouped, square(64, 32, 3, 1, 1, 8)));
}

}  // namespace
}  // namespace camshaft::cpu
