#include <gtest/gtest.h>

#include "backends/cpu/compute/test_support.h"
#include "backends/cpu/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cpu {
namespace {

class RecurrentKernels : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, RecurrentKernels, testing::ValuesIn(availableIsas()), isaTestName);

// Weights small enough that states neither vanish nor saturate.
void expectLayerMatches(const std::string& kind, const std::string& direction,
                        const std::string& attributes, bool bias, bool state) {
  const bool isLstm = kind == "lstm";
  const int directions = direction == "bidirectional" ? 2 : 1, rows = (isLstm ? 4 : 3) * 19;
  const std::string shape = str("f32[", directions, ", b, 19]");
  expectKernelsMatch(
      {.graph = str("symbols t, b graph g(%x: f32[t, b, 11], %w: f32[", directions, ", ", rows,
                    ", 11], %r: f32[", directions, ", ", rows, ", 19]",
                    bias ? str(", %bias: f32[", directions, ", ", 2 * rows, "]") : "",
                    state ? str(", %h: ", shape) : "", state && isLstm ? str(", %c: ", shape) : "",
                    ") { %y, %yh", isLstm ? ", %yc" : "", " = Recurrent(%x, %w, %r, ",
                    bias ? "%bias" : "_", ", _, ", state ? "%h" : "_",
                    state && isLstm ? ", %c" : "", ") {kind = ", kind, ", direction = ", direction,
                    ", hidden = 19", attributes, "} return %y, %yh", isLstm ? ", %yc" : "", " }"),
       .sizes = {{{"t", 6}, {"b", 3}}, {{"t", 1}, {"b", 1}}, {{"t", 3}, {"b", 8}}},
       .constants =
           bias ? std::set<std::string>{"w", "r", "bias"} : std::set<std::string>{"w", "r"},
       .ranges = {{"w", {-0.4, 0.4}}, {"r", {-0.4, 0.4}}},
       .tolerance = 2e-5});
}

TEST_P(RecurrentKernels, lstm) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    expectLayerMatches("lstm", direction, "", true, true);
    expectLayerMatches("lstm", direction, "", false, false);
  }
}

TEST_P(RecurrentKernels, gru) {
  for (const char* direction : {"forward", "reverse", "bidirectional"})
    for (const char* attributes : {"", ", linear_before_reset = true"}) {
      expectLayerMatches("gru", direction, attributes, true, true);
      expectLayerMatches("gru", direction, attributes, false, false);
    }
}

}  // namespace
}  // namespace camshaft::cpu
