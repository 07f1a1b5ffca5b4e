// What generated kernels begin with.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/kernel_machine.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kCodes = 256;
using Codes = std::array<unsigned char, kCodes>;

// What each code of eight bits becomes when it is read and written again, and what the number
// halfway to the next one becomes.
void convert(const char* type, Codes& same, Codes& halfway, unsigned char& beyond) {
  const std::string source = str(deviceSource("device/prelude.cuh"), R"(
    extern "C" __global__ void convert(unsigned char* same, unsigned char* halfway,
                                       unsigned char* beyond) {
      using Narrow = )",
                                 type, R"(;
      const auto code = static_cast<unsigned char>(threadIdx.x);
      const float low = toCompute(Narrow{code});
      Narrow result;
      assign(result, low);
      same[code] = result.bits;
      assign(result, (low + toCompute(Narrow{static_cast<unsigned char>(code + 1)})) / 2);
      halfway[code] = result.bits;
      assign(result, 1e30f);
      *beyond = result.bits;
    })");
  KernelMachine& machine = kernelMachine();
  void* memory[] = {machine.allocate(kCodes), machine.allocate(kCodes), machine.allocate(1)};
  KernelLaunch launch{.source = source, .kernel = "convert", .grid = {1, 1, 1}, .params = {}};
  launch.params.block = kCodes;
  for (void*& address : memory) launch.arguments.push_back(&address);
  machine.prefetch({source});
  machine.launch(launch);
  machine.copyOut(same.data(), memory[0], kCodes);
  machine.copyOut(halfway.data(), memory[1], kCodes);
  machine.copyOut(&beyond, memory[2], 1);
  for (void* address : memory) machine.release(address);
}

// The oracle is the definition: every finite code is its own nearest value, a value halfway between
// two codes goes to the even one, and what is too large becomes the largest.
TEST(DevicePrelude, FloatsOfEightBitsAreRoundedToNearestEven) {
  for (const auto& [type, largest] : {std::pair("f8e4m3", 0x7e), std::pair("f8e5m2", 0x7b)}) {
    SCOPED_TRACE(type);
    Codes same, halfway;
    unsigned char beyond = 0;
    convert(type, same, halfway, beyond);
    EXPECT_EQ(beyond, largest);
    for (int code = 0; code <= largest; ++code) {
      EXPECT_EQ(same[code], code);
      EXPECT_EQ(same[code | 0x80], code | 0x80);
      if (code < largest) {
        EXPECT_EQ(halfway[code], code + code % 2) << code;
      }
    }
    EXPECT_EQ(same[0x7f] & 0x7f, 0x7f) << "NaN";
  }
}

}  // namespace
}  // namespace camshaft::cuda
