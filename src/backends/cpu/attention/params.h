// What the two halves of attention agree on.
#pragma once

#include <cstdint>

namespace camshaft::cpu::attention {

inline constexpr char kName[] = "cpu/attention_f32";
inline constexpr char kBf16[] = "cpu/attention_bf16";
inline constexpr char kF16[] = "cpu/attention_f16";

struct Params {
  float scale = 1, softcap = 0;
  int8_t causal = 0, alignEnd = 0, transposedKeys = 0, hasMask = 0;
  int64_t countsKeys = 0;  // a number of the launch says how many there are
  // Of operands that are tokens, [batch, length, width], and of the result then; 0: none is.
  int64_t heads = 0, kvHeads = 0, size = 0, valueSize = 0;
  int64_t offsets[3] = {};  // first columns of q, k and v
};

}  // namespace camshaft::cpu::attention
