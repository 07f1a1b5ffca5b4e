// What the two halves of attention agree on.
#pragma once

#include <cstdint>

namespace camshaft::cpu::attention {

inline constexpr char kName[] = "cpu/attention_f32";

struct Params {
  float scale = 1, softcap = 0;
  int8_t causal = 0, alignEnd = 0, transposedKeys = 0, hasMask = 0;
  // Of operands that are tokens, [batch, length, width], and of the result then; 0: none is.
  int64_t heads = 0, kvHeads = 0, size = 0, valueSize = 0;
  int64_t offsets[3] = {};  // first columns of q, k and v
};

// Workspace of one worker: keys and values of a head, packed, and scores of a block of queries.
struct Buffers {
  int64_t keys = 0, values = 0, scores = 0;  // floats
  int64_t total() const { return keys + values + scores; }
};
Buffers buffersFor(int64_t keyLength, int64_t size, int64_t valueSize);

}  // namespace camshaft::cpu::attention
