// The run half of recurrent layers: walks sequences of a batch in one direction.
#pragma once

#include <cstdint>

#include "backend/launch.h"
#include "backends/cpu/rnn/params.h"

namespace camshaft::cpu::rnn {

// Sequences [begin, end) of the batch.
struct Part {
  int64_t direction = 0, begin = 0, end = 0;
  bool sharesSteps = false;  // each step is worth all threads
};

int64_t stepsOf(const Params& p, const LaunchArgs& args);
int64_t batchOf(const Params& p, const LaunchArgs& args);

// `packed` are the weights of the direction, `workspace` has partFloats() for the rows of the part.
void walkSequences(const Params& p, const LaunchArgs& args, const Part& part, const float* packed,
                   float* workspace);

}  // namespace camshaft::cpu::rnn
