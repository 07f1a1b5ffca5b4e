#include "backend/findings.h"

#include "backends/cpu/cpu.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/gemm/split_gemm.h"
#include "backends/cpu/gemm_int8/tile.h"
#include "backends/cpu/simd/amx_tiles.h"
#include "backends/cpu/simd/isa.h"

namespace camshaft::cpu {
namespace {

std::string_view bf16Unit() {
#if defined(__x86_64__)
  return hasAmx(AmxProduct::kBf16) ? "amx" : "avx512_bf16";
#else
  return "bfmmla";
#endif
}

Finding unit(std::string_view name, bool isThere, std::string_view kind, std::string_view problem) {
  return {
      std::string(name), std::string(isThere ? kind : ""), {}, std::string(isThere ? "" : problem)};
}

}  // namespace

std::vector<Finding> findings() {
  const gemm_int8::Multiplier& bytes =
      gemm_int8::multiplierFor(gemm_int8::layoutInUse(), gemm_int8::kBlockRows);
  return {
      unit("vectors", true, isaName(), ""),
      unit("f32 products on matrix units", hasSplitGemm(), "amx",
           "this CPU has no AMX, or the system does not allow it"),
      unit("bf16 products", hasGemm16(Type16::kBf16), bf16Unit(),
           "this CPU has neither AMX, AVX512-BF16 nor Arm's bfmmla"),
      unit("f16 products", hasGemm16(Type16::kF16), "neon", "this CPU has no f16 vectors of Arm's"),
      unit("int8 products", true, bytes.name, "")};
}

}  // namespace camshaft::cpu
