// What LSTM, GRU and plain recurrent cells do with their gates, for one row of a batch at one step.
#pragma once

#include <cstdint>

#include "backends/cpu/rnn/params.h"

namespace camshaft::cpu::rnn {

// One direction of a layer.
struct Cell {
  const Params& params;
  const Function* functions;  // f, g, h as ONNX names them
  const float* peepholes;     // LSTM
};

// Gates are [gates * hidden]. All but y are read and written in whole vectors.
struct CellRow {
  const float* fromInput;
  const float* fromState;
  float *h, *c;
  float* reset;  // GRU's r * h, where that is what the late weights act on
  float* y;      // the new h once more; may be null
};

// reset = r * h.
void resetState(const Cell& cell, const CellRow& row);
// h and c of the next step.
void updateState(const Cell& cell, const CellRow& row);

}  // namespace camshaft::cpu::rnn
