// What attention_check computes: problems to check, and problems to time.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/data_type.h"
#include "support/text.h"

namespace attention_check {

using namespace camshaft;

enum class Layout { kHeads, kTokens, kPacked };  // [B, H, S, D], [B, S, H, D], one [B, S, 3 H D]

struct Case {
  std::string name;
  int batches = 1, heads = 1, group = 1, queries = 1, keys = 1, headSize = 64, valueSize = 64;
  DataType element = DataType::kF16;
  std::optional<DataType> stored;  // keys and values of 8 bits
  Layout layout = Layout::kHeads;
  bool causal = false, alignEnd = false, transposedKeys = false;
  double softcap = 0, scale = 0;  // 0: 1 / sqrt(head size)
  std::optional<DataType> bias;
  int biasBatches = 0, biasDivisor = 1;  // 0: as many as there are
  bool biasPerHead = true, biasPerRow = true;
  int biasPadding = 0;     // elements added to its rows
  bool hidesRows = false;  // the bias hides every key from some rows

  double scaleOrDefault() const { return scale != 0 ? scale : 1 / std::sqrt(double(headSize)); }
  DataType storedType() const { return stored.value_or(element); }
  int keyHeads() const { return heads / group; }
  double flops() const {
    const double pairs =
        causal && queries == keys ? keys * (keys + 1) / 2.0 : double(queries) * keys;
    return 2.0 * batches * heads * pairs * (headSize + valueSize);
  }
};

// Strides and sizes of a case, as numbers; the text of the kernels comes from them.
struct Operand {
  int64_t batch, head, token, offset = 0, count;
};

struct Plan {
  Operand q, k, v, out, bias;
  int64_t kFeature = 1, biasRow = 0;

  explicit Plan(const Case& c) {
    const auto place = [&](int heads, int tokens, int size) -> Operand {
      const int64_t count = int64_t(c.batches) * heads * tokens * size;
      if (c.layout == Layout::kHeads)
        return {int64_t(heads) * tokens * size, int64_t(tokens) * size, size, 0, count};
      return {int64_t(heads) * tokens * size, size, int64_t(heads) * size, 0, count};
    };
    q = place(c.heads, c.queries, c.headSize);
    k = place(c.keyHeads(), c.keys, c.headSize);
    v = place(c.keyHeads(), c.keys, c.valueSize);
    out = place(c.heads, c.queries, c.valueSize);
    if (c.layout == Layout::kPacked) {
      const int64_t token =
          int64_t(c.headSize) * (c.heads + c.keyHeads()) + int64_t(c.valueSize) * c.keyHeads();
      const int64_t batch = token * c.queries, count = batch * c.batches;
      q = {batch, c.headSize, token, 0, count};
      k = {batch, c.headSize, token, int64_t(c.headSize) * c.heads, count};
      v = {batch, c.valueSize, token, int64_t(c.headSize) * (c.heads + c.keyHeads()), count};
    }
    if (c.transposedKeys) {
      k = {int64_t(c.keyHeads()) * c.keys * c.headSize, int64_t(c.keys) * c.headSize, 1, 0,
           k.count};
      kFeature = c.keys;
    }
    const int64_t row = c.keys + c.biasPadding;
    biasRow = c.biasPerRow ? row : 0;
    const int64_t perHead = c.biasPerRow ? row * c.queries : row;
    const int64_t perBatch = c.biasPerHead ? perHead * c.heads : perHead;
    const int batches = c.biasBatches ? c.biasBatches : c.batches;
    bias = {batches > 1 ? perBatch : 0, c.biasPerHead ? perHead : 0, 0, 0, perBatch * batches};
  }
  bool pairsBias(const Case& c) const {
    return c.bias && c.keys % 2 + c.biasPadding > 0 ? (c.keys + c.biasPadding) % 2 == 0
                                                    : c.keys % 2 == 0;
  }
};

inline std::vector<Case> checkedCases() {
  using enum DataType;
  std::vector<Case> cases;
  const auto add = [&](Case c) { cases.push_back(std::move(c)); };
  add({.name = "bert", .batches = 2, .heads = 3, .queries = 128, .keys = 128});
  add({.name = "tails", .batches = 2, .heads = 3, .queries = 197, .keys = 197});
  add({.name = "packed",
       .batches = 2,
       .heads = 3,
       .queries = 197,
       .keys = 197,
       .layout = Layout::kPacked});
  add({.name = "tokens",
       .batches = 2,
       .heads = 4,
       .group = 2,
       .queries = 70,
       .keys = 150,
       .headSize = 40,
       .valueSize = 24,
       .layout = Layout::kTokens});
  add({.name = "causal", .batches = 2, .heads = 2, .queries = 300, .keys = 300, .causal = true});
  add({.name = "causal end",
       .batches = 1,
       .heads = 2,
       .queries = 100,
       .keys = 333,
       .causal = true,
       .alignEnd = true});
  add({.name = "causal none",
       .batches = 1,
       .heads = 2,
       .queries = 333,
       .keys = 100,
       .causal = true,
       .alignEnd = true});
  add({.name = "window",
       .batches = 8,
       .heads = 3,
       .queries = 49,
       .keys = 49,
       .headSize = 32,
       .valueSize = 32,
       .bias = kF16,
       .biasBatches = 4});
  add({.name = "window 64",
       .batches = 8,
       .heads = 3,
       .queries = 49,
       .keys = 49,
       .headSize = 32,
       .valueSize = 32,
       .bias = kF16,
       .biasBatches = 2,
       .biasDivisor = 2,
       .biasPadding = 15});
  add({.name = "key mask",
       .batches = 3,
       .heads = 2,
       .queries = 130,
       .keys = 130,
       .bias = kBool,
       .biasPerHead = false,
       .biasPerRow = false});
  add({.name = "hidden f32",
       .batches = 2,
       .heads = 2,
       .queries = 90,
       .keys = 201,
       .bias = kF32,
       .hidesRows = true});
  add({.name = "hidden bool",
       .batches = 2,
       .heads = 2,
       .queries = 90,
       .keys = 201,
       .bias = kBool,
       .hidesRows = true});
  add({.name = "softcap",
       .batches = 1,
       .heads = 4,
       .group = 4,
       .queries = 77,
       .keys = 260,
       .headSize = 128,
       .valueSize = 128,
       .causal = true,
       .alignEnd = true,
       .softcap = 20,
       .scale = 0.3});
  add({.name = "bf16",
       .batches = 2,
       .heads = 2,
       .queries = 145,
       .keys = 257,
       .headSize = 80,
       .valueSize = 96,
       .element = kBF16,
       .scale = -0.1,
       .bias = kBF16});
  add({.name = "128",
       .batches = 1,
       .heads = 2,
       .queries = 300,
       .keys = 450,
       .headSize = 128,
       .valueSize = 128});
  add({.name = "256",
       .batches = 1,
       .heads = 2,
       .queries = 140,
       .keys = 190,
       .headSize = 256,
       .valueSize = 256,
       .causal = true,
       .alignEnd = true});
  add({.name = "decode", .batches = 2, .heads = 4, .group = 2, .queries = 1, .keys = 2000});
  for (const std::optional<DataType> stored : {std::optional<DataType>(), std::optional(kI8)})
    add({.name = stored ? "decode bytes" : "decode long",
         .heads = 2,
         .group = 2,
         .queries = 1,
         .keys = 5001,
         .headSize = 128,
         .valueSize = 128,
         .stored = stored,
         .scale = stored ? 0.002 : 0});
  add({.name = "one key", .batches = 2, .heads = 2, .queries = 5, .keys = 1});
  add({.name = "f32",
       .batches = 2,
       .heads = 2,
       .queries = 75,
       .keys = 140,
       .headSize = 37,
       .valueSize = 50,
       .element = kF32,
       .causal = true,
       .softcap = 8,
       .bias = kF32,
       .hidesRows = true});
  add({.name = "f64",
       .batches = 1,
       .heads = 2,
       .queries = 33,
       .keys = 65,
       .headSize = 20,
       .valueSize = 33,
       .element = kF64});
  add({.name = "keys turned",
       .batches = 2,
       .heads = 2,
       .queries = 75,
       .keys = 140,
       .transposedKeys = true});
  add({.name = "huge head",
       .batches = 1,
       .heads = 2,
       .queries = 20,
       .keys = 50,
       .headSize = 700,
       .valueSize = 600,
       .element = kF32});
  return cases;
}

inline std::vector<Case> timedCases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, Case c) {
    for (int batch : {1, 32}) {
      Case timed = c;
      timed.name = str(name, " b", batch);
      timed.batches = c.batches * batch;
      cases.push_back(timed);
    }
  };
  const Layout packed = Layout::kPacked;
  add("bert 128", {.heads = 12, .queries = 128, .keys = 128, .layout = packed});
  add("bert 384", {.heads = 12, .queries = 384, .keys = 384, .layout = packed});
  add("vit 197", {.heads = 12, .queries = 197, .keys = 197, .layout = packed});
  add("gpt2 512", {.heads = 12, .queries = 512, .keys = 512, .layout = packed, .causal = true});
  for (int stage = 0; stage < 4; ++stage)
    add(str("swin ", stage + 1), {.batches = 64 >> (2 * stage),
                                  .heads = 3 << stage,
                                  .queries = 49,
                                  .keys = 49,
                                  .headSize = 32,
                                  .valueSize = 32,
                                  .layout = packed,
                                  .bias = DataType::kF16,
                                  .biasBatches = 64 >> (2 * stage),
                                  .biasPadding = 15});
  cases.push_back({.name = "decode 4096",
                   .heads = 32,
                   .group = 4,
                   .queries = 1,
                   .keys = 4096,
                   .headSize = 128,
                   .valueSize = 128});
  cases.push_back({.name = "long 4096 d128",
                   .batches = 2,
                   .heads = 16,
                   .queries = 4096,
                   .keys = 4096,
                   .headSize = 128,
                   .valueSize = 128});
  return cases;
}

}  // namespace attention_check
