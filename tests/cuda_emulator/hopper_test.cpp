// Hopper's matrix product, and convolutions on it, on the host: tiles, rings of copies, turns of
// warpgroups and ways out, in clusters of one block (device/hopper.h), beside the operators' own
// evaluate().
#include <gtest/gtest.h>

#include <functional>

#include "backends/cuda/conv/hopper_windows.h"
#include "backends/cuda/gemm/hopper/choice.h"
#include "backends/cuda/gemm/hopper/hopper.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/launch_hopper.h"
#include "cuda_emulator/emulated_backend.h"
#include "cuda_emulator/emulator.h"
#include "testing/expect_tensor.h"
#include "testing/kernel_harness.h"

namespace camshaft {
namespace {

using cuda::HopperConfig;
using cuda::withStages;
using emulator::EmulatedBackend;

// A tensor in the emulated GPU's memory.
class DeviceTensor {
 public:
  DeviceTensor(DataType type, const Dims& dims, size_t bytes)
      : memory_(emulator::allocate(std::max<size_t>(bytes, 1))), bytes_(bytes) {
    arg_.data = memory_;
    arg_.type = type;
    arg_.rank = static_cast<int32_t>(dims.size());
    std::ranges::copy(dims, arg_.dims);
  }
  explicit DeviceTensor(const HostTensor& tensor)
      : DeviceTensor(tensor.type, tensor.dims, tensor.bytes.size()) {
    emulator::copy(memory_, tensor.bytes.data(), bytes_);
  }
  DeviceTensor(const DeviceTensor&) = delete;
  ~DeviceTensor() { emulator::release(memory_); }

  const TensorArg& arg() const { return arg_; }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> bytes(bytes_);
    emulator::copy(bytes.data(), memory_, bytes_);
    return bytes;
  }

 private:
  void* memory_;
  size_t bytes_;
  TensorArg arg_;
};

// What shapes the kernel in all ways that one block has.
std::vector<HopperConfig> configs() {
  return {withStages({.tileM = 64, .tileN = 32, .consumers = 1}, 3),
          withStages({.tileM = 128, .tileN = 96}, 4),
          withStages({.tileM = 64, .tileN = 64, .pingPong = true}, 3),
          withStages({.tileM = 128, .tileN = 64, .blocksPerSm = 2}, 2),
          withStages({.tileM = 256, .tileN = 64}, 2),
          withStages({.tileM = 64, .tileN = 48, .consumers = 1}, 2)};
}

class HopperEmulated : public testing::Test {
 protected:
  HopperEmulated() {
    backend_.driver().setAttribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2);
    cuda::currentDevice().makeCurrent();
  }

  static void run(const Prepared& prepared, const Problem& problem, double tolerance) {
    std::vector<std::unique_ptr<DeviceTensor>> inputs, outputs;
    for (const StepInput& input : prepared.inputs) {
      if (input.nodeInput >= 0) {
        inputs.push_back(std::make_unique<DeviceTensor>(problem.inputs[input.nodeInput]));
        continue;
      }
      HostTensor packed(input.packedType.type, staticDims(input.packedType.shape));
      packed.bytes = input.packed;
      inputs.push_back(std::make_unique<DeviceTensor>(packed));
    }
    for (const HostTensor& wanted : problem.wanted)
      outputs.push_back(
          std::make_unique<DeviceTensor>(wanted.type, wanted.dims, wanted.bytes.size()));
    std::vector<TensorArg> inputArgs, outputArgs;
    for (const auto& input : inputs) inputArgs.push_back(input->arg());
    for (const auto& output : outputs) outputArgs.push_back(output->arg());
    std::vector<int64_t> dims;
    for (const Dim& dim : prepared.dimArgs) dims.push_back(problem.valueOf(dim));

    const RuntimeKernel& launcher = cuda::hopperLauncher();
    const auto* text = reinterpret_cast<const std::byte*>(prepared.source.c_str());
    const auto state =
        launcher.loadCode("product", prepared.params, {text, prepared.source.size() + 1});
    const LaunchArgs args{.inputs = inputArgs, .outputs = outputArgs, .dims = dims};
    ASSERT_TRUE(launcher.fits(state.get(), args));
    launcher.launch(state.get(), args);
    emulator::checkMemory();
    for (size_t i = 0; i < outputs.size(); ++i)
      expectTensor(problem.wanted[i], outputs[i]->bytes().data(), tolerance);
  }

  // In every configuration that can be, of which there must be `least`.
  static void expectMatch(
      const HarnessCase& testCase, size_t least = 4,
      const Kernel& kernel = cuda::hopperGemmKernel(),
      const std::function<cuda::HopperProduct(const Node&)>& productOf = cuda::hopperProductOf) {
    SCOPED_TRACE(testCase.graph);
    Harness harness(testCase);
    harness.target.computeCapability = 90;
    const Verdict verdict = harness.supports(kernel);
    ASSERT_TRUE(verdict) << verdict.reason;
    const cuda::HopperProduct product = productOf(harness.node());
    size_t count = 0;
    for (HopperConfig listed : configs())
      for (const int residual : {0, bitsOf(harness.node().output()->dataType()) / 8}) {
        listed.normalises = product.normalises;
        const HopperConfig config = withResidual(listed, residual);
        if (residual > 0 && config == listed) continue;
        if (!isValid(config, product.transposedA, product.transposedB)) continue;
        const Prepared prepared = harness.prepare(kernel, pack(config));
        if (!prepared.verdict) continue;
        SCOPED_TRACE(toString(config));
        for (const auto& sizes : testCase.sizes)
          run(prepared, harness.problem(sizes), testCase.tolerance);
        if (HasFatalFailure()) return;
        ++count;
      }
    EXPECT_GE(count, least);
  }

 private:
  EmulatedBackend backend_{90};
};

// Rows that end anywhere, K that is no multiple of a stage, and several tiles for each block.
constexpr char kWeights[] =
    "symbols m graph g(%x: f16[m, 72], %w: f16[72, 104]) { %y = MatMul(%x, %w) return %y }";

TEST_F(HopperEmulated, RowsOfAnySizeMeetWeights) {
  expectMatch(
      {.graph = kWeights, .sizes = {{{"m", 520}}, {{"m", 130}}, {{"m", 1}}}, .constants = {"w"}});
}

TEST_F(HopperEmulated, BatchesOfActivations) {
  expectMatch({.graph = "graph g(%x: bf16[3, 70, 64], %w: bf16[3, 64, 40]) {"
                        " %y = MatMul(%x, %w) return %y }"},
              3);
  expectMatch({.graph = "graph g(%x: f16[2, 64, 72], %w: f16[2, 64, 128]) {"
                        " %y = MatMul(%x, %w) {transpose_a = true} return %y }"},
              2);
  expectMatch({.graph = "graph g(%x: f16[5, 30, 64], %w: f16[77, 64]) {"
                        " %y = MatMul(%x, %w) {transpose_b = true} return %y }"});
}

TEST_F(HopperEmulated, OtherTypes) {
  expectMatch({.graph = "graph g(%x: f32[70, 36], %w: f32[36, 44]) {"
                        " %y = MatMul(%x, %w) return %y }",
               .constants = {"w"},
               .tolerance = 1e-2});
  expectMatch({.graph = "graph g(%x: f8e4m3[70, 48], %w: f8e5m2[48, 40]) {"
                        " %y = MatMul(%x, %w) return %y }",
               .constants = {"w"},
               .tolerance = 1e-3});
  expectMatch({.graph = "graph g(%x: u8[70, 160], %w: i8[160, 48], %z: u8[]) {"
                        " %y = MatMulInteger(%x, %w, %z) return %y }",
               .constants = {"w", "z"}});
}

// Results that end in registers, by rows of shared memory, in tiles of the residual and in bytes.
TEST_F(HopperEmulated, WaysOut) {
  expectMatch({.graph = "graph g(%x: f16[200, 64], %w: f16[64, 128], %b: f16[128]) {"
                        " %y = MatMul(%x, %w) epilogue(%b) {relu(add(x0:f16, x1:f16))} return %y }",
               .constants = {"w", "b"}});
  expectMatch(
      {.graph =
           "graph g(%x: f16[200, 64], %w: f16[64, 128], %b: f16[128], %r: f16[200, 128]) {"
           " %y = MatMul(%x, %w) epilogue(%b, %r) {add(add(x0:f16, x1:f16), x2:f16)} return %y }",
       .constants = {"w", "b"},
       .tolerance = 1e-2},
      7);
  expectMatch({.graph = "graph g(%x: f16[70, 64], %w: f16[64, 41], %r: f16[70, 1]) {"
                        " %y = MatMul(%x, %w) epilogue(%r) {mul(x0:f16, x1:f16)} return %y }",
               .constants = {"w"}});
  expectMatch({.graph = "graph g(%x: i8[70, 64], %w: i8[64, 48], %s: f32[48]) {"
                        " %y = MatMulInteger(%x, %w) epilogue(%s) {"
                        "cast(round(mul(cast(x0:i32, f32), x1:f32)), i8)} return %y }",
               .constants = {"w", "s"},
               .ranges = {{"s", {0.001, 0.01}}}});
}

// Rows that are windows of images: blocks of 32, 64 and 128 bytes, strides and dilations, padding.
TEST_F(HopperEmulated, WindowsOfImages) {
  const auto productOf = [](const Node&) { return cuda::HopperProduct{.transposedB = true}; };
  const auto expectConv = [&](const char* operands, const char* attrs) {
    expectMatch({.graph = str("graph g(", operands, ") { %y = Conv(%x, %w) {channels_last = true, ",
                              attrs, "} return %y }"),
                 .constants = {"w"},
                 .tolerance = 1e-2},
                4, cuda::hopperConvKernel(), productOf);
  };
  expectConv("%x: f16[2, 9, 7, 16], %w: f16[48, 16, 3, 3]",
             "strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]");
  expectConv("%x: bf16[1, 12, 13, 32], %w: bf16[40, 32, 2, 3]",
             "strides = [2, 1], dilations = [1, 2], pads_begin = [0, 2], pads_end = [1, 2]");
  expectConv("%x: f16[3, 5, 6, 136], %w: f16[32, 136, 3, 3]",
             "strides = [2, 2], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]");
}

// Rows that are normalised by moments which lie beside them.
TEST_F(HopperEmulated, NormalisedRows) {
  for (const char* attrs : {"", "{keeps_moments = true}", "{rms = true}"})
    for (const std::string type : {"f16", "bf16"}) {
      const bool keeps = std::string_view(attrs).find("keeps") != std::string_view::npos;
      if (type == "bf16" && !keeps) continue;
      expectMatch({.graph = str("symbols m graph g(%x: ", type, "[2, m, 160], %w: ", type,
                                "[160, 104], %m: f32[2, m, 5, 2], %s: f32[160], %b: ", type,
                                "[160]) { ", keeps ? "%y, %mean, %factor" : "%y",
                                " = NormMatMul(%x, %w, %m, %s, %b) ", attrs, " return %y }"),
                   .sizes = {{{"m", 65}}, {{"m", 260}}},
                   .constants = {"w", "s", "b"},
                   .ranges = {{"x", {2, 5}}, {"m", {0.5, 5}}},
                   // Weights are rounded once more, and sums are small beside what they add up.
                   .tolerance = type == "f16" ? 5e-2 : 0.35});
    }
  // A row of one stage at most, weights as they are, and a residual.
  expectMatch({.graph = "graph g(%x: f16[70, 32], %w: f16[128, 32], %m: f32[70, 1, 2], "
                        "%r: f16[70, 128]) {"
                        " %y = NormMatMul(%x, %w, %m) {transpose_b = true} epilogue(%r) {"
                        "add(x0:f16, x1:f16)} return %y }",
               .constants = {"w"},
               .ranges = {{"m", {0.5, 5}}},
               .tolerance = 1e-2},
              7);
}

}  // namespace
}  // namespace camshaft
