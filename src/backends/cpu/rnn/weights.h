// The weights of a recurrent layer as its products read them. Both halves.
#pragma once

#include <cstdint>

#include "backends/cpu/rnn/params.h"

namespace camshaft::cpu::rnn {

// Rows are padded so that whole vectors may be read from any unit of any gate on, and that products
// may write whole vectors.
int64_t gateStride(const Params& p);   // a row of all gates
int64_t stateStride(const Params& p);  // a row of the state

// How many columns of a product to compute: whole vectors, as far as its packed panels reach.
int64_t productColumns(int64_t width);

// Where things lie in the packed weights of one direction, in floats.
struct PackedLayout {
  explicit PackedLayout(const Params& p);
  int64_t input, early, late;    // matrices as packB() leaves them
  int64_t inputBias, stateBias;  // rows of gates
  int64_t peepholes;             // i o f; LSTM
  int64_t floats;                // of all
};

// Operands of the layer, all directions; bias and peepholes may be null.
struct RawWeights {
  const float *w = nullptr, *r = nullptr, *bias = nullptr, *peepholes = nullptr;
};

void packDirection(const Params& p, const RawWeights& raw, int64_t direction, float* packed);

}  // namespace camshaft::cpu::rnn
