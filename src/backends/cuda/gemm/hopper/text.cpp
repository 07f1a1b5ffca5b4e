#include "backends/cuda/gemm/hopper/text.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

std::string_view elementName(DataType type) {
  switch (type) {
    case DataType::kF32:
      return "tf32";
    case DataType::kF8E4M3:
      return "e4m3";
    case DataType::kF8E5M2:
      return "e5m2";
    case DataType::kI8:
      return "s8";
    default:
      return toString(type);  // f16, bf16, u8
  }
}

// What an element of A or B is where products are emulated.
std::string_view storageName(DataType type) {
  return type == DataType::kF32 ? "EmulatedTf32" : storageType(type);
}

// One wgmma instruction of 64 x tileN as a function: the number of its operands depends on tileN.
std::string multiplyFunction(const HopperText& text) {
  const int registers = text.config.tileN / 2, bytes = bitsOf(text.typeA) / 8;
  const bool isInteger = !isFloat(text.typeA);
  const std::string_view constraint = isInteger ? "\"+r\"(d[" : "\"+f\"(d[";
  std::string names, operands;
  for (int i = 0; i < registers; ++i) {
    names += str(i ? ", %" : "%", i);
    operands += str(i ? ", " : "", constraint, i, "])");
  }
  // Signs of floats, and which way operands of 16 bits lie.
  const std::string_view signs = isInteger ? "" : ", 1, 1";
  const std::string majors =
      bytes == 2 ? str(", ", int{text.transposedA}, ", ", int{!text.transposedB}) : "";
  return str("__device__ __forceinline__ void multiply(Accumulator (&d)[", registers,
             "], unsigned long long a, unsigned long long b, int add) {\n"
             "#ifdef CAMSHAFT_EMULATOR\n  emulatedMultiply<",
             storageName(text.typeA), ", ", storageName(text.typeB), ", ", !text.transposedA, ", ",
             text.transposedB,
             ">(d, a, b, add);\n#else\n"
             "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %",
             registers + 2,
             ", 0;\\n\"\n"
             "    \"wgmma.mma_async.sync.aligned.m64n",
             text.config.tileN, "k", 32 / bytes, isInteger ? ".s32." : ".f32.",
             elementName(text.typeA), ".", elementName(text.typeB), " {", names, "}, %", registers,
             ", %", registers + 1, ", p", signs, majors, ";\\n}\"\n    : ", operands,
             "\n    : \"l\"(a), \"l\"(b), \"r\"(add));\n#endif\n}\n");
}

std::string normText(const HopperText& text) {
  const bool normalises = text.rowLength > 0;
  return str("constexpr bool kNormalises = ", normalises, ", kCentres = ", text.centres,
             ";\nconstexpr int kRowLength = ", normalises ? text.rowLength : 32,
             ";\n__device__ __forceinline__ float epsilon() { return ",
             literal(text.epsilon, DataType::kF32), "; }\n");
}

// The windows of images that rows of A are, and how their channels come.
std::string windowsText(const HopperText& text) {
  const HopperWindows windows = text.windows.value_or(HopperWindows{});
  const ChannelBlocks blocks =
      text.windows ? blocksOf(windows, text.channels, text.typeA) : ChannelBlocks{};
  const auto along = [](const char* axis, const HopperWindow& w) {
    return str("kKernel", axis, " = ", w.kernel, ", kStride", axis, " = ", w.stride, ", kDilation",
               axis, " = ", w.dilation, ", kPad", axis, " = ", w.padBegin);
  };
  return str("constexpr bool kImages = ", text.windows.has_value(), ";\nconstexpr int ",
             along("Y", windows.y), ", ", along("X", windows.x), ", kBlockBytes = ", blocks.bytes,
             ", kChannelBlocks = ", blocks.number, ";\n");
}

}  // namespace

std::string hopperHead(const HopperText& text) {
  const HopperConfig& c = text.config;
  return str("constexpr int kTileM = ", c.tileM, ", kTileN = ", c.tileN,
             ", kConsumers = ", c.consumers, ", kStages = ", c.stages, ", kSplitK = ", c.splitK,
             ", kShareA = ", c.shareA, ", kShareB = ", c.shareB, ", kBlocksPerSm = ", c.blocksPerSm,
             ", kResidualTiles = ", c.residualTiles, ", kUnrollEpilogue = ", text.unrollEpilogue,
             ", kElementBytes = ", bitsOf(text.typeA) / 8,
             ";\nconstexpr bool kPingPong = ", c.pingPong, ", kTransposedA = ", text.transposedA,
             ", kTransposedB = ", text.transposedB, ", kConstantB = ", text.constantB,
             ", kWholeColumns = ", text.wholeColumns, ", kWholeTiles = ", text.wholeTiles,
             ", kColumnEpilogue = ", text.columnEpilogue, ", kQuads = ", text.quads,
             ", kKeepsMoments = ", text.keepsMoments, ";\nusing Output = ", text.outputType,
             ";\nusing Accumulator = ", isFloat(text.typeA) ? "float" : "int", ";\n",
             normText(text), windowsText(text), "#define CAMSHAFT_GEMM ", text.entry, "\n",
             multiplyFunction(text));
}

}  // namespace camshaft::cuda
