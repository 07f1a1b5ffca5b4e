// What the two halves of attention agree on.
#pragma once

#include <cstdint>

#include "backends/cpu/attention/head_products.h"
#include "support/token_windows.h"

namespace camshaft::cpu::attention {

inline constexpr char kName[] = "cpu/attention_f32";
inline constexpr char kBf16[] = "cpu/attention_bf16";
inline constexpr char kF16[] = "cpu/attention_f16";

struct Params {
  float scale = 1, softcap = 0;
  int8_t causal = 0, alignEnd = 0, transposedKeys = 0, hasMask = 0;
  int64_t maskBatches = 0;  // as AttentionAttrs has it
  int64_t countsKeys = 0;   // a number of the launch says how many there are
  // Of operands that are tokens, [batch, length, width], and of the result then; 0: none is.
  int64_t heads = 0, kvHeads = 0, size = 0, valueSize = 0;
  int64_t offsets[3] = {};  // first columns of q, k and v
  TokenWindows windows;     // whose tokens are gathered, and results scattered
};

// What a worker needs: where it gathers, also for keys and values of a window and for a block of
// queries and of results.
inline int64_t workerFloats(const HeadProducts::Sizes& sizes, const TokenWindows& windows) {
  const int64_t rows = sizes.keys + HeadProducts::blockRows(sizes.type);
  return HeadProducts::workspaceFloats(sizes) +
         (windows.areThere() ? rows * (sizes.size + sizes.valueSize) : 0);
}

}  // namespace camshaft::cpu::attention
