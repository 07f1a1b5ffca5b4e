#include "backends/cuda/gemm/hopper/text.h"

#include "support/text.h"

namespace camshaft::cuda {
namespace {

// One wgmma instruction of 64 x tileN as a function: the number of its operands depends on tileN.
std::string multiplyFunction(const HopperText& text) {
  const int registers = text.config.tileN / 2;
  const bool isTf32 = text.type == DataType::kF32;
  const std::string_view type = isTf32 ? "tf32" : toString(text.type);
  std::string names, operands;
  for (int i = 0; i < registers; ++i) {
    names += str(i ? ", %" : "%", i);
    operands += str(i ? ", \"+f\"(d[" : "\"+f\"(d[", i, "])");
  }
  const std::string majors =
      isTf32 ? "" : str(", ", int{text.transposedA}, ", ", int{!text.transposedB});
  return str("__device__ __forceinline__ void multiply(float (&d)[", registers,
             "], unsigned long long a, unsigned long long b, int add) {\n"
             "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %",
             registers + 2,
             ", 0;\\n\"\n"
             "    \"wgmma.mma_async.sync.aligned.m64n",
             text.config.tileN, isTf32 ? "k8" : "k16", ".f32.", type, ".", type, " {", names,
             "}, %", registers, ", %", registers + 1, ", p, 1, 1", majors,
             ";\\n}\"\n    : ", operands, "\n    : \"l\"(a), \"l\"(b), \"r\"(add));\n}\n");
}

}  // namespace

std::string hopperHead(const HopperText& text) {
  const HopperConfig& c = text.config;
  return str("constexpr int kTileM = ", c.tileM, ", kTileN = ", c.tileN,
             ", kConsumers = ", c.consumers, ", kStages = ", c.stages, ", kSplitK = ", c.splitK,
             ", kShareA = ", c.shareA, ", kShareB = ", c.shareB, ", kBlocksPerSm = ", c.blocksPerSm,
             ", kUnrollEpilogue = ", text.unrollEpilogue,
             ", kElementBytes = ", text.type == DataType::kF32 ? 4 : 2,
             ";\nconstexpr bool kPingPong = ", c.pingPong, ", kTransposedA = ", text.transposedA,
             ", kTransposedB = ", text.transposedB, ", kConstantB = ", text.constantB,
             ", kWholeColumns = ", text.wholeColumns, ", kColumnEpilogue = ", text.columnEpilogue,
             ";\nusing Output = ", text.outputType, ";\n", multiplyFunction(text));
}

}  // namespace camshaft::cuda
