// Times the CPU compute functions on the layers of ResNet-50 (batch 1) and the matrix products of
// BERT-base (sequence 128), against the multiply-add peak measured beside them.
//
//   cpu_kernels [threads] [repetitions] [isa]
//
// Times are minima, with several copies of the weights in turn so that they come from memory as
// they do in a model; "x" is how often the model has the layer.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/conv/conv.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/split_gemm.h"
#include "backends/cpu/simd/isa.h"
#include "support/thread_pool.h"

namespace {

using camshaft::ThreadPool;
using namespace camshaft::cpu;

struct ConvLayer {
  int64_t in, size, out, kernel, stride, pad;
  int times;
};
constexpr ConvLayer kResNet50[] = {
    {3, 224, 64, 7, 2, 3, 1},    {64, 56, 64, 1, 1, 0, 1},    {64, 56, 64, 3, 1, 1, 3},
    {64, 56, 256, 1, 1, 0, 4},   {256, 56, 64, 1, 1, 0, 2},   {256, 56, 128, 1, 1, 0, 1},
    {128, 56, 128, 3, 2, 1, 1},  {128, 28, 512, 1, 1, 0, 4},  {256, 56, 512, 1, 2, 0, 1},
    {512, 28, 128, 1, 1, 0, 3},  {128, 28, 128, 3, 1, 1, 3},  {512, 28, 256, 1, 1, 0, 1},
    {256, 28, 256, 3, 2, 1, 1},  {256, 14, 1024, 1, 1, 0, 6}, {512, 28, 1024, 1, 2, 0, 1},
    {1024, 14, 256, 1, 1, 0, 5}, {256, 14, 256, 3, 1, 1, 5},  {1024, 14, 512, 1, 1, 0, 1},
    {512, 14, 512, 3, 2, 1, 1},  {512, 7, 2048, 1, 1, 0, 3},  {1024, 14, 2048, 1, 2, 0, 1},
    {2048, 7, 512, 1, 1, 0, 2},  {512, 7, 512, 3, 1, 1, 2},
};

struct DepthwiseLayer {
  int64_t channels, size, kernel, stride;
};
constexpr DepthwiseLayer kDepthwise[] = {{16, 112, 3, 1}, {64, 112, 3, 2}, {72, 56, 5, 2},
                                         {240, 28, 3, 2}, {480, 14, 3, 1}, {960, 7, 5, 1}};

struct Product {
  int64_t m, n, k;
  int times;
  Activation activation;
};
constexpr Product kBert[] = {{128, 2304, 768, 12, Activation::kNone},
                             {128, 768, 768, 12, Activation::kNone},
                             {128, 3072, 768, 12, Activation::kGelu},
                             {128, 768, 3072, 12, Activation::kNone}};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<float, Free>;

Buffer filled(int64_t floats) {
  const size_t bytes = (static_cast<size_t>(floats) * sizeof(float) / 64 + 2) * 64;
  Buffer buffer(static_cast<float*>(std::aligned_alloc(64, bytes)));
  uint32_t state = 1;
  for (int64_t i = 0; i < floats; ++i) {
    state = state * 1664525u + 1013904223u;
    buffer.get()[i] = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
  }
  return buffer;
}

template <class Body>
double best(int repetitions, const Body& body) {
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const double start = now();
    body(i);
    least = std::min(least, now() - start);
  }
  return least;
}

// Enough copies of some packed weights to keep them out of the nearer caches.
std::vector<Buffer> copies(const Buffer& packed, int64_t floats) {
  std::vector<Buffer> all;
  const int64_t count = std::clamp<int64_t>((6 << 20) / std::max<int64_t>(floats, 1), 2, 8);
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(filled(floats));
    std::copy(packed.get(), packed.get() + floats, all.back().get());
  }
  return all;
}

double timeConv(ConvAlgorithm algorithm, const ConvShape& shape, const ConvExtent& extent,
                bool withResidual, ThreadPool& pool, int repetitions) {
  const int64_t outPixels =
      extent.batch * shape.outSize(0, extent.height) * shape.outSize(1, extent.width);
  const auto input = filled(extent.batch * extent.height * extent.width * shape.inChannels);
  const auto output = filled(outPixels * shape.outChannels);
  const auto residual = filled(outPixels * shape.outChannels), bias = filled(shape.outChannels);
  const auto weights = filled(shape.outChannels * shape.inChannels / shape.groups *
                              shape.kernel[0] * shape.kernel[1]);
  const int64_t packedFloats = packedConvFloats(algorithm, shape);
  const auto packed = filled(packedFloats);
  packConv(algorithm, shape, weights.get(), packed.get());
  const auto all = copies(packed, packedFloats);
  const auto workspace = filled(convWorkspaceFloats(algorithm, shape, extent, pool.threads()));
  Epilogue epilogue = {.bias = bias.get(), .activation = Activation::kRelu};
  if (withResidual) epilogue.residual = residual.get(), epilogue.residualStride = shape.outChannels;
  return best(repetitions, [&](int i) {
    convolve(algorithm, shape, extent, {.input = input.get(), .output = output.get()},
             all[static_cast<size_t>(i) % all.size()].get(), epilogue, pool, workspace.get());
  });
}

double benchmarkResNet(ThreadPool& pool, int repetitions, double peak) {
  double total = 0, totalFlops = 0;
  for (const ConvLayer& l : kResNet50) {
    const ConvShape shape = {.inChannels = l.in,
                             .outChannels = l.out,
                             .kernel = {l.kernel, l.kernel},
                             .stride = {l.stride, l.stride},
                             .padBegin = {l.pad, l.pad},
                             .padEnd = {l.pad, l.pad}};
    const ConvExtent extent = {1, l.size, l.size, l.in, l.out};
    const int64_t outSize = shape.outSize(0, l.size);
    const double flops = 2.0 * double(outSize * outSize * l.out * l.in * l.kernel * l.kernel);
    const bool residual = l.kernel == 1 && l.out == 4 * l.in;
    const double direct =
        timeConv(ConvAlgorithm::kGemm, shape, extent, residual, pool, repetitions);
    double fastest = direct;
    std::printf("conv %4d %3d %4d k%d s%d x%d  gemm %7.1f us %6.1f GF/s %3.0f%%", int(l.in),
                int(l.size), int(l.out), int(l.kernel), int(l.stride), l.times, direct * 1e6,
                flops / direct * 1e-9, 100 * flops / direct / peak);
    if (convSupports(ConvAlgorithm::kWinograd, shape)) {
      const double winograd =
          timeConv(ConvAlgorithm::kWinograd, shape, extent, false, pool, repetitions);
      std::printf("   winograd %7.1f us %6.1f GF/s", winograd * 1e6, flops / winograd * 1e-9);
      fastest = std::min(fastest, winograd);
    }
    std::printf("\n");
    total += l.times * fastest;
    totalFlops += l.times * flops;
  }
  std::printf("ResNet-50 convolutions: %.2f ms, %.1f GF/s\n", total * 1e3,
              totalFlops / total * 1e-9);
  return total;
}

void benchmarkDepthwise(ThreadPool& pool, int repetitions) {
  for (const DepthwiseLayer& l : kDepthwise) {
    const int64_t pad = l.kernel / 2;
    const ConvShape shape = {.inChannels = l.channels,
                             .outChannels = l.channels,
                             .groups = l.channels,
                             .kernel = {l.kernel, l.kernel},
                             .stride = {l.stride, l.stride},
                             .padBegin = {pad, pad},
                             .padEnd = {pad, pad}};
    const ConvExtent extent = {1, l.size, l.size, l.channels, l.channels};
    const int64_t outSize = shape.outSize(0, l.size);
    const double flops = 2.0 * double(outSize * outSize * l.channels * l.kernel * l.kernel);
    const double t = timeConv(ConvAlgorithm::kDepthwise, shape, extent, false, pool, repetitions);
    std::printf("depthwise %4d %3d k%d s%d  %7.1f us %6.1f GF/s\n", int(l.channels), int(l.size),
                int(l.kernel), int(l.stride), t * 1e6, flops / t * 1e-9);
  }
}

double timeSplitGemm(const Product& p, const Epilogue& epilogue, ThreadPool& pool,
                     int repetitions) {
  const auto a = filled(p.m * p.k), c = filled(p.m * p.n), b = filled(p.k * p.n);
  const int64_t packedFloats = splitPackedBFloats(p.k, p.n);
  const auto packed = filled(packedFloats), workspace = filled(splitGemmWorkspaceFloats(p.m, p.k));
  splitPackB(p.k, p.n, b.get(), p.n, false, packed.get());
  const auto all = copies(packed, packedFloats);
  return best(repetitions, [&](int i) {
    splitGemm(p.m, p.n, p.k, a.get(), p.k, all[static_cast<size_t>(i) % all.size()].get(), c.get(),
              p.n, epilogue, pool, workspace.get());
  });
}

double benchmarkBert(ThreadPool& pool, int repetitions, double peak) {
  double total = 0, totalFlops = 0;
  for (const Product& p : kBert) {
    const auto a = filled(p.m * p.k), c = filled(p.m * p.n), b = filled(p.k * p.n),
               bias = filled(p.n);
    const int64_t packedFloats = packedBFloats(p.k, p.n);
    const auto packed = filled(packedFloats);
    packB(p.k, p.n, b.get(), p.n, false, packed.get());
    const auto all = copies(packed, packedFloats);
    const Epilogue epilogue = {.bias = bias.get(), .activation = p.activation};
    const double t = best(repetitions, [&](int i) {
      packedGemm(p.m, p.n, p.k, a.get(), p.k, all[static_cast<size_t>(i) % all.size()].get(),
                 c.get(), p.n, epilogue, pool);
    });
    const double flops = 2.0 * double(p.m * p.n * p.k);
    std::printf("gemm %4d x %4d x %4d x%d  %7.1f us %6.1f GF/s %3.0f%%", int(p.m), int(p.n),
                int(p.k), p.times, t * 1e6, flops / t * 1e-9, 100 * flops / t / peak);
    if (hasSplitGemm()) {
      const double split = timeSplitGemm(p, epilogue, pool, repetitions);
      std::printf("   split bf16 %7.1f us %6.1f GF/s", split * 1e6, flops / split * 1e-9);
    }
    std::printf("\n");
    total += p.times * t;
    totalFlops += p.times * flops;
  }

  // Attention of 12 heads of 64, read from and written to [sequence][768].
  const auto q = filled(128 * 768), k = filled(128 * 768), scores = filled(12 * 128 * 128);
  BatchedGemm byKeys;
  byKeys.m = 128, byKeys.n = 128, byKeys.k = 64, byKeys.batches[1] = 12;
  byKeys.a = {q.get(), 768, {0, 64}};
  byKeys.b = {k.get(), 768, {0, 64}, true};
  byKeys.c = {scores.get(), 128, {0, 128 * 128}};
  BatchedGemm byValues;
  byValues.m = 128, byValues.n = 64, byValues.k = 128, byValues.batches[1] = 12;
  byValues.a = {scores.get(), 128, {0, 128 * 128}};
  byValues.b = {k.get(), 768, {0, 64}};
  byValues.c = {q.get(), 768, {0, 64}};
  for (const BatchedGemm& p : {byKeys, byValues}) {
    const auto workspace = filled(batchedGemmWorkspaceFloats(p, pool.threads()));
    const double t =
        best(repetitions, [&](int) { batchedGemm(p, {.scale = 0.125f}, pool, workspace.get()); });
    const double flops = 2.0 * 12 * double(p.m * p.n * p.k);
    std::printf("attention 12 x %d x %d x %d x12  %7.1f us %6.1f GF/s %3.0f%%\n", int(p.m),
                int(p.n), int(p.k), t * 1e6, flops / t * 1e-9, 100 * flops / t / peak);
    total += 12 * t;
    totalFlops += 12 * flops;
  }
  std::printf("BERT-base products: %.2f ms, %.1f GF/s\n", total * 1e3, totalFlops / total * 1e-9);
  return total;
}

// The register tile on operands that stay in L1, one worker each.
double measurePeak(ThreadPool& pool) {
  const int64_t m = 7 * 8 * 6, n = gemmGeometry().nr, k = 64;
  const auto b = filled(packedBFloats(k, n));
  std::vector<Buffer> a, c;
  for (int i = 0; i < pool.threads(); ++i) a.push_back(filled(m * k)), c.push_back(filled(m * n));
  constexpr int kRounds = 40;
  const double t = best(60, [&](int) {
    pool.run([&](int worker) {
      ThreadPool alone(1);
      const size_t w = static_cast<size_t>(worker);
      for (int i = 0; i < kRounds; ++i) {
        packedGemm(m, n, k, a[w].get(), k, b.get(), c[w].get(), n, {}, alone);
      }
    });
  });
  return 2.0 * kRounds * pool.threads() * double(m * n * k) / t;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 30;
  if (argc > 3 && !setIsa(argv[3])) {
    std::fprintf(stderr, "cpu_kernels: this CPU cannot run '%s'\n", argv[3]);
    return 1;
  }
  ThreadPool pool(threads);
  const double peak = measurePeak(pool);
  std::printf("%s, %d threads, tile peak %.1f GF/s\n", std::string(isaName()).c_str(), threads,
              peak * 1e-9);
  benchmarkResNet(pool, repetitions, peak);
  benchmarkDepthwise(pool, repetitions);
  benchmarkBert(pool, repetitions, peak);
}
