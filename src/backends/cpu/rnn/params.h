// What the two halves of the recurrent layers agree on.
#pragma once

#include <cstdint>

#include "backends/cpu/compute/gemm.h"

namespace camshaft::cpu::rnn {

inline constexpr char kLstmName[] = "cpu/lstm_f32";
inline constexpr char kGruName[] = "cpu/gru_f32";

// Gates in ONNX's order: i o f c for LSTM, z r h for GRU.
struct Params {
  int64_t inputs = 0, hidden = 0, gates = 0, directions = 1;
  int8_t reverse = 0;                    // the only direction runs backwards
  int8_t linearBeforeReset = 0;          // GRU
  int32_t initialH = -1, initialC = -1;  // inputs of the step

  int64_t width() const { return gates * hidden; }
  // Of the recurrent weights, those that act on the state before it is reset: all but GRU's h.
  int64_t earlyWidth() const { return gates == 3 ? 2 * hidden : width(); }
  int64_t lateWidth() const { return width() - earlyWidth(); }
};

// The step's inputs, each for one direction after the other. Bias is what is added to all gates,
// lateBias [hidden] what GRU adds to the state's part of h alone.
enum StepInputs : int { kX, kInputWeights, kRecurrentWeights, kBias, kLateBias };

inline int64_t packedInputFloats(const Params& p) { return packedBFloats(p.inputs, p.width()); }
inline int64_t packedRecurrentFloats(const Params& p) {
  return packedBFloats(p.hidden, p.earlyWidth()) + packedBFloats(p.hidden, p.lateWidth());
}

// Gates of all time steps, then h, c and what GRU resets.
inline int64_t workspaceFloatsFor(const Params& p, int64_t steps, int64_t batch) {
  return steps * batch * p.width() + 3 * batch * p.hidden;
}

}  // namespace camshaft::cpu::rnn
